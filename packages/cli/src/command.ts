/** Runs the command: arguments in, exit code out. Lists the verbs. */
import { nearest } from '@toolwell/core/internal'
import { approve } from './approve/verb.js'
import { calls } from './calls/verb.js'
import { connect } from './connect/verb.js'
import { dashboard } from './dashboard/verb.js'
import { doctor } from './doctor/verb.js'
import { importVerb } from './import/verb.js'
import { inspect } from './inspect/verb.js'
import { learn } from './learn/verb.js'
import { ledger } from './ledger/verb.js'
import { lock } from './lock/verb.js'
import { login } from './login/verb.js'
import { logout } from './logout/verb.js'
import { logs } from './logs/verb.js'
import { postgres } from './postgres/verb.js'
import { search } from './search/verb.js'
import { serve } from './serve/verb.js'
import { readFlags, unexpectedWords } from './shared/flags.js'
import { manualPage, overview } from './shared/help.js'
import { Problem, usageProblem } from './shared/problem.js'
import { OutputClosed, painter, type Terminal } from './shared/terminal.js'
import { withCommandName } from './shared/this-command.js'
import type { ExitCode, Verb } from './shared/verb.js'
import { status } from './status/verb.js'
import { stop } from './stop/verb.js'
import { token } from './token/verb.js'
import { undo } from './undo/verb.js'

const VERBS: readonly Verb[] = [
  serve,
  status,
  stop,
  dashboard,
  token,
  calls,
  search,
  learn,
  inspect,
  lock,
  approve,
  doctor,
  ledger,
  postgres,
  logs,
  importVerb,
  connect,
  undo,
  login,
  logout,
]

export async function runToolwell(
  words: readonly string[],
  terminal: Terminal,
  { verbs = VERBS, version = '' }: { verbs?: readonly Verb[]; version?: string } = {},
): Promise<ExitCode> {
  try {
    return await dispatch(words, terminal, verbs, version)
  } catch (error) {
    if (error instanceof OutputClosed) return 0
    try {
      if (isJson(words)) await terminal.output.write(errorJson(error, terminal.name))
      await terminal.errors.write(describeError(error, findVerb(words[0], verbs), terminal))
    } catch {
      // The message cannot be written. The exit code still reports the failure.
    }
    return error instanceof Problem ? error.exit : 2
  }
}

/** Looks at the raw arguments, because parsing them may have failed. */
function isJson(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return (end < 0 ? words : words.slice(0, end)).includes('--json')
}

/** Errors as JSON, the same for every verb. */
function errorJson(error: unknown, name: string): string {
  const { details, reason, message, fix } =
    error instanceof Problem
      ? error
      : { details: {}, reason: 'fault', message: String(error), fix: 'Please report it.' }
  return `${JSON.stringify({ ...details, reason, message: withCommandName(message.trim(), name), fix: withCommandName(fix, name) })}\n`
}

async function dispatch(
  words: readonly string[],
  terminal: Terminal,
  verbs: readonly Verb[],
  version: string,
): Promise<ExitCode> {
  const { output, errors, env } = terminal
  const [first = '', ...rest] = words
  if (first === '') {
    await errors.write(overview(verbs, version, painter(errors, env)))
    return 2
  }
  if (first === '--version' || first === '-v') {
    await output.write(`${version}\n`)
    return 0
  }
  const isHelp = ['--help', '-h', 'help'].includes(first)
  if (isHelp && rest.length === 0) {
    await output.write(overview(verbs, version, painter(output, env)))
    return 0
  }
  const name = isHelp ? rest[0] : first
  const verb = findVerb(name, verbs)
  if (!verb) throw unknownVerb(name ?? '', verbs)
  const flagWords = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest
  if (isHelp || flagWords.some((word) => word === '--help' || word === '-h')) {
    await output.write(manualPage(verb, painter(output, env)))
    return 0
  }
  const flags = readFlags(rest, verb.flags)
  if (!verb.takesWords && flags._.length > 0) throw unexpectedWords(verb, flags._)
  return verb.run(flags, terminal)
}

function findVerb(name: string | undefined, verbs: readonly Verb[]): Verb | undefined {
  return verbs.find((verb) => verb.name === name)
}

function unknownVerb(name: string, verbs: readonly Verb[]): Problem {
  const known = verbs.map((verb) => verb.name)
  const [meant] = nearest(name, known, 1)
  const shown = JSON.stringify(name.slice(0, 60))
  return usageProblem(
    `Unknown command ${shown}.`,
    meant ? `Did you mean ${meant}?` : `Known: ${known.join(', ')}.`,
  )
}

/** The message, the fix and the manual page of a problem; the stack of a bug. */
function describeError(error: unknown, verb: Verb | undefined, { errors, env, name }: Terminal): string {
  const paint = painter(errors, env)
  const head = paint('toolwell:', 'error')
  if (!(error instanceof Problem)) {
    const { stack = String(error) } = error instanceof Error ? error : {}
    return `${head} This is a bug in toolwell. Please report it with these lines:\n${stack}\n`
  }
  const manual = error.isUsage ? `\nSee: ${name} ${verb ? `${verb.name} ` : ''}--help` : ''
  // A message that ends with a list continues on a new line.
  const space = error.message.endsWith('\n') ? '' : ' '
  const text = `${error.message}${error.fix === '' ? '' : `${space}${error.fix}`}`
  return `${head} ${withCommandName(text, name)}${manual}\n`
}
