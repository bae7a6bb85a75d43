/** Questions of a server, passed to the caller whose call caused them; and what it logs. */

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Client,
  type JSONRPCMessage,
  type ListRootsResult,
  ProtocolError,
} from '@modelcontextprotocol/client'
import { defined, isRecord } from '@toolwell/core/internal'
import { hideInValue } from '../definition/clean-definition.js'
import {
  type Caller,
  type CallerCapabilities,
  type CallerHandlers,
  isLogLevel,
  isLoudEnough,
  type LogMessage,
} from './caller.js'

/** Only what was announced is answered. */
export function answerQuestions(
  client: Client,
  current: () => Caller | undefined,
  { elicitation, sampling, roots }: CallerCapabilities,
): void {
  const asked = <K extends 'elicit' | 'sample' | 'roots'>(kind: K): NonNullable<CallerHandlers[K]> => {
    const handler = current()?.handlers?.[kind]
    if (handler) return handler as NonNullable<CallerHandlers[K]>
    throw new ProtocolError(
      -32603,
      'This cannot be answered: it is not clear whose call it belongs to. Calls of several clients are under way on one connection.',
    )
  }
  if (elicitation)
    client.setRequestHandler('elicitation/create', (request, context) =>
      asked('elicit')(request.params, context.mcpReq.signal),
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

/** What a message logs, or undefined where it is another one. */
export function readLogMessage(message: JSONRPCMessage): LogMessage | undefined {
  if (!('method' in message) || message.method !== 'notifications/message') return undefined
  const { level, logger, data } = isRecord(message.params) ? message.params : {}
  if (!isLogLevel(level)) return undefined
  return { level, data, ...defined({ logger: typeof logger === 'string' ? logger : undefined }) }
}

/** To the caller that it belongs to, without secrets; nobody reads the log of another. A handler that throws has no say in the call. */
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
    // It was told.
  }
}

// Finds the caller that a server's question or word is meant for, or nobody.

export interface Attribution {
  /** Does the work as this caller. `isAsked`: something may come back that belongs to this very call. */
  during<T>(caller: Caller, isAsked: boolean, work: () => Promise<T>): Promise<T>
  /** Does the work for no caller: what outlives a call must not be taken for part of it. */
  apart<T>(work: () => T): T
  current(): Caller | undefined
}

/**
 * Where the question comes with the call (a stream of its own, an answer that asks), the call is known. On a pipe that
 * carries everything, it is the caller's whose calls are under way, if they are all of one; the owner's if the whole
 * connection is one caller's; otherwise no caller's, because a guess could show one user what is meant for another.
 */
export function createAttribution(owner: Caller | undefined): Attribution {
  const storage = new AsyncLocalStorage<Caller>()
  const underWay = new Map<symbol, Caller>()
  return {
    async during(caller, isAsked, work) {
      const key = Symbol()
      underWay.set(key, caller)
      try {
        // Tracking costs a fifth of a call, and is needed only where something can come back.
        return await (isAsked ? storage.run(caller, work) : work())
      } finally {
        underWay.delete(key)
      }
    },
    apart: (work) => storage.exit(work),
    current() {
      const known = storage.getStore()
      if (known) return known
      const handlers = new Set([...underWay.values()].map((caller) => caller.handlers))
      if (handlers.size === 1) return [...underWay.values()][0]
      return handlers.size === 0 ? owner : undefined
    },
  }
}

// Tells a server that floods us from one that has much to say: by how many messages come in how short a time, not by how many in all.

/** Messages a second that nobody asked for, for as long as the server likes. Reading so many takes a few hundredths of a processor. */
const RATE = 2000
/** As many may come at once. */
const BURST = 20_000
/** A request of ours makes room for its answer, and for what is logged on the way. */
const PER_REQUEST = 16
/** The same of progress that a caller has asked for. What is above it counts as if nobody had. */
const PROGRESS_RATE = 5000
const PROGRESS_BURST = 50_000

export interface Flood {
  /** We have sent a request. */
  sent(): void
  /** A message has come; `isProgress` of a call that is under way and asked for it. True: it is one too many. */
  came(isProgress: boolean): boolean
}

/** `now` in milliseconds. */
export function createFlood(now: () => number): Flood {
  const all = createBucket(RATE, BURST, now)
  const progress = createBucket(PROGRESS_RATE, PROGRESS_BURST, now)
  return {
    sent: () => all.empty(PER_REQUEST),
    came: (isProgress) => !(isProgress && progress.fill()) && !all.fill(),
  }
}

export const FLOOD = `the server sent more than ${RATE} unasked messages a second`

/** Runs out at a rate; what is poured in faster fills it. */
function createBucket(rate: number, most: number, now: () => number) {
  let level = 0
  let last = now()
  return {
    empty(count: number) {
      level = Math.max(0, level - count)
    },
    /** False where it is full. */
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
