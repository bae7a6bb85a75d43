/** One live connection to a server: lists, calls, and says when it is over. */

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type CallToolResult,
  type Client,
  isJSONRPCResponse,
  type JSONRPCMessage,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  type RequestId,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { defined } from '@toolwell/core/internal'
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
} from './incoming.js'
import { listTools } from './list-tools.js'
import { type OpenOptions, openClient } from './open-client.js'
import { ProgramFailure } from './process-failure.js'
import { ProcessTransport } from './process-transport.js'

/** A call that shows progress may take this many times its timeout in all. */
const MOST_EXTENSIONS = 20

export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

export interface CallOptions {
  readonly caller?: Caller
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
  /** Goes with the call as `_meta`: `traceparent`, say. What the protocol itself writes there is left out. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** Asked at last, when the server runs and its list is known as it is now: false, and the tool is not called. */
  readonly mayCall?: () => boolean
}

export interface Connection {
  readonly era: 'modern' | 'legacy'
  readonly pid: number | null
  /** Calls under way. */
  readonly busy: number
  readonly isClosed: boolean
  /** Resolves with the reason, once. */
  readonly closed: Promise<string>
  list(signal: AbortSignal): Promise<ServerDefinition>
  call(tool: McpTool, input: Record<string, unknown>, options: CallOptions): Promise<CallToolResult>
  /** Tells the server that its caller has other roots now, where that was announced. */
  rootsChanged(): Promise<void>
  close(): Promise<void>
}

export interface ConnectionOptions extends Omit<OpenOptions, 'prepare'> {
  readonly capabilities: CallerCapabilities
  /** The caller that the connection belongs to, where it belongs to one. */
  readonly owner: Caller | undefined
}

export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { server, capabilities, owner, timeout, hide } = options
  const attribution = createAttribution(owner)
  const { client, transport } = await attribution.apart(() =>
    openClient({
      ...options,
      prepare: (made) => answerQuestions(made, attribution.current, capabilities),
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
  )
  let level: LoggingLevel | undefined
  /** In the older protocol the level is that of the connection: the most talkative that a caller on it has asked for. */
  const listen = async (wanted: LoggingLevel | undefined) => {
    const isEnough = wanted === undefined || (level !== undefined && isLoudEnough(wanted, level))
    if (isEnough || era === 'modern' || !client.getServerCapabilities()?.logging) return
    level = wanted
    await client.setLoggingLevel(wanted, { timeout }).catch(() => undefined)
  }
  const changed = () => {
    if (!isClosed) options.onListChanged()
  }
  if (era === 'legacy') {
    // Also from servers that do not say beforehand that they will send it.
    client.setNotificationHandler('notifications/tools/list_changed', changed)
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
      // The SDK has forgotten by then what the server can do: it would seem to have no tools.
      if (isClosed) throw new ConnectionLost('the connection was closed', false)
      const listed = await listTools(client, { timeout, signal }).catch((error: unknown) => {
        const why = epitaph()
        throw why === undefined ? error : new ProgramFailure(why, { cause: error })
      })
      return {
        ...listed,
        instructions: client.getInstructions() ?? '',
        capabilities: client.getServerCapabilities() ?? {},
        info: client.getServerVersion(),
        era,
      }
    },
    async call(tool, input, { caller = {}, signal, onProgress, meta }) {
      if (isClosed) throw new ConnectionLost('the connection was closed', false)
      busy++
      try {
        const { handlers, logLevel } = caller
        if (handlers?.log && logLevel !== undefined) await listen(logLevel)
        const sent = {
          ...(meta ? ownMeta(meta) : {}),
          ...(era === 'modern' && handlers?.log && logLevel !== undefined
            ? { [LOG_LEVEL_META_KEY]: logLevel }
            : {}),
        }
        const params = {
          name: tool.name,
          arguments: input,
          ...(Object.keys(sent).length > 0 ? { _meta: sent } : {}),
        }
        const work = () =>
          send(client, era, tool, params, {
            timeout: server.timeout,
            // Whoever watches a call sees that it is alive; then it may take longer.
            ...(onProgress
              ? {
                  maxTotalTimeout: server.timeout * MOST_EXTENSIONS,
                  resetTimeoutOnProgress: true,
                  onprogress: (progress) => onProgress(progress as Progress),
                }
              : {}),
            ...defined({ signal }),
          })
        return await attribution.during(caller, canAsk || handlers?.log !== undefined, work)
      } catch (error) {
        // A caller that has left says nothing of the server, whatever reason its signal gives.
        throw signal?.aborted ? error : classifyError(error, isClosed, end ?? epitaph())
      } finally {
        busy--
      }
    },
    async rootsChanged() {
      // In the newer protocol, roots are asked for whenever they are needed.
      if (capabilities.roots?.listChanged && era === 'legacy')
        await client.sendRootsListChanged().catch(() => undefined)
    },
    async close() {
      // What it says while it ends is no news.
      isClosed = true
      await client.close().catch(() => undefined)
      await transport.close().catch(() => undefined)
      finish('the connection was closed')
    },
  }
}

