/** The one name of a server that a verb is called with. */
import { usageProblem } from '../problem.js'

export function onlyServer(words: readonly string[], verb: string): string {
  const [name = '', ...rest] = words
  if (name === '') throw usageProblem('There is no server.', `Say which: toolwell ${verb} NAME`)
  if (rest.length > 0)
    throw usageProblem(
      `There is one server at a time, not ${words.length}.`,
      'A name with spaces goes into quotes.',
    )
  return name
}
