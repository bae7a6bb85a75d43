/** The seam of a provider's wire: how it reads and writes a history. Everything else is written once, in `adapter.ts`. */

import type { Usage } from '../../accounting/measurement.js'
import type { WireSupport } from '../../surface/auto.js'
import type { SurfaceView } from '../../surface/project.js'
import type { CallAnswer } from '../../turn/run.js'
import type { Form } from './check-input.js'
import type { IdRules } from './repair.js'
import type { ThinkingTrait } from './thinking.js'
import type { Native, Unit, UnitCall } from './thread.js'

/** What a provider demands of a history, and what it can do about tools. */
export interface WireTraits<Prompt extends object = object> {
  /** Which of the known forms its messages have: those of another are then refused or told. Absent: a form of its own. */
  readonly form?: Form
  /** The system prompt is a message. Where it is not, it is given beside them. */
  readonly systemInMessages?: boolean
  /** What `begin` takes beside the history, by key. */
  readonly prompt?: readonly (keyof Prompt & string)[]
  /** What the provider can do about tools besides the array. Absent: nothing. */
  readonly native?: WireSupport['native']
  /** What servers demand of the ids of calls; nothing when absent. */
  readonly ids?: IdRules
  /** Servers refuse a history that begins with the model. */
  readonly opensWithUser?: boolean
  /** Where the provider searches by its own means, the answer to a search holds definitions and no words. */
  readonly wordlessSearches?: boolean
  /** Servers take no message between an answer and the next reply: notices join the answer. */
  readonly notesJoinAnswers?: boolean
  /** Servers take the user behind an answer only where the model has spoken between. */
  readonly modelSpeaksBetween?: boolean
  /** Servers take an answer wherever it stands behind its call, and not only directly behind it. */
  readonly answersAnywhere?: boolean
  /** The provider binds thinking to what stands before it, and refuses it behind other bytes. Absent: it does not. */
  readonly thinking?: ThinkingTrait | undefined
  /** This model takes text alone in results, although others of its wire take images. */
  readonly textResults?: boolean
}

/** A unit with the piece of its wire that it was read from. */
export type OwnUnit = Exclude<Unit, { kind: 'note' }> & { readonly native: Native }

/** One provider's way of writing things down. */
export interface Wire<Message, Reply, Parts, Prompt extends object = object> {
  readonly name: string
  /** What the provider demands of a history, and what it can do. Absent: nothing. */
  readonly traits?: WireTraits<Prompt>
  /**
   * A message in the nearest form that servers take: itself where it has one, none where it says nothing. Where this is
   * absent, `write` sees to it.
   */
  normalise?(message: Message): readonly Message[]
  /** Reads a native history. */
  read(messages: readonly Message[]): readonly Unit[]
  /**
   * Writes units as a native history. A unit of this wire that was not repaired gives back its native piece, unless servers
   * refuse its shape: what is changed then is said to `warn`.
   */
  write(units: readonly Unit[], view: SurfaceView, warn?: Warn): Message[]
  /**
   * The messages that these units were read from, where that cannot be told from the very objects any more: a thread may
   * have been stored. All units are of this wire. Where this is absent, `write` does not need it.
   */
  restore?(units: readonly OwnUnit[]): readonly Message[]
  /** Names of calls in these units whose tools the host declares itself, beside the array: only it can run them. */
  ofHost?(units: readonly Unit[]): Iterable<string>
  /**
   * The request: native history, tools, section. `messages` is the host's own array when deferral is off and nothing had to
   * be repaired; what is repaired here is said to `warn`.
   */
  parts(messages: readonly Message[], view: SurfaceView, prompt: Prompt, warn: Warn): Parts
  /** What the provider says a reply cost, where the reply says so. Absent: it never does. */
  usage?(reply: Reply): Usage | undefined
  /** The calls of a reply to these messages, in its order. */
  calls(reply: Reply, messages: readonly Message[]): readonly UnitCall[]
  /** The answers as native messages, ready to be pushed onto the history. */
  answer(answers: readonly CallAnswer[], view: SurfaceView, calls: readonly UnitCall[]): Message[]
}

/** What an adapter had to change in a history so that servers take it, and what they will not: a code for programs, a sentence for people. */

export type WarningCode =
  /** A call was given another id. */
  | 'call-id-changed'
  /** A call has no answer: one was added that says so. */
  | 'call-interrupted'
  /** A call was run, and its answer is not in the history: one was added that says so. */
  | 'answer-missing'
  /** A call of a name that this request does not declare is told as text. */
  | 'call-undeclared'
  /** An answer stands directly behind its call now. */
  | 'answer-moved'
  /** An answer without a call is told as text. */
  | 'answer-orphaned'
  /** An answer that stood there before was dropped. */
  | 'answer-repeated'
  /** An update stands at the nearest earlier place: its message is gone. */
  | 'update-moved'
  /** An entry that says nothing was dropped. */
  | 'entry-dropped'
  /** An entry was written in a form that servers take. */
  | 'form-repaired'
  /** The history begins with the model: a word that its beginning is missing stands before it. */
  | 'beginning-missing'
  /** A system message was moved into the system prompt, or told as the user's words. */
  | 'system-message-moved'
  /** Contents of one turn were joined. */
  | 'contents-joined'
  /** A block whose other half is missing was dropped. */
  | 'block-dropped'
  /** Reasoning that led to nothing was dropped. */
  | 'reasoning-dropped'
  /** A reference to a tool that is not declared was taken out. */
  | 'reference-dropped'
  /** An entry in the form of another wire, which is not read here. */
  | 'entry-foreign'
  /** The history holds what Toolwell has put into an earlier request. */
  | 'history-fed-back'
  /** The request declares more tools than the wire takes. */
  | 'too-many-tools'
  /** A policy gave no answer, which denies. */
  | 'policy-failed'
  /** A namespace that nothing offers was taken from a call. */
  | 'namespace-dropped'

export interface Warning {
  readonly code: WarningCode
  readonly text: string
}

export type Warn = (code: WarningCode, text: string) => void
