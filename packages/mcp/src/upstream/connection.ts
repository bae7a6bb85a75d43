/** One live connection to a server: lists, calls, and says when it is over. */

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type CallToolResult,
  type Client,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type ListRootsResult,
  ProtocolError,
  type RequestId,
  SdkError,
  SdkErrorCode,
  type Transport,
} from '@modelcontextprotocol/client'
import { defined } from '@toolwell/core/internal'
import type { McpTool, ServerDefinition } from '../definition/server-definition.js'
import { type Caller, capabilitiesOf, createAttribution } from './caller.js'
import { listTools } from './list-tools.js'
import { needsLogin, type OpenOptions, openClient, statusOf } from './open-client.js'
import { ProcessTransport } from './process-transport.js'

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
}

/** A call that the connection did not survive. `sent` is false where the server cannot have seen it. */
export class ConnectionLost extends Error {
  readonly sent: boolean
  constructor(message: string, sent: boolean, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'ConnectionLost'
    this.sent = sent
  }
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
  close(): Promise<void>
}

export interface ConnectionOptions extends Omit<OpenOptions, 'capabilities' | 'prepare'> {
  /** Whose questions may be asked at all; the caller that the connection belongs to, where it belongs to one. */
  readonly handlers: Caller['handlers']
  readonly owner: Caller | undefined
}

export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { server, handlers, owner, timeout } = options
  const attribution = createAttribution(owner)
  const { client, transport } = await attribution.apart(() =>
    openClient({
      ...options,
      capabilities: capabilitiesOf(handlers),
      prepare: (made) => answerQuestions(made, attribution.current, handlers),
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
  // Tracking whose call it is costs a fifth of a call, and is needed only where something can be asked.
  const canAsk = Object.keys(capabilitiesOf(handlers)).length > 0
  guard(transport, canAsk, (reason) => {
    finish(reason)
    void client.close().catch(() => undefined)
  })
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
    async call(tool, input, { caller = {}, signal, onProgress }) {
      if (isClosed) throw new ConnectionLost('the connection was closed', false)
      busy++
      try {
        const work = () =>
          send(client, era, tool, input, {
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
        return await (canAsk ? attribution.during(caller, work) : work())
      } catch (error) {
        throw lostOr(error, isClosed, end ?? epitaph())
      } finally {
        busy--
      }
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
  input: Record<string, unknown>,
  options: SendOptions,
): Promise<CallToolResult> {
  const params = { name: tool.name, arguments: input }
  if (era === 'modern' && JSON.stringify(tool.inputSchema).includes('x-mcp-header')) {
    const { outputSchema: _, ...toolDefinition } = tool
    return client.callTool(params, { ...options, toolDefinition })
  }
  return client.request({ method: 'tools/call', params }, options)
}

function answerQuestions(
  client: Client,
  current: () => Caller | undefined,
  handlers: Caller['handlers'] = {},
): void {
  const asked = <K extends 'elicit' | 'sample' | 'roots'>(
    kind: K,
  ): NonNullable<NonNullable<Caller['handlers']>[K]> => {
    const handler = current()?.handlers?.[kind]
    if (handler) return handler as NonNullable<NonNullable<Caller['handlers']>[K]>
    throw new ProtocolError(
      -32603,
      'This cannot be answered: it is not clear whose call it belongs to. Calls of several clients are under way on one connection.',
    )
  }
  if (handlers.elicit)
    client.setRequestHandler('elicitation/create', (request, context) =>
      asked('elicit')(request.params, context.mcpReq.signal),
    )
  if (handlers.sample)
    client.setRequestHandler('sampling/createMessage', (request, context) =>
      asked('sample')(request.params, context.mcpReq.signal),
    )
  if (handlers.roots)
    client.setRequestHandler(
      'roots/list',
      async (): Promise<ListRootsResult> => ({ roots: [...(await asked('roots')())] }),
    )
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
function guard(transport: Transport, canAsk: boolean, drown: (reason: string) => void): void {
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
    const id = contexts.size > 0 && isJSONRPCResponse(message) ? message.id : undefined
    const within = id === undefined ? undefined : contexts.get(id)
    if (id === undefined || !within) return onmessage?.(message, extra)
    contexts.delete(id)
    within(() => onmessage?.(message, extra))
  }) as NonNullable<Transport['onmessage']>
}

/** Tells an answer with an error from a connection that is gone. */
function lostOr(error: unknown, isClosed: boolean, epitaph: string | undefined): unknown {
  if (error instanceof ProtocolError || needsLogin(error)) return error
  const code = error instanceof SdkError ? error.code : undefined
  if (code === SdkErrorCode.RequestTimeout) return error
  const why = epitaph ?? (error instanceof Error ? error.message : String(error))
  if (code === SdkErrorCode.NotConnected) return new ConnectionLost(why, false, { cause: error })
  if (isForgotten(error)) return new ConnectionLost(why, false, { cause: error })
  if (isRefused(error)) return new ConnectionLost(why, false, { cause: error })
  if (
    isClosed ||
    code === SdkErrorCode.ConnectionClosed ||
    code === SdkErrorCode.SendFailed ||
    isNetwork(error)
  )
    return new ConnectionLost(why, true, { cause: error })
  return error
}

/** The server does not know our session any more, and has not run the call. Some say so only in the message. */
function isForgotten(error: unknown): boolean {
  const status = statusOf(error)
  return status === 404 || (status === 400 && error instanceof Error && /session/i.test(error.message))
}

/** Nothing listened at the address: the call was not delivered. */
function isRefused(error: unknown): boolean {
  return causes(error).some(({ code }) => code === 'ECONNREFUSED' || code === 'ENOTFOUND')
}

function isNetwork(error: unknown): boolean {
  return causes(error).some(
    ({ code, name }) =>
      typeof code === 'string' && /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(code) && name !== 'AbortError',
  )
}

/** The error, what caused it, and so on; of several tries at once, every one. */
function causes(error: unknown, depth = 0): { code?: unknown; name?: unknown }[] {
  if (typeof error !== 'object' || error === null || depth > 5) return []
  const { cause, errors } = error as { cause?: unknown; errors?: unknown }
  const several = Array.isArray(errors) ? errors.flatMap((each) => causes(each, depth + 1)) : []
  return [error, ...causes(cause, depth + 1), ...several]
}
