/** What all adapters share: anchors before the request, repair and inserts within it, calls after it. A wire adds how it reads and writes. */

import type { Usage } from '../../accounting/measurement.js'
import { lazily } from '../../base/async.js'
import { dropUndefined, isRecord, plainJson } from '../../base/data.js'
import { describeKind, invalid } from '../../base/options.js'
import { adapterPort, type Conversation } from '../../conversation.js'
import { createState } from '../../ledger/fold.js'
import { toolLimit } from '../../schema/dialect.js'
import { removeFrame } from '../../surface/deltas.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import { project, type SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { ImportedStep, ImportReport } from '../../turn/host-steps.js'
import { readMachineLine } from '../../turn/machine-line.js'
import type { CallAnswer, RunOptions } from '../../turn/run.js'
import { anchorsOf, survivors } from './anchors.js'
import { assertThread, assertWire } from './assert-adapter.js'
import { assertRequest } from './assert-request.js'
import { thinkingIn } from './bound-thinking.js'
import { createFedBack, FED_BACK } from './fed-back.js'
import { assertFirstRun } from './first-run.js'
import { joinOwnWords } from './join-own-words.js'
import { leaveBehind } from './leave-behind.js'
import { speakBetween } from './mistral.js'
import { noticePlace } from './notice-place.js'
import { openWithUser } from './open-with-user.js'
import { plainText } from './plain-text.js'
import { createRecall, type Recalled, type Remembered } from './recall.js'
import type { EndOf } from './repair.js'
import { repairStretches } from './repair-stretches.js'
import { sameItems } from './same-items.js'
import type { StreamedReply } from './streamed.js'
import { createReader, type Reading, referringIn } from './stretches.js'
import { argumentsObject, type Unit, type UnitCall } from './thread.js'
import type { Warn, Warning } from './warning.js'
import { weave } from './weave.js'
import type { OwnUnit, Wire } from './wire.js'
import { assertOwnReply, foreignEntry } from './wrong-door.js'

export interface Turn<Message, Reply, Parts> {
  /** Spread these into the request. */
  readonly parts: Parts
  readonly view: SurfaceView
  /** What had to be repaired in the history for this request, and what a server will refuse in it. */
  readonly warnings: readonly Warning[]
  /**
   * The provider refused the request because it does not defer tools natively (a model or a proxy that cannot). Begin again
   * with the same history: the next request goes over the bridge. False where nothing else can be tried.
   */
  refused(error: unknown): Promise<boolean>
  /**
   * Runs the calls of the reply, whole as the API gave it or as `assemble` made it of a stream. Push the reply, then
   * `messages`, onto your history. Empty where the reply calls nothing. What the reply says of its cost enters the accounts.
   */
  run(
    reply: Reply | StreamedReply<Reply, unknown>,
    options?: RunOptions,
  ): Promise<{ readonly messages: Message[]; readonly answers: readonly CallAnswer[] }>
}

export interface Adapter<Message, Reply, Parts, Prompt extends object = object> {
  /**
   * Prepares a request for your history as it is, without anything of Toolwell's in it. Some wires take the system prompt
   * here. Without a `requestId` the history names the request: the same history again is a retry, with the same bytes.
   */
  begin(
    messages: readonly Message[],
    request?: { readonly requestId?: string } & Prompt,
  ): Promise<Turn<Message, Reply, Parts>>
  /** Tells that your history was shortened. */
  compact(
    before: readonly Message[],
    after: readonly Message[],
    options?: { readonly trim?: (loaded: readonly string[]) => readonly string[] },
  ): Promise<void>
  /** A new conversation that has seen these messages, the first part of your history, and no more. */
  fork(messages: readonly Message[], options: { readonly id: string }): Promise<Conversation>
  /** Rebuilds what a history says was loaded, for a conversation whose ledger is gone. */
  importHistory(messages: readonly Message[]): Promise<ImportReport>
  /** Your history as every wire reads it: give it to `adopt` of another adapter when the thread moves there. */
  thread(messages: readonly Message[]): Thread
  /** A thread of another wire as a history of this one. Where the system prompt is no message, it is left out: give it to `begin`. */
  adopt(thread: Thread): Message[]
}

const replies = lazily(() => import('./no-reply.js'))

/** A history that belongs to no wire. */
export type Thread = readonly Unit[]

