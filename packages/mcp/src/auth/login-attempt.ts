/** First steps of a login: shared state, the server's challenge, the authorization server, and the provider for the SDK. */

import { randomBytes } from 'node:crypto'
import {
  type AuthProvider,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { dropUndefined } from '@toolwell/core/internal'
import { createRedactor } from '../config/redact.js'
import type { OAuthSettings, ServerConfig } from '../config/server-config.js'
import { openClient, VERSION } from '../upstream/open-client.js'
import { createWatchdog } from '../upstream/watchdog.js'
import { createLoginFailures, type LoginFailures } from './login-error.js'
import type { Login, LoginStore } from './login-store.js'
import { createBoundedFetch } from './stored-auth.js'

/** Milliseconds for each request to a server. */
const ANSWER_TIMEOUT = 30_000

export interface LoginAttempt {
  readonly server: ServerConfig
  readonly name: string
  readonly url: string
  readonly oauth: OAuthSettings | undefined
  readonly store: LoginStore
  /** The stored login, if any. */
  readonly known: Login
  /** Aborted when the caller gives up, and at the end. */
  readonly stop: AbortSignal
  /** Sends a request with a timeout, and until `stop`. */
  readonly fetch: FetchLike
  readonly failures: LoginFailures
}

export function createAttempt(
  server: ServerConfig,
  url: string,
  store: LoginStore,
  { signal, over }: { readonly signal: AbortSignal | undefined; readonly over: AbortSignal },
): LoginAttempt {
  const stop = signal ? AbortSignal.any([over, signal]) : over
  const ask = createBoundedFetch(ANSWER_TIMEOUT)
  return {
    server,
    name: server.name,
    url,
    oauth: server.oauth,
    store,
    known: store.read(server) ?? {},
    stop,
    fetch: (address, init) =>
      ask(address, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, stop]) : stop }),
    failures: createLoginFailures(server, signal),
  }
}

/** State of one login while the SDK works on it. Nothing is stored before the end. */
export interface Draft {
  readonly provider: OAuthClientProvider
  readonly state: string
  /** The client was registered for an earlier login. The server may have forgotten it. */
  readonly isReused: boolean
  address(): URL | undefined
  requestedScope(): string | undefined
  settled(): { client: StoredOAuthClientInformation; discovery: OAuthDiscoveryState; resource?: string }
}

export function createDraft(
  { oauth }: ServerConfig,
  redirectUrl: string,
  known: Login,
  found: OAuthDiscoveryState,
): Draft {
  const state = randomBytes(32).toString('base64url')
  const issuer = found.authorizationServerMetadata?.issuer ?? found.authorizationServerUrl
  const isDocument = oauth?.clientId !== undefined && /^https:\/\/[^/]+\/./.test(oauth.clientId)
  const configured: StoredOAuthClientInformation | undefined =
    oauth?.clientId === undefined || (isDocument && oauth.clientSecret === undefined)
      ? undefined
      : { client_id: oauth.clientId, ...dropUndefined({ client_secret: oauth.clientSecret }), issuer }
  const registered = known.redirectUrl === redirectUrl && known.client?.issuer === issuer
  const isReused = configured === undefined && registered
  let client = configured ?? (registered ? known.client : undefined)
  let discovery = found
  let resource: string | undefined
  let verifier = ''
  let address: URL | undefined
  const methods = found.authorizationServerMetadata?.token_endpoint_auth_methods_supported
  const provider: OAuthClientProvider = {
    redirectUrl,
    ...dropUndefined({ clientMetadataUrl: isDocument ? oauth.clientId : undefined }),
    clientMetadata: {
      client_name: 'Toolwell',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      // A local program has no client secret, but some servers insist on one.
      token_endpoint_auth_method: !methods || methods.includes('none') ? 'none' : (methods[0] ?? 'none'),
    },
    state: () => state,
    clientInformation: () => client,
    saveClientInformation: (made) => {
      client = made
    },
    // Always request new tokens.
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: (to) => {
      address = to
    },
    saveCodeVerifier: (made) => {
      verifier = made
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState: (made) => {
      discovery = made
    },
    saveResourceUrl: (made) => {
      resource = made
    },
  }
  return {
    provider,
    state,
    isReused,
    address: () => address,
    requestedScope: () => address?.searchParams.get('scope') ?? undefined,
    settled() {
      if (!client) throw new Error('there is no client')
      return { client, discovery, ...dropUndefined({ resource }) }
    },
  }
}

/** Answer of a server to a request without credentials. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL
  readonly scope?: string
}

/** Calls the server without credentials to find out which login it wants. Undefined if it needs none. */
export async function askForChallenge({
  server,
  stop,
  failures,
}: LoginAttempt): Promise<Challenge | undefined> {
  let challenge: Challenge | undefined
  const stranger: AuthProvider = {
    token: async () => undefined,
    async onUnauthorized({ response }) {
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
      challenge = dropUndefined({ resourceMetadataUrl, scope })
      throw new UnauthorizedError()
    },
  }
  const watchdog = createWatchdog()
  try {
    const { client } = await openClient({
      hide: createRedactor(server),
      server,
      version: VERSION,
      watchdog,
      capabilities: {},
      era: undefined,
      auth: stranger,
      timeout: ANSWER_TIMEOUT,
      signal: stop,
      onListChanged: () => undefined,
      prepare: () => undefined,
    })
    await client.close().catch(() => undefined)
    return undefined
  } catch (error) {
    if (challenge) return challenge
    throw failures.ifCancelled(error) ?? failures.unreachable(error)
  } finally {
    watchdog.close()
  }
}

/** Finds the authorization server. */
export async function discoverAuthorization(
  { name, url, known, fetch, failures }: LoginAttempt,
  challenge: Challenge | undefined,
): Promise<OAuthDiscoveryState> {
  const resourceMetadataUrl = challenge?.resourceMetadataUrl
  const found = await discoverOAuthServerInfo(new URL(url), {
    ...dropUndefined({ resourceMetadataUrl }),
    fetchFn: fetch,
  }).catch((error: unknown) => {
    throw failures.ifCancelled(error) ?? failures.refused('names a login server that cannot be used', error)
  })
  // Some servers accept connections without a login and ask at the first call.
  if (!challenge && !known.wanted && !found.resourceMetadata && !found.authorizationServerMetadata)
    throw failures.make('not-needed', `${name} needs no login.`, 'Use it without one.')
  return { ...found, ...dropUndefined({ resourceMetadataUrl: resourceMetadataUrl?.href }) }
}
