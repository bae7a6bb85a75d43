/** Adds the name and the purpose of its server to a description: clients that defer tools search only names and descriptions. */
import type { Tool } from '@modelcontextprotocol/server'
import { firstLine, quote } from '@toolwell/core/internal'
import { prompts } from '../prompts.js'

export function nameServer(tool: Tool, server: string, purpose: string): Tool {
  const about = prompts.serverOf({
    server: firstLine(server, 80),
    purpose: purpose === '' ? '' : quote(purpose, 200),
  })
  return { ...tool, description: tool.description ? `${tool.description}\n\n${about}` : about }
}
