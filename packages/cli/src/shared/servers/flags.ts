/** The flags that all verbs over servers have, and what they mean. */

import { usageProblem } from '../problem.js'

export const serverFlags = {
  config: {
    type: 'string',
    valueHint: 'FILE',
    description:
      'The servers: toolwell.json, or the config of another client. Default: your own and that of this folder.',
  },
  profile: {
    type: 'string',
    valueHint: 'NAME',
    description: 'Only the servers and tools of this profile.',
  },
  timeout: {
    type: 'string',
    valueHint: 'SECONDS',
    description: 'How long a server may take to start and list its tools. Default 30.',
  },
} as const

/** In milliseconds. */
export function readTimeout(text: string | undefined, flag = '--timeout'): number {
  if (text === undefined) return 30_000
  const seconds = Number(text)
  if (!/^\d+(?:\.\d+)?$/.test(text) || seconds <= 0 || seconds > 3600)
    throw usageProblem(
      `${flag} ${JSON.stringify(text)} is not a number of seconds.`,
      'Give a number above 0, and at most 3600.',
    )
  return seconds * 1000
}

export function readTokenLimit(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < 1 || !Number.isSafeInteger(number))
    throw usageProblem(
      `${flag} ${JSON.stringify(text)} is not a number of tokens.`,
      'Give a whole number from 1.',
    )
  return number
}

// The one name of a server that a verb is called with.

export function readServerName(words: readonly string[], verb: string): string {
  const [name = '', ...rest] = words
  if (name === '') throw usageProblem('No server is given.', `Write: toolwell ${verb} NAME`)
  if (rest.length > 0)
    throw usageProblem(`Give one server, not ${words.length}.`, 'Put a name with spaces in quotes.')
  return name
}

/** The flag without which nothing is approved that looks poisoned, of every verb that approves. */
export const despiteFindings = {
  type: 'boolean',
  description: 'Approve also what the scan has hard findings of. Without it, that is shown and left.',
} as const