export function createAdapter<Message, Reply, Parts, Prompt extends object = object>(
  conversation: Conversation,
  wire: Wire<Message, Reply, Parts, Prompt>,
): Adapter<Message, Reply, Parts, Prompt> {
  const port = adapterPort(conversation)
  assertWire(wire)
  const form = wire.traits?.form
  const recallAll = createRecall((message: Message) => normalised(wire, message), form)
  const recall = (messages: readonly Message[]) => {
    if (!Array.isArray(messages))
      throw invalid(
        'messages',
        `This takes your history, an array of messages, not ${describeKind(messages)}.`,
      )
    const recalled = recallAll(messages)
    return { ...recalled, foreign: form && foreignEntry(form, recalled) }
  }
  const readStretches = createReader(wire)
  const write = wire.createWrite?.() ?? wire.write.bind(wire)
  const isFedBack = createFedBack()
  const read = (messages: readonly Message[]) =>
    wire.read(recall(messages).entries.flatMap(({ normal }) => normal))
  const anchored = (messages: readonly Message[]) => anchorsOf(read(messages))
  /** A store that cannot take a figure must not keep tools from running. */
  const record = async (requestId: string, usage: Usage | undefined) => {
    if (usage?.inputTokens === undefined) return
    await conversation.recordRequest({ requestId, ...usage }).catch(() => undefined)
  }
  return {
    async begin(messages, request = {} as Prompt) {
      assertRequest(request, wire.traits?.prompt ?? [])
      const recalled = recall(messages)
      const reading = readStretches(recalled.entries)
      const { stretches, placed, naming } = reading
      const { requestId = `history ${port.epoch}.${naming.hash()}` } = request as {
        readonly requestId?: string
      }
      const view = await conversation.begin({
        requestId,
        anchor: placed.at(-1)?.anchor ?? '',
        wire: wire.name,
        present: naming,
        references: referringIn(reading.sum),
        place: noticePlace(placed, wire.traits?.wordlessSearches ? conversation.loader : undefined),
        thinking: wire.traits?.thinking && thinkingIn(stretches, placed),
        support: {
          native: wire.traits?.native,
          text: () => wholeText(messages, request),
        },
      })
      const { isOrderly, isEntangled } = reading.sum
      const ends = isOrderly && !isEntangled ? undefined : await port.readCallOutcomes()
      const endOf: EndOf | undefined = ends && ((call, anchor) => ends({ ...call, anchor }))
      const warnings: Warning[] = []
      const warn: Warn = (code, text) => {
        warnings.push({ code, text })
        port.warn(code, text)
      }
      if (recalled.foreign) warn('entry-foreign', recalled.foreign)
      if (isFedBack(stretches, request, view)) warn('history-fed-back', FED_BACK)
      const { policyFault } = port
      if (policyFault !== undefined)
        warn('policy-failed', `a policy failed, so the tool is denied: ${policyFault}`)
      const [declared, most] = [view.tools.length, toolLimit(wire.name)]
      if (declared > most)
        warn(
          'too-many-tools',
          `this request declares ${declared} tools, and one on this wire takes ${most}: give some with defer: true or by setSource, to be found by search`,
        )
      const ran = new WeakSet<object>()
      return {
        view,
        warnings,
        parts: wire.parts(
          compose(wire, write, { messages, ...recalled, ...reading }, view, port.prompts, warn, endOf),
          view,
          plainJson(request),
          warn,
        ),
        refused: (error) =>
          port.refuseDelivery({
            requestId,
            detail: error instanceof Error ? error.message : String(error),
          }),
        run: async (given, options) => {
          const { isStreamed, replyIn } = await replies()
          const reply = replyIn(given)
          if (form) assertOwnReply(form, reply)
          await record(requestId, isStreamed(given) ? given.usage : wire.usage?.(reply))
          const calls = wire.calls(
            reply,
            recalled.entries.flatMap(({ normal }) => normal),
          )
          const made = calls.map(({ id, name, input }, index) => {
            const nth = calls.slice(0, index).filter((before) => before.id === id).length
            return { callId: id, anchor: naming.next(id, nth), name, input }
          })
          const forget = assertFirstRun(ran, reply, calls)
          const answers = await conversation.run(made, options).catch((error: unknown) => {
            forget()
            throw error
          })
          return { messages: plainJson(wire.answer(answers, view, calls)), answers }
        },
      }
    },

    compact(before, after, options = {}) {
      const { names } = anchored(after)
      const kept = survivors(anchored(before).names, names)
      const survived = new Set(Object.values(kept))
      const anchor = names.find((name) => !survived.has(name)) ?? names.at(-1)
      return conversation.compact({ kept, ...dropUndefined({ anchor }), ...options })
    },

    thread: read,

    adopt(thread) {
      assertThread(thread)
      const first = thread.findIndex(({ kind }) => kind !== 'system')
      const spoken = wire.traits?.systemInMessages ? thread : thread.slice(first < 0 ? thread.length : first)
      const own = spoken.filter(
        (unit): unit is OwnUnit => 'native' in unit && unit.native?.wire === wire.name,
      )
      const told =
        wire.restore && own.length === spoken.length
          ? wire.read(wire.restore(own).flatMap((message) => normalised(wire, message)))
          : spoken.flatMap((unit) => leaveBehind(unit, wire, port.prompts))
      return wire.write(told, project(createState(), ''))
    },

    fork: (messages, { id }) => conversation.fork({ id, anchor: anchored(messages).names }),

    importHistory(messages) {
      const called = new Map<string, string>()
      const steps: ImportedStep[] = []
      const others: string[] = []
      const unreadable: string[] = []
      let unsaid: string | undefined
      for (const { unit, anchor, calls } of anchored(messages).placed) {
        if (unit.kind === 'assistant')
          for (const [index, call] of unit.calls.entries()) called.set(calls[index] ?? '', targetOf(call))
        // In older histories, what an answer that holds definitions alone had to say follows it as a message of ours.
        const said =
          unit.kind === 'system' && unsaid !== undefined
            ? readMachineLine(removeFrame(unit.text, port.prompts))
            : undefined
        if (said && unsaid !== undefined) {
          steps.push({ anchor: unsaid, ...said })
          unreadable.splice(unreadable.indexOf(unsaid), 1)
          unsaid = undefined
        }
        if (unit.kind !== 'answer') continue
        const name = called.get(anchor)
        if (name !== conversation.loader) {
          if (name !== undefined) others.push(name)
          continue
        }
        const line = readMachineLine(unit.text)
        if (unit.loaded) steps.push({ anchor, loaded: [], unloaded: [], named: unit.loaded })
        else if (line) steps.push({ anchor, ...line })
        else {
          unreadable.push(anchor)
          unsaid = anchor
        }
      }
      return conversation.importSteps(steps, others, unreadable)
    },
  }
}

