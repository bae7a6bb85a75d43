/** Messages from a server: forwards questions and logs to the right caller, and detects floods. */

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Client,
  type JSONRPCMessage,
  type ListRootsResult,
  ProtocolError,
  ProtocolErrorCode,
  type Transport,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client'
import { dropUndefined, isRecord } from '@toolwell/core/internal'
import { hideInValue } from '../definition/clean-definition.js'
import {
  type Caller,
  type CallerCapabilities,
  type CallerHandlers,
  isLogLevel,
  isLoudEnough,
  type LogMessage,
} from './caller.js'

/** Answers questions for which a capability was announced. */
export function answerQuestions(
  client: Client,
  current: () => Caller | undefined,
  { elicitation, sampling, roots }: CallerCapabilities,
  urls: UrlQuestions,
): void {
  const asked = <K extends 'elicit' | 'sample' | 'roots'>(kind: K): NonNullable<CallerHandlers[K]> => {
    const handler = current()?.handlers?.[kind]
    if (handler) return handler as NonNullable<CallerHandlers[K]>
    throw new ProtocolError(
      -32603,
      'This cannot be answered: several clients have calls on this connection, and it is not clear to which call the question belongs.',
    )
  }
  client.fallbackRequestHandler = async ({ method }) => {
    current()?.handlers?.refused?.(method)
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found')
  }
  if (elicitation)
    client.setRequestHandler('elicitation/create', ({ params }, context) => {
      const elicit = asked('elicit')
      if (params.mode === 'url' && params.elicitationId) urls.expect(params.elicitationId, current())
      return elicit(params, context.mcpReq.signal)
    })
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
    urls.complete(params.elicitationId),
  )
  if (sampling)
    client.setRequestHandler('sampling/createMessage', (request, context) =>
      asked('sample')(request.params, context.mcpReq.signal),
    )
  if (roots)
    client.setRequestHandler(
      'roots/list',
      async (): Promise<ListRootsResult> => ({ roots: [...(await asked('roots')())] }),
    )
}

/** The SDK refuses a question in a mode that the caller does not have. Such a question is reported as refused, too. */
export function reportRefusedModes(
  transport: Transport,
  current: () => Caller | undefined,
  { elicitation }: CallerCapabilities,
): void {
  const { onmessage } = transport
  transport.onmessage = ((message: JSONRPCMessage, extra) => {
    if ('method' in message && message.method === 'elicitation/create' && elicitation) {
      const mode = message.params?.mode === 'url' ? 'url' : 'form'
      if (!elicitation[mode]) current()?.handlers?.refused?.(message.method)
    }
    onmessage?.(message, extra)
  }) as NonNullable<Transport['onmessage']>
}

/** URLs of a connection that users have open. */
export class UrlQuestions {
  readonly #callers = new Map<string, Caller | undefined>()

