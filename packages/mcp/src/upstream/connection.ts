/** One live connection to a server: lists, calls, and says when it is over. */

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type CallToolResult,
  type Client,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/client'
import { defined } from '@toolwell/core/internal'
import type { McpTool, ServerDefinition } from '../definition/server-definition.js'
import { createAttribution } from './attribution.js'
import { type Caller, type CallerCapabilities, isLoudEnough, type LogMessage } from './caller.js'
import { ConnectionLost, lostOr } from './connection-lost.js'
import { listTools } from './list-tools.js'
import { type OpenOptions, openClient } from './open-client.js'
import { ProcessTransport } from './process-transport.js'
import { answerQuestions, loggedIn, passLog } from './questions.js'

/** Messages since the last one that we sent. More is a flood. */
const MOST_UNASKED = 20_000
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
    (reason) => {
      finish(reason)
      void client.close().catch(() => undefined)
    },
    (line) => passLog(line, attribution.current(), hide),
  )
  let level: LoggingLevel | undefined
  /** In the older protocol the level is that of the connection: the most talkative that a caller on it has asked for. */
  const listen = async (wanted: LoggingLevel | undefined) => {
    const isEnough = wanted === undefined || (level !== undefined && isLoudEnough(wanted, level))
    if (isEnough || era === 'modern' || !client.getServerCapabilities()?.logging) return
    level = wanted
    await client.setLoggingLevel(wanted, { timeout }).catch(() => undefined)
  }
  if (era === 'legacy') {
    // Also from servers that do not say beforehand that they will send it.
    client.setNotificationHandler('notifications/tools/list_changed', () => options.onListChanged())
  } else void watchSubscription(client, options.onListChanged)

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
      const listed = await listTools(client, { timeout, signal })
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
          ...ownMeta(meta),
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
        throw lostOr(error, isClosed, end ?? epitaph())
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
  if (era === 'modern' && JSON.stringify(tool.inputSchema).includes('x-mcp-header')) {
    const { outputSchema: _, ...toolDefinition } = tool
    return client.callTool(params, { ...options, toolDefinition })
  }
  return client.request({ method: 'tools/call', params }, options)
}

/** What a caller may say beside its call: neither who calls nor what is spoken, which is ours to say. */
function ownMeta(meta: CallOptions['meta'] = {}): Record<string, unknown> {
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
 * asks for something would otherwise belong to no caller.
 */
function guard(
  transport: Transport,
  canAsk: boolean,
  drown: (reason: string) => void,
  log: (line: LogMessage) => void,
): void {
  let unasked = 0
  const contexts = new Map<RequestId, <T>(work: () => T) => T>()
  const { onmessage } = transport
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    unasked = 0
    if (!canAsk) return send(message, options)
    if (isJSONRPCRequest(message)) contexts.set(message.id, AsyncLocalStorage.snapshot())
    else if ('params' in message && 'requestId' in (message.params ?? {}))
      contexts.delete(message.params?.requestId as RequestId)
    return send(message, options)
  }
  transport.onmessage = ((message: JSONRPCMessage, extra) => {
    unasked++
    if (unasked === MOST_UNASKED) drown(`the server sent ${MOST_UNASKED} unasked messages`)
    if (unasked >= MOST_UNASKED) return
    // Here and not in the SDK, which may come to it only when the call is over.
    const line = loggedIn(message)
    if (line) return log(line)
    const id = contexts.size > 0 && isJSONRPCResponse(message) ? message.id : undefined
    const within = id === undefined ? undefined : contexts.get(id)
    if (id === undefined || !within) return onmessage?.(message, extra)
    contexts.delete(id)
    within(() => onmessage?.(message, extra))
  }) as NonNullable<Transport['onmessage']>
}
