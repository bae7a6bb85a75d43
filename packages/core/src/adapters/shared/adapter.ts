/**
 * The adapter that all wires share. It reads and repairs a history, writes the request, and runs the calls of the
 * reply.
 */

import { formatTokens, type Usage } from '../../accounting/measurement.js'
import { dropUndefined, isRecord, toPlainJson } from '../../base/data.js'
import { describeKind, invalid } from '../../base/options.js'
import { quote } from '../../base/text.js'
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
import { type Anchors, findNoticePlace, matchAnchors, placeAnchors } from './anchors.js'
import {
  assertFirstRun,
  assertOwnReply,
  assertRequest,
  assertRoles,
  assertThread,
  assertWholeHistory,
  assertWire,
  FED_BACK,
  findForeignEntry,
  isFedBack,
  isStreamed,
  readReply,
} from './check-input.js'
import { addInserts, addOpeningNote, addRepliesBetween, joinOwnText } from './inserts.js'
import { convertUnit } from './move-thread.js'
import { type EndOf, repairHistory, repairIds } from './repair.js'
import type { StreamedReply } from './stream.js'
import { findThinking, removeStripped } from './thinking.js'
import {
  argumentsObject,
  hasOpenCalls,
  hasSameItems,
  type Placed,
  plainText,
  type Unit,
  type UnitCall,
} from './thread.js'
import { assertNoClash, IGNORED, removeCodeOnly } from './tools.js'
import type { OwnUnit, Warn, Warning, Wire, WireTraits } from './wire.js'

export interface Turn<Message, Reply, Parts> {
  /** Spread these into the request. */
  readonly parts: Parts
  readonly view: SurfaceView
  /** Repairs made in the history for this request, and things that a server will refuse. */
  readonly warnings: readonly Warning[]
  /**
   * Call this if the provider refused the request because it cannot defer tools natively. Then begin again with the
   * same history: the next request uses the bridge. False if there is nothing else to try.
   */
  refused(error: unknown): Promise<boolean>
  /**
   * Runs the calls of a reply: the whole reply of the API, or the result of `assemble` for a stream. Push the reply,
   * then `messages`, onto your history. `messages` is empty if the reply has no calls. Records the usage of the
   * reply. `providerCalls` are calls of `providerTools`: run them yourself, and push their results right after the
   * reply, before `messages`.
   */
  run(
    reply: Reply | StreamedReply<Reply, unknown>,
    options?: RunOptions,
  ): Promise<{
    readonly messages: Message[]
    readonly answers: readonly CallAnswer[]
    readonly providerCalls: readonly ProviderCall[]
  }>
}

/** A call of a tool that the provider defines and the host runs. */
export interface ProviderCall {
  readonly id: string
  readonly name: string
  /** The arguments as the model wrote them. */
  readonly input: unknown
}

export interface Adapter<Message, Reply, Parts, Prompt extends object = object> {
  /**
   * Prepares a request for your history. Keep the history as it is, without Toolwell's additions. Some wires take the
   * system prompt here. Without a `requestId`, the history identifies the request: the same history is a retry and
   * gives the same bytes.
   */
  begin(
    messages: readonly Message[],
    request?: { readonly requestId?: string } & Prompt,
  ): Promise<Turn<Message, Reply, Parts>>
  /** Records that your history was shortened. */
  compact(
    before: readonly Message[],
    after: readonly Message[],
    options?: { readonly trim?: (loaded: readonly string[]) => readonly string[] },
  ): Promise<void>
  /** Opens a new conversation that has seen only these messages, the first part of your history. */
  fork(messages: readonly Message[], options: { readonly id: string }): Promise<Conversation>
  /** Rebuilds the loaded tools from a history if the ledger is lost. */
  importHistory(messages: readonly Message[]): Promise<ImportReport>
  /**
   * Converts your history to a form that every wire reads. Pass it to `adopt` of another adapter to move the thread
   * there.
   */
  thread(messages: readonly Message[]): Thread
  /**
   * Converts a thread of another wire to a history of this one. If this wire keeps the system prompt outside the
   * messages, the result has no system prompt: pass it to `begin`.
   */
  adopt(thread: Thread): Message[]
}

/** A history in a form that is independent of the wire. */
export type Thread = readonly Unit[]

