/** One request of a framework: its body goes through an adapter, and the calls of its reply are run as they are started. */

import { createAdapter } from '../adapters/shared/adapter.js'
import { anchorsOf, survivors } from '../adapters/shared/anchors.js'
import { plainText } from '../adapters/shared/plain-text.js'
import type { StreamedReply } from '../adapters/shared/streamed.js'
import { argumentsObject, type UnitCall } from '../adapters/shared/thread.js'
import { dropUndefined } from '../base/data.js'
import { adapterPort, type Conversation } from '../conversation.js'
import type { CallAnswer, Execute, RunOptions } from '../turn/run.js'
import { type Body, type BodyKind, historyIn, namesIn, othersIn } from './bodies.js'

/** A call that a framework has started. */
export interface FrameworkCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

export interface Exchange {
  /** What to send. */
  readonly body: Body
  /** The reply, or what a stream added up to; also while it still arrives. */
  replied(reply: unknown): void
  /** A call of the reply as the model wrote it: by its id, or where the framework gives ids of its own, by what it says. */
  find(started: FrameworkCall): Promise<UnitCall | undefined>
  run(call: UnitCall, options: CallOptions): Promise<FrameworkAnswer>
}

export interface FrameworkAnswer extends CallAnswer {
  /** The answer as the adapter of the wire writes it. */
  readonly messages: readonly unknown[]
}

/** What a framework brings along to one call. */
export type CallOptions = Pick<RunOptions, 'signal' | 'onProgress'>

interface Started {
  readonly call: UnitCall
  readonly options: CallOptions
  resolve(answer: FrameworkAnswer): void
  reject(error: unknown): void
}

/** Undefined where the request does not offer the loader: it is none of Toolwell's agent, and goes out as it is. */
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
    /** The history is shorter than the one before. */
    readonly isCompacted: boolean
    readonly native: boolean
  },
): Promise<Exchange | undefined> {
  const history = historyIn(body, kind)
  const names = namesIn(body)
  const { loader } = conversation
  if (!history || !names.includes(loader)) return undefined
  const wire = kind.wire({ loader, prompts: adapterPort(conversation).prompts }, native)
  const beside = names.filter((name) => !isOurs(name))
  const adapter = createAdapter(conversation, {
    ...wire,
    ofHost: (units) => [...(wire.ofHost?.(units) ?? []), ...beside],
    // What is run is what the framework has started, which may be some of the calls of a reply.
    calls: (started) => started as readonly UnitCall[],
    usage: () => undefined,
  })
  const prompt = kind.prompt !== undefined && body[kind.prompt] !== undefined ? kind.prompt : undefined
  if (isCompacted) await compact(conversation, anchorsOf(adapter.thread(history)).names)
  const turn = await adapter.begin(history, prompt === undefined ? {} : { [prompt]: body[prompt] })
  const { tools: _, ...rest } = body
  const ours = (turn.parts.tools ?? []) as readonly unknown[]
  const tools = [...othersIn(body, isOurs), ...ours]

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
        { ...dropUndefined({ execute }), ...together(some) },
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
      // A store that cannot take a figure must not keep tools from running.
      await conversation
        .recordRequest({ requestId: turn.view.requestId, inputTokens, ...usage })
        .catch(() => undefined)
    return wire.calls(streamed ? streamed.reply : reply, history)
  }

  return {
    body: { ...rest, ...turn.parts, ...(tools.length > 0 ? { tools } : {}) },
    replied(reply) {
      // What cannot be read has no calls; the framework will say so.
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
        // Calls that are started together are judged together.
        if (started.length === 1) setTimeout(flush, 0)
      }),
  }
}

/** What the ledger knows is compared with what is left: the longer history is gone. */
function compact(conversation: Conversation, names: readonly string[]): Promise<void> {
  const kept = survivors(
    conversation.events.map(({ anchor }) => anchor),
    names,
  )
  const survived = new Set(Object.values(kept))
  const anchor = names.find((name) => !survived.has(name)) ?? names.at(-1)
  return conversation.compact({ kept, ...dropUndefined({ anchor }) })
}

/** Calls of one reply end together: a framework that stops one stops them all. */
function together(some: readonly Started[]): CallOptions {
  const signals = some.flatMap(({ options: { signal } }) => signal ?? [])
  return {
    ...(signals.length > 0 ? { signal: AbortSignal.any(signals) } : {}),
    onProgress(progress) {
      some.find(({ call }) => call.id === progress.callId)?.options.onProgress?.(progress)
    },
  }
}

function isStreamed(reply: unknown): reply is StreamedReply<unknown, unknown> {
  return typeof reply === 'object' && reply !== null && 'rawUsage' in reply && 'complete' in reply
}
