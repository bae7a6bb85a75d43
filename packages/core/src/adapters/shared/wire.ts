/** The interface of a wire: how a provider's messages are read and written. The rest of an adapter is in `adapter.ts`. */

import type { Usage } from '../../accounting/measurement.js'
import type { Form } from '../../base/wires.js'
import type { WireSupport } from '../../surface/auto.js'
import type { SurfaceView } from '../../surface/project.js'
import type { CallAnswer } from '../../turn/run.js'
import type { Native, Unit, UnitCall } from './thread.js'
import type { ProviderTools } from './tools.js'

/** What a provider demands of a history, and how it can reveal tools. */
export interface WireTraits<Prompt extends object = object> {
  /** The known form of its messages. Entries in another form are refused or reported. Absent: the wire has a new form. */
  readonly form?: Form
  /** The system prompt is a message. Otherwise `begin` takes it. */
  readonly systemInMessages?: boolean
  /** The keys that `begin` takes in addition to the history. */
  readonly prompt?: readonly (keyof Prompt & string)[]
  /** How the provider can reveal tools, apart from the array of tools. Absent: it cannot. */
  readonly native?: WireSupport['native']
  /** Rules for the ids of calls. Absent: no rules. */
  readonly ids?: IdRules
  /** Servers refuse a history that begins with the model. */
  readonly opensWithUser?: boolean
  /** If the provider has its own search, the answer to a search holds definitions and no text. */
  readonly wordlessSearches?: boolean
  /** Servers refuse a message between an answer and the next reply: notices are added to the answer. */
  readonly notesJoinAnswers?: boolean
  /** Servers refuse a user message right after an answer: the model has to reply first. */
  readonly modelSpeaksBetween?: boolean
  /** Servers accept nothing but results while code waits for them. */
  readonly codeReadsAlone?: boolean
  /** Servers accept an answer anywhere after its call, not only directly after it. */
  readonly answersAnywhere?: boolean
  /** The provider binds thinking to the bytes before it, and refuses it after other bytes. Absent: it does not. */
  readonly thinking?: ThinkingTrait | undefined
  /**
   * Finds a summary of the provider in a unit: the model sees nothing before it. `tools`: the summary also restores the
   * tools that the provider itself has revealed. Absent: the provider never summarises.
   */
  readonly findSummary?: (unit: Unit) => 'plain' | 'tools' | undefined
  /** Whether a unit is a summary that the provider accepts only first. Absent: messages before a summary may stay. */
  readonly replacesHistory?: (unit: Unit) => boolean
  /** Code that the provider runs can call tools. Otherwise, tools for code alone are not sent. */
  readonly runsCode?: boolean
  /** This model accepts only text in results, although other models of its wire accept images. */
  readonly textResults?: boolean
  /** Its histories keep media of every type: the wire is not bound to one provider. */
  readonly keepsMedia?: boolean
}

/** Rules of a wire for the ids of calls. */
export interface IdRules {
  readonly legal?: RegExp
  /** The longest id, in characters. */
  readonly max?: number
  /** Makes a valid id from an invalid one. Default: `call_` and a hash. */
  readonly made?: (id: string) => string
  /** Where an id must be unique: among the calls of one reply, or in the whole history. */
  readonly scope: 'turn' | 'history'
  /** The key of the id in the native piece of a call and of an answer. */
  readonly fields: { readonly call: string; readonly answer: string }
}

/** How a wire finds and removes bound thinking. */
export interface ThinkingTrait {
  /** Whether the unit has bound thinking. */
  holds(unit: Unit): boolean
  /** The unit without bound thinking. */
  without(unit: Unit): Unit
}

/** A unit with the native piece it was read from. */
export type OwnUnit = Exclude<Unit, { kind: 'note' }> & { readonly native: Native }

