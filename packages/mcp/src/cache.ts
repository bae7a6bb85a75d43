/** Definitions on disk, one file per server and config, so that a catalogue can be searched before any server has started. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { canonicalJson, shortHash } from '@toolwell/core/shared'
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
  return shortHash(canonicalJson({ name, endpoint, asked }), 32)
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
  const fileOf = (server: ServerConfig, asked?: string) => {
    const readable = server.name.replace(/[^\w-]+/g, '_').slice(0, 40)
    return join(folder, `${readable}-${serverFingerprint(server, asked)}.json`)
  }
  const trustFileOf = (server: ServerConfig) => {
    const file = fileOf(server)
    return join(dirname(file), 'trust', basename(file))
  }
  const put = (file: string, text: string) => {
    const temporary = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
    try {
      // Definitions are no secret, but what a private list holds is its owner's business.
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(temporary, text, { mode: 0o600 })
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
  const get = (file: string): string | undefined => {
    try {
      return readFileSync(file, 'utf8')
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
      const text = get(file)
      const read = text === undefined ? undefined : decode(text, serverFingerprint(server, asked))
      if (typeof read === 'string') setAside(file, read)
      return typeof read === 'string' ? undefined : read
    },
    write(server, definition, asked, now = Date.now(), notes) {
      put(fileOf(server, asked), encode(serverFingerprint(server, asked), definition, now, notes))
    },
    forget(server, asked) {
      remove(fileOf(server, asked))
    },
    readTrust(server) {
      const file = trustFileOf(server)
      const text = get(file)
      const read = text === undefined ? undefined : decodeTrust(text)
      if (text !== undefined && !read) setAside(file, 'is damaged')
      return read
    },
    writeTrust(server, remembered) {
      put(trustFileOf(server), `${JSON.stringify({ toolwell: FORMAT, ...remembered })}\n`)
    },
  }
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
function digest(text: string | undefined): string {
  return createHash('sha256')
    .update(text ?? '')
    .digest('hex')
}

/** The head says what follows, so that the rest is looked at once: `{"toolwell":1,"check":"…","body":…}`. */
const HEAD = /^\{"toolwell":(\d+),"check":"([0-9a-f]{64})","body":/

function encode(fingerprint: string, definition: ServerDefinition, savedAt: number, notes: unknown): string {
  const body = JSON.stringify({ fingerprint, savedAt, definition, notes })
  return `{"toolwell":${FORMAT},"check":"${digest(body)}","body":${body}}\n`
}

/** The content, or in words why it is none. */
function decode(text: string, fingerprint: string): CachedDefinition | string {
  const [head, format, check] = HEAD.exec(text) ?? []
  if (head === undefined)
    return text.startsWith('{"toolwell"') || !isJson(text) ? 'is damaged' : 'was not written by Toolwell'
  if (Number(format) !== FORMAT) return 'was written by another version'
  const body = text.slice(head.length).replace(/\}\n?$/, '')
  if (check !== digest(body)) return 'is damaged'
  const value = JSON.parse(body) as Partial<CachedDefinition> & { fingerprint?: unknown }
  if (value.fingerprint !== fingerprint || !value.definition || typeof value.savedAt !== 'number')
    return 'belongs to another server'
  return { definition: value.definition, savedAt: value.savedAt, notes: value.notes }
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
