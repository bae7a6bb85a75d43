/** The login of a server as a running program uses it: read anew for every request, renewed once for all who wait. */

import {
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { defined } from '@toolwell/core/internal'
import { hasOwnCredentials, type ServerConfig } from '../config/server-config.js'
import type { WarningListener } from '../definition/warning.js'
import type { ServerAuth } from '../upstream/open-client.js'
import type { Login, LoginStore } from './login-store.js'

/** An authorization server that has not answered by then is down. */
const RENEWAL_TIMEOUT = 20_000
/** Milliseconds between looks for a login by another program. */
const LOOK_EVERY = 500

export interface StoredAuthOptions {
  readonly store: LoginStore
  readonly now?: () => number
  readonly onWarning?: WarningListener
}

/** The authorization server will not renew this login, whoever asks. */
const REFUSALS: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
]

export function expiryOf(tokens: { expires_in?: number | undefined }, now: number): { expiresAt?: number } {
  return defined({ expiresAt: tokens.expires_in === undefined ? undefined : now + tokens.expires_in * 1000 })
}

export function boundedFetch(milliseconds: number, base: FetchLike = fetch): FetchLike {
  return (url, init) => {
    const late = AbortSignal.timeout(milliseconds)
    return base(url, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, late]) : late })
  }
}

export function storedAuth(
  server: ServerConfig,
  { store, now = Date.now, onWarning }: StoredAuthOptions,
): ServerAuth | undefined {
  if (server.endpoint.type === 'stdio' || hasOwnCredentials(server)) return undefined
  /** What could not be written, as long as the file is the one it should have replaced. */
  let unwritten: { readonly login: Login; readonly stamp: string } | undefined
  let seen = ''
  let renewing: Promise<void> | undefined
  const secrets = new Set<string>()
  const sentWith = new WeakMap<Response, string>()

  const read = (): Login | undefined => {
    seen = store.stamp(server)
    const login = unwritten?.stamp === seen ? unwritten.login : store.read(server)
    const { tokens, client } = login ?? {}
    for (const secret of [
      tokens?.access_token,
      tokens?.refresh_token,
      tokens?.id_token,
      client?.client_secret,
    ])
      if (secret) secrets.add(secret)
    return login
  }
  const keep = (login: Login) => {
    try {
      store.write(server, login)
      unwritten = undefined
    } catch (error) {
      if (!unwritten)
        onWarning?.({
          code: 'login-not-kept',
          text: `the renewed login of ${server.name} could not be kept (${codeOf(error)}); it holds as long as this program runs`,
        })
      unwritten = { login, stamp: store.stamp(server) }
    }
    read()
  }
  /** Somebody has renewed it, or logged in, since that request was sent. */
  const isNewer = ({ tokens, expiresAt = Number.POSITIVE_INFINITY }: Login, sent: string | undefined) =>
    tokens !== undefined && tokens.access_token !== sent && expiresAt > now()

  const renew = async (sent: string | undefined): Promise<void> => {
    const login = read()
    if (login && isNewer(login, sent)) return
    const { tokens, client, discovery, resource } = login ?? {}
    if (!login || !client || !discovery || !tokens?.refresh_token) throw new UnauthorizedError('no login')
    try {
      const renewed = await refreshAuthorization(discovery.authorizationServerUrl, {
        ...defined({ metadata: discovery.authorizationServerMetadata, resource }),
        clientInformation: client,
        refreshToken: tokens.refresh_token,
        fetchFn: boundedFetch(RENEWAL_TIMEOUT),
      })
      const { expiresAt: _, ...rest } = login
      const scope = renewed.scope ?? tokens.scope
      keep({
        ...rest,
        tokens: {
          ...renewed,
          ...(scope ? { scope } : {}),
          ...(tokens.issuer ? { issuer: tokens.issuer } : {}),
        },
        ...expiryOf(renewed, now()),
      })
    } catch (error) {
      if (!(error instanceof OAuthError) || !REFUSALS.includes(error.code))
        throw new Error('its login could not be renewed', { cause: error })
      const { tokens: _, expiresAt: __, client: known, ...rest } = login
      keep(error.code === OAuthErrorCode.InvalidGrant && known ? { ...rest, client: known } : rest)
      throw new UnauthorizedError('the login has ended')
    }
  }

  /** While no other process does. Where the folder cannot be locked, it cannot be written either: then no other process renews. */
  const alone = async (work: () => Promise<void>): Promise<void> => {
    let entered = false
    try {
      await store.exclusively(server, () => {
        entered = true
        return work()
      })
    } catch (error) {
      if (entered || !['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error))) throw error
      await work()
    }
  }

  /** The server wants more than was granted; the next login will ask for it. */
  const want = (scope: string) =>
    alone(async () => {
      const login = read() ?? {}
      const wanted = computeScopeUnion(login.wanted, login.tokens?.scope, scope)
      if (wanted !== undefined && wanted !== login.wanted) keep({ ...login, wanted })
    }).catch(() => undefined)

  return {
    token: async () => read()?.tokens?.access_token,
    async onUnauthorized({ response }) {
      const sent = sentWith.get(response)
      const login = read()
      if (!login?.tokens) throw new UnauthorizedError('no login')
      if (isNewer(login, sent)) return
      renewing ??= alone(() => renew(sent)).finally(() => {
        renewing = undefined
      })
      await renewing
    },
    async fetch(url, init) {
      const response = await fetch(url, init)
      const [, sent] = /^Bearer (.*)$/i.exec(new Headers(init?.headers).get('authorization') ?? '') ?? []
      if (sent !== undefined) sentWith.set(response, sent)
      if (response.status === 403) {
        const { error, scope } = extractWWWAuthenticateParams(response)
        if (error === 'insufficient_scope' && scope) await want(scope)
      }
      return response
    },
    watch(onChange) {
      const timer = setInterval(() => {
        const stamp = store.stamp(server)
        if (stamp === seen) return
        seen = stamp
        onChange()
      }, LOOK_EVERY)
      timer.unref()
      return () => clearInterval(timer)
    },
    hide: (text) => [...secrets].reduce((rest, secret) => rest.replaceAll(secret, '***'), text),
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string } | undefined)?.code ?? String(error)
}