/** How one provider's messages are read and written. */
export interface Wire<Message, Reply, Parts, Prompt extends object = object> {
  readonly name: string
  /** Absent: no special demands. */
  readonly traits?: WireTraits<Prompt>
  /**
   * Converts a message to the nearest form that servers accept. Returns the same object if nothing changed, and
   * nothing if the message is empty. Without this method, `write` has to do it.
   */
  normalise?(message: Message): readonly Message[]
  /** Reads a native history. */
  read(messages: readonly Message[]): readonly Unit[]
  /**
   * Writes units as a native history. An unrepaired unit of this wire gives its native piece again, unless servers
   * refuse its shape: then the change is reported with `warn`.
   */
  write(units: readonly Unit[], view: SurfaceView, warn?: Warn): Message[]
  /**
   * Rebuilds the messages of these units, all of this wire, for a thread that was stored. Without this method,
   * `write` works without the original objects.
   */
  restore?(units: readonly OwnUnit[]): readonly Message[]
  /** Tools that the provider defines or runs. Absent: none. */
  readonly provider?: ProviderTools | undefined
  /** Names of calls whose tools the host declares itself, outside the array. Only the host can run them. */
  ofHost?(units: readonly Unit[]): Iterable<string>
  /**
   * Builds the request: native history, tools and section. `messages` is the host's own array if deferral is off and
   * nothing had to be repaired. Repairs made here are reported with `warn`.
   */
  parts(messages: readonly Message[], view: SurfaceView, prompt: Prompt, warn: Warn): Parts
  /** Reads the usage of a reply, if the reply has it. Absent: it never has. */
  usage?(reply: Reply): Usage | undefined
  /** Counts the answers, oldest first, that the provider did not show to the model. Absent: it always shows all. */
  countCleared?(reply: Reply): number
  /** Whether the reply shows that the server ignored the provider's own search in this request. Absent: no reply shows it. */
  ignoresNative?(reply: Reply, parts: Parts): boolean
  /** Reads the calls of a reply to these messages, in order. */
  calls(reply: Reply, messages: readonly Message[]): readonly UnitCall[]
  /** Writes the answers as native messages, to push onto the history. */
  answer(answers: readonly CallAnswer[], view: SurfaceView, calls: readonly UnitCall[]): Message[]
}

/** A repair of a history, or a thing that servers will refuse: a code for programs, a sentence for people. */

export type WarningCode =
  /** A call got another id. */
  | 'call-id-changed'
  /** A call has no answer, and an answer that says this was added. */
  | 'call-interrupted'
  /** A call was run, but its answer is missing from the history. An answer that says this was added. */
  | 'answer-missing'
  /** A call to an undeclared name was rewritten as text. */
  | 'call-undeclared'
  /** An answer was moved directly after its call. */
  | 'answer-moved'
  /** An answer without a call was rewritten as text. */
  | 'answer-orphaned'
  /** A repeated answer was dropped. */
  | 'answer-repeated'
  /** An empty entry was dropped. */
  | 'entry-dropped'
  /** An entry was rewritten in a form that servers accept. */
  | 'form-repaired'
  /** The history begins with the model. A note that its beginning is missing was added. */
  | 'beginning-missing'
  /** A system message was moved into the system prompt, or sent as the user's text. */
  | 'system-message-moved'
  /** Contents of one turn were joined. */
  | 'contents-joined'
  /** A block was dropped because its other half is missing. */
  | 'block-dropped'
  /** Reasoning without a result was dropped. */
  | 'reasoning-dropped'
  /** A reference to an undeclared tool was removed. */
  | 'reference-dropped'
  /** An entry has the form of another wire and is not read. */
  | 'entry-foreign'
  /** The history contains text that Toolwell added to an earlier request. */
  | 'history-fed-back'
  /** The request declares more tools than the wire allows. */
  | 'too-many-tools'
  | 'own-tools-eager'
  /** A policy failed, which denies the tool. */
  | 'policy-failed'
  /** An unknown namespace was removed from a call. */
  | 'namespace-dropped'

export interface Warning {
  readonly code: WarningCode
  readonly text: string
}

export type Warn = (code: WarningCode, text: string) => void
