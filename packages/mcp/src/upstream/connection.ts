/** One open connection to a server: lists tools, calls tools, and reports its end. */

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  type ClientCapabilities,
  isJSONRPCResponse,
  type JSONRPCMessage,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  type RequestId,
  type Result,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { dropUndefined } from '@toolwell/core/internal'
import type { McpTool, ServerDefinition } from '../definition/server-definition.js'
import { wantsHeaders } from '../definition/server-definition.js'
import { type Caller, type CallerCapabilities, isLoudEnough, type LogMessage } from './caller.js'
import { ConnectionLost, classifyError, createBrokenOffAnswer } from './failures.js'
import {
  answerQuestions,
  createAttribution,
  createFlood,
  FLOOD,
  forwardLog,
  readLogMessage,
  reportRefusedModes,
  UrlQuestions,
} from './incoming.js'
import { listServer } from './list-server.js'
import { type OpenOptions, openClient } from './open-client.js'
import { ProgramFailure } from './process-failure.js'
import { ProcessTransport } from './process-transport.js'
import { Subscriptions } from './subscriptions.js'

/** Progress adds at most this many times the timeout to a call. */
const MOST_EXTENSIONS = 2

/** Milliseconds between two updates of progress, after the first few. With the last one, a caller gets at most ten a second. */
const PROGRESS_INTERVAL = 125
const FIRST_UPDATES = 5

export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** A question is returned as the result (`input_required`). The caller repeats the request with the answers. */
export interface QuestionRelay {
  readonly capabilities: ClientCapabilities
  readonly inputResponses?: Readonly<Record<string, unknown>>
  readonly requestState?: string
}

export interface CallOptions {
  readonly caller?: Caller
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  /** Sent as `_meta`, such as `traceparent`. Keys of the protocol are skipped. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** For a caller that answers a server of the newer protocol itself. Ignored for servers of the older protocol. */
  readonly relay?: QuestionRelay
  /** Called when a resource has changed, from `resources/subscribe` until `resources/unsubscribe` with the same function. */
  readonly onUpdated?: (uri: string) => void
  /** Called last, after the current list is known. False: the tool is not called. */
  readonly mayCall?: () => boolean
}

/** A request of a caller that a server answers. */
export interface ServerRequest {
  readonly method:
    | 'tools/call'
    | 'prompts/get'
    | 'resources/read'
    | 'resources/subscribe'
    | 'resources/unsubscribe'
    | 'completion/complete'
  readonly params: Readonly<Record<string, unknown>>
}

export interface Connection {
  readonly era: 'modern' | 'legacy'
  readonly pid: number | null
  /** Number of current calls. */
  readonly busy: number
  readonly isClosed: boolean
  /** Resolves with the reason when the connection ends. */
  readonly closed: Promise<string>
  list(signal: AbortSignal): Promise<ServerDefinition>
  /** Sends a request. `tool`: the tool that it calls. */
  request(asked: ServerRequest, tool: McpTool | undefined, options: CallOptions): Promise<Result>
  /** Notifies the server of changed roots, if this capability was announced. */
  rootsChanged(): Promise<void>
  close(): Promise<void>
}

export interface ConnectionOptions extends Omit<OpenOptions, 'prepare'> {
  readonly capabilities: CallerCapabilities
  /** The only caller of the connection, if there is one. */
  readonly owner: Caller | undefined
}

