/** What a source lists, sorted: the tools that can be used by their names, and what is odd about the others. */
import { showInvisible } from '../base/text.js'
import type { Finding } from '../tool/source.js'
import { nameOfTool, problemOf, type Tool } from '../tool/tool.js'
import type { UnusableTool } from './left-out.js'
import { oddFields } from './odd-fields.js'

/** `unusable`: what its owner has sorted out before. `isChecked`: nothing is wrong with any of the tools. */
export function usableTools(
  source: string,
  listed: readonly Tool[],
  unusable: readonly UnusableTool[] = [],
  isChecked = false,
): {
  readonly tools: ReadonlyMap<string, Tool>
  readonly findings: Finding[]
  readonly leftOut: readonly (UnusableTool & { readonly finding: Finding })[]
} {
  const tools = new Map<string, Tool>()
  const findings: Finding[] = []
  const leftOut: (UnusableTool & { readonly finding: Finding })[] = []
  const find = (kind: Finding['kind'], name: string, problem: string) => {
    const finding = findingOf(kind, source, name, problem)
    findings.push(finding)
    return finding
  }
  const leave = (kind: Finding['kind'], tool: UnusableTool) =>
    leftOut.push({ ...tool, finding: find(kind, tool.name, tool.problem) })
  for (const tool of listed) {
    const name = nameOfTool(tool)
    const problem = isChecked ? undefined : problemOf(tool)
    if (problem) leave('invalid-tool', { name, description: descriptionOf(tool), problem })
    else if (tools.has(name))
      leave('duplicate-tool', {
        name,
        description: descriptionOf(tool),
        problem: 'is listed twice; the first one is kept',
      })
    else {
      tools.set(name, tool)
      for (const odd of oddFields(tool)) find('odd-field', name, odd)
    }
  }
  for (const each of unusable) leave('invalid-tool', each)
  return { tools, findings, leftOut }
}

/** `problem`: a sentence behind the tool's name. */
export function findingOf(kind: Finding['kind'], source: string, tool: string, problem: string): Finding {
  return { kind, source, tool, detail: showInvisible(`${tool} ${problem}`) }
}

/** Of whatever it is. */
function descriptionOf(tool: unknown): string {
  const { description, function: inner } = (tool ?? {}) as { description?: unknown; function?: unknown }
  const own = description ?? (inner as { description?: unknown } | undefined)?.description
  return typeof own === 'string' ? own : ''
}
