import { readLines } from './read-lines.js'

/** What a verb reads and prints through, so that tests need no process: three streams, the environment, the clock. */

export interface Output {
  /** Resolves when more may be written. Rejects with `OutputClosed` once the reader is gone. */
  write(text: string): Promise<void>
  readonly isTerminal: boolean
  /** Characters per line; undefined where there is no screen. */
  readonly columns: number | undefined
}

export interface Terminal {
  readonly input: AsyncIterable<Uint8Array>
  readonly output: Output
  readonly errors: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder that relative paths start from. */
  readonly folder: string
  /** How this command is started again: node and the script, both by their absolute paths. */
  readonly program: readonly [node: string, script: string]
  /** How a person calls it here, for lines that can be pasted: see `calledAs`. */
  readonly name: string
  /** Milliseconds. */
  now(): number
  /** Calls back when the command is to end, once. Gives the function that stops listening. */
  onInterrupt?(listener: () => void): () => void
}

/** The reader went away, as `| head` does. The command ends silently. */
export class OutputClosed extends Error {}

export type Paint = (text: string, style: 'bold' | 'dim' | 'name' | 'error') => string

const CODES = { bold: [1, 22], dim: [2, 22], name: [36, 39], error: [31, 39] } as const

/** Colours on a screen only, and not where NO_COLOR is set to anything or the screen is a dumb one. */
export function painter(output: Output, env: Terminal['env']): Paint {
  if (!output.isTerminal || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb') return (text) => text
  return (text, style) => `\u001b[${CODES[style][0]}m${text}\u001b[${CODES[style][1]}m`
}

// A question with two answers, of which only "yes" does anything.

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