export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { server, capabilities, owner, timeout, hide } = options
  const attribution = createAttribution(owner)
  const urls = new UrlQuestions()
  const { client, transport } = await attribution.apart(() =>
    openClient({
      ...options,
      prepare: (made) => answerQuestions(made, attribution.current, capabilities, urls),
    }),
  )
  const era = client.getProtocolEra() ?? 'legacy'
  let busy = 0
  let isClosed = false
  let over: (reason: string) => void = () => undefined
  const closed = new Promise<string>((resolve) => {
    over = resolve
  })
  let end: string | undefined
  const finish = (reason: string) => {
    isClosed = true
    end ??= reason
    over(reason)
  }
  const epitaph = () => (transport instanceof ProcessTransport ? transport.epitaph : undefined)
  client.onclose = () => finish(epitaph() ?? 'the connection was closed')
  client.onerror = () => undefined
  reportRefusedModes(transport, attribution.current, capabilities)
  const canAsk = Object.keys(capabilities).length > 0
  guard(
    transport,
    canAsk,
    transport instanceof StreamableHTTPClientTransport,
    (reason) => {
      finish(reason)
      void client.close().catch(() => undefined)
    },
    (line) => forwardLog(line, attribution.current(), hide),
    () => busy > 0,
  )
  let level: LoggingLevel | undefined
  /** In the older protocol, a connection has one log level: the most verbose of its callers. */
  const listen = async (wanted: LoggingLevel | undefined) => {
    const isEnough = wanted === undefined || (level !== undefined && isLoudEnough(wanted, level))
    if (isEnough || era === 'modern' || !client.getServerCapabilities()?.logging) return
    level = wanted
    await client.setLoggingLevel(wanted, { timeout }).catch(() => undefined)
  }
  const subscriptions = new Subscriptions(client, era)
  const changed = () => {
    if (!isClosed) options.onListChanged()
  }
  if (era === 'legacy') {
    // Also for servers that do not announce this capability.
    for (const kind of ['tools', 'prompts', 'resources'] as const)
      client.setNotificationHandler(`notifications/${kind}/list_changed`, changed)
  } else void watchSubscription(client, changed)

  return {
    era,
    get pid() {
      return transport instanceof ProcessTransport ? transport.pid : null
    },
    get busy() {
      return busy
    },
    get isClosed() {
      return isClosed
    },
    closed,
    async list(signal) {
      // The SDK forgets these when the connection closes: the server would seem to have no tools and other instructions.
      const capabilities = client.getServerCapabilities()
      const [instructions, info] = [client.getInstructions() ?? '', client.getServerVersion()]
      if (isClosed || !capabilities) throw new ConnectionLost('the connection was closed', false)
      const listed = await listServer(client, capabilities, { timeout, signal }).catch((error: unknown) => {
        const why = epitaph()
        throw why === undefined ? error : new ProgramFailure(why, { cause: error })
      })
      // A list of prompts that was cut off counts as empty.
      if (isClosed) throw new ConnectionLost('the connection was closed', false)
      return { ...listed, instructions, capabilities, info, era }
    },
    async request(asked, tool, { caller = {}, signal, onProgress, meta, relay, onUpdated }) {
      const { method, params: given } = asked
      if (isClosed) throw new ConnectionLost('the connection was closed', false)
      busy++
      const updates = onProgress && limitProgress(onProgress)
      try {
        if (onUpdated) return await subscriptions.change(asked, onUpdated, server)
        const { handlers, logLevel } = caller
        if (handlers?.log && logLevel !== undefined) await listen(logLevel)
        const { capabilities: announced, ...answers } = (era === 'modern' && relay) || {}
        const sent = {
          ...(announced ? { [CLIENT_CAPABILITIES_META_KEY]: announced } : {}),
          ...(meta ? ownMeta(meta) : {}),
          ...(era === 'modern' && handlers?.log && logLevel !== undefined
            ? { [LOG_LEVEL_META_KEY]: logLevel }
            : {}),
        }
        const params = {
          ...given,
          ...answers,
          ...(Object.keys(sent).length > 0 ? { _meta: sent } : {}),
        }
        const work = () =>
          send(
            client,
            era,
            tool,
            { method, params },
            {
              timeout: server.timeout,
              // With progress, a call may take longer.
              ...(updates
                ? {
                    maxTotalTimeout: server.timeout * (1 + MOST_EXTENSIONS),
                    resetTimeoutOnProgress: true,
                    onprogress: (progress) => updates.add(progress as Progress),
                  }
                : {}),
              ...(announced ? { allowInputRequired: true } : {}),
              ...dropUndefined({ signal }),
            },
          )
        return await attribution.during(caller, canAsk || handlers?.log !== undefined, work)
      } catch (error) {
        urls.expectFrom(error, caller)
        // A cancelled call says nothing about the server.
        throw signal?.aborted ? error : classifyError(error, isClosed, end ?? epitaph())
      } finally {
        updates?.end()
        busy--
      }
    },
    async rootsChanged() {
      // In the newer protocol, servers ask for roots when they need them.
      if (capabilities.roots?.listChanged && era === 'legacy')
        await client.sendRootsListChanged().catch(() => undefined)
    },
    async close() {
      // Ignore messages while the connection ends.
      isClosed = true
      await client.close().catch(() => undefined)
      await transport.close().catch(() => undefined)
      finish('the connection was closed')
    },
  }
}

/** Passes on the latest progress at most once per interval, and the last one at the end of the call. */
function limitProgress(onProgress: (progress: Progress) => void) {
  let latest: Progress | undefined
  let count = 0
  let waiting: NodeJS.Timeout | undefined
  const pass = () => {
    const progress = latest
    latest = undefined
    waiting = undefined
    if (!progress) return
    waiting = setTimeout(pass, PROGRESS_INTERVAL)
    try {
      onProgress(progress)
    } catch {
      // An error in a timer would end the process.
    }
  }
  return {
    add(progress: Progress) {
      latest = progress
      if (waiting && count >= FIRST_UPDATES) return
      clearTimeout(waiting)
      count++
      pass()
    },
    end() {
      clearTimeout(waiting)
      pass()
      clearTimeout(waiting)
    },
  }
}

