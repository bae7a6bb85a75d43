import type { Finding } from '../../src/trust/scan/rules.ts'
import { createScanner } from '../../src/trust/scan/scan.ts'
import type { Sample } from './read-corpus.ts'

/** The scan's findings for the definition of a sample, with the sample's servers. */
export function scanSample({ servers, target }: Sample): Finding[] {
  const scanner = createScanner(servers)
  const server = servers.find(({ name }) => name === target.server)
  if (!server) throw new Error(`There is no server ${target.server}`)
  if (target.tool === undefined) return scanner.scanInstructions(server.name, server.instructions ?? '')
  return server.tools
    .filter((tool) => (tool as { name?: unknown }).name === target.tool)
    .flatMap((tool) => scanner.scanTool(server.name, tool))
}

export const isHard = (findings: readonly Finding[]) => findings.some(({ severity }) => severity === 'hard')

export const tool = (description: string, more: object = {}) => ({
  name: 'add_numbers',
  description,
  inputSchema: { type: 'object', properties: {} },
  ...more,
})
