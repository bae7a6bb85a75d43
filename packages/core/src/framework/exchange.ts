/** Handles one request of a framework: rewrites its body with an adapter, and runs the calls of its reply. */

import { createAdapter } from '../adapters/shared/adapter.js'
import { matchAnchors, placeAnchors } from '../adapters/shared/anchors.js'
import { isStreamed } from '../adapters/shared/check-input.js'
import { argumentsObject, plainText, type UnitCall } from '../adapters/shared/thread.js'
import { dropUndefined } from '../base/data.js'
import { adapterPort, type Conversation } from '../conversation.js'
import type { CallAnswer, Execute, RunOptions } from '../turn/run.js'
import { type Body, type BodyKind, listNames, listOtherTools, readHistory } from './bodies.js'

/** A call that a framework has started. */
export interface FrameworkCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

export interface Exchange {
  /** The body to send. */
  readonly body: Body
  /** Takes the reply, or the promise of an assembled stream. */
  replied(reply: unknown): void
  /** Finds a call of the reply by its id. If the framework assigns new ids, by name and arguments. */
  find(started: FrameworkCall): Promise<UnitCall | undefined>
  run(call: UnitCall, options: CallOptions): Promise<FrameworkAnswer>
}

export interface FrameworkAnswer extends CallAnswer {
  /** The answer in the form of the wire. */
  readonly messages: readonly unknown[]
}

/** Options of a framework for one call. */
export type CallOptions = Pick<RunOptions, 'signal' | 'onProgress'>

interface Started {
  readonly call: UnitCall
  readonly options: CallOptions
  resolve(answer: FrameworkAnswer): void
  reject(error: unknown): void
}

/** Returns undefined if the request does not offer the loader: another agent sent it, and it goes out unchanged. */
export async function openExchange(
  conversation: Conversation,
  kind: BodyKind,
  body: Body,
  {
    isOurs,
    execute,
    isCompacted,
    native,
  }: {
    isOurs(name: string): boolean
    readonly execute: Execute | undefined
    /** The history is shorter than the previous one. */
    readonly isCompacted: boolean
    readonly native: boolean
  },
): Promise<Exchange | undefined> {
  const history = readHistory(body, kind)
  const names = listNames(body)
  const { loader } = conversation
  if (!history || !names.includes(loader)) return undefined
  const wire = kind.wire({ loader, prompts: adapterPort(conversation).prompts }, native)
  const beside = names.filter((name) => !isOurs(name))
  const adapter = createAdapter(conversation, {
    ...wire,
    ofHost: (units) => [...(wire.ofHost?.(units) ?? []), ...beside],
    // The framework may start only some of the calls of a reply.
    calls: (started) => started as readonly UnitCall[],
    usage: () => undefined,
  })
  const prompt = kind.prompt !== undefined && body[kind.prompt] !== undefined ? kind.prompt : undefined
  if (isCompacted) await compact(conversation, placeAnchors(adapter.thread(history)).names)
  const turn = await adapter.begin(history, prompt === undefined ? {} : { [prompt]: body[prompt] })
  const { tools: _, ...rest } = body
  const ours = (turn.parts.tools ?? []) as readonly unknown[]
  const tools = [...listOtherTools(body, isOurs), ...ours]

  let calls: Promise<readonly UnitCall[]> = Promise.resolve([])
  let started: Started[] = []
  const taken = new Set<UnitCall>()
  const flush = async () => {
    const order = (await calls).map(({ id }) => id)
    const some = started.sort((a, b) => order.indexOf(a.call.id) - order.indexOf(b.call.id))
    started = []
    try {
      const { answers } = await turn.run(
        some.map(({ call }) => call),
        { ...dropUndefined({ execute }), ...joinOptions(some) },
      )
      for (const [index, { call, resolve }] of some.entries()) {
        const answer = answers[index] as CallAnswer
        resolve({ ...answer, messages: wire.answer([answer], turn.view, [call]) })
      }
    } catch (error) {
      for (const { reject } of some) reject(error)
    }
  }
  const read = async (given: unknown) => {
    const reply = await given
    const streamed = isStreamed(reply) ? reply : undefined
    const { inputTokens, ...usage } = streamed?.usage ?? wire.usage?.(reply) ?? {}
    if (inputTokens !== undefined)
      // A store that fails to record usage must not stop the calls.
      await conversation
        .recordRequest({ requestId: turn.view.requestId, inputTokens, ...usage })
        .catch(() => undefined)
    return wire.calls(streamed ? streamed.reply : reply, history)
  }

  return {
    body: { ...rest, ...turn.parts, ...(tools.length > 0 ? { tools } : {}) },
    replied(reply) {
      // An unreadable reply has no calls; the framework will report it.
      calls = read(reply).catch(() => [])
    },
    async find({ id, name, input }) {
      const open = (await calls).filter((call) => !taken.has(call))
      const same = (call: UnitCall) =>
        call.name === name && plainText(argumentsObject(call.input)) === plainText(input)
      const found = open.find((call) => call.id === id) ?? open.find(same)
      if (found) taken.add(found)
      return found
    },
    run: (call, options) =>
      new Promise((resolve, reject) => {
        started.push({ call, options, resolve, reject })
        // Calls that are started together are checked together.
        if (started.length === 1) setTimeout(flush, 0)
      }),
  }
}

/** The longer history is gone, so the anchors in the ledger are compared with the remaining ones. */
function compact(conversation: Conversation, names: readonly string[]): Promise<void> {
  const kept = matchAnchors(
    conversation.events.map(({ anchor }) => anchor),
    names,
  )
  const survived = new Set(Object.values(kept))
  const anchor = names.find((name) => !survived.has(name)) ?? names.at(-1)
  return conversation.compact({ kept, ...dropUndefined({ anchor }) })
}

/** If the framework aborts one call of a reply, all are aborted. */
function joinOptions(some: readonly Started[]): CallOptions {
  const signals = some.flatMap(({ options: { signal } }) => signal ?? [])
  return {
    ...(signals.length > 0 ? { signal: AbortSignal.any(signals) } : {}),
    onProgress(progress) {
      some.find(({ call }) => call.id === progress.callId)?.options.onProgress?.(progress)
    },
  }
}
