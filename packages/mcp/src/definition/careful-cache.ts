/** A cache that never fails: an error in it, or a value that is not a definition, costs a warning and a listing. */
import { dropUndefined, isRecord } from '@toolwell/core/internal'
import type { CachedDefinition, DefinitionCache } from './cache.js'
import { areUsable, withUsableTools } from './usable-tools.js'
import type { WarningListener } from './warning.js'

export function carefulCache(cache: DefinitionCache, warn: WarningListener): DefinitionCache {
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
    ...dropUndefined({
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
