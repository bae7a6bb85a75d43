/** Logs in to one server, from its challenge to stored tokens. The SDK implements the protocol. */

import { exchangeAuthorization, type StoredOAuthTokens } from '@modelcontextprotocol/client'
import { dropUndefined } from '@toolwell/core/internal'
import { hasOwnCredentials, type ServerConfig } from '../config/server-config.js'
import { type Answer, listen, requestAddress, waitForAnswer } from './ask-user.js'
import {
  askForChallenge,
  createAttempt,
  createDraft,
  type Draft,
  discoverAuthorization,
  type LoginAttempt,
} from './login-attempt.js'
import { createLoginFailures, LoginError, toPlainLine } from './login-error.js'
import { diskLogins, type Login, type LoginStore } from './login-store.js'
import { readExpiry } from './stored-auth.js'

const DEFAULT_TIMEOUT = 300_000

export interface LoginOptions {
  /** Called with the address that the user must open. */
  readonly onAddress: (address: URL) => void | Promise<void>
  /** Storage of tokens. Default: files that only the user can read. */
  readonly store?: LoginStore
  /** Milliseconds to wait for the user. Default: five minutes. */
  readonly timeout?: number
  readonly signal?: AbortSignal
  /** Called when an answer to another login was refused. */
  readonly onStray?: () => void
}

export interface LoginResult {
  readonly server: string
  /** Issuer of the tokens. */
  readonly issuer: string
  readonly scopes: readonly string[]
  /** Expiry of the access token, in milliseconds since the epoch. */
  readonly expiresAt: number | undefined
  /** Can be renewed without the user. */
  readonly renewable: boolean
}

/** Throws `LoginError`. A failed login does not change the stored one. */
export async function login(server: ServerConfig, options: LoginOptions): Promise<LoginResult> {
  const { store = diskLogins(), timeout = DEFAULT_TIMEOUT, signal, onAddress, onStray } = options
  const url = remoteUrl(server, signal)
  const over = new AbortController()
  const attempt = createAttempt(server, url, store, { signal, over: over.signal })
  await checkStore(attempt)
  const challenge = await askForChallenge(attempt)
  const discovery = await discoverAuthorization(attempt, challenge)
  const callback = await listen(attempt)
  try {
    const draft = createDraft(server, callback.url, attempt.known, discovery)
    const address = await requestAddress(attempt, draft, challenge, discovery, callback.url)
    const answer = await waitForAnswer(attempt, callback, draft, address, { timeout, onAddress, onStray })
    return await shownTo(answer, server.name, () => finish(attempt, draft, answer, callback.url))
  } finally {
    over.abort()
    await callback.close()
  }
}

/** Returns the address of the server. Throws if it has no login. */
function remoteUrl(server: ServerConfig, signal: AbortSignal | undefined): string {
  const { name, endpoint } = server
  const failures = createLoginFailures(server, signal)
  if (endpoint.type === 'stdio')
    throw failures.make(
      'not-remote',
      `${name} is a local program and has no login.`,
      'If it needs a key, set it in "env" of its config.',
    )
  if (hasOwnCredentials(server))
    throw failures.make(
      'unsupported',
      `The config of ${name} has an Authorization header, which is used instead of any login.`,
      'Remove the header to log in instead.',
    )
  return endpoint.url
}

/** Checks that tokens can be stored, before the user is asked. */
async function checkStore({ server, store, failures }: LoginAttempt): Promise<void> {
  try {
    await store.exclusively(server, async () => undefined)
  } catch (error) {
    throw failures.notKept(error)
  }
}

async function finish(
  attempt: LoginAttempt,
  draft: Draft,
  { parameters }: Answer,
  redirectUrl: string,
): Promise<LoginResult> {
  const code = codeFrom(parameters, attempt)
  const fresh = await takeTokens(code, parameters, draft, redirectUrl, attempt)
  await keepLogin(fresh, attempt)
  return resultOf(attempt.name, fresh)
}

function resultOf(server: string, { tokens, expiresAt }: FreshLogin): LoginResult {
  return {
    server,
    issuer: tokens.issuer,
    scopes: tokens.scope?.split(/\s+/).filter(Boolean) ?? [],
    expiresAt,
    renewable: tokens.refresh_token !== undefined,
  }
}

/** Runs the work and shows its result in the browser. */
async function shownTo<T>(answer: Answer, server: string, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work()
    await answer.show({
      title: 'Logged in',
      text: `You can use ${server} now. You can close this window.`,
    })
    return result
  } catch (error) {
    const { message = '', fix = '' } = LoginError.is(error) ? error : {}
    await answer.show({ title: 'Not logged in', text: `${message} ${fix}` })
    throw error
  }
}

/** Reads the authorization code. */
function codeFrom(parameters: URLSearchParams, { name, failures }: LoginAttempt): string {
  const code = parameters.get('code')
  if (code && !parameters.has('error')) return code
  const why = toPlainLine(
    parameters.get('error_description') ?? parameters.get('error') ?? 'no code was given',
  )
  const isDenial = parameters.get('error') === 'access_denied'
  throw failures.make(
    'denied',
    isDenial ? `The login to ${name} was denied: ${why}.` : `The login to ${name} failed: ${why}.`,
    'Run it again and agree, or ask the operator of the server.',
  )
}

type FreshLogin = Login & { readonly tokens: StoredOAuthTokens & { readonly issuer: string } }

/** Exchanges the code for tokens. */
async function takeTokens(
  code: string,
  parameters: URLSearchParams,
  draft: Draft,
  redirectUrl: string,
  { fetch, failures }: LoginAttempt,
): Promise<FreshLogin> {
  const { client, discovery, resource } = draft.settled()
  const metadata = discovery.authorizationServerMetadata
  const now = Date.now()
  const tokens = await exchangeAuthorization(discovery.authorizationServerUrl, {
    ...dropUndefined({ metadata, resource, iss: parameters.get('iss') ?? undefined }),
    clientInformation: client,
    authorizationCode: code,
    codeVerifier: draft.provider.codeVerifier() as string,
    redirectUri: redirectUrl,
    fetchFn: fetch,
  }).catch((error: unknown) => {
    throw failures.ifCancelled(error) ?? failures.refused('gave no tokens', error)
  })
  const issuer = metadata?.issuer ?? discovery.authorizationServerUrl
  const scope = tokens.scope ?? draft.requestedScope()
  return {
    client,
    tokens: { ...tokens, issuer, ...dropUndefined({ scope: scope || undefined }) },
    ...readExpiry(tokens, now),
    discovery,
    ...dropUndefined({ resource }),
    redirectUrl,
  }
}

async function keepLogin(login: Login, { server, store, failures }: LoginAttempt): Promise<void> {
  try {
    await store.exclusively(server, async () => store.write(server, login))
  } catch (error) {
    throw failures.notKept(error)
  }
}
