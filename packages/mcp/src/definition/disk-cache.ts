/** Stores definitions on disk, one file per server, config and folder. Several programs may use the files at once. */
import { join } from 'node:path'
import type { ServerConfig } from '../config/server-config.js'
import { type DefinitionCache, entryFingerprint, type FailedListing, serverFingerprint } from './cache.js'
import type { ServerDefinition } from './server-definition.js'
import { decodeDefinition, encodeDefinition, sha256 } from './stored-definition.js'
import { createUserFiles, userFolder } from './user-files.js'
import type { WarningListener } from './warning.js'

export interface CacheOptions {
  /** Default: `toolwell/servers` in the user's cache folder. */
  readonly folder?: string
  /** Called for files that could not be read or written. */
  readonly onWarning?: WarningListener
}

export function defaultCacheFolder(env?: Readonly<Record<string, string | undefined>>): string {
  return userFolder('cache', 'servers', env)
}

/** Creates a cache on disk. Never throws: a cache that cannot be used is a warning and a slower start. */
export function diskCache({ folder = defaultCacheFolder(), onWarning }: CacheOptions = {}): DefinitionCache {
  const files = createUserFiles(folder, (warning) => onWarning?.(warning), true)
  /** Computed once per server: a start needs it several times. */
  const fingerprints = new WeakMap<ServerConfig, Map<string, string>>()
  const fingerprintOf = (server: ServerConfig, asked = '') => {
    const known = fingerprints.get(server) ?? new Map<string, string>()
    fingerprints.set(server, known)
    const made = known.get(asked) ?? serverFingerprint(server, asked)
    known.set(asked, made)
    return made
  }
  const named = ({ name }: ServerConfig, fingerprint: string, kind: string) =>
    join(folder, `${name.replace(/[^\w-]+/g, '_').slice(0, 40)}-${fingerprint}.${kind}`)
  const fileOf = (server: ServerConfig, asked?: string) =>
    named(server, fingerprintOf(server, asked), 'jsonl')
  /** The file with the fingerprint that was written last for this entry, in any folder. */
  const lastOf = (server: ServerConfig, asked?: string) => {
    const entry = entryFingerprint(server, asked)
    return entry === undefined ? undefined : named(server, entry, 'last')
  }
  const readLast = (file: string | undefined) => {
    const content = file === undefined ? '' : (files.get(file)?.toString('latin1') ?? '')
    return /^[0-9a-f]{32}$/.test(content) ? content : undefined
  }
  /** Digest of each definition that was read or written. Identifies the index of the definition. */
  const digests = new WeakMap<ServerDefinition, string>()
  return {
    read(server, asked) {
      const open = (fingerprint: string) => {
        const file = named(server, fingerprint, 'jsonl')
        const content = files.get(file)
        return content && { file, read: decodeDefinition(content, fingerprint) }
      }
      const borrow = () => {
        const last = readLast(lastOf(server, asked))
        return last === undefined ? undefined : open(last)
      }
      const opened = open(fingerprintOf(server, asked)) ?? borrow()
      if (opened === undefined) return undefined
      const { file, read } = opened
      if (typeof read === 'string') {
        files.renameDamaged(file, read)
        return undefined
      }
      const { digest, ...cached } = read
      digests.set(cached.definition, digest)
      return cached
    },
    readFailure(server, asked) {
      const content = files.get(failureOf(fileOf(server, asked)))?.toString('utf8') ?? '{}'
      try {
        const { at, reason } = JSON.parse(content) as Partial<FailedListing>
        return typeof at === 'number' && typeof reason === 'string' ? { at, reason } : undefined
      } catch {
        return undefined
      }
    },
    writeFailure(server, failed, asked) {
      files.put(failureOf(fileOf(server, asked)), JSON.stringify(failed))
    },
    write(server, definition, asked, now = Date.now(), notes) {
      files.remove(failureOf(fileOf(server, asked)))
      const digest = sha256(JSON.stringify(definition))
      digests.set(definition, digest)
      const fingerprint = fingerprintOf(server, asked)
      files.put(
        fileOf(server, asked),
        encodeDefinition(fingerprint, { definition, digest, savedAt: now, notes }),
      )
      const last = lastOf(server, asked)
      if (last !== undefined && readLast(last) !== fingerprint) files.put(last, fingerprint)
    },
    forget(server, asked) {
      files.remove(fileOf(server, asked))
      files.remove(failureOf(fileOf(server, asked)))
      const last = lastOf(server, asked)
      if (last !== undefined) files.remove(last)
      for (const part of PARTS) files.remove(partOf(fileOf(server, asked), part))
    },
    wasCompared: (key) => readKeys(files.get(join(folder, COMPARED))).includes(key),
    noteCompared(key) {
      const others = readKeys(files.get(join(folder, COMPARED))).filter((each) => each !== key)
      files.put(join(folder, COMPARED), JSON.stringify([key, ...others].slice(0, MOST_COMPARED)))
    },
    kept(server, definition, use, asked) {
      // Called at every change of a server, but needed only for a request: compute hashes late.
      const place = (part: Part) => {
        const digest = digests.get(definition) ?? sha256(JSON.stringify(definition))
        const key = sha256(JSON.stringify([fingerprintOf(server, asked), digest, use]))
        return { file: partOf(fileOf(server, asked), part), key }
      }
      const stored = (part: Part) => ({
        read() {
          const { file, key } = place(part)
          const content = files.get(file)
          return content && decodePart(content, key)
        },
        write(bytes: Uint8Array) {
          const { file, key } = place(part)
          files.put(file, encodePart(bytes, key))
        },
      })
      return { index: stored('index'), tokens: stored('tokens') }
    },
  }
}

/** Keys of comparisons, latest first: one per set of servers. */
const COMPARED = 'compared.json'
const MOST_COMPARED = 32

function readKeys(content: Buffer | undefined): string[] {
  try {
    const keys: unknown = JSON.parse(content?.toString('utf8') ?? '[]')
    return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : []
  } catch {
    return []
  }
}

const PARTS = ['index', 'tokens'] as const
type Part = (typeof PARTS)[number]

/** File of derived data, next to the definition. */
function partOf(file: string, part: Part): string {
  return file.replace(/jsonl$/, part)
}

function failureOf(file: string): string {
  return file.replace(/jsonl$/, 'failed.json')
}

/** Begins with two 32-byte hashes: the key of the definition and its use, and a checksum. */
function encodePart(bytes: Uint8Array, key: string): Uint8Array {
  return Buffer.concat([Buffer.from(key + sha256(bytes), 'hex'), bytes])
}

function decodePart(content: Buffer, key: string): Uint8Array | undefined {
  const bytes = content.subarray(64)
  return content.toString('hex', 0, 64) === key + sha256(bytes) ? bytes : undefined
}
