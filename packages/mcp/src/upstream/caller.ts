/** Who makes a call, and what a server may ask of whoever made it. */

import { AsyncLocalStorage } from 'node:async_hooks'
import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  Root,
} from '@modelcontextprotocol/client'
import { defined } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'

/** What a server may ask back. Left out: the server is told that it cannot be asked. */
export interface CallerHandlers {
  readonly elicit?: (request: ElicitRequestParams, signal: AbortSignal) => Promise<ElicitResult>
  readonly sample?: (request: CreateMessageRequestParams, signal: AbortSignal) => Promise<CreateMessageResult>
  readonly roots?: () => readonly Root[] | Promise<readonly Root[]>
}

export interface Caller {
  /** One program or person; `share: client` keeps a server for each. */
  readonly client?: string
  /** `share: conversation` keeps a server for each. */
  readonly conversation?: string
  readonly handlers?: CallerHandlers
}

export function capabilitiesOf({ elicit, sample, roots }: CallerHandlers = {}): ClientCapabilities {
  return defined({
    elicitation: elicit && { form: {}, url: {} },
    sampling: sample && {},
    roots: roots && {},
  })
}

/** Finds the caller that a server's question is meant for, or nobody. */
export interface Attribution {
  /** Does the work as this caller. */
  during<T>(caller: Caller, work: () => Promise<T>): Promise<T>
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
    async during(caller, work) {
      const key = Symbol()
      underWay.set(key, caller)
      try {
        return await storage.run(caller, work)
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

/** Which callers share a connection. A server learns at the start what it may ask, so callers that answer different questions cannot share. */
export function keyOf({ share }: ServerConfig, caller: Caller): string {
  const { client = '', conversation = '' } = caller
  const asked = capabilityKey(caller)
  if (share === 'all') return asked
  return JSON.stringify(share === 'client' ? [client, asked] : [client, conversation, asked])
}

/** What may be asked of a caller, as a key. */
export function capabilityKey({ handlers }: Caller): string {
  return handlers ? Object.keys(capabilitiesOf(handlers)).join(' ') : ''
}
