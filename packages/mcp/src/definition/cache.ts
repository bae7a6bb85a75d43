/** Cache of server definitions, so that a catalogue can be searched before any server has started. */

import type { SourceUpdate } from '@toolwell/core'
import { canonicalJson } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'
import type { ServerDefinition } from './server-definition.js'
import { sha256 } from './stored-definition.js'

/** After this time, a server with the older protocol is probed again. */
const LEGACY_HOLDS = 7 * 86_400_000

export type KeptParts = NonNullable<SourceUpdate['kept']>

export interface CachedDefinition {
  readonly definition: ServerDefinition
  /** Milliseconds since the epoch. */
  readonly savedAt: number
  /** Notes of the review about this definition. A cache stores them without reading them. */
  readonly notes?: unknown
}

/** A failed attempt to list a server. */
export interface FailedListing {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Without secrets. */
  readonly reason: string
}

/** `asked`: key of our capabilities, because a server may list other tools for a client that can do more. */
export interface DefinitionCache {
  /** If nothing is stored for the server in its folder, returns the last definition of the same entry in another folder. */
  read(server: ServerConfig, asked?: string): CachedDefinition | undefined
  write(
    server: ServerConfig,
    definition: ServerDefinition,
    asked?: string,
    now?: number,
    notes?: unknown,
  ): void
  forget(server: ServerConfig, asked?: string): void
  /** The last failed listing, until `write` or `forget` is called for the server. */
  readFailure?(server: ServerConfig, asked?: string): FailedListing | undefined
  writeFailure?(server: ServerConfig, failed: FailedListing, asked?: string): void
  /** Storage for data derived from this definition, such as the search index. `use`: key of the other inputs. */
  kept?(
    server: ServerConfig,
    definition: ServerDefinition,
    use: string,
    asked?: string,
  ): KeptParts | undefined
  /** Did an earlier comparison of these servers find nothing new? Then it can be skipped. */
  wasCompared?(key: string): boolean
  noteCompared?(key: string): void
}

type Identified = Pick<ServerConfig, 'name' | 'endpoint' | 'workspace'>

/** Identifies a server and its credentials: with another token the list may differ. */
export function serverFingerprint(
  { name, endpoint }: Pick<Identified, 'name' | 'endpoint'>,
  asked = '',
): string {
  return keyOf({ name, endpoint, asked })
}

/**
 * Identifies an entry of a file without the project folder: its definition in one folder is used in others until it is listed
 * there. Includes the file, because the same entry in another project may start another program. Undefined if the server does not
 * depend on the folder, or is not from a file.
 */
export function entryFingerprint({ name, endpoint, workspace }: Identified, asked = ''): string | undefined {
  if (workspace.need === 'none' || workspace.entry === '') return undefined
  const { endpoint: bare } = workspace.in(NO_FOLDER)
  const reached =
    bare.type === 'stdio' && endpoint.type === 'stdio'
      ? // An envFile in the folder cannot be read without one, but may contain a token.
        { ...bare, env: { ...endpoint.env, ...bare.env } }
      : bare
  return keyOf({ name, written: workspace.written, reached, asked })
}

const keyOf = (parts: object) => sha256(canonicalJson(parts)).slice(0, 32)

/** Placeholder for the project folder. */
const NO_FOLDER = '/toolwell-no-folder'

/** Is the list younger than the server's `ttlMs`? */
export function isFresh({ definition, savedAt }: CachedDefinition, now = Date.now()): boolean {
  const age = now - savedAt
  return definition.ttlMs !== undefined && age >= 0 && age < definition.ttlMs
}

/** Returns the era of the last listing. Undefined for an older server that should be probed again. */
export function knownEra(
  cached: CachedDefinition | undefined,
  now = Date.now(),
): 'legacy' | 'modern' | undefined {
  if (cached?.definition.era !== 'legacy') return cached?.definition.era
  const age = now - cached.savedAt
  return age >= 0 && age < LEGACY_HOLDS ? 'legacy' : undefined
}

/** Creates a cache in memory, for programs without files. */
export function memoryCache(): DefinitionCache {
  const kept = new Map<string, CachedDefinition>()
  /** By entry: the definition that was written last, in any folder. */
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
