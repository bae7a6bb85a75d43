/** The calls of one reply, judged together although the SDK starts them one by one. */
import type { CallAnswer } from '../../turn/run.js'
import type { UnitCall } from '../shared/thread.js'
import type { AiExecuteOptions } from './types.js'

/** A call that the SDK has started. */
export interface Started {
  readonly call: UnitCall
  /** The name under which the SDK knows the tool. */
  readonly shown: string
  readonly options: AiExecuteOptions
}

export interface Batch {
  /** A call of the reply. Not all of them are started: some wait for an approval. */
  expect(call: UnitCall): void
  /** The reply is complete. */
  close(): void
  expects(callId: string): boolean
  /** The SDK could not read the arguments. */
  spoil(callId: string, problem: string): void
  start(shown: string, options: AiExecuteOptions): Promise<CallAnswer>
}

export function createBatch(run: (some: readonly Started[]) => Promise<readonly CallAnswer[]>): Batch {
  const calls = new Map<string, UnitCall>()
  const expected = new Set<string>()
  let started: (Started & Settle)[] = []
  let closed = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const flush = () => {
    clearTimeout(timer)
    const order = [...calls.keys()]
    const some = started.sort((a, b) => order.indexOf(a.call.id) - order.indexOf(b.call.id))
    started = []
    run(some).then(
      (answers) => {
        for (const [index, each] of some.entries()) each.resolve(answers[index] as CallAnswer)
      },
      (error: unknown) => {
        for (const each of some) each.reject(error)
      },
    )
  }
  const next = () => {
    if (!closed || started.length === 0) return
    if (expected.size === 0) return flush()
    // What is not started together with the others waits for something: an approval, or for one of them to end.
    clearTimeout(timer)
    timer = setTimeout(flush, 0)
  }

  return {
    expect(call) {
      calls.set(call.id, call)
      expected.add(call.id)
    },
    close() {
      closed = true
      next()
    },
    expects: (callId) => expected.has(callId),
    spoil(callId, problem) {
      const call = calls.get(callId)
      if (call) calls.set(callId, { ...call, input: { unparsable: call.text ?? '', problem } })
    },
    start: (shown, options) =>
      new Promise((resolve, reject) => {
        const call = calls.get(options.toolCallId)
        if (!call) throw new Error(`no call has the id ${options.toolCallId}`)
        expected.delete(call.id)
        started.push({ call, shown, options, resolve, reject })
        next()
      }),
  }
}

interface Settle {
  resolve(answer: CallAnswer): void
  reject(error: unknown): void
}
