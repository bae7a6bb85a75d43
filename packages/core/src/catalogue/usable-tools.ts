/** What a source lists, sorted: the tools that can be used by their names, and what is odd about the others. */
import { showInvisible } from '../base/text.js'
import type { Finding } from '../tool/source.js'
import { problemOf, type Tool } from '../tool/tool.js'
import { oddFields } from './odd-fields.js'

export function usableTools(source: string, listed: readonly Tool[]) {
  const tools = new Map<string, Tool>()
  const findings: Finding[] = []
  for (const tool of listed) {
    const name = typeof tool?.name === 'string' ? tool.name : String(tool)
    const find = (kind: Finding['kind'], problem: string) =>
      findings.push({ kind, source, tool: name, detail: showInvisible(`${name} ${problem}`) })
    const problem = problemOf(tool)
    if (problem) find('invalid-tool', problem)
    else if (tools.has(name)) find('duplicate-tool', 'is listed twice; the first one is kept')
    else {
      tools.set(name, tool)
      for (const odd of oddFields(tool)) find('odd-field', odd)
    }
  }
  return { tools, findings }
}
