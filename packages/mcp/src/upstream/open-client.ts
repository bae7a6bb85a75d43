/** Opens one protocol client to a server over any transport, and detects the protocol era. */

import {
  type AuthProvider,
  Client,
  type ClientCapabilities,
  type FetchLike,
  InsufficientScopeError,
  type JSONRPCMessage,
  type OAuthClientProvider,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { dropUndefined } from '@toolwell/core/internal'
import type { HttpEndpoint, ServerConfig } from '../config/server-config.js'
import { limitAnswers, readStatus } from './http-answers.js'
import { ProgramFailure } from './process-failure.js'
import { ProcessTransport } from './process-transport.js'
import { abortable } from './retries.js'
import type { ServerLog } from './server-log.js'
import { explainError, observeFetch } from './unreachable.js'
import type { Watchdog } from './watchdog.js'

/**
 * After this time without an answer to the probe, a local server also gets `initialize`: some older servers never answer unknown
 * requests. The first answer decides, not the time.
 */
const PROBE_TIMEOUT = 4000

/** Optional hooks of credentials. */
export interface AuthHooks {
  /** Sends every request to the server. */
  readonly fetch?: FetchLike
  /** Calls `onChange` when there may be new credentials. Returns a function that stops it. */
  watch?(onChange: () => void): () => void
  /** Hides credentials in a text. */
  hide?(text: string): string
}

export type ServerAuth = (AuthProvider | OAuthClientProvider) & AuthHooks

export interface OpenOptions {
  readonly server: ServerConfig
  readonly version: string
  readonly watchdog: Watchdog
  readonly capabilities: ClientCapabilities
  /** Known from an earlier connection. An older server is not probed; one of the newer protocol gets more time to answer. */
  readonly era: 'legacy' | 'modern' | undefined
  /** Prefer the older protocol, for a caller without the newer one. Ignored if the server does not support it. */
  readonly prefersLegacy?: boolean
  readonly auth: ServerAuth | undefined
  /** Hides the server's secrets in a text. */
  readonly hide: (text: string) => string
  /** Receives standard error of a local server. */
  readonly log?: ServerLog | undefined
  /** Total milliseconds. */
  readonly timeout: number
  /** Milliseconds before a local server that has not answered the probe also gets `initialize`. Default 4,000. */
  readonly probeTimeout?: number
  readonly signal: AbortSignal
  readonly onListChanged: () => void
  readonly prepare: (client: Client) => void
}

export interface OpenClient {
  readonly client: Client
  readonly transport: Transport
}

export async function openClient(options: OpenOptions): Promise<OpenClient> {
  if (!options.prefersLegacy && options.era !== 'legacy') return openAs(options)
  try {
    return await openAs({ ...options, era: 'legacy' })
  } catch (error) {
    if (options.signal.aborted || !speaksOnlyNewer(error)) throw error
    return openAs({ ...options, era: undefined })
  }
}

async function openAs(options: OpenOptions): Promise<OpenClient> {
  const { endpoint } = options.server
  if (endpoint.type === 'stdio') {
    const { watchdog, hide, log } = options
    const start = () => new ProcessTransport({ endpoint, watchdog, hide, log })
    if (options.era === 'legacy') return attempt(options, start(), 'legacy')
    try {
      return await attempt(options, start(), 'auto')
    } catch (error) {
      if (options.signal.aborted) throw error
      // It has both requests, so start it again and wait for its answer to the probe.
      if (error instanceof AnsweredLate) return await attempt({ ...options, era: 'modern' }, start(), 'auto')
      // Some older servers exit when a request comes before initialize. Start them again.
      if (!isRefusedProbe(error)) throw error
      return await attempt(options, start(), 'legacy')
    }
  }
  const observer = observeFetch(
    limitAnswers(options.auth?.fetch ?? fetch),
    endpoint.type === 'sse' ? 'sse' : 'http',
  )
  try {
    const opened = await openRemote(options, endpoint, observer.fetch)
    observer.stop()
    return opened
  } catch (error) {
    if (options.signal.aborted || needsLogin(error)) throw error
    const { hide } = options
    throw explainError(error, endpoint, { hide, seen: observer.seen(), failure: observer.failure() })
  }
}

async function openRemote(
  options: OpenOptions,
  endpoint: HttpEndpoint,
  asking: FetchLike,
): Promise<OpenClient> {
  if (endpoint.type === 'sse') return attempt(options, sse(endpoint, options.auth, asking), 'legacy')
  try {
    return await attempt(
      options,
      streamable(endpoint, options.auth, asking),
      options.era === 'legacy' ? 'legacy' : 'auto',
    )
  } catch (error) {
    if (endpoint.type !== 'auto' || !speaksNoStreamableHttp(error) || options.signal.aborted) throw error
    try {
      return await attempt(
        options,
        sse(endpoint, options.auth, limitAnswers(options.auth?.fetch ?? fetch)),
        'legacy',
      )
    } catch {
      // The error of Streamable HTTP says more than the error of SSE.
      throw error
    }
  }
}

export function needsLogin(error: unknown): boolean {
  if (error instanceof UnauthorizedError || asksForMore(error)) return true
  return (
    error instanceof SdkHttpError &&
    (error.code === SdkErrorCode.ClientHttpAuthentication || readStatus(error) === 401)
  )
}

/** The login is valid, but lacks a scope. */
export function asksForMore(error: unknown): error is InsufficientScopeError {
  return error instanceof InsufficientScopeError
}

async function attempt(
  options: OpenOptions,
  transport: Transport,
  mode: 'auto' | 'legacy',
): Promise<OpenClient> {
  const { capabilities, timeout, probeTimeout = PROBE_TIMEOUT, signal, version } = options
  const isProcess = transport instanceof ProcessTransport
  const patience = options.era === 'modern' ? timeout / 2 : Math.min(probeTimeout, timeout)
  const watched = { autoRefresh: false, debounceMs: 0, onChanged: () => options.onListChanged() }
  const client = new Client(
    { name: 'toolwell', version },
    {
      capabilities,
      versionNegotiation: {
        mode,
        // A slow remote server does not have to be an older one.
        probe: { timeoutMs: isProcess ? patience : timeout },
      },
      listChanged: { tools: watched, prompts: watched, resources: watched },
    },
  )
  options.prepare(client)
  // The SDK does not stop waiting for a process when the signal aborts.
  const stop = () => void transport.close().catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  const answered = new AbortController()
  // The SDK handles messages during the probe itself: an answer to the probe comes here only if it is late.
  if (isProcess && mode === 'auto')
    transport.onmessage = (message) => {
      if (showsNewerProtocol(message)) answered.abort(new AnsweredLate())
    }
  const either = AbortSignal.any([signal, answered.signal])
  try {
    signal.throwIfAborted()
    // `start` of an SSE stream that is closed too early never resolves.
    await abortable(client.connect(transport, { timeout, signal: either }), either, () =>
      asError(either.reason),
    )
    signal.throwIfAborted()
    return { client, transport }
  } catch (error) {
    await transport.close().catch(() => undefined)
    if (answered.signal.aborted && !signal.aborted) throw answered.signal.reason
    if (!(transport instanceof ProcessTransport)) throw signal.aborted ? signal.reason : error
    const { epitaph, lastWords, wasSilent } = transport
    if (signal.aborted) throw new ProgramFailure(lastWords, { cause: signal.reason })
    if (epitaph === undefined) throw error
    const advice = wasSilent ? '; run its command by hand to see why' : ''
    throw new ProgramFailure(`${epitaph}${advice}`, { cause: error })
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}

function streamable(
  { url, headers }: HttpEndpoint,
  authProvider: ServerAuth | undefined,
  asking: FetchLike,
): Transport {
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    ...dropUndefined({ authProvider }),
    fetch: asking,
  }) as Transport
}

