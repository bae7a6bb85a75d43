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
