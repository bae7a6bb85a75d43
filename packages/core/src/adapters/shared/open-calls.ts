/** Which call an answer belongs to. Ids return, in later replies and even within one: the latest reply comes first, and in it the order of its calls. */

import type { Unit } from './thread.js'

export interface OpenCalls<Call> {
  /** The calls of one reply, by the ids they came with. */
  add(calls: readonly (readonly [id: string, call: Call])[]): void
  /** The call that an answer with this id belongs to. It is open no more. */
  take(id: string): Call | undefined
  /** The number of calls without an answer. */
  readonly size: number
}

export function createOpenCalls<Call>(): OpenCalls<Call> {
  const open = new Map<string, Call[][]>()
  let size = 0
  return {
    get size() {
      return size
    },
    add(calls) {
      size += calls.length
      const reply = new Map<string, Call[]>()
      for (const [id, call] of calls) {
        const same = reply.get(id)
        if (same) same.push(call)
        else reply.set(id, [call])
      }
      for (const [id, same] of reply) {
        const replies = open.get(id)
        if (replies) replies.push(same)
        else open.set(id, [same])
      }
    },
    take(id) {
      const replies = open.get(id)
      const last = replies?.at(-1)
      const call = last?.shift()
      if (last) size--
      if (last?.length === 0) replies?.pop()
      return call
    },
  }
}

/** Whether a call of this history has no answer. */
export function hasOpenCalls(units: readonly Unit[]): boolean {
  const open = createOpenCalls<true>()
  for (const unit of units) {
    if (unit.kind === 'assistant') open.add(unit.calls.map(({ id }) => [id, true]))
    if (unit.kind === 'answer') open.take(unit.callId)
  }
  return open.size > 0
}