function sse(
  { url, headers }: HttpEndpoint,
  authProvider: ServerAuth | undefined,
  asking: FetchLike,
): Transport {
  return new SSEClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    ...dropUndefined({ authProvider }),
    fetch: asking,
  }) as Transport
}

/** A server of the newer protocol answered the probe when `initialize` had been sent. */
class AnsweredLate extends Error {}

/** Is it the answer to a probe, or a refusal of `initialize`, by a server of the newer protocol? */
function showsNewerProtocol(message: JSONRPCMessage): boolean {
  if ('result' in message) return Array.isArray(message.result.supportedVersions)
  return 'error' in message && message.error.code === ProtocolErrorCode.UnsupportedProtocolVersion
}

/** The process or the pipe ended during the protocol probe. */
function isRefusedProbe(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  return cause instanceof SdkError && cause.code === SdkErrorCode.EraNegotiationFailed
}

/** The server answered, but refused the older protocol. */
function speaksOnlyNewer(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof ProtocolError || speaksNoStreamableHttp(at)) return true
  }
  return false
}

function speaksNoStreamableHttp(error: unknown): boolean {
  const status = readStatus(error)
  return status !== undefined && status >= 400 && status < 500 && status !== 401 && status !== 403
}

/** Version that is sent to servers. A test compares it with package.json. */
export const VERSION = '0.1.0'
