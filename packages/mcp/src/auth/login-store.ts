/** Stores logins on disk, one file per server, readable only by the owner. Several processes may use them at once. */

import { chmodSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { canonicalJson, isRecord, shortHash } from '@toolwell/core/internal'
import { makeFolder, withFileLock } from '@toolwell/core/internal/node'
import { readSmallFile } from '../config/read-small-file.js'
import type { ServerConfig } from '../config/server-config.js'
import { userFolder } from '../definition/user-files.js'
import type { ServerWarning, WarningListener } from '../definition/warning.js'

const FORMAT = 1
/** Longer than the timeout of a renewal request. */
const LOCK = { staleAfter: 60_000, giveUpAfter: 70_000 }

export interface Login {
  /** Our client at the authorization server. */
  readonly client?: StoredOAuthClientInformation
  readonly tokens?: StoredOAuthTokens
  /** Expiry of the access token, in milliseconds since the epoch; undefined if not known. */
  readonly expiresAt?: number
  /** The server that issued the tokens and renews them. */
  readonly discovery?: OAuthDiscoveryState
  readonly resource?: string
  /** Redirect address of the registered client. */
  readonly redirectUrl?: string
  /** Scopes that the server asked for since. The next login requests them. */
  readonly wanted?: string
}

export interface LoginStore {
  read(server: ServerConfig): Login | undefined
  /** Throws if it cannot be stored. */
  write(server: ServerConfig, login: Login): void
  forget(server: ServerConfig): void
  /** Runs the work while no other process works on the same login. */
  exclusively<T>(server: ServerConfig, work: () => Promise<T>): Promise<T>
  /** Changes whenever the login changes. Cheap. */
  stamp(server: ServerConfig): string
}

export interface LoginStoreOptions {
  /** Default: `toolwell/logins` in the user's data folder. */
  readonly folder?: string
  /** Called for files that could not be read. */
  readonly onWarning?: WarningListener
}

export function defaultLoginFolder(env?: Readonly<Record<string, string | undefined>>): string {
  return userFolder('data', 'logins', env)
}

/** Identifies a login by name, address and client. Two servers with one address may be two accounts. */
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
  /** Computed once per server: every request checks the file. */
  const paths = new WeakMap<ServerConfig, string>()
  const fileOf = (server: ServerConfig) => {
    const known = paths.get(server)
    if (known !== undefined) return known
    const readable = server.name.replace(/[^\w-]+/g, '_').slice(0, 40)
    const path = join(folder, `${readable}-${loginFingerprint(server)}.json`)
    paths.set(server, path)
    return path
  }
  const renameDamaged = (file: string, server: ServerConfig, why: string) => {
    const next = `you need to log in to ${server.name} again`
    try {
      renameSync(file, `${file}.unreadable`)
      warn({
        code: 'login-damaged',
        text: `${file} ${why}; it was renamed to ${file}.unreadable, and ${next}`,
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
        text = readSmallFile(file).toString('utf8')
      } catch (error) {
        const { code = '' } = error as { code?: string }
        if (code === 'EISDIR') renameDamaged(file, server, 'is a folder')
        else if (code !== 'ENOENT' && code !== 'ENOTDIR')
          warn({ code: 'login-unreadable', text: `${file} cannot be read (${code})` })
        return undefined
      }
      closeToOthers(file, warn)
      const login = decode(text, loginFingerprint(server))
      if (!login) renameDamaged(file, server, 'is damaged, or has another version')
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
        // Most servers have no login, and throwing would be slow.
        const stat = statSync(fileOf(server), { bigint: true, throwIfNoEntry: false })
        // Include ctime, because permissions may have changed.
        return stat ? `${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino} ${stat.size}` : ''
      } catch (error) {
        return (error as NodeJS.ErrnoException).code ?? ''
      }
    },
  }
}

/** Makes a file private that other users could read, and warns, because somebody may have read it. */
function closeToOthers(file: string, warn: WarningListener): void {
  if (process.platform === 'win32') return
  try {
    if ((statSync(file).mode & 0o077) === 0) return
    chmodSync(file, 0o600)
    warn({
      code: 'login-exposed',
      text: `${file} was readable by other users; its permissions were corrected`,
      fix: 'Log in again if somebody may have read it',
    })
  } catch {
    // The file belongs to somebody else. It can still be used.
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

/** The address without query, for people who look into the folder. */
function withoutSecrets(url: string): string {
  try {
    const { origin, pathname } = new URL(url)
    return origin + pathname
  } catch {
    return ''
  }
}
