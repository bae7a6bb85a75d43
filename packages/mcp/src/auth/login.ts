/** One login, from the question whether the server wants one to tokens on disk. The protocol is the SDK's. */
import {
  type AuthProvider,
  auth,
  computeScopeUnion,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  type OAuthDiscoveryState,
  OAuthError,
  RegistrationRejectedError,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { redactor } from '../config/redact.js'
import { hasOwnCredentials, type ServerConfig } from '../config/server-config.js'
import { quoted } from '../upstream/failures.js'
import { openClient } from '../upstream/open-client.js'
import { Unreachable } from '../upstream/unreachable.js'
import { VERSION } from '../upstream/version.js'
import { createWatchdog } from '../upstream/watchdog.js'
import { type Answer, type Callback, listenForCallback } from './callback.js'
import { createDraft, type Draft } from './draft.js'
import { LoginError, type LoginErrorCode } from './login-error.js'
import { diskLogins, type Login, type LoginStore } from './login-store.js'
import { boundedFetch, expiryOf } from './stored-auth.js'

/** For each question to a server, in milliseconds. */
const ANSWER_TIMEOUT = 30_000
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

interface Challenge {
  readonly resourceMetadataUrl?: URL
  readonly scope?: string
}

/** Throws `LoginError`. A login that fails leaves the one before as it was. */
export async function login(server: ServerConfig, options: LoginOptions): Promise<LoginResult> {
  const { store = diskLogins(), timeout = DEFAULT_TIMEOUT, signal, onAddress, onStray } = options
  const { endpoint, oauth } = server
  const hide = redactor(server)
  const fail = (code: LoginErrorCode, message: string, fix: string, cause?: unknown) =>
    new LoginError(code, server.name, hide(message), hide(fix), { cause })
  if (endpoint.type === 'stdio')
    throw fail(
      'not-remote',
      `${server.name} is a program on this machine; there is nothing to log in to.`,
      'If it needs a key, give it one in "env" of its config.',
    )
  if (hasOwnCredentials(server))
    throw fail(
      'unsupported',
      `The config of ${server.name} has an Authorization header, which goes before any login.`,
      'Remove the header to log in instead.',
    )
  const gaveUp = new AbortController()
  const stop = AbortSignal.any([gaveUp.signal, ...(signal ? [signal] : [])])
  const known = store.read(server) ?? {}
  // Better now than after the user has agreed to everything.
  await store
    .exclusively(server, async () => undefined)
    .catch((error: unknown) => {
      throw notKept(error)
    })

  const challenge = await ask()
  const discovery = await discover(challenge)
  const callback = await listen()
  try {
    const draft = createDraft(server, callback.url, known, discovery)
    await begin(draft, challenge)
    const address = draft.address()
    if (!address || !isSafe(address))
      throw fail(
        'failed',
        `${server.name} sends its users to an address that is not safe to open.`,
        'Tell whoever runs the server that its authorization endpoint must be https.',
      )
    const answer = await waitFor(callback, draft, address)
    try {
      const result = await finish(draft, answer)
      await answer.show({
        title: 'Logged in',
        text: `${server.name} can be used now. You can close this window.`,
      })
      return result
    } catch (error) {
      const { message = '', fix = '' } = LoginError.is(error) ? error : {}
      await answer.show({ title: 'Not logged in', text: `${message} ${fix}` })
      throw error
    }
  } finally {
    gaveUp.abort()
    await callback.close()
  }

  /** Reaches the server as nobody: what it answers says what it wants. */
  async function ask(): Promise<Challenge | undefined> {
    let challenge: Challenge | undefined
    const stranger: AuthProvider = {
      token: async () => undefined,
      async onUnauthorized({ response }) {
        const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
        challenge = {
          ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
          ...(scope === undefined ? {} : { scope }),
        }
        throw new UnauthorizedError()
      },
    }
    const watchdog = createWatchdog()
    try {
      const { client } = await openClient({
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
      throw stopped(error) ?? unreachable(error)
    } finally {
      watchdog.close()
    }
  }

  async function discover(challenge: Challenge | undefined): Promise<OAuthDiscoveryState> {
    const resourceMetadataUrl = challenge?.resourceMetadataUrl
    const found = await discoverOAuthServerInfo(new URL(url()), {
      ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
      fetchFn: fetching(),
    }).catch((error: unknown) => {
      throw stopped(error) ?? refused('says where to log in, but that cannot be used', error)
    })
    // Some let everybody in and ask later, at the first call.
    if (!challenge && !known.wanted && !found.resourceMetadata && !found.authorizationServerMetadata)
      throw fail('not-needed', `${server.name} asks for no login.`, 'It can be used as it is.')
    return { ...found, ...(resourceMetadataUrl ? { resourceMetadataUrl: resourceMetadataUrl.href } : {}) }
  }

  async function listen(): Promise<Callback> {
    const before = known.redirectUrl === undefined ? 0 : Number(new URL(known.redirectUrl).port)
    // A client that is registered already is registered with its port.
    const ports = oauth?.callbackPort === undefined ? [...new Set([before, 0])] : [oauth.callbackPort]
    for (const port of ports) {
      try {
        return await listenForCallback(port)
      } catch (error) {
        if (port === ports.at(-1))
          throw fail(
            'port-taken',
            `Port ${port} of this machine cannot be listened on (${codeOf(error)}).`,
            'End the program that holds it, or change "callbackPort" in the config.',
            error,
          )
      }
    }
    throw new Error('no port was tried')
  }

  async function begin(draft: Draft, challenge: Challenge | undefined): Promise<void> {
    const own = oauth?.scopes?.join(' ')
    const scope = computeScopeUnion(own ?? challenge?.scope, known.wanted)
    try {
      await auth(draft.provider, {
        serverUrl: url(),
        ...(challenge?.resourceMetadataUrl ? { resourceMetadataUrl: challenge.resourceMetadataUrl } : {}),
        ...(scope === undefined ? {} : { scope }),
        fetchFn: fetching(),
      })
    } catch (error) {
      const over = stopped(error)
      if (over) throw over
      const isUnknown = error instanceof RegistrationRejectedError || /registration/.test(String(error))
      if (!isUnknown) throw refused('cannot be logged in to', error)
      if (!discovery.authorizationServerMetadata && !discovery.resourceMetadata)
        throw fail(
          'unsupported',
          `${server.name} asks for credentials and does not say where to log in.`,
          'If it takes a key, put it into its config: "headers": { "Authorization": "Bearer ${NAME_OF_A_VARIABLE}" }.',
          error,
        )
      throw fail(
        'not-registered',
        `${server.name} takes only clients that it knows (${wordsOf(error)}).`,
        `Register one with redirect address ${callback.url} and put it into the config: "oauth": { "clientId": "…", "callbackPort": ${new URL(callback.url).port} }.`,
        error,
      )
    }
  }

  async function waitFor(callback: Callback, draft: Draft, address: URL): Promise<Answer> {
    let strays = 0
    const late = AbortSignal.timeout(timeout)
    const answered = callback.answer(draft.state, AbortSignal.any([stop, late]), () => {
      strays++
      onStray?.()
    })
    answered.catch(() => undefined)
    // Whoever opens the address may wait for its last page, which is shown when all is done.
    const opened = (async () => onAddress(address))().then(() => answered)
    try {
      return await Promise.race([answered, opened])
    } catch (error) {
      const over = stopped(error)
      if (over) throw over
      // It could not even be shown.
      if (!late.aborted) throw error
      const time = timeout < 1000 ? `${timeout} ms` : `${Math.round(timeout / 1000)} s`
      if (strays > 0)
        throw fail(
          'wrong-state',
          `No answer that belongs to this login came within ${time}; ${strays} of another did.`,
          'Run it again, and use the address that it prints, not an older page.',
        )
      // An authorization server that does not know its client tells the user, and nobody else.
      const anew = `If the page does not know this program, run toolwell logout ${quoted(server.name)} first.`
      throw fail(
        'timeout',
        `Nobody answered within ${time}.`,
        `Run it again, or give it longer.${draft.isReused ? ` ${anew}` : ''}`,
      )
    }
  }

  async function finish(draft: Draft, { parameters }: Answer): Promise<LoginResult> {
    const code = parameters.get('code')
    if (parameters.has('error') || !code) {
      const why = plain(parameters.get('error_description') ?? parameters.get('error') ?? 'no code was given')
      const isDenial = parameters.get('error') === 'access_denied'
      throw fail(
        'denied',
        isDenial
          ? `The login to ${server.name} was denied: ${why}.`
          : `There was no login to ${server.name}: ${why}.`,
        'Run it again and agree, or ask whoever runs the server.',
      )
    }
    const { client, discovery, resource } = draft.settled()
    const metadata = discovery.authorizationServerMetadata
    const iss = parameters.get('iss')
    const now = Date.now()
    const tokens = await exchangeAuthorization(discovery.authorizationServerUrl, {
      ...(metadata ? { metadata } : {}),
      clientInformation: client,
      authorizationCode: code,
      ...(iss === null ? {} : { iss }),
      codeVerifier: draft.provider.codeVerifier() as string,
      redirectUri: callback.url,
      ...(resource === undefined ? {} : { resource }),
      fetchFn: fetching(),
    }).catch((error: unknown) => {
      throw stopped(error) ?? refused('gave no tokens', error)
    })
    const issuer = metadata?.issuer ?? discovery.authorizationServerUrl
    const scope = tokens.scope ?? draft.requestedScope()
    const made: Login = {
      client,
      tokens: { ...tokens, issuer, ...(scope ? { scope } : {}) },
      ...expiryOf(tokens, now),
      discovery,
      ...(resource === undefined ? {} : { resource }),
      redirectUrl: callback.url,
    }
    try {
      await store.exclusively(server, async () => store.write(server, made))
    } catch (error) {
      throw notKept(error)
    }
    return {
      server: server.name,
      issuer,
      scopes: scope?.split(/\s+/).filter(Boolean) ?? [],
      expiresAt: made.expiresAt,
      renewable: tokens.refresh_token !== undefined,
    }
  }

  function url(): string {
    return endpoint.type === 'stdio' ? '' : endpoint.url
  }

  function fetching() {
    const bounded = boundedFetch(ANSWER_TIMEOUT)
    return (address: string | URL, init?: RequestInit) =>
      bounded(address, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, stop]) : stop })
  }

  function stopped(cause: unknown): LoginError | undefined {
    return signal?.aborted ? fail('cancelled', 'The login was cancelled.', 'Run it again.', cause) : undefined
  }

  function notKept(error: unknown): LoginError {
    return fail(
      'not-kept',
      `Tokens cannot be kept: ${wordsOf(error)}.`,
      'Make the folder writable, or name another one in XDG_DATA_HOME.',
      error,
    )
  }

  function unreachable(error: unknown): LoginError {
    const fix =
      error instanceof Unreachable ? error.fix : 'check "url" in its config, and whether the server runs'
    return fail(
      'unreachable',
      `${server.name} does not answer as an MCP server: ${error instanceof Unreachable ? error.message : wordsOf(error)}.`,
      `${fix.charAt(0).toUpperCase()}${fix.slice(1)}.`,
      error,
    )
  }

  function refused(what: string, error: unknown): LoginError {
    return fail(
      'failed',
      `${server.name} ${what}: ${wordsOf(error)}.`,
      'Try again; if it stays so, tell whoever runs the server.',
      error,
    )
  }
}

/** A browser, or whatever opens addresses, must get nothing else from a server. */
function isSafe({ protocol, hostname }: URL): boolean {
  return (
    protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))
  )
}

function codeOf(error: unknown): string {
  return (error as { code?: string } | undefined)?.code ?? String(error)
}

/** What others say is shown without control characters, in one short line. */
function plain(text: string): string {
  const line = text.replace(/[^\P{C}]|\s+/gu, ' ').trim()
  return (line.length > 300 ? `${line.slice(0, 299)}…` : line).replace(/\.$/, '')
}

function wordsOf(error: unknown): string {
  if (error instanceof OAuthError) return plain(`${error.code}, ${error.message}`)
  if (error instanceof RegistrationRejectedError)
    return plain(`registration was refused with ${error.status}`)
  if (!(error instanceof Error)) return plain(String(error))
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return plain(`${error.message}${inner}`)
}
