/** Flags and arguments that several verbs share. */
import { usageProblem } from '../problem.js'

export const serverFlags = {
  config: {
    type: 'string',
    valueHint: 'FILE',
    description:
      'The config: toolwell.json, or the config of another client. Default: your toolwell.json and the one of this folder, if you trust it.',
  },
  profile: {
    type: 'string',
    valueHint: 'NAME',
    description: 'Use only the servers and tools of this profile.',
  },
  timeout: {
    type: 'string',
    valueHint: 'SECONDS',
    description: 'How long a server may take to start and list its tools. Default 30.',
  },
} as const

/** Reads seconds, and returns milliseconds. */
export function readTimeout(text: string | undefined, flag = '--timeout'): number {
  if (text === undefined) return 30_000
  const seconds = Number(text)
  if (!/^\d+(?:\.\d+)?$/.test(text) || seconds <= 0 || seconds > 3600)
    throw usageProblem(
      `${flag} ${JSON.stringify(text)} is not a valid number of seconds.`,
      'Give a number above 0 and up to 3600.',
    )
  return seconds * 1000
}

export function readTokenLimit(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < 1 || !Number.isSafeInteger(number))
    throw usageProblem(
      `${flag} ${JSON.stringify(text)} is not a valid number of tokens.`,
      'Give a whole number of at least 1.',
    )
  return number
}

/** Reads the one server name that a verb takes. */
export function readServerName(words: readonly string[], verb: string): string {
  const [name = '', ...rest] = words
  if (name === '') throw usageProblem('The name of the server is missing.', `Write: toolwell ${verb} NAME`)
  if (rest.length > 0)
    throw usageProblem(`Give one server, not ${words.length}.`, 'Put a name with spaces in quotes.')
  return name
}

/** Required to approve a definition that looks poisoned. */
export const despiteFindings = {
  type: 'boolean',
  description:
    'Also approve definitions with hard findings. Without this flag they are shown but not approved.',
} as const