/** Everything that the host sends, to be measured: a value that is no JSON costs its own message only. */
function wholeText(messages: readonly unknown[], request: object): string {
  return plainText([messages, request]) || [...messages, request].map(plainText).join('\n')
}

/** The tool a call is meant for: out of the bridge where it is in one. */
function targetOf({ name, input }: UnitCall): string {
  if (name !== BRIDGE_NAME || !('value' in input)) return name
  const inner = argumentsObject(input).name
  return typeof inner === 'string' ? inner : name
}

/** What is no object is no message on any wire, and neither is one whose fields cannot be read. */
function normalised<Message>(
  wire: { normalise?(message: Message): readonly Message[] },
  message: Message,
): readonly Message[] {
  if (!isRecord(message)) return []
  try {
    const plain = plainJson(message)
    return wire.normalise?.(plain) ?? [plain]
  } catch {
    return []
  }
}

/** A history as it was given, as it was read, and its names. */
interface Given<Message> extends Recalled<Message>, Reading {
  readonly messages: readonly Message[]
}

function compose<Message, Reply, Parts, Prompt extends object>(
  wire: Wire<Message, Reply, Parts, Prompt>,
  write: typeof wire.write,
  history: Given<Message>,
  view: SurfaceView,
  prompts: Prompts,
  warn: Warn,
  endOf?: EndOf,
): readonly Message[] {
  const { messages, entries, odd, sum } = history
  for (const index of odd) {
    const { message, normal } = entries[index] as Remembered<Message>
    if (normal.length === 0) warn('entry-dropped', 'dropped an entry of the history that says nothing')
    else if (normal[0] !== message)
      warn('form-repaired', 'repaired the form of an entry of the history: servers refuse it')
  }
  const callable = new Set(view.tools.map((tool) => tool.name))
  for (const name of sum.ofHost) callable.add(name)
  const { opensWithUser, notesJoinAnswers, modelSpeaksBetween } = wire.traits ?? {}
  const repaired = repairStretches(wire, history, view, callable, prompts, warn, endOf)
  const isJoined = notesJoinAnswers && (sum.isSpokenBehind || repaired !== history.placed)
  const joined = isJoined ? joinOwnWords(repaired, prompts) : repaired
  const spoken = modelSpeaksBetween ? speakBetween(joined, prompts) : joined
  const begun = opensWithUser ? openWithUser(spoken, prompts, warn) : spoken
  const units = begun === history.placed ? history.units : begun.map(({ unit }) => unit)
  const written = history.given(write(weave(begun, units, view, warn), view, warn))
  // Off: the host's own array, unless a server would refuse it.
  return view.mode === 'off' && sameItems(written, messages) ? messages : written
}
