/** A question with two answers, of which only "yes" does anything. */
import { readLines } from './read-lines.js'
import type { Terminal } from './terminal.js'

export function isInteractive({ output, errors }: Terminal): boolean {
  return output.isTerminal && errors.isTerminal
}

/** Asked only on a terminal; in a pipe the answer is no, and --yes is needed. */
export async function askYes(question: string, terminal: Terminal): Promise<boolean> {
  if (!isInteractive(terminal)) return false
  await terminal.output.write(`${question} [y/N] `)
  for await (const { text } of readLines(terminal.input, 'standard input'))
    return /^\s*y(?:es)?\s*$/i.test(text)
  return false
}
