/** Uses the stored login of a server: checked for every request, renewed once for all waiting requests. */

import {
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { dropUndefined } from '@toolwell/core/internal'
import { hasOwnCredentials, type ServerConfig } from '../config/server-config.js'
import type { WarningListener } from '../definition/warning.js'
import type { ServerAuth } from '../upstream/open-client.js'
import type { Login, LoginStore } from './login-store.js'

/** Milliseconds for a renewal request. */
const RENEWAL_TIMEOUT = 20_000
/** Milliseconds between checks for a login by another program. */
const LOOK_EVERY = 500

export interface StoredAuthOptions {
  readonly store: LoginStore
  readonly now?: () => number
  readonly onWarning?: WarningListener
}

/** Errors after which the authorization server will never renew this login. */
const REFUSALS: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
]

export function readExpiry(tokens: { expires_in?: number | undefined }, now: number): { expiresAt?: number } {
  return dropUndefined({
    expiresAt: tokens.expires_in === undefined ? undefined : now + tokens.expires_in * 1000,
  })
}

export function createBoundedFetch(milliseconds: number, base: FetchLike = fetch): FetchLike {
  return (url, init) => {
    const late = AbortSignal.timeout(milliseconds)
    return base(url, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, late]) : late })
  }
}

export function createStoredAuth(
  server: ServerConfig,
  { store, now = Date.now, onWarning }: StoredAuthOptions,
): ServerAuth | undefined {
  if (server.endpoint.type === 'stdio' || hasOwnCredentials(server)) return undefined
  const stored = openLogin(server, store, onWarning)
  let renewing: Promise<void> | undefined
  const sentWith = new WeakMap<Response, string>()
  return {
    token: async () => stored.read()?.tokens?.access_token,
    async onUnauthorized({ response }) {
      const sent = sentWith.get(response)
      const login = stored.read()
      if (!login?.tokens) throw new UnauthorizedError('no login')
      if (isNewer(login, sent, now())) return
      renewing ??= stored
        .runExclusively(() => renew(stored, sent, now))
        .finally(() => {
          renewing = undefined
        })
      await renewing
    },
    async fetch(url, init) {
      const response = await fetch(url, init)
      const [, sent] = /^Bearer (.*)$/i.exec(headersOf(init).get('authorization') ?? '') ?? []
      if (sent !== undefined) sentWith.set(response, sent)
      if (response.status === 403) {
        const { error, scope } = extractWWWAuthenticateParams(response)
        if (error === 'insufficient_scope' && scope) await want(stored, scope)
      }
      return response
    },
    watch(onChange) {
      const timer = setInterval(() => {
        if (stored.hasChanged()) onChange()
      }, LOOK_EVERY)
      timer.unref()
      return () => clearInterval(timer)
    },
    hide: stored.hide,
  }
}

/** Avoids a copy, which would cost as much as the rest. */
function headersOf(init: RequestInit = {}): Headers {
  return init.headers instanceof Headers ? init.headers : new Headers(init.headers)
}

/** Was the login renewed since a request with that token was sent? */
function isNewer(
  { tokens, expiresAt = Number.POSITIVE_INFINITY }: Login,
  sent: string | undefined,
  now: number,
): boolean {
  return tokens !== undefined && tokens.access_token !== sent && expiresAt > now
}

