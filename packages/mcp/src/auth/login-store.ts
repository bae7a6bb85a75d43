/** Logins on disk, one file per server, that only their owner can read. Several processes may use them at once. */
import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { canonicalJson, isRecord, shortHash } from '@toolwell/core/internal'
import { makeFolder, withFileLock } from '@toolwell/core/internal/node'
import type { ServerConfig } from '../config/server-config.js'
import { userFolder } from '../definition/user-files.js'
import type { ServerWarning, WarningListener } from '../definition/warning.js'

const FORMAT = 1
/** A renewal asks one server one question, which is given up before this. */
const LOCK = { staleAfter: 60_000, giveUpAfter: 60_000 }

/** Everything that is known of one login. */
export interface Login {
  /** Who we are to the authorization server. */
  readonly client?: StoredOAuthClientInformation
  readonly tokens?: StoredOAuthTokens
  /** When the access token ends, in milliseconds since the epoch; undefined where it is not known. */
  readonly expiresAt?: number
  /** Where the tokens came from, and where they are renewed. */
  readonly discovery?: OAuthDiscoveryState
  readonly resource?: string
  /** The address the client was registered with. */
  readonly redirectUrl?: string
  /** Scopes that the server has asked for since; the next login asks for them. */
  readonly wanted?: string
}

export interface LoginStore {
  read(server: ServerConfig): Login | undefined
  /** Throws where it cannot be kept. */
  write(server: ServerConfig, login: Login): void
  forget(server: ServerConfig): void
  /** Runs the work while no other process runs its own on the same login. */
  exclusively<T>(server: ServerConfig, work: () => Promise<T>): Promise<T>
  /** Changes when the login changes. Cheap to read. */
  stamp(server: ServerConfig): string
}

export interface LoginStoreOptions {
  /** Default: `toolwell/logins` in the user's folder for data of programs. */
  readonly folder?: string
  /** Told what could not be read, and what was done about it. */
  readonly onWarning?: WarningListener
}

export function defaultLoginFolder(env?: Readonly<Record<string, string | undefined>>): string {
  return userFolder('data', 'logins', env)
}

/** Two servers of one address may be two accounts; another address or another client is another login. */
export function loginFingerprint({
  name,
  endpoint,
  oauth,
}: Pick<ServerConfig, 'name' | 'endpoint' | 'oauth'>): string {
  const url = endpoint.type === 'stdio' ? '' : endpoint.url
  return shortHash(canonicalJson({ name, url, client: oauth?.clientId ?? '' }), 32)
}

export function diskLogins({ folder = defaultLoginFolder(), onWarning }: LoginStoreOptions = {}): LoginStore {
  const warn = (warning: ServerWarning) => onWarning?.(warning)
  /** Made once for each server: every request looks at its file. */
  const paths = new WeakMap<ServerConfig, string>()
  const fileOf = (server: ServerConfig) => {
    const known = paths.get(server)
    if (known !== undefined) return known
    const readable = server.name.replace(/[^\w-]+/g, '_').slice(0, 40)
    const path = join(folder, `${readable}-${loginFingerprint(server)}.json`)
    paths.set(server, path)
    return path
  }
  const setAside = (file: string, server: ServerConfig, why: string) => {
    const next = `the login of ${server.name} is not known any more`
    try {
      renameSync(file, `${file}.unreadable`)
      warn({
        code: 'login-damaged',
        text: `${file} ${why}; it was set aside as ${file}.unreadable, and ${next}`,
      })
    } catch {
      warn({ code: 'login-damaged', text: `${file} ${why}; ${next}` })
    }
  }
  return {
    read(server) {
      const file = fileOf(server)
      let text: string
      try {
        text = readFileSync(file, 'utf8')
      } catch (error) {
        const { code = '' } = error as { code?: string }
        if (code === 'EISDIR') setAside(file, server, 'is a folder')
        else if (code !== 'ENOENT' && code !== 'ENOTDIR')
          warn({ code: 'login-unreadable', text: `${file} cannot be read (${code})` })
        return undefined
      }
      closeToOthers(file, warn)
      const login = decode(text, loginFingerprint(server))
      if (!login) setAside(file, server, 'is damaged, or of another version')
      return login
    },
    write(server, login) {
      const file = fileOf(server)
      const temporary = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
      const { name, endpoint } = server
      const url = endpoint.type === 'stdio' ? '' : withoutSecrets(endpoint.url)
      const content = { toolwell: FORMAT, fingerprint: loginFingerprint(server), name, url, login }
      try {
        makeFolder(folder, 0o700)
        // The folder may have been made with other permissions.
        chmodSync(folder, 0o700)
        writeFileSync(temporary, `${JSON.stringify(content)}\n`, { mode: 0o600, flag: 'wx' })
        renameSync(temporary, file)
      } catch (error) {
        rmSync(temporary, { force: true })
        throw error
      }
    },
    forget(server) {
      rmSync(fileOf(server), { force: true, recursive: true })
    },
    async exclusively(server, work) {
      makeFolder(folder, 0o700)
      return withFileLock(fileOf(server), work, LOCK)
    },
    stamp(server) {
      try {
        // Most have none, and an error costs more than a look.
        const stat = statSync(fileOf(server), { bigint: true, throwIfNoEntry: false })
        // With the time of its permissions: whoever could not read it may now, and others may.
        return stat ? `${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino} ${stat.size}` : ''
      } catch (error) {
        return (error as NodeJS.ErrnoException).code ?? ''
      }
    },
  }
}

/** A file that others could read is closed, and its owner told: somebody may have read it. */
function closeToOthers(file: string, warn: WarningListener): void {
  if (process.platform === 'win32') return
  try {
    if ((statSync(file).mode & 0o077) === 0) return
    chmodSync(file, 0o600)
    warn({
      code: 'login-exposed',
      text: `${file} could be read by other users; it is closed to them now`,
      fix: 'Log in again if that may have happened',
    })
  } catch {
    // Not ours to close; what it holds can be used all the same.
  }
}

function decode(text: string, fingerprint: string): Login | undefined {
  try {
    const content = JSON.parse(text) as Record<string, unknown>
    const { login } = content as { login?: unknown }
    const isOurs = content.toolwell === FORMAT && content.fingerprint === fingerprint
    return isOurs && isLogin(login) ? login : undefined
  } catch {
    return undefined
  }
}

function isLogin(value: unknown): value is Login {
  if (!isRecord(value)) return false
  const { client, tokens, expiresAt, discovery, ...texts } = value
  const isText = (each: unknown) => each === undefined || typeof each === 'string'
  return (
    (client === undefined || (isRecord(client) && typeof client.client_id === 'string')) &&
    (tokens === undefined ||
      (isRecord(tokens) && typeof tokens.access_token === 'string' && isText(tokens.refresh_token))) &&
    (expiresAt === undefined || typeof expiresAt === 'number') &&
    (discovery === undefined ||
      (isRecord(discovery) && typeof discovery.authorizationServerUrl === 'string')) &&
    Object.values(texts).every(isText)
  )
}

/** For people who look into the folder. */
function withoutSecrets(url: string): string {
  try {
    const { origin, pathname } = new URL(url)
    return origin + pathname
  } catch {
    return ''
  }
}
