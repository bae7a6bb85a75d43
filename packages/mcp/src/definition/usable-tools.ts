/** Splits what a server lists into tools and unusable entries, so that every entry is accounted for. */
import { firstLine, isValidated, problemOf } from '@toolwell/core/internal'
import type { CachedDefinition } from './cache.js'
import { fingerprint } from './fingerprint.js'
import type { McpTool, UnusableEntry } from './server-definition.js'

/** Of a tool that is listed twice, the first counts. Where the two differ both stay: a review holds the name back. */
export function usableTools(entries: readonly unknown[]): { tools: McpTool[]; unusable: UnusableEntry[] } {
  const tools: McpTool[] = []
  const unusable: UnusableEntry[] = []
  const first = new Map<string, McpTool>()
  for (const [index, entry] of entries.entries()) {
    const tool = entry as McpTool
    const leave = (reason: string) => unusable.push({ entry: index + 1, ...nameOf(entry), reason })
    const problem = isTooDeep(entry)
      ? `is nested more than ${MOST_DEPTH} levels deep`
      : problemOf(asTool(entry))
    const known = problem === undefined ? first.get(tool.name) : undefined
    if (problem !== undefined) leave(firstLine(problem, 300))
    else if (known === undefined) {
      first.set(tool.name, tool)
      tools.push(tool)
    } else if (fingerprint(known) === fingerprint(tool)) leave('is listed again; the first one counts')
    else {
      leave('is listed again with another definition; the name is held back')
      tools.push(tool)
    }
  }
  return { tools, unusable }
}

/** Only the fields that are indispensable. Other odd fields are corrected when the entry becomes a tool. */
function asTool(entry: unknown): unknown {
  if (!isObject(entry) || isValidated(entry)) return entry
  const { name, inputSchema } = entry as Partial<McpTool>
  return { name, description: '', inputSchema }
}

/** Fingerprints reach no deeper, so a change below this depth would not be noticed. */
const MOST_DEPTH = 200

/** Level by level: recursion would overflow the stack on hostile input. */
function isTooDeep(entry: unknown): boolean {
  let level: object[] = isObject(entry) ? [entry] : []
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_DEPTH) return true
    level = level.flatMap((each) => Object.values(each).filter(isObject))
  }
  return false
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function nameOf(entry: unknown): { name?: string } {
  const name = isObject(entry) ? (entry as { name?: unknown }).name : undefined
  return typeof name === 'string' && name.trim() !== '' ? { name } : {}
}

/** Checks a definition that came into the cache by other means than listing. */
export function withUsableTools(cached: CachedDefinition): CachedDefinition {
  if (cached.definition.unusable) return cached
  return { ...cached, definition: { ...cached.definition, ...usableTools(cached.definition.tools) } }
}

/** Whether all of these can be used as tools. */
export function areUsable(tools: readonly unknown[]): boolean {
  return tools.every((tool) => problemOf(asTool(tool)) === undefined)
}

/** In one line, for a warning. */
export function describeUnusable(unusable: readonly UnusableEntry[]): string {
  const each = unusable.slice(0, 3).map(({ entry, name, reason }) => {
    const called = name === undefined ? '' : ` (${firstLine(name, 60)})`
    return `entry ${entry}${called} ${reason}`
  })
  const more = unusable.length > 3 ? `; and ${unusable.length - 3} more` : ''
  return `of what it lists, ${unusable.length} cannot be used: ${each.join('; ')}${more}`
}
