/** The process as verbs see it: streams, environment and clock. Tests pass their own. */
import { Problem } from './problem.js'
import { readLines } from './read-lines.js'

export interface Output {
  /** Resolves when more may be written. Rejects with `OutputClosed` once the reader is gone. */
  write(text: string): Promise<void>
  readonly isTerminal: boolean
  /** Characters per line; undefined if the output is not a terminal. */
  readonly columns: number | undefined
}

export interface Terminal {
  readonly input: AsyncIterable<Uint8Array>
  readonly isInputTerminal: boolean
  readonly output: Output
  readonly errors: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** Base of relative paths. */
  readonly folder: string
  /** Absolute paths that start this command. */
  readonly program: readonly [node: string, script: string]
  /** The words that start this command in messages: see `findCommandName`. */
  readonly name: string
  /** Milliseconds. */
  now(): number
  /** Calls `listener` once when the command should end. Returns a function that stops listening. */
  onInterrupt?(listener: (signal: NodeJS.Signals) => void): () => void
}

/** The reader of the output is gone, as with `| head`. The command ends silently. */
export class OutputClosed extends Error {}

export type Paint = (text: string, style: 'bold' | 'dim' | 'name' | 'error') => string

const CODES = { bold: [1, 22], dim: [2, 22], name: [36, 39], error: [31, 39] } as const

/** Uses colours on a terminal, unless NO_COLOR is set or TERM is "dumb". */
export function painter(output: Output, env: Terminal['env']): Paint {
  if (!output.isTerminal || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb') return (text) => text
  return (text, style) => `\u001b[${CODES[style][0]}m${text}\u001b[${CODES[style][1]}m`
}

export function isInteractive({ output, errors }: Terminal): boolean {
  return output.isTerminal && errors.isTerminal
}

/** Agents set one of these for the commands that they run. Some run them in a terminal. */
export const AGENT_VARIABLES = [
  'CLAUDECODE',
  'CODEX_CI',
  'CODEX_SANDBOX',
  'CODEX_THREAD_ID',
  'COPILOT_AGENT',
  'COPILOT_CLI',
  'GEMINI_CLI',
  'GOOSE_TERMINAL',
  'QWEN_CODE',
  'OPENCODE',
  'CURSOR_AGENT',
  'CLINE_ACTIVE',
  'AI_AGENT',
]

const findAgent = (env: Terminal['env']) => AGENT_VARIABLES.find((name) => env[name])

export const hasPerson = ({ isInputTerminal, output, env }: Terminal) =>
  isInputTerminal && output.isTerminal && findAgent(env) === undefined

/** Throws unless a person can answer. An agent with a shell must not approve; no flag or variable changes that. */
export function requireTerminal(
  terminal: Terminal,
  action = 'Approving',
  instead = ' Automation commits toolwell.lock instead.',
): void {
  if (hasPerson(terminal)) return
  const agent = findAgent(terminal.env)
  throw new Problem(
    agent === undefined
      ? `${action} needs a terminal, so that a person decides. Nothing was changed.`
      : `${action} needs a person, and ${agent} is set, so an agent runs this command. Nothing was changed.`,
    `Run this command in ${agent === undefined ? 'a terminal' : 'a terminal of your own'}.${instead}`,
    { reason: 'no-terminal' },
  )
}

/** Asks a yes/no question on a terminal. In a pipe it asks nothing and returns false. */
export async function askYes(question: string, terminal: Terminal): Promise<boolean> {
  return isInteractive(terminal) && (await askForAnswer(question, terminal)) === true
}

/** Asks a yes/no question. Undefined if the input ends without an answer. */
export async function askForAnswer(question: string, terminal: Terminal): Promise<boolean | undefined> {
  await terminal.output.write(`${question} [y/N] `)
  for await (const { text } of readLines(terminal.input, 'standard input'))
    return /^\s*y(?:es)?\s*$/i.test(text)
  return undefined
}
