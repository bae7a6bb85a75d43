/** A cache as it may be relied on: what fails in it, or comes out of it and is none, costs a warning and a listing. */
import type { CachedDefinition, DefinitionCache } from './cache.js'
import { areUsable, lookedThrough } from './usable-tools.js'

export function carefulCache(cache: DefinitionCache, warn: (detail: string) => void): DefinitionCache {
  const attempt = <T>(what: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      warn(`the cache failed to ${what}: ${error instanceof Error ? error.message : String(error)}`)
      return undefined
    }
  }
  return {
    read: (server, asked) =>
      attempt(`read ${server.name}`, () => {
        const cached: unknown = cache.read(server, asked)
        if (cached === undefined) return undefined
        if (!isCached(cached)) throw new Error('what it gave is no definition')
        const whole = lookedThrough(cached)
        if (!areUsable(whole.definition.tools)) throw new Error('what it gave as tools are none')
        return whole
      }),
    write: (server, definition, asked, now, notes) =>
      attempt(`keep ${server.name}`, () => cache.write(server, definition, asked, now, notes)),
    forget: (server, asked) => attempt(`forget ${server.name}`, () => cache.forget(server, asked)),
    readTrust: (server) =>
      attempt(`read what was first met of ${server.name}`, () => {
        const remembered = cache.readTrust?.(server)
        if (remembered === undefined || isRemembered(remembered)) return remembered
        throw new Error('what it gave is no memory')
      }),
    writeTrust: (server, remembered) =>
      attempt(`remember ${server.name}`, () => cache.writeTrust?.(server, remembered)),
    ...(cache.kept
      ? {
          kept: (server, definition, use, asked) =>
            attempt(`keep what is made of ${server.name}`, () =>
              cache.kept?.(server, definition, use, asked),
            ),
        }
      : {}),
  }
}

function isCached(value: unknown): value is CachedDefinition {
  const { definition, savedAt } = (isObject(value) ? value : {}) as Partial<CachedDefinition>
  return (
    isObject(definition) &&
    Array.isArray(definition.tools) &&
    typeof definition.instructions === 'string' &&
    (definition.leftOut === undefined || Array.isArray(definition.leftOut)) &&
    typeof savedAt === 'number'
  )
}

function isRemembered(value: unknown): boolean {
  const { instructions, tools } = (isObject(value) ? value : {}) as {
    instructions?: unknown
    tools?: unknown
  }
  return typeof instructions === 'string' && isObject(tools)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
