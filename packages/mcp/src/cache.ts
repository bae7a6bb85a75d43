/** Definitions on disk, one file per server and config, so that a catalogue can be searched before any server has started. */
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { StoredIndex } from '@toolwell/core'
import { canonicalJson, makeFolder } from '@toolwell/core/shared'
import type { ServerConfig } from './config/server-config.js'
import type { ServerDefinition } from './definition.js'
import type { Remembered } from './lock/create-review.js'

const FORMAT = 1
/** After this long, a server that spoke the older protocol is asked again. */
const LEGACY_HOLDS = 7 * 86_400_000

export interface CachedDefinition {
  readonly definition: ServerDefinition
  /** Milliseconds since the epoch. */
  readonly savedAt: number
  /** What a review found out about this very definition. A cache keeps it and need not read it. */
  readonly notes?: unknown
}

/** A server may list other tools for a client that can do more; `asked` names what ours can. */
export interface DefinitionCache {
  read(server: ServerConfig, asked?: string): CachedDefinition | undefined
  write(
    server: ServerConfig,
    definition: ServerDefinition,
    asked?: string,
    now?: number,
    notes?: unknown,
  ): void
  forget(server: ServerConfig, asked?: string): void
  /** What was met first of a server, which outlives its definitions. A cache without these remembers while the program runs. */
  readTrust?(server: ServerConfig): Remembered | undefined
  writeTrust?(server: ServerConfig, remembered: Remembered): void
  /** Where to keep what search makes of this definition; `use` names what else decides it. */
  index?(server: ServerConfig, definition: ServerDefinition, use: string, asked?: string): StoredIndex
}

export interface CacheOptions {
  /** Default: `toolwell/servers` in the user's cache folder. */
  readonly folder?: string
  /** Told what could not be read or written. The work goes on without. */
  readonly onWarning?: (detail: string) => void
}

export function defaultCacheFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const base =
    env.XDG_CACHE_HOME ||
    (process.platform === 'win32' && env.LOCALAPPDATA) ||
    (process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache'))
  return join(base, 'toolwell', 'servers')
}

/** Everything that decides what a server offers, and to whom: with another token it may be another list. */
export function serverFingerprint(
  { name, endpoint }: Pick<ServerConfig, 'name' | 'endpoint'>,
  asked = '',
): string {
  return digestOf(canonicalJson({ name, endpoint, asked })).slice(0, 32)
}

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

/** Nothing here throws: a cache that cannot be used is a warning and a slower start. */
export function diskCache({ folder = defaultCacheFolder(), onWarning }: CacheOptions = {}): DefinitionCache {
  let unwritable = false
  const warn = (detail: string) => onWarning?.(detail)
  /** Made once for each server: a start asks for it several times. */
  const fingerprints = new WeakMap<ServerConfig, Map<string, string>>()
  const fingerprintOf = (server: ServerConfig, asked = '') => {
    const known = fingerprints.get(server) ?? new Map<string, string>()
    fingerprints.set(server, known)
    const made = known.get(asked) ?? serverFingerprint(server, asked)
    known.set(asked, made)
    return made
  }
  const fileOf = (server: ServerConfig, asked?: string) => {
    const readable = server.name.replace(/[^\w-]+/g, '_').slice(0, 40)
    return join(folder, `${readable}-${fingerprintOf(server, asked)}.json`)
  }
  /** What each definition that was read or written comes to, for the index that belongs to it. */
  const digests = new WeakMap<ServerDefinition, string>()
  const trustFileOf = (server: ServerConfig) => {
    const file = fileOf(server)
    return join(dirname(file), 'trust', basename(file))
  }
  const put = (file: string, content: string | Uint8Array) => {
    const temporary = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
    try {
      // Definitions are no secret, but what a private list holds is its owner's business.
      makeFolder(dirname(file), 0o700)
      writeFileSync(temporary, content, { mode: 0o600 })
      renameSync(temporary, file)
    } catch (error) {
      remove(temporary)
      if (!unwritable)
        warn(
          `definitions cannot be kept in ${folder} (${(error as { code?: string }).code ?? String(error)}); every start will list every server. Make the folder writable, or name another one`,
        )
      unwritable = true
    }
  }
  const get = (file: string): Buffer | undefined => {
    try {
      return readFileSync(file)
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (code === 'EISDIR') setAside(file, 'is a folder')
      else if (code !== 'ENOENT' && code !== 'ENOTDIR') warn(`${file} cannot be read (${code})`)
      return undefined
    }
  }
  const setAside = (file: string, why: string) => {
    try {
      renameSync(file, `${file}.unreadable`)
      warn(`${file} ${why}; it was set aside as ${file}.unreadable, and the server will be asked again`)
    } catch {
      warn(`${file} ${why}; the server will be asked again`)
    }
  }
  return {
    read(server, asked) {
      const file = fileOf(server, asked)
      const content = get(file)
      const read = content && decode(content, fingerprintOf(server, asked))
      if (read === undefined) return undefined
      if (typeof read === 'string') {
        setAside(file, read)
        return undefined
      }
      const { digest, ...cached } = read
      if (digest !== undefined) digests.set(cached.definition, digest)
      return cached
    },
    write(server, definition, asked, now = Date.now(), notes) {
      const digest = digestOf(JSON.stringify(definition))
      digests.set(definition, digest)
      const fingerprint = fingerprintOf(server, asked)
      put(fileOf(server, asked), encode(fingerprint, definition, digest, now, notes))
    },
    forget(server, asked) {
      remove(fileOf(server, asked))
      remove(indexOf(fileOf(server, asked)))
    },
    index(server, definition, use, asked) {
      // Asked for with every change of a server, and used at a search, if there is one.
      const place = () => {
        const digest = digests.get(definition) ?? digestOf(JSON.stringify(definition))
        const key = digestOf(JSON.stringify([fingerprintOf(server, asked), digest, use]))
        return { file: indexOf(fileOf(server, asked)), key }
      }
      return {
        read() {
          const { file, key } = place()
          return decodeIndex(readFileSync(file), key)
        },
        write(bytes) {
          const { file, key } = place()
          put(file, encodeIndex(bytes, key))
        },
      }
    },
    readTrust(server) {
      const file = trustFileOf(server)
      const text = get(file)?.toString('utf8')
      const read = text === undefined ? undefined : decodeTrust(text)
      if (text !== undefined && !read) setAside(file, 'is damaged')
      return read
    },
    writeTrust(server, remembered) {
      put(trustFileOf(server), `${JSON.stringify({ toolwell: FORMAT, ...remembered })}\n`)
    },
  }
}

