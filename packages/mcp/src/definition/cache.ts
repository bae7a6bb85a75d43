/** Definitions on disk, one file per server and config, so that a catalogue can be searched before any server has started. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { SourceUpdate } from '@toolwell/core'
import { canonicalJson, isRecord, makeFolder } from '@toolwell/core/shared'
import type { ServerConfig } from '../config/server-config.js'
import type { ServerDefinition } from './server-definition.js'
import { decodeDefinition, digestOf, encodeDefinition } from './stored-definition.js'
import type { ServerWarning, WarningListener } from './warning.js'

const TRUST_FORMAT = 1
/** After this long, a server that spoke the older protocol is asked again. */
const LEGACY_HOLDS = 7 * 86_400_000

type KeptParts = NonNullable<SourceUpdate['kept']>

export interface CachedDefinition {
  readonly definition: ServerDefinition
  /** Milliseconds since the epoch. */
  readonly savedAt: number
  /** What a review found out about this very definition. A cache keeps it and need not read it. */
  readonly notes?: unknown
}

/** Fingerprints of what was met first, where there is no lock. */
export interface Remembered {
  readonly instructions: string
  readonly tools: Readonly<Record<string, string>>
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
  /** Where to keep what is made of this definition; `use` names what else decides it. */
  kept?(
    server: ServerConfig,
    definition: ServerDefinition,
    use: string,
    asked?: string,
  ): KeptParts | undefined
}

export interface CacheOptions {
  /** Default: `toolwell/servers` in the user's cache folder. */
  readonly folder?: string
  /** Told what could not be read or written. The work goes on without. */
  readonly onWarning?: WarningListener
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
  const warn = (warning: ServerWarning) => onWarning?.(warning)
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
    return join(folder, `${readable}-${fingerprintOf(server, asked)}.jsonl`)
  }
  /** What each definition that was read or written comes to, for the index that belongs to it. */
  const digests = new WeakMap<ServerDefinition, string>()
  const trustFileOf = (server: ServerConfig) => {
    const file = fileOf(server)
    return join(dirname(file), 'trust', `${basename(file, '.jsonl')}.json`)
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
        warn({
          code: 'cache-unwritable',
          text: `definitions cannot be kept in ${folder} (${(error as { code?: string }).code ?? String(error)}); every start will list every server`,
          fix: 'Make the folder writable, or name another one',
        })
      unwritable = true
    }
  }
  const get = (file: string): Buffer | undefined => {
    try {
      return readFileSync(file)
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (code === 'EISDIR') setAside(file, 'is a folder')
      else if (code !== 'ENOENT' && code !== 'ENOTDIR')
        warn({ code: 'cache-unreadable', text: `${file} cannot be read (${code})` })
      return undefined
    }
  }
  const setAside = (
    file: string,
    why: string,
    rest: Pick<ServerWarning, 'code' | 'fix'> = { code: 'cache-damaged' },
    then = 'the server will be asked again',
  ) => {
    try {
      renameSync(file, `${file}.unreadable`)
      warn({ ...rest, text: `${file} ${why}; it was set aside as ${file}.unreadable, and ${then}` })
    } catch {
      warn({ ...rest, text: `${file} ${why}; ${then}` })
    }
  }
  return {
    read(server, asked) {
      const file = fileOf(server, asked)
      const content = get(file)
      const read = content && decodeDefinition(content, fingerprintOf(server, asked))
      if (read === undefined) return undefined
      if (typeof read === 'string') {
        setAside(file, read)
        return undefined
      }
      const { digest, ...cached } = read
      digests.set(cached.definition, digest)
      return cached
    },
    write(server, definition, asked, now = Date.now(), notes) {
      const digest = digestOf(JSON.stringify(definition))
      digests.set(definition, digest)
      const fingerprint = fingerprintOf(server, asked)
      put(fileOf(server, asked), encodeDefinition(fingerprint, { definition, digest, savedAt: now, notes }))
    },
    forget(server, asked) {
      remove(fileOf(server, asked))
      for (const part of PARTS) remove(partOf(fileOf(server, asked), part))
    },
    kept(server, definition, use, asked) {
      // Asked for with every change of a server, and used at a request, if there is one.
      const place = (part: Part) => {
        const digest = digests.get(definition) ?? digestOf(JSON.stringify(definition))
        const key = digestOf(JSON.stringify([fingerprintOf(server, asked), digest, use]))
        return { file: partOf(fileOf(server, asked), part), key }
      }
      const stored = (part: Part) => ({
        read() {
          const { file, key } = place(part)
          return decodePart(readFileSync(file), key)
        },
        write(bytes: Uint8Array) {
          const { file, key } = place(part)
          put(file, encodePart(bytes, key))
        },
      })
      return { index: stored('index'), tokens: stored('tokens') }
    },
    readTrust(server) {
      const file = trustFileOf(server)
      const text = get(file)?.toString('utf8')
      const read = text === undefined ? undefined : decodeTrust(text)
      if (text !== undefined && !read)
        setAside(
          file,
          'is damaged',
          {
            code: 'first-use-damaged',
            fix: 'Look at the server with toolwell inspect, and pin it with toolwell lock',
          },
          `it is not known whether ${server.name} has changed since it was first met`,
        )
      return read
    },
    writeTrust(server, remembered) {
      put(trustFileOf(server), `${JSON.stringify({ toolwell: TRUST_FORMAT, ...remembered })}\n`)
    },
  }
}

const PARTS = ['index', 'tokens'] as const
type Part = (typeof PARTS)[number]

/** Beside the definition: they are of no use without it. */
function partOf(file: string, part: Part): string {
  return file.replace(/jsonl$/, part)
}

/** Two checks of 32 bytes each: that it belongs to this definition and use of it, and that nothing of it is damaged. */
function encodePart(bytes: Uint8Array, key: string): Uint8Array {
  return Buffer.concat([Buffer.from(key + digestOf(bytes), 'hex'), bytes])
}

function decodePart(content: Buffer, key: string): Uint8Array | undefined {
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

function decodeTrust(text: string): Remembered | undefined {
  try {
    const { toolwell, instructions, tools } = JSON.parse(text)
    const isOurs = toolwell === TRUST_FORMAT && typeof instructions === 'string' && isPrints(tools)
    return isOurs ? { instructions, tools } : undefined
  } catch {
    return undefined
  }
}

function isPrints(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((print) => typeof print === 'string')
}
