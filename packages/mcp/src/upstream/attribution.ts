/** Finds the caller that a server's question or word is meant for, or nobody. */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Caller } from './caller.js'

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