  expect(elicitationId: string, caller: Caller | undefined): void {
    this.#callers.set(elicitationId, caller)
    const [oldest] = this.#callers.keys()
    if (this.#callers.size > MOST_URLS && oldest !== undefined) this.#callers.delete(oldest)
  }

  /** Expects the URLs of an error that asks for them. */
  expectFrom(error: unknown, caller: Caller): void {
    if (!(error instanceof UrlElicitationRequiredError)) return
    for (const { elicitationId } of error.elicitations) this.expect(elicitationId, caller)
  }

  /** Notifies the caller who was asked, and nobody else. */
  complete(elicitationId: string): void {
    this.#callers.get(elicitationId)?.handlers?.completed?.(elicitationId)
    this.#callers.delete(elicitationId)
  }
}

const MOST_URLS = 100

/** Reads a log message. Undefined for other messages. */
export function readLogMessage(message: JSONRPCMessage): LogMessage | undefined {
  if (!('method' in message) || message.method !== 'notifications/message') return undefined
  const { level, logger, data } = isRecord(message.params) ? message.params : {}
  if (!isLogLevel(level)) return undefined
  return { level, data, ...dropUndefined({ logger: typeof logger === 'string' ? logger : undefined }) }
}

/** Forwards a log message without secrets to its caller only. Ignores errors of the handler. */
export function forwardLog(
  { data, ...line }: LogMessage,
  caller: Caller | undefined,
  hide: (text: string) => string,
): void {
  const { handlers, logLevel } = caller ?? {}
  if (!handlers?.log || !isLoudEnough(line.level, logLevel)) return
  try {
    handlers.log({ ...line, data: hideInValue(data, hide) })
  } catch {
    // The handler is not part of the call.
  }
}

export interface Attribution {
  /** Runs the work as this caller. `isAsked`: the server may send questions or logs for this call. */
  during<T>(caller: Caller, isAsked: boolean, work: () => Promise<T>): Promise<T>
  /** Runs the work for no caller, because it may outlive a call. */
  apart<T>(work: () => T): T
  current(): Caller | undefined
}

/**
 * Finds the caller of a server's question or log. On a separate stream, the call is known. On a shared pipe, it is the caller of
 * all current calls if there is only one, or the owner of the connection. Otherwise nobody: a wrong guess could leak data to
 * another user.
 */
export function createAttribution(owner: Caller | undefined): Attribution {
  const storage = new AsyncLocalStorage<Caller>()
  const underWay = new Map<symbol, Caller>()
  return {
    async during(caller, isAsked, work) {
      const key = Symbol()
      underWay.set(key, caller)
      try {
        // Tracking adds 20 % to a call, and is needed only if the server may send something.
        return await (isAsked ? storage.run(caller, work) : work())
      } finally {
        underWay.delete(key)
      }
    },
    apart: (work) => storage.exit(work),
    current() {
      const known = storage.getStore()
      if (known) return known
      const callers = [...underWay.values()]
      const distinct = new Set(callers.map(identifyCaller))
      return distinct.size < 2 ? (callers.at(-1) ?? owner) : undefined
    },
  }
}

/** Calls of one conversation belong to one caller, even if each has its own handlers. */
function identifyCaller({ client, conversation, handlers }: Caller): unknown {
  return conversation === undefined ? handlers : JSON.stringify([client, conversation])
}

/** Unrequested messages per second that are allowed permanently. Reading them takes a few percent of a processor. */
const RATE = 2000
/** Unrequested messages that are allowed at once. */
const BURST = 20_000
/** Messages that each of our requests allows in addition: its answer and logs. */
const PER_REQUEST = 16
/** The same limits for requested progress, and logs during a call. Messages beyond them count as unrequested. */
const CALL_RATE = 5000
const CALL_BURST = 50_000

export interface Flood {
  /** Call for each request that is sent. */
  countRequest(): void
  /** Call for each received message. `isOfCall`: requested progress, or a log during a call. True if there are too many messages. */
  countMessage(isOfCall: boolean): boolean
}

/** Detects floods by the rate of messages, not by their total. `now` in milliseconds. */
export function createFlood(now: () => number): Flood {
  const all = createBucket(RATE, BURST, now)
  const ofCalls = createBucket(CALL_RATE, CALL_BURST, now)
  return {
    countRequest: () => all.empty(PER_REQUEST),
    countMessage: (isOfCall) => !(isOfCall && ofCalls.fill()) && !all.fill(),
  }
}

export const FLOOD = `the server sent more than ${RATE} unrequested messages per second`

/** A leaky bucket. */
function createBucket(rate: number, most: number, now: () => number) {
  let level = 0
  let last = now()
  return {
    empty(count: number) {
      level = Math.max(0, level - count)
    },
    /** False if it is full. */
    fill(): boolean {
      const time = now()
      level = Math.max(0, level - ((time - last) * rate) / 1000)
      last = time
      if (level >= most) return false
      level++
      return true
    },
  }
}