type CallParams = Parameters<Client['callTool']>[0]
type SendOptions = NonNullable<Parameters<Client['callTool']>[1]>

/**
 * Sends a call without the SDK's check of structured output, which would turn a result into an error. If the tool wants arguments
 * in headers, uses the SDK for that.
 */
function send(
  client: Client,
  era: 'modern' | 'legacy',
  tool: McpTool | undefined,
  { method, params }: ServerRequest,
  options: SendOptions,
): Promise<Result> {
  if (era === 'modern' && tool && wantsHeaders(tool)) {
    const { outputSchema: _, ...toolDefinition } = tool
    return client.callTool(params as CallParams, { ...options, toolDefinition })
  }
  return client.request({ method, params } as { method: ServerRequest['method'] }, options)
}

/** Removes keys of the protocol from the caller's `_meta`. */
function ownMeta(meta: NonNullable<CallOptions['meta']>): Record<string, unknown> {
  const isOurs = (key: string) => key === 'progressToken' || key.startsWith('io.modelcontextprotocol/')
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !isOurs(key)))
}

/** Announces a list change when the stream of list changes ends, because a change may have been missed. */
async function watchSubscription(client: Client, onListChanged: () => void): Promise<void> {
  const end = await client.autoOpenedSubscription?.closed
  if (end === 'remote' || end === 'graceful') onListChanged()
}

/**
 * Ends a connection on a flood of messages, and delivers each answer in the context of its request, so that a question in an answer
 * has a caller. `isStreamed`: every answer has its own stream. Such a stream is closed when its request is cancelled (in the newer
 * protocol, by the SDK), and an interrupted answer becomes an error.
 */
function guard(
  transport: Transport,
  canAsk: boolean,
  isStreamed: boolean,
  drown: (reason: string) => void,
  log: (line: LogMessage) => void,
  isBusy: () => boolean,
): void {
  const flood = createFlood(() => performance.now())
  let isDrowned = false
  /** Current calls that requested progress. The SDK uses the id of the call as progress token. */
  const watched = new Set<RequestId>()
  const contexts = new Map<RequestId, <T>(work: () => T) => T>()
  const { onmessage } = transport
  const send = transport.send.bind(transport)
  const readings = new Map<RequestId, AbortController>()
  /** Called when a request is answered or cancelled. */
  const forget = (id: RequestId) => {
    watched.delete(id)
    contexts.delete(id)
    readings.delete(id)
  }
  const streamed = (id: RequestId, options: TransportSendOptions = {}): TransportSendOptions => {
    const reading = new AbortController()
    readings.set(id, reading)
    return {
      requestSignal: reading.signal,
      onRequestStreamEnd: () => readings.has(id) && transport.onmessage?.(createBrokenOffAnswer(id)),
      ...dropUndefined({ ...options }),
    }
  }
  transport.send = (message, options) => {
    const cancelled = 'params' in message ? (message.params?.requestId as RequestId | undefined) : undefined
    if (cancelled !== undefined) {
      readings.get(cancelled)?.abort()
      forget(cancelled)
    }
    if (!('method' in message && 'id' in message)) return send(message, options)
    const { id, params } = message
    flood.countRequest()
    if (params?._meta?.progressToken !== undefined) watched.add(id)
    if (canAsk) contexts.set(id, AsyncLocalStorage.snapshot())
    options?.requestSignal?.addEventListener('abort', () => forget(id), { once: true })
    const sending = send(message, isStreamed ? streamed(id, options) : options)
    sending.catch(() => forget(id))
    return sending
  }
  transport.onmessage = ((message: JSONRPCMessage, extra) => {
    if (isDrowned) return
    const line = readLogMessage(message)
    isDrowned = flood.countMessage(
      line ? isBusy() : watched.size > 0 && watched.has(progressOf(message) ?? ''),
    )
    if (isDrowned) return drown(FLOOD)
    // Not in the SDK, which may handle it only after the call.
    if (line) return log(line)
    const isAnswer = contexts.size + readings.size + watched.size > 0 && isJSONRPCResponse(message)
    const id = isAnswer ? message.id : undefined
    const within = id === undefined ? undefined : contexts.get(id)
    if (id !== undefined) forget(id)
    if (!within) return onmessage?.(message, extra)
    within(() => onmessage?.(message, extra))
  }) as NonNullable<Transport['onmessage']>
}

/** The call of a progress message. */
function progressOf(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/progress') return undefined
  return message.params?.progressToken as RequestId | undefined
}
