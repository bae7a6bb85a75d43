/** What all adapters share: anchors before the request, repair and inserts within it, calls after it. A wire adds how it reads and writes. */
import type { Conversation } from '../../conversation.js'
import { shortHash } from '../../fingerprint.js'
import type { ImportedStep, ImportReport } from '../../host-steps.js'
import { BRIDGE_NAME } from '../../meta-tools.js'
import type { Prompts } from '../../prompts.js'
import type { CallAnswer, RunOptions } from '../../run-calls.js'
import { readMachineLine } from '../../search/render.js'
import type { SurfaceView } from '../../surface.js'
import { type Anchors, anchorsOf, survivors } from './anchors.js'
import { repair } from './repair.js'
import { argumentsObject, type Unit, type UnitCall } from './thread.js'
import { weave } from './weave.js'

/** One provider's way of writing things down. */
export interface Wire<Message, Reply, Parts, Prompt extends object = object> {
  readonly name: string
  /** Reads a native history. The same message gives the same units, so that their names need not be hashed again. */
  parse(messages: readonly Message[]): readonly Unit[]
  /** Writes units as a native history. A unit of this wire that was not mended gives back its native piece. */
  write(units: readonly Unit[], view: SurfaceView): Message[]
  /** Names that a call in the history may have although they are not in the tools array. */
  callable(view: SurfaceView): Iterable<string>
  /** The request: native history, tools, section. `messages` is the host's own array when deferral is off. */
  parts(messages: readonly Message[], view: SurfaceView, prompt: Prompt): Parts
  /** The calls of a reply to these messages, in its order. */
  calls(reply: Reply, messages: readonly Message[]): readonly UnitCall[]
  /** The answers as native messages, ready to be pushed onto the history. */
  answer(answers: readonly CallAnswer[], view: SurfaceView, calls: readonly UnitCall[]): Message[]
}

export interface Turn<Message, Reply, Parts> {
  /** Spread these into the request. */
  readonly parts: Parts
  readonly view: SurfaceView
  /** What had to be mended in the history for this request. */
  readonly warnings: readonly string[]
  /** Runs the calls of the reply. Push the reply, then `messages`, onto your history. Empty where the reply calls nothing. */
  run(
    reply: Reply,
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
    options?: { readonly trim?: (active: readonly string[]) => readonly string[] },
  ): Promise<void>
  /** A new conversation that has seen these messages, the first part of your history, and no more. */
  fork(messages: readonly Message[], options: { readonly id: string }): Promise<Conversation>
  /** Rebuilds what a history says was loaded, for a conversation whose ledger is gone. */
  importHistory(messages: readonly Message[]): Promise<ImportReport>
}

export function createAdapter<Message, Reply, Parts, Prompt extends object = object>(
  conversation: Conversation,
  wire: Wire<Message, Reply, Parts, Prompt>,
): Adapter<Message, Reply, Parts, Prompt> {
  const anchored = (messages: readonly Message[]) => anchorsOf(wire.parse(messages))
  return {
    async begin(messages, request = {} as Prompt) {
      const anchors = anchored(messages)
      const { requestId = nameOf(wire.name, anchors, conversation.epoch) } = request as {
        readonly requestId?: string
      }
      const view = await conversation.begin({
        requestId,
        anchor: anchors.names.at(-1) ?? '',
        wire: wire.name,
        present: new Set(anchors.names),
      })
      const warnings: string[] = []
      return {
        view,
        warnings,
        parts: wire.parts(
          compose(wire, messages, anchors, view, conversation.prompts, warnings),
          view,
          request,
        ),
        run: async (reply, options) => {
          const calls = wire.calls(reply, messages)
          const answers = await conversation.run(
            calls.map(({ id, name, input }) => ({ callId: id, anchor: anchors.next(id), name, input })),
            options,
          )
          return { messages: wire.answer(answers, view, calls), answers }
        },
      }
    },

    compact(before, after, options = {}) {
      const { names } = anchored(after)
      const kept = survivors(anchored(before).names, names)
      const survived = new Set(Object.values(kept))
      const anchor = names.find((name) => !survived.has(name)) ?? names.at(-1)
      return conversation.compact({ kept, ...(anchor === undefined ? {} : { anchor }), ...options })
    },

    fork: (messages, { id }) => conversation.fork({ id, anchor: anchored(messages).names }),

    importHistory(messages) {
      const called = new Map<string, string>()
      const steps: ImportedStep[] = []
      const others: string[] = []
      const unreadable: string[] = []
      for (const { unit, anchor } of anchored(messages).placed) {
        if (unit.kind === 'assistant') for (const call of unit.calls) called.set(call.id, targetOf(call))
        if (unit.kind !== 'answer') continue
        const name = called.get(unit.callId)
        if (name !== conversation.loader) {
          if (name !== undefined) others.push(name)
          continue
        }
        const line = readMachineLine(unit.text)
        if (line) steps.push({ anchor, ...line })
        else unreadable.push(anchor)
      }
      return conversation.importSteps(steps, others, unreadable)
    },
  }
}

/** The same history on another wire is another request: its definitions and its delivery are that wire's. */
function nameOf(wire: string, anchors: Anchors, epoch: number): string {
  return `history ${epoch}.${shortHash([wire, ...anchors.names].join('\n'))}`
}

/** The tool a call is meant for: out of the bridge where it is in one. */
function targetOf({ name, input }: UnitCall): string {
  if (name !== BRIDGE_NAME || !('value' in input)) return name
  const inner = argumentsObject(input).name
  return typeof inner === 'string' ? inner : name
}

function compose<Message, Reply, Parts, Prompt extends object>(
  wire: Wire<Message, Reply, Parts, Prompt>,
  messages: readonly Message[],
  anchors: Anchors,
  view: SurfaceView,
  prompts: Prompts,
  warnings: string[],
): readonly Message[] {
  const warn = (warning: string) => void warnings.push(warning)
  const callable = new Set([...view.tools.map((tool) => tool.name), ...wire.callable(view)])
  const repaired = repair(anchors.placed, view, callable, prompts, warn)
  // Off: the host's own array, unless a server would refuse it.
  if (
    view.mode === 'off' &&
    isSame(repaired, anchors.placed) &&
    !repaired.some(({ unit }) => 'mended' in unit)
  )
    return messages
  return wire.write(weave(repaired, view, warn), view)
}

function isSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index])
}
