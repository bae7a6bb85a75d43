/** Definitions that are kept as long as the program runs. */
import { type CachedDefinition, type DefinitionCache, serverFingerprint } from './cache.js'

/** For programs that want no files. */
export function memoryCache(): DefinitionCache {
  const kept = new Map<string, CachedDefinition>()
  const compared = new Set<string>()
  return {
    read: (server, asked) => kept.get(serverFingerprint(server, asked)),
    write: (server, definition, asked, now = Date.now(), notes) =>
      void kept.set(serverFingerprint(server, asked), { definition, savedAt: now, notes }),
    forget: (server, asked) => void kept.delete(serverFingerprint(server, asked)),
    wasCompared: (key) => compared.has(key),
    noteCompared: (key) => void compared.add(key),
  }
}
