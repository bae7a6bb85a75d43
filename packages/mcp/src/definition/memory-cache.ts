/** Definitions that are kept as long as the program runs. */
import { type CachedDefinition, type DefinitionCache, entryFingerprint, serverFingerprint } from './cache.js'

/** For programs that want no files. */
export function memoryCache(): DefinitionCache {
  const kept = new Map<string, CachedDefinition>()
  /** By entry: what was last written of it, in whichever folder. */
  const last = new Map<string | undefined, CachedDefinition>()
  const compared = new Set<string>()
  return {
    read: (server, asked) =>
      kept.get(serverFingerprint(server, asked)) ?? last.get(entryFingerprint(server, asked)),
    write(server, definition, asked, now = Date.now(), notes) {
      const cached = { definition, savedAt: now, notes }
      const entry = entryFingerprint(server, asked)
      kept.set(serverFingerprint(server, asked), cached)
      if (entry !== undefined) last.set(entry, cached)
    },
    forget(server, asked) {
      kept.delete(serverFingerprint(server, asked))
      last.delete(entryFingerprint(server, asked))
    },
    wasCompared: (key) => compared.has(key),
    noteCompared: (key) => void compared.add(key),
  }
}
