/** One verb of the command: what it is called with, what its manual says, and what it does. */
import type { ArgsDef, ParsedArgs } from 'citty'
import type { Terminal } from './terminal.js'

/** 0 yes, 1 no, 2 it could not be done: as grep has it. Each verb says what yes and no mean for it. */
export type ExitCode = 0 | 1 | 2

export interface Verb<Flags extends ArgsDef = ArgsDef> {
  readonly name: string
  /** One line for the list of verbs. */
  readonly summary: string
  /** How it is called, without the name: one line for each way. */
  readonly usage: readonly string[]
  readonly flags: Flags
  /** Words besides the flags mean something to it. Elsewhere they are refused. */
  readonly takesWords?: true
  /** What to write instead of words that are refused; a sentence. */
  readonly insteadOfWords?: string
  /** Further paragraphs of the manual. */
  readonly notes?: readonly string[]
  readonly examples: readonly { readonly line: string; readonly about: string }[]
  readonly exits: { readonly 0: string; readonly 1?: string; readonly 2: string }
  run(flags: ParsedArgs<Flags>, terminal: Terminal): Promise<ExitCode>
}

export function defineVerb<const Flags extends ArgsDef>(verb: Verb<Flags>): Verb {
  return verb as unknown as Verb
}