export function createAdapter<Message, Reply, Parts, Prompt extends object = object>(
  conversation: Conversation,
  wire: Wire<Message, Reply, Parts, Prompt>,
): Adapter<Message, Reply, Parts, Prompt> {
  const port = adapterPort(conversation)
  assertWire(wire)
  const { form, thinking, findSummary } = wire.traits ?? {}
  const { provider } = wire
  const isOurs = (name: string) =>
    name === conversation.loader ||
    name === BRIDGE_NAME ||
    conversation.catalogue.resolve(name, () => true).kind === 'found'
  const normaliseAll = (messages: readonly Message[]) => {
    if (!Array.isArray(messages))
      throw invalid('messages', `Expected your history, an array of messages, not ${describeKind(messages)}.`)
    assertRoles(messages)
    const foreign = form && findForeignEntry(form, messages)
    return { given: [...messages], normal: messages.map((message) => normalise(wire, message)), foreign }
  }
  const read = (messages: readonly Message[]) => wire.read(normaliseAll(messages).normal.flat())
  const anchored = (messages: readonly Message[]) => placeAnchors(read(messages))
  const keep = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, name]))
  /** Records that the provider replaced the beginning of the history by a summary. */
  const recordSummary = async (placed: readonly Placed[]) => {
    const at = placed.findLastIndex(({ unit }) => {
      const found = findSummary?.(unit)
      return found === 'plain' || (found === 'tools' && port.delivery !== 'native')
    })
    const anchor = placed[at]?.anchor
    if (anchor === undefined || port.hasCompaction(anchor)) return
    await conversation.compact({ kept: keep(placed.slice(at).map((each) => each.anchor)), anchor })
  }
  /** Records that the provider cleared the oldest answers, if the model read a schema there. */
  const recordCleared = async ({ placed, names }: Anchors, count: number) => {
    const answers = placed.filter(({ unit }) => unit.kind === 'answer').map(({ anchor }) => anchor)
    const cleared = new Set(answers.slice(0, count))
    if (cleared.size === 0 || !port.isShownIn(cleared)) return
    await conversation.compact({ kept: keep(names.filter((name) => !cleared.has(name))) })
  }
  /** A store that fails to record usage must not stop the calls. */
  const record = async (requestId: string, usage: Usage | undefined) => {
    if (usage?.inputTokens === undefined) return
    await conversation.recordRequest({ requestId, ...usage }).catch(() => undefined)
  }
  return {
    async begin(messages, request = {} as Prompt) {
      assertRequest(request, wire.traits?.prompt ?? [])
      const { given, normal, foreign } = normaliseAll(messages)
      const units = wire.read(normal.flat())
      const anchors = placeAnchors(units)
      const { placed } = anchors
      assertWholeHistory(units, port.hasCall)
      await recordSummary(placed)
      const { requestId = `history ${port.epoch}.${anchors.hash(wire.name)}` } = request as {
        readonly requestId?: string
      }
      const full = await conversation.begin({
        requestId,
        anchor: placed.at(-1)?.anchor ?? '',
        wire: wire.name,
        present: anchors,
        references: new Set(
          placed.flatMap(({ unit, anchor }) => (unit.kind === 'answer' && unit.loaded ? [anchor] : [])),
        ),
        place: findNoticePlace(placed, wire.traits?.wordlessSearches ? conversation.loader : undefined),
        thinking: thinking && findThinking(placed, thinking),
        support: {
          native: wire.traits?.native,
          ...(provider ? { beside: provider.tools.length } : {}),
          text: () => writeWholeText(messages, request),
        },
      })
      const view = wire.traits?.runsCode ? full : removeCodeOnly(full)
      const ends = hasOpenCalls(units) ? await port.readCallOutcomes() : undefined
      const endOf: EndOf | undefined = ends && ((call, anchor) => ends({ ...call, anchor }))
      const warnings: Warning[] = []
      const warn: Warn = (code, text) => {
        warnings.push({ code, text })
        port.warn(code, text)
      }
      if (foreign) warn('entry-foreign', foreign)
      if (isFedBack(units, request, view)) warn('history-fed-back', FED_BACK)
      const { policyFault } = port
      if (policyFault !== undefined)
        warn('policy-failed', `a policy failed, so the tool is denied: ${policyFault}`)
      if (provider) assertNoClash(provider, view)
      const declared = view.tools.length + (provider?.tools.length ?? 0)
      const most = toolLimit(wire.name)
      if (declared > most)
        warn(
          'too-many-tools',
          `this request declares ${declared} tools, but a request on this wire may have at most ${most}: defer some with defer: true, setSource or the option defer: 'all', so that search finds them`,
        )
      if (view.ownTokens !== undefined)
        warn(
          'own-tools-eager',
          `your own tools take ${formatTokens(view.ownTokens)} tokens of every request, because own tools are eager by default: createToolwell({ defer: 'all' }) defers them, so that search finds them`,
        )
      const ran = new WeakSet<object>()
      const parts = wire.parts(
        composeMessages(wire, { messages, given, normal, placed, isOurs }, view, port.prompts, warn, endOf),
        view,
        toPlainJson(request),
        warn,
      )
      return {
        view,
        warnings,
        parts,
        refused: (error) =>
          port.giveUpDelivery(
            requestId,
            `the provider refused it: ${quote(error instanceof Error ? error.message : String(error), 300)}`,
          ),
        run: async (given, options) => {
          const reply = readReply(given)
          if (form) assertOwnReply(form, reply)
          await record(requestId, isStreamed(given) ? given.usage : wire.usage?.(reply))
          const all = wire.calls(reply, normal.flat())
          const calls = all.filter((call) => !provider?.owns(call, isOurs))
          if (view.delivery === 'native' && wire.ignoresNative?.(reply, parts))
            await port.giveUpDelivery(requestId, IGNORED, true)
          await recordCleared(anchors, wire.countCleared?.(reply) ?? 0)
          const made = calls.map(({ id, name, input, fromCode }, index) => {
            const nth = calls.slice(0, index).filter((before) => before.id === id).length
            return {
              callId: id,
              anchor: anchors.next(id, nth),
              name,
              input,
              ...(fromCode ? { caller: 'code' as const } : {}),
            }
          })
          const forget = assertFirstRun(ran, reply, calls)
          const answers = await conversation.run(made, options).catch((error: unknown) => {
            forget()
            throw error
          })
          const providerCalls = all
            .filter((call) => !calls.includes(call))
            .map(({ id, name, input }) => ({
              id,
              name,
              input: 'value' in input ? input.value : input.unparsable,
            }))
          return { messages: toPlainJson(wire.answer(answers, view, calls)), answers, providerCalls }
        },
      }
    },

    compact(before, after, options = {}) {
      const { names } = anchored(after)
      const kept = matchAnchors(anchored(before).names, names)
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
      const converted =
        wire.restore && own.length === spoken.length
          ? wire.read(wire.restore(own).flatMap((message) => normalise(wire, message)))
          : spoken.flatMap((unit) => convertUnit(unit, wire, port.prompts))
      return wire.write(converted, project(createState(), ''))
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
          for (const [index, call] of unit.calls.entries()) called.set(calls[index] ?? '', findTarget(call))
        // In older histories, the text of a search that answers with definitions only follows as a separate message.
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

/** Everything that the host sends, as text to measure. If one value is not JSON, only its message is not counted. */
function writeWholeText(messages: readonly unknown[], request: object): string {
  return plainText([messages, request]) || [...messages, request].map(plainText).join('\n')
}

/** Finds the tool that a call means, also inside the bridge. */
function findTarget({ name, input }: UnitCall): string {
  if (name !== BRIDGE_NAME || !('value' in input)) return name
  const inner = argumentsObject(input).name
  return typeof inner === 'string' ? inner : name
}

/** Normalises a message. A value that is not an object, or has unreadable fields, gives nothing. */
function normalise<Message>(
  wire: { normalise?(message: Message): readonly Message[] },
  message: Message,
): readonly Message[] {
  if (!isRecord(message)) return []
  try {
    const plain = toPlainJson(message)
    return wire.normalise?.(plain) ?? [plain]
  } catch {
    return []
  }
}

/** A history as the host gave it, and as it was read. */
interface Given<Message> {
  readonly messages: readonly Message[]
  /** A copy of `messages`: the host may change its array during the request. */
  readonly given: readonly Message[]
  /** Each of them in normal form. */
  readonly normal: readonly (readonly Message[])[]
  readonly placed: readonly Placed[]
  /** Whether Toolwell knows a tool of this name. */
  readonly isOurs: (name: string) => boolean
}

/** Removes the messages that a summary replaces. Leading system messages stay. */
function removeSummarised(
  placed: readonly Placed[],
  replacesHistory: WireTraits['replacesHistory'] = () => false,
): readonly Placed[] {
  const start = placed.findLastIndex(({ unit }) => replacesHistory(unit))
  if (start < 1) return placed
  const first = placed.findIndex(({ unit }) => unit.kind !== 'system')
  return [...placed.slice(0, first), ...placed.slice(start)]
}

function composeMessages<Message, Reply, Parts, Prompt extends object>(
  wire: Wire<Message, Reply, Parts, Prompt>,
  { messages, given, normal, placed, isOurs }: Given<Message>,
  view: SurfaceView,
  prompts: Prompts,
  warn: Warn,
  endOf?: EndOf,
): readonly Message[] {
  for (const [index, message] of given.entries()) {
    const [first] = normal[index] ?? []
    if (first === undefined) warn('entry-dropped', 'dropped an empty entry of the history')
    else if (first !== message)
      warn('form-repaired', 'repaired the form of an entry of the history, because servers refuse it')
  }
  const callable = new Set(view.tools.map((tool) => tool.name))
  for (const { unit } of placed)
    for (const call of unit.kind === 'assistant' && wire.provider ? unit.calls : [])
      if (wire.provider?.owns(call, isOurs)) callable.add(call.name)
  for (const name of wire.ofHost?.(placed.map(({ unit }) => unit)) ?? []) callable.add(name)
  const { ids, thinking, opensWithUser, notesJoinAnswers, modelSpeaksBetween, findSummary } =
    wire.traits ?? {}
  let made = removeSummarised(placed, wire.traits?.replacesHistory)
  if (thinking) made = removeStripped(made, view, thinking)
  if (ids) made = repairIds(made, wire.name, ids, warn)
  made = repairHistory(made, view, callable, prompts, warn, wire.traits, endOf)
  if (notesJoinAnswers) made = joinOwnText(made, prompts)
  if (modelSpeaksBetween) made = addRepliesBetween(made, prompts)
  if (opensWithUser) made = addOpeningNote(made, prompts, warn, findSummary)
  const written = wire.write(addInserts(made, view), view, warn)
  // If deferral is off and nothing had to change, return the host's own array.
  return view.mode === 'off' && hasSameItems(written, messages) ? messages : written
}
