/** Splits a server's list into usable tools and unusable entries. */

import { dropUndefined, findToolProblem, firstLine, isRecord, isValidated } from '@toolwell/core/internal'
import type { CachedDefinition, DefinitionCache } from './cache.js'
import { fingerprint } from './fingerprint.js'
import type { McpTool, UnusableEntry } from './server-definition.js'
import type { WarningListener } from './warning.js'

/** If a tool is listed twice, the first wins. If the two differ, both stay and the review quarantines the name. */
export function splitUsableTools(entries: readonly unknown[]): {
  tools: McpTool[]
  unusable: UnusableEntry[]
} {
  const tools: McpTool[] = []
  const unusable: UnusableEntry[] = []
  const first = new Map<string, McpTool>()
  let total = 0
  for (const [index, entry] of entries.entries()) {
    const tool = entry as McpTool
    const skip = (reason: string) => unusable.push({ entry: index + 1, ...nameOf(entry), reason })
    const { size, reason } = measure(entry)
    const problem =
      reason ??
      (total + size > MOST_OF_SERVER
        ? `is skipped: the entries before it take ${MOST_OF_SERVER / 1024 / 1024} MB, which is the limit of one server`
        : findToolProblem(asTool(entry)))
    if (problem === undefined) total += size
    const known = problem === undefined ? first.get(tool.name) : undefined
    if (problem !== undefined) skip(firstLine(problem, 300))
    else if (known === undefined) {
      first.set(tool.name, tool)
      tools.push(tool)
    } else if (fingerprint(known) === fingerprint(tool)) skip('is listed again; the first one is used')
    else {
      skip('is listed again with another definition; the name is quarantined')
      tools.push(tool)
    }
  }
  return { tools, unusable }
}

/** The required fields only. Other odd fields are repaired when the entry becomes a tool. */
function asTool(entry: unknown): unknown {
  if (!isObject(entry) || isValidated(entry)) return entry
  const { name, inputSchema } = entry as Partial<McpTool>
  return { name, description: '', inputSchema }
}

/** Fingerprints go no deeper, so a change below this depth would not be noticed. */
const MOST_DEPTH = 200
/** Characters of one tool. The largest real tools have some tens of thousands. */
const MOST_OF_TOOL = 256 * 1024
/** Characters of all tools of one server, to limit processing time. */
const MOST_OF_SERVER = 16 * 1024 * 1024

/** Works level by level, because recursion could overflow the stack on hostile input. Stops at a limit. */
function measure(entry: unknown): { readonly size: number; readonly reason?: string } {
  let size = 0
  let level: unknown[] = [entry]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_DEPTH + 1) return { size, reason: `is nested more than ${MOST_DEPTH} levels deep` }
    const next: unknown[] = []
    for (const each of level) {
      // Brackets, commas and numbers count for a few characters each.
      size += typeof each === 'string' ? each.length + 3 : 3
      if (isObject(each))
        for (const [key, value] of Object.entries(each)) {
          size += Array.isArray(each) ? 0 : key.length + 3
          next.push(value)
        }
      if (size > MOST_OF_TOOL) return { size, reason: `is larger than ${MOST_OF_TOOL / 1024} kB` }
    }
    level = next
  }
  return { size }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function nameOf(entry: unknown): { name?: string } {
  const name = isObject(entry) ? (entry as { name?: unknown }).name : undefined
  return typeof name === 'string' && name.trim() !== '' ? { name } : {}
}

/** Checks a cached definition that did not come from a listing. */
function withUsableTools(cached: CachedDefinition): CachedDefinition {
  if (cached.definition.unusable) return cached
  return { ...cached, definition: { ...cached.definition, ...splitUsableTools(cached.definition.tools) } }
}

function areUsable(tools: readonly unknown[]): boolean {
  return tools.every((tool) => findToolProblem(asTool(tool)) === undefined)
}

/** Describes unusable entries in one line, for a warning. */
export function describeUnusable(unusable: readonly UnusableEntry[]): string {
  const each = unusable.slice(0, 3).map(({ entry, name, reason }) => {
    const called = name === undefined ? '' : ` (${firstLine(name, 60)})`
    return `entry ${entry}${called} ${reason}`
  })
  const more = unusable.length > 3 ? `; and ${unusable.length - 3} more` : ''
  return `${unusable.length} of its entries cannot be used: ${each.join('; ')}${more}`
}

/** Wraps a cache: an error, or an invalid value, becomes a warning. */
export function catchCacheErrors(cache: DefinitionCache, warn: WarningListener): DefinitionCache {
  const attempt = <T>(what: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      warn({ code: 'cache-failed', text: `the cache failed to ${what}: ${why}` })
      return undefined
    }
  }
  return {
    read: (server, asked) =>
      attempt(`read ${server.name}`, () => {
        const cached: unknown = cache.read(server, asked)
        if (cached === undefined) return undefined
        if (!isCached(cached)) throw new Error('it returned an invalid definition')
        const whole = withUsableTools(cached)
        if (!areUsable(whole.definition.tools)) throw new Error('it returned invalid tools')
        return whole
      }),
    write: (server, definition, asked, now, notes) =>
      attempt(`store ${server.name}`, () => cache.write(server, definition, asked, now, notes)),
    forget: (server, asked) => attempt(`forget ${server.name}`, () => cache.forget(server, asked)),
    readFailure: (server, asked) => attempt(`read ${server.name}`, () => cache.readFailure?.(server, asked)),
    writeFailure: (server, failed, asked) =>
      void attempt(`store ${server.name}`, () => cache.writeFailure?.(server, failed, asked)),
    wasCompared: (key) => attempt('read comparisons', () => cache.wasCompared?.(key)) === true,
    noteCompared: (key) => attempt('store comparisons', () => cache.noteCompared?.(key)),
    ...dropUndefined({
      kept: cache.kept
        ? (...[server, definition, use, asked]: Parameters<NonNullable<DefinitionCache['kept']>>) =>
            attempt(`store the index of ${server.name}`, () => cache.kept?.(server, definition, use, asked))
        : undefined,
    }),
  }
}

function isCached(value: unknown): value is CachedDefinition {
  const { definition, savedAt } = (isRecord(value) ? value : {}) as Partial<CachedDefinition>
  return (
    isRecord(definition) &&
    Array.isArray(definition.tools) &&
    typeof definition.instructions === 'string' &&
    (definition.unusable === undefined || Array.isArray(definition.unusable)) &&
    typeof savedAt === 'number'
  )
}
