/** One login, from the question whether the server wants one to tokens on disk. The protocol is the SDK's. */
import { hasOwnCredentials, type ServerConfig } from '../config/server-config.js'
import { listen, requestAddress, waitForAnswer } from './ask-user.js'
import type { Answer } from './callback.js'
import { createDraft, type Draft } from './draft.js'
import { askForChallenge, discoverAuthorization } from './find-authorization.js'
import { createAttempt, type LoginAttempt } from './login-attempt.js'
import { LoginError } from './login-error.js'
import { createLoginFailures } from './login-failures.js'
import { diskLogins, type LoginStore } from './login-store.js'
import { codeFrom, type FreshLogin, keepLogin, takeTokens } from './take-tokens.js'

const DEFAULT_TIMEOUT = 300_000

export interface LoginOptions {
  /** Gets the address that the user has to open. */
  readonly onAddress: (address: URL) => void | Promise<void>
  /** Where tokens are kept. Default: files that only the user can read. */
  readonly store?: LoginStore
  /** Milliseconds to wait for the user. Default: five minutes. */
  readonly timeout?: number
  readonly signal?: AbortSignal
  /** Somebody came with an answer that belongs to another login. It was refused. */
  readonly onStray?: () => void
}

export interface LoginResult {
  readonly server: string
  /** Who gave the tokens. */
  readonly issuer: string
  readonly scopes: readonly string[]
  /** When the access token ends, in milliseconds since the epoch. */
  readonly expiresAt: number | undefined
  /** It is renewed without the user. */
  readonly renewable: boolean
}

/** Throws `LoginError`. A login that fails leaves the one before as it was. */
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

/** Where the server is; refused where there is nothing to log in to. */
function remoteUrl(server: ServerConfig, signal: AbortSignal | undefined): string {
  const { name, endpoint } = server
  const failures = createLoginFailures(server, signal)
  if (endpoint.type === 'stdio')
    throw failures.make(
      'not-remote',
      `${name} is a program on this machine; there is nothing to log in to.`,
      'If it needs a key, give it one in "env" of its config.',
    )
  if (hasOwnCredentials(server))
    throw failures.make(
      'unsupported',
      `The config of ${name} has an Authorization header, which is used instead of any login.`,
      'Remove the header to log in instead.',
    )
  return endpoint.url
}

/** Whether tokens can be kept: better asked now than after the user has agreed to everything. */
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

/** The user reads in the browser how it ended. */
async function shownTo<T>(answer: Answer, server: string, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work()
    await answer.show({
      title: 'Logged in',
      text: `${server} can be used now. You can close this window.`,
    })
    return result
  } catch (error) {
    const { message = '', fix = '' } = LoginError.is(error) ? error : {}
    await answer.show({ title: 'Not logged in', text: `${message} ${fix}` })
    throw error
  }
}
