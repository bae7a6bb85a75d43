/** Splits what a server lists into tools and unusable entries, so that every entry is accounted for. */

import { defined, firstLine, isRecord, isValidated, problemOf } from '@toolwell/core/internal'
import type { CachedDefinition, DefinitionCache } from './cache.js'
import { fingerprint } from './fingerprint.js'
import type { McpTool, UnusableEntry } from './server-definition.js'
import type { WarningListener } from './warning.js'

/** Of a tool that is listed twice, the first counts. Where the two differ both stay: a review holds the name back. */
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
    const leave = (reason: string) => unusable.push({ entry: index + 1, ...nameOf(entry), reason })
    const { size, reason } = measure(entry)
    const problem =
      reason ??
      (total + size > MOST_OF_SERVER
        ? `is left out: all before it take ${MOST_OF_SERVER / 1024 / 1024} MB, and no more is read of one server`
        : problemOf(asTool(entry)))
    if (problem === undefined) total += size
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
/** Characters of one tool; the largest of real servers have some tens of thousands. */
const MOST_OF_TOOL = 256 * 1024
/** Characters of all tools of one server. Whatever is done with them takes time in proportion. */
const MOST_OF_SERVER = 16 * 1024 * 1024

/** Level by level: recursion would overflow the stack on hostile input. Ends where a bound is reached. */
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

/** Checks a definition that came into the cache by other means than listing. */
function withUsableTools(cached: CachedDefinition): CachedDefinition {
  if (cached.definition.unusable) return cached
  return { ...cached, definition: { ...cached.definition, ...splitUsableTools(cached.definition.tools) } }
}

/** Whether all of these can be used as tools. */
function areUsable(tools: readonly unknown[]): boolean {
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

// A cache that never fails: an error in it, or a value that is not a definition, costs a warning and a listing.

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
        if (!isCached(cached)) throw new Error('what it returned is not a definition')
        const whole = withUsableTools(cached)
        if (!areUsable(whole.definition.tools)) throw new Error('what it returned as tools cannot be used')
        return whole
      }),
    write: (server, definition, asked, now, notes) =>
      attempt(`keep ${server.name}`, () => cache.write(server, definition, asked, now, notes)),
    forget: (server, asked) => attempt(`forget ${server.name}`, () => cache.forget(server, asked)),
    readFailure: (server, asked) => attempt(`read ${server.name}`, () => cache.readFailure?.(server, asked)),
    writeFailure: (server, failed, asked) =>
      void attempt(`keep ${server.name}`, () => cache.writeFailure?.(server, failed, asked)),
    wasCompared: (key) => attempt('read what was compared', () => cache.wasCompared?.(key)) === true,
    noteCompared: (key) => attempt('keep what was compared', () => cache.noteCompared?.(key)),
    ...defined({
      kept: cache.kept
        ? (...[server, definition, use, asked]: Parameters<NonNullable<DefinitionCache['kept']>>) =>
            attempt(`keep what is made of ${server.name}`, () => cache.kept?.(server, definition, use, asked))
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
