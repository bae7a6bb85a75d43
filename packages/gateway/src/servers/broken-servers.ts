/** Entries of a config that cannot be used: for people what doctor says of them, and for a model a server that is there and why it is away. */

import type { Toolwell } from '@toolwell/core'
import { firstLine, quote } from '@toolwell/core/internal'
import { type Config, type ConfigProblem, describeProblem, type ServerReport } from '@toolwell/mcp'
import { approval, configFlag } from '../bridge/commands.js'
import { prompts } from '../prompts.js'

/** Something that is wrong in the config as it is written now. */
export interface ServerSetProblem {
  /** The server whose entry it is; without one it is about a file. */
  readonly server?: string
  /** Where, what, and what to do. */
  readonly problem: string
  /** The server is in use as it was before. */
  readonly stillUsed: boolean
}

/** Shows the catalogue the servers that cannot be used, and takes those away that it showed before. Gives everything that is wrong. */
export type ShowBrokenServers = (
  config: Config,
  known: ReadonlyMap<string, unknown>,
) => readonly ServerSetProblem[]

/** The source of Toolwell's own tools. */
export const OWN_SOURCE = 'toolwell'

/** `own`: the config file that commands read by themselves. `command`: how they are called. */
export function createBrokenServers(
  catalogue: Toolwell['catalogue'],
  own: string | undefined,
  command: string,
): ShowBrokenServers {
  let shown = new Map<string, string>()
  return ({ problems }, known) => {
    const errors = problems.filter(({ severity }) => severity === 'error')
    const before = shown
    shown = createAdvice(
      errors,
      known,
      (file) => `${command} doctor${configFlag(file === own ? undefined : file)}`,
    )
    for (const name of before.keys()) if (!shown.has(name) && !known.has(name)) catalogue.removeSource(name)
    for (const [name, advice] of shown)
      if (before.get(name) !== advice)
        catalogue.setSource(name, { tools: [], state: 'failed', reason: advice, advice })
    return errors.map(({ server, ...rest }) => ({
      ...(server === undefined ? {} : { server }),
      problem: describeProblem(rest),
      stillUsed: server !== undefined && known.has(server),
    }))
  }
}

/** By server, for a model. */
function createAdvice(
  errors: readonly ConfigProblem[],
  known: ReadonlyMap<string, unknown>,
  findIn: (file: string) => string,
): Map<string, string> {
  // Entries that have no name, or that of Toolwell's own source, cannot be shown as servers.
  const named = errors.filter(
    ({ server = '' }) => !known.has(server) && server.trim() !== '' && server !== OWN_SOURCE,
  )
  const servers = new Map(named.map(({ server = '', file }) => [server, file]))
  return new Map(
    [...servers].map(([name, file]) => {
      const messages = named.filter(({ server }) => server === name).map(({ message }) => message)
      return [name, prompts.brokenEntry({ reason: firstLine(messages.join('; '), 200), find: findIn(file) })]
    }),
  )
}

// Why a tool or a server cannot be used, and what the user can do about it, as a model is told.

export interface ExplainOptions {
  readonly catalogue: Toolwell['catalogue']
  readonly report: (server: string) => ServerReport | undefined
  /** The file that a command about a server has to name. */
  readonly configFile: (server: string) => string | undefined
  /** How it is called. */
  readonly command: string
}

/** `name`: that of a tool, or of a server in quotes. `state`: as the core has it. */
export function explainUnavailable(
  name: string,
  state: string,
  { catalogue, report, configFile: configOf, command }: ExplainOptions,
): string {
  if (state !== 'quarantined' && state !== 'failed') return state
  const found = catalogue.resolve(name, () => true)
  const entry = found.kind === 'found' ? found.entry : undefined
  const source = entry?.source ?? findSource(name, catalogue)
  const about = source === undefined ? undefined : report(source)
  if (source === undefined || !about) return state
  // What the server printed may be in it, without secrets: so it is quoted.
  if (state === 'failed') return about.reason === '' ? state : `${state} (${quote(about.reason, 300)})`
  const { name: tool = '' } = entry?.tool ?? {}
  // A name that is more than one may hold a sentence for the model.
  const isNamed = about.quarantined.has(tool) && /^[\w.@-]+$/.test(tool)
  return prompts.quarantined({
    state,
    ...approval(isNamed ? `${source}/${tool}` : source, configOf(source), command),
  })
}

/** `quoted`: the server, as the core names it. */
export function announceQuarantined(
  quoted: string,
  count: number,
  { catalogue, configFile: configOf, command }: Omit<ExplainOptions, 'report'>,
): string {
  const source = findSource(quoted, catalogue) ?? ''
  return prompts.toolsQuarantined({ source: quoted, count, ...approval(source, configOf(source), command) })
}

function findSource(name: string, { sources }: Toolwell['catalogue']): string | undefined {
  return [...sources.keys()].find((each) => quote(each, 60) === name)
}
