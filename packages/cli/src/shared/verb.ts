/**
 * One command of `toolwell`, such as `search`: its flags, its manual page and its action. The code says verb, because a command is
 * also what starts an MCP server.
 */
import type { ArgsDef, ParsedArgs } from 'citty'
import type { Terminal } from './terminal.js'

/** As in grep: 0 yes, 1 no, 2 failed. Each verb documents its own meaning of yes and no. */
export type ExitCode = 0 | 1 | 2

export interface Verb<Flags extends ArgsDef = ArgsDef> {
  readonly name: string
  /** One line for the list of verbs. */
  readonly summary: string
  /** Usage lines, without the name of the verb. */
  readonly usage: readonly string[]
  readonly flags: Flags
  /** The verb accepts positional arguments. Other verbs reject them. */
  readonly takesWords?: true
  /** A sentence that says what to write instead of positional arguments. */
  readonly insteadOfWords?: string
  /** More paragraphs for the manual page. */
  readonly notes?: readonly string[]
  readonly examples: readonly { readonly line: string; readonly about: string }[]
  readonly exits: { readonly 0: string; readonly 1?: string; readonly 2: string }
  run(flags: ParsedArgs<Flags>, terminal: Terminal): Promise<ExitCode>
}

export function defineVerb<const Flags extends ArgsDef>(verb: Verb<Flags>): Verb {
  return verb as unknown as Verb
}
