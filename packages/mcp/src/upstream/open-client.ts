/** Opens one protocol client to a server over any transport, and detects the protocol era. */

import {
  type AuthProvider,
  Client,
  type ClientCapabilities,
  type FetchLike,
  InsufficientScopeError,
  type OAuthClientProvider,
  ProtocolError,
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

/** A local server that does not answer the probe within this time uses the older protocol. */
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
  /** Known from an earlier connection, so that no probe is needed. */
  readonly era: 'legacy' | undefined
  /** Prefer the older protocol, for a caller without the newer one. Ignored if the server does not support it. */
  readonly prefersLegacy?: boolean
  readonly auth: ServerAuth | undefined
  /** Hides the server's secrets in a text. */
  readonly hide: (text: string) => string
  /** Receives standard error of a local server. */
  readonly log?: ServerLog | undefined
  /** Total milliseconds. */
  readonly timeout: number
  /** Milliseconds for the protocol probe of a local server. Default 4,000. */
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
  if (!options.prefersLegacy) return openAs(options)
  try {
    return await openAs({ ...options, era: 'legacy' })
  } catch (error) {
    if (options.signal.aborted || !speaksOnlyNewer(error)) throw error
    return openAs(options)
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
      // Some older servers exit when a request comes before initialize. Start them again.
      if (!isRefusedProbe(error) || options.signal.aborted) throw error
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
    return await attempt(options, streamable(endpoint, options.auth, asking), options.era ?? 'auto')
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
  era: 'auto' | 'legacy',
): Promise<OpenClient> {
  const { capabilities, timeout, probeTimeout = PROBE_TIMEOUT, signal, version } = options
  // A slow remote server does not have to be an older one.
  const isProcess = transport instanceof ProcessTransport
  const watched = { autoRefresh: false, debounceMs: 0, onChanged: () => options.onListChanged() }
  const client = new Client(
    { name: 'toolwell', version },
    {
      capabilities,
      versionNegotiation: {
        mode: era,
        probe: { timeoutMs: isProcess ? Math.min(probeTimeout, timeout) : timeout },
      },
      listChanged: { tools: watched, prompts: watched, resources: watched },
    },
  )
  options.prepare(client)
  // The SDK does not stop waiting for a process when the signal aborts.
  const stop = () => void transport.close().catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    // `start` of an SSE stream that is closed too early never resolves.
    await abortable(client.connect(transport, { timeout, signal }), signal, () => asError(signal.reason))
    signal.throwIfAborted()
    return { client, transport }
  } catch (error) {
    await transport.close().catch(() => undefined)
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