async function renew(stored: OpenLogin, sent: string | undefined, now: () => number): Promise<void> {
  const login = stored.read()
  if (login && isNewer(login, sent, now())) return
  const { tokens, client, discovery, resource } = login ?? {}
  if (!login || !client || !discovery || !tokens?.refresh_token) throw new UnauthorizedError('no login')
  try {
    const renewed = await refreshAuthorization(discovery.authorizationServerUrl, {
      ...dropUndefined({ metadata: discovery.authorizationServerMetadata, resource }),
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      fetchFn: createBoundedFetch(RENEWAL_TIMEOUT),
    })
    const { expiresAt: _, ...rest } = login
    const scope = renewed.scope ?? tokens.scope
    stored.save({
      ...rest,
      tokens: {
        ...renewed,
        ...(scope ? { scope } : {}),
        ...(tokens.issuer ? { issuer: tokens.issuer } : {}),
      },
      ...readExpiry(renewed, now()),
    })
  } catch (error) {
    if (!(error instanceof OAuthError) || !REFUSALS.includes(error.code))
      throw new Error('the login could not be renewed', { cause: error })
    const { tokens: _, expiresAt: __, client: known, ...rest } = login
    stored.save(error.code === OAuthErrorCode.InvalidGrant && known ? { ...rest, client: known } : rest)
    throw new UnauthorizedError('the login has ended')
  }
}

/** Stores scopes that the server wants in addition. The next login requests them. */
function want(stored: OpenLogin, scope: string): Promise<void> {
  return stored
    .runExclusively(async () => {
      const login = stored.read() ?? {}
      const wanted = computeScopeUnion(login.wanted, login.tokens?.scope, scope)
      if (wanted !== undefined && wanted !== login.wanted) stored.save({ ...login, wanted })
    })
    .catch(() => undefined)
}

/** The login of one server in a running program: from its file, or from memory if the file cannot be written. */
interface OpenLogin {
  read(): Login | undefined
  save(login: Login): void
  /** Runs the work while no other process works on this login. */
  runExclusively(work: () => Promise<void>): Promise<void>
  /** Has the file changed since the last check? */
  hasChanged(): boolean
  /** Hides all secrets of the login in a text, including earlier tokens. */
  hide(text: string): string
}

function openLogin(
  server: ServerConfig,
  store: LoginStore,
  onWarning: WarningListener | undefined,
): OpenLogin {
  /** A login that could not be written. Used until the file changes. */
  let unwritten: { readonly login: Login; readonly stamp: string } | undefined
  let seen = ''
  /** The login that was read last. Used until the file changes. */
  let known: { readonly login: Login | undefined; readonly stamp: string } | undefined
  const secrets = new Set<string>()
  const read = (): Login | undefined => {
    // Before reading: a write in between is noticed the next time.
    seen = store.stamp(server)
    if (unwritten?.stamp === seen) return unwritten.login
    if (known?.stamp !== seen) {
      known = { login: store.read(server), stamp: seen }
      for (const secret of secretsOf(known.login)) secrets.add(secret)
    }
    return known.login
  }
  return {
    read,
    save(login) {
      try {
        store.write(server, login)
        unwritten = undefined
      } catch (error) {
        if (!unwritten)
          onWarning?.({
            code: 'login-not-kept',
            text: `the renewed login of ${server.name} could not be stored (${codeOf(error)}); it works only while this program runs`,
          })
        unwritten = { login, stamp: store.stamp(server) }
        for (const secret of secretsOf(login)) secrets.add(secret)
      }
      read()
    },
    async runExclusively(work) {
      let entered = false
      try {
        await store.exclusively(server, () => {
          entered = true
          return work()
        })
      } catch (error) {
        // A folder that cannot be locked cannot be written either, so no other process renews the login.
        if (entered || !['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error))) throw error
        await work()
      }
    },
    hasChanged() {
      const stamp = store.stamp(server)
      if (stamp === seen) return false
      seen = stamp
      return true
    },
    hide: (text) => [...secrets].reduce((rest, secret) => rest.replaceAll(secret, '***'), text),
  }
}

function secretsOf({ tokens, client }: Login = {}): string[] {
  const all = [tokens?.access_token, tokens?.refresh_token, tokens?.id_token, client?.client_secret]
  return all.filter((secret): secret is string => secret !== undefined && secret !== '')
}

function codeOf(error: unknown): string {
  return (error as { code?: string } | undefined)?.code ?? String(error)
}
