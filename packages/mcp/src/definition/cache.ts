/** Where definitions are kept between programs, so that a catalogue can be searched before any server has started. */

import type { SourceUpdate } from '@toolwell/core'
import { canonicalJson } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'
import type { ServerDefinition } from './server-definition.js'
import { sha256 } from './stored-definition.js'

/** After this long, a server that spoke the older protocol is asked again. */
const LEGACY_HOLDS = 7 * 86_400_000

export type KeptParts = NonNullable<SourceUpdate['kept']>

export interface CachedDefinition {
  readonly definition: ServerDefinition
  /** Milliseconds since the epoch. */
  readonly savedAt: number
  /** What a review found out about this very definition. A cache keeps it and need not read it. */
  readonly notes?: unknown
}

/** That a server could not be listed. */
export interface FailedListing {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Without secrets. */
  readonly reason: string
}

/** A server may list other tools for a client that can do more; `asked` names what ours can. */
export interface DefinitionCache {
  /** Where nothing was written of a server in its folder, what was last written of the same entry in another. */
  read(server: ServerConfig, asked?: string): CachedDefinition | undefined
  write(
    server: ServerConfig,
    definition: ServerDefinition,
    asked?: string,
    now?: number,
    notes?: unknown,
  ): void
  forget(server: ServerConfig, asked?: string): void
  /** That nothing is known of a server because it could not be listed. What is written or forgotten of it ends that. */
  readFailure?(server: ServerConfig, asked?: string): FailedListing | undefined
  writeFailure?(server: ServerConfig, failed: FailedListing, asked?: string): void
  /** Where to keep what is made of this definition; `use` names what else decides it. */
  kept?(
    server: ServerConfig,
    definition: ServerDefinition,
    use: string,
    asked?: string,
  ): KeptParts | undefined
  /** Whether a comparison of these servers, noted before, found nothing new: then it need not be made again. */
  wasCompared?(key: string): boolean
  noteCompared?(key: string): void
}

type Identified = Pick<ServerConfig, 'name' | 'endpoint' | 'workspace'>

/** Everything that decides what a server offers, and to whom: with another token it may be another list. */
export function serverFingerprint(
  { name, endpoint }: Pick<Identified, 'name' | 'endpoint'>,
  asked = '',
): string {
  return keyOf({ name, endpoint, asked })
}

/**
 * The same without the folder of a project: of an entry in a file, what is known of it in one folder answers in others, until it is
 * listed there. The file is part of it: the same words in the file of another project may start another program. Undefined where
 * there is nothing but the folder to tell two servers apart, or none is needed.
 */
export function entryFingerprint({ name, endpoint, workspace }: Identified, asked = ''): string | undefined {
  if (workspace.need === 'none' || workspace.entry === '') return undefined
  const { endpoint: bare } = workspace.in(NO_FOLDER)
  const reached =
    bare.type === 'stdio' && endpoint.type === 'stdio'
      ? // An envFile of the folder cannot be read in none. What it holds may be a token.
        { ...bare, env: { ...endpoint.env, ...bare.env } }
      : bare
  return keyOf({ name, written: workspace.written, reached, asked })
}

const keyOf = (parts: object) => sha256(canonicalJson(parts)).slice(0, 32)

/** Stands where the folder of a project would. */
const NO_FOLDER = '/toolwell-no-folder'

/** True while the server's own promise about its list holds. */
export function isFresh({ definition, savedAt }: CachedDefinition, now = Date.now()): boolean {
  const age = now - savedAt
  return definition.ttlMs !== undefined && age >= 0 && age < definition.ttlMs
}

/** The era that need not be found out again. */
export function knownEra(cached: CachedDefinition | undefined, now = Date.now()): 'legacy' | undefined {
  if (cached?.definition.era !== 'legacy') return undefined
  const age = now - cached.savedAt
  return age >= 0 && age < LEGACY_HOLDS ? 'legacy' : undefined
}

// Definitions that are kept as long as the program runs.

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