type SendOptions = NonNullable<Parameters<Client['callTool']>[1]>

/**
 * Past the SDK's check of structured output, which would turn the result of a tool that ran into an error; but through
 * the part of it that copies arguments into headers, where a tool asks for that.
 */
function send(
  client: Client,
  era: 'modern' | 'legacy',
  tool: McpTool,
  params: Parameters<Client['callTool']>[0],
  options: SendOptions,
): Promise<CallToolResult> {
  if (era === 'modern' && wantsHeaders(tool)) {
    const { outputSchema: _, ...toolDefinition } = tool
    return client.callTool(params, { ...options, toolDefinition })
  }
  return client.request({ method: 'tools/call', params }, options)
}

/** What a caller may say beside its call: neither who calls nor what is spoken, which is ours to say. */
function ownMeta(meta: NonNullable<CallOptions['meta']>): Record<string, unknown> {
  const isOurs = (key: string) => key === 'progressToken' || key.startsWith('io.modelcontextprotocol/')
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !isOurs(key)))
}

/** List changes arrive on a stream. When the stream ends by itself, a change may have been missed. */
async function watchSubscription(client: Client, onListChanged: () => void): Promise<void> {
  const end = await client.autoOpenedSubscription?.closed
  if (end === 'remote' || end === 'graceful') onListChanged()
}

/**
 * Ends a connection that floods us, and hands every answer over in the context of its question: on a pipe, an answer that
 * asks for something would otherwise belong to no caller. With `isStreamed`, every answer has a stream of its own: it is not
 * read on when its request is cancelled (in the newer protocol the SDK sees to that), and one that breaks off is told.
 */
function guard(
  transport: Transport,
  canAsk: boolean,
  isStreamed: boolean,
  drown: (reason: string) => void,
  log: (line: LogMessage) => void,
): void {
  const flood = createFlood(() => performance.now())
  let isDrowned = false
  /** Calls under way that asked for progress; the SDK asks for it by the id of the call. */
  const watched = new Set<RequestId>()
  const contexts = new Map<RequestId, <T>(work: () => T) => T>()
  const { onmessage } = transport
  const send = transport.send.bind(transport)
  const readings = new Map<RequestId, AbortController>()
  /** It is answered, or nobody waits for it any more. */
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
      ...defined({ ...options }),
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
    flood.sent()
    if (params?._meta?.progressToken !== undefined) watched.add(id)
    if (canAsk) contexts.set(id, AsyncLocalStorage.snapshot())
    options?.requestSignal?.addEventListener('abort', () => forget(id), { once: true })
    const sending = send(message, isStreamed ? streamed(id, options) : options)
    sending.catch(() => forget(id))
    return sending
  }
  transport.onmessage = ((message: JSONRPCMessage, extra) => {
    if (isDrowned) return
    isDrowned = flood.came(watched.size > 0 && watched.has(progressOf(message) ?? ''))
    if (isDrowned) return drown(FLOOD)
    // Here and not in the SDK, which may come to it only when the call is over.
    const line = readLogMessage(message)
    if (line) return log(line)
    const isAnswer = contexts.size + readings.size + watched.size > 0 && isJSONRPCResponse(message)
    const id = isAnswer ? message.id : undefined
    const within = id === undefined ? undefined : contexts.get(id)
    if (id !== undefined) forget(id)
    if (!within) return onmessage?.(message, extra)
    within(() => onmessage?.(message, extra))
  }) as NonNullable<Transport['onmessage']>
}

/** The call that a message tells the progress of. */
function progressOf(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/progress') return undefined
  return message.params?.progressToken as RequestId | undefined
}