/** Beside the definition: its index is of no use without it. */
function indexOf(file: string): string {
  return file.replace(/json$/, 'index')
}

/** Two checks of 32 bytes each: that it belongs to this definition and use of it, and that nothing of it is damaged. */
function encodeIndex(bytes: Uint8Array, key: string): Uint8Array {
  return Buffer.concat([Buffer.from(key + digestOf(bytes), 'hex'), bytes])
}

function decodeIndex(content: Buffer, key: string): Uint8Array | undefined {
  const bytes = content.subarray(64)
  return content.toString('hex', 0, 64) === key + digestOf(bytes) ? bytes : undefined
}

/** For programs that want no files. */
export function memoryCache(): DefinitionCache {
  const kept = new Map<string, CachedDefinition>()
  const trusted = new Map<string, Remembered>()
  return {
    read: (server, asked) => kept.get(serverFingerprint(server, asked)),
    write: (server, definition, asked, now = Date.now(), notes) =>
      void kept.set(serverFingerprint(server, asked), { definition, savedAt: now, notes }),
    forget: (server, asked) => void kept.delete(serverFingerprint(server, asked)),
    readTrust: (server) => trusted.get(serverFingerprint(server)),
    writeTrust: (server, remembered) => void trusted.set(serverFingerprint(server), remembered),
  }
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true, recursive: true })
  } catch {
    // It was never written, or the folder is no folder.
  }
}

/** The platform's own: a start reads every file. */
function digestOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** The head says what follows, so that the rest is looked at once: `{"toolwell":1,"check":"…","body":…}`. */
const HEAD = /^\{"toolwell":(\d+),"check":"([0-9a-f]{64})","body":/

function encode(
  fingerprint: string,
  definition: ServerDefinition,
  digest: string,
  savedAt: number,
  notes: unknown,
): string {
  const body = JSON.stringify({ fingerprint, savedAt, digest, definition, notes })
  return `{"toolwell":${FORMAT},"check":"${digestOf(body)}","body":${body}}\n`
}

/** The content, or in words why it is none. */
function decode(content: Buffer, fingerprint: string): (CachedDefinition & { digest?: string }) | string {
  const [head, format, check] = HEAD.exec(content.toString('latin1', 0, 128)) ?? []
  if (head === undefined) {
    const text = content.toString('utf8')
    return text.startsWith('{"toolwell"') || !isJson(text) ? 'is damaged' : 'was not written by Toolwell'
  }
  if (Number(format) !== FORMAT) return 'was written by another version'
  // Without the brace and the line end behind it. Checked as bytes: a start reads every file.
  const body = content.subarray(head.length, content.length - (content.at(-1) === 0x0a ? 2 : 1))
  if (check !== digestOf(body)) return 'is damaged'
  const value = JSON.parse(body.toString('utf8')) as Partial<CachedDefinition> & {
    fingerprint?: unknown
    digest?: unknown
  }
  const { definition, savedAt, digest } = value
  if (value.fingerprint !== fingerprint || !definition || typeof savedAt !== 'number')
    return 'belongs to another server'
  return { definition, savedAt, notes: value.notes, ...(typeof digest === 'string' ? { digest } : {}) }
}

function decodeTrust(text: string): Remembered | undefined {
  try {
    const { toolwell, instructions, tools } = JSON.parse(text)
    const isOurs = toolwell === FORMAT && typeof instructions === 'string' && isPrints(tools)
    return isOurs ? { instructions, tools } : undefined
  } catch {
    return undefined
  }
}

function isPrints(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((print) => typeof print === 'string')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
