/** Entries of a config that cannot be used: for people what doctor says of them, and for a model a server that is there and why it is away. */
import type { Toolwell } from '@toolwell/core'
import { firstLine } from '@toolwell/core/internal'
import { type Config, type ConfigProblem, describeProblem } from '@toolwell/mcp'
import { configWords } from '../bridge/commands.js'
import { prompts } from '../prompts.js'

/** Something that is wrong in the config as it is written now. */
export interface HallProblem {
  /** The server whose entry it is; without one it is about a file. */
  readonly server?: string
  /** Where, what, and what to do. */
  readonly problem: string
  /** The server is in use as it was before. */
  readonly goesOn: boolean
}

/** Shows the catalogue the servers that cannot be used, and takes those away that it showed before. Gives everything that is wrong. */
export type ShowBroken = (config: Config, known: ReadonlyMap<string, unknown>) => readonly HallProblem[]

/** The source of Toolwell's own tools. */
export const META = 'toolwell'

/** `own`: the config file that commands read by themselves. `command`: how they are called. */
export function createBroken(
  catalogue: Toolwell['catalogue'],
  own: string | undefined,
  command: string,
): ShowBroken {
  let shown = new Map<string, string>()
  return ({ problems }, known) => {
    const errors = problems.filter(({ severity }) => severity === 'error')
    const before = shown
    shown = adviceOn(
      errors,
      known,
      (file) => `${command} doctor${configWords(file === own ? undefined : file)}`,
    )
    for (const name of before.keys()) if (!shown.has(name) && !known.has(name)) catalogue.removeSource(name)
    for (const [name, advice] of shown)
      if (before.get(name) !== advice)
        catalogue.setSource(name, { tools: [], state: 'failed', reason: advice, advice })
    return errors.map(({ server, ...rest }) => ({
      ...(server === undefined ? {} : { server }),
      problem: describeProblem(rest),
      goesOn: server !== undefined && known.has(server),
    }))
  }
}

/** By server, for a model. */
function adviceOn(
  errors: readonly ConfigProblem[],
  known: ReadonlyMap<string, unknown>,
  findIn: (file: string) => string,
): Map<string, string> {
  // Entries that have no name, or that of Toolwell's own source, cannot be shown as servers.
  const named = errors.filter(
    ({ server = '' }) => !known.has(server) && server.trim() !== '' && server !== META,
  )
  const servers = new Map(named.map(({ server = '', file }) => [server, file]))
  return new Map(
    [...servers].map(([name, file]) => {
      const messages = named.filter(({ server }) => server === name).map(({ message }) => message)
      return [name, prompts.brokenEntry({ reason: firstLine(messages.join('; '), 200), find: findIn(file) })]
    }),
  )
}
