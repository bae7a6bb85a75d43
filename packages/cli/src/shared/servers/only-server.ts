/** The one name of a server that a verb is called with. */
import { usageProblem } from '../problem.js'

export function readServerName(words: readonly string[], verb: string): string {
  const [name = '', ...rest] = words
  if (name === '') throw usageProblem('No server is given.', `Write: toolwell ${verb} NAME`)
  if (rest.length > 0)
    throw usageProblem(`Give one server, not ${words.length}.`, 'Put a name with spaces in quotes.')
  return name
}
