/** Which call an answer belongs to. Ids return, in later replies and even within one: the latest reply comes first, and in it the order of its calls. */

export interface OpenCalls<Call> {
  /** The calls of one reply, by the ids they came with. */
  add(calls: readonly (readonly [id: string, call: Call])[]): void
  /** The call that an answer with this id belongs to. It is open no more. */
  take(id: string): Call | undefined
}

export function createOpenCalls<Call>(): OpenCalls<Call> {
  const open = new Map<string, Call[][]>()
  return {
    add(calls) {
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
      if (last?.length === 0) replies?.pop()
      return call
    },
  }
}
