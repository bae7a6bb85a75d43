/** Tools and whether they are approved as read-only, for people and for programs. */
import type { ServerConfig } from '@toolwell/mcp'
import { visible } from '@toolwell/mcp/lock'
import { table } from '../shared/table.js'

export interface Offered {
  readonly server: ServerConfig
  readonly name: string
  /** What its server says of it: shown to whoever decides, and nothing else. */
  readonly claim: 'read-only' | 'changes things' | 'nothing'
  readonly print: string
  readonly isByConfig: boolean
  /** What a person approved is this very definition, another one by now, or nothing. */
  readonly approval: 'same' | 'changed' | undefined
}

const COLUMNS = [{ title: 'tool' }, { title: 'its server says' }, { title: 'read-only' }]

function toolTable(tools: readonly Offered[]): string {
  const lines = tools.map((tool) => [
    visible(`${tool.server.name}/${tool.name}`),
    tool.claim === 'nothing' ? '–' : tool.claim,
    describeState(tool),
  ])
  return table(COLUMNS, lines)
    .map((line) => `  ${line}\n`)
    .join('')
}

function describeState({ isByConfig, approval }: Offered): string {
  if (isByConfig) return 'by the config'
  if (approval === 'same') return 'approved'
  return approval === 'changed' ? 'not any more: it has changed' : 'no'
}

/** `name`: how the command is called. */
export function listText(tools: readonly Offered[], name: string): string {
  if (tools.length === 0) return 'No tool is known.\n'
  return `${toolTable(tools)}\nApprove what you know to change nothing with: ${name} approve --read-only SERVER/TOOL\n`
}

export function changedText(tools: readonly Offered[], isRevoking: boolean): string {
  if (tools.length > 0)
    return `${isRevoking ? 'No longer approved as read-only:' : 'Approved as read-only:'}\n${toolTable(tools)}`
  return isRevoking ? 'None of them was approved as read-only.\n' : 'Nothing is approved.\n'
}

export function leftText(left: readonly Offered[]): string {
  if (left.length === 0) return ''
  return `Left as they are. Approve one of them by its whole name, SERVER/TOOL:\n${toolTable(left)}`
}

export function readOnlyJson(
  key: 'tools' | 'approved' | 'revoked',
  tools: readonly Offered[],
  left: readonly Offered[] = [],
): string {
  const facts = (tool: Offered) => ({
    server: tool.server.name,
    tool: tool.name,
    serverSays: tool.claim,
    isApproved: tool.isByConfig || tool.approval === 'same',
    by: tool.isByConfig ? 'config' : tool.approval === 'same' ? 'person' : null,
    hasChanged: tool.approval === 'changed',
  })
  const value = { [key]: tools.map(facts), ...(key === 'approved' ? { left: left.map(facts) } : {}) }
  return `${JSON.stringify(value, null, 2)}\n`
}
