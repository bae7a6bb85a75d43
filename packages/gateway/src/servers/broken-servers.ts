/** Explains to people and models why a server or a tool cannot be used. */
import type { Toolwell } from '@toolwell/core'
import { firstLine, quote } from '@toolwell/core/internal'
import { type Config, type ConfigProblem, describeProblem, type ServerReport } from '@toolwell/mcp'
import { configFlag } from '../bridge/commands.js'
import { prompts } from '../prompts.js'

/** A problem in the current config. */
export interface ServerSetProblem {
  /** The server whose entry is wrong. Without it, the problem concerns a whole file. */
  readonly server?: string
  /** Place, fault and fix. */
  readonly problem: string
  /** The server keeps running with its previous entry. */
  readonly stillUsed: boolean
}

/** Adds sources with state `failed` for servers that cannot be used and removes outdated ones. Returns every problem. */
export type ShowBrokenServers = (
  config: Config,
  known: ReadonlyMap<string, unknown>,
) => readonly ServerSetProblem[]

/** Source of Toolwell's own tools. */
export const OWN_SOURCE = 'toolwell'

/** `own` is the config file that commands read by default; `command` is how the user calls the command. */
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

/** Advice for the model, by server. */
function createAdvice(
  errors: readonly ConfigProblem[],
  known: ReadonlyMap<string, unknown>,
  findIn: (file: string) => string,
): Map<string, string> {
  // Entries without a name, or with the name of Toolwell's own source, cannot be shown as servers.
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

export interface ExplainOptions {
  readonly catalogue: Toolwell['catalogue']
  readonly report: (server: string) => ServerReport | undefined
}

/** Adds the reason to a state. `name` is a tool, or a server in quotes. */
export function explainUnavailable(
  name: string,
  state: string,
  { catalogue, report }: ExplainOptions,
): string {
  if (state === 'quarantined') return prompts.quarantined({ state })
  if (state !== 'failed') return state
  const found = catalogue.resolve(name, () => true)
  const entry = found.kind === 'found' ? found.entry : undefined
  const source = entry?.source ?? findSource(name, catalogue)
  const about = source === undefined ? undefined : report(source)
  if (source === undefined || !about) return state
  if (about.isWaiting) return prompts.entryWaits({ state })
  // The reason may contain output of the server, so it is quoted. Secrets are already removed.
  return about.reason === '' ? state : `${state} (${quote(about.reason, 300)})`
}

function findSource(name: string, { sources }: Toolwell['catalogue']): string | undefined {
  return [...sources.keys()].find((each) => quote(each, 60) === name)
}
