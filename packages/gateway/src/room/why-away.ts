/** Why a tool or a server cannot be used, and what the user can do about it, as a model is told. */
import type { Toolwell } from '@toolwell/core'
import { quote } from '@toolwell/core/internal'
import type { ServerReport } from '@toolwell/mcp'
import { approval } from '../bridge/commands.js'
import { prompts } from '../prompts.js'

export interface WhyAwayOptions {
  readonly catalogue: Toolwell['catalogue']
  readonly report: (server: string) => ServerReport | undefined
  /** The file that a command about a server has to name. */
  readonly configOf: (server: string) => string | undefined
  /** How it is called. */
  readonly command: string
}

/** `name`: that of a tool, or of a server in quotes. `state`: as the core has it. */
export function whyAway(
  name: string,
  state: string,
  { catalogue, report, configOf, command }: WhyAwayOptions,
): string {
  if (state !== 'quarantined' && state !== 'failed') return state
  const found = catalogue.resolve(name, () => true)
  const entry = found.kind === 'found' ? found.entry : undefined
  const source = entry?.source ?? unquoted(name, catalogue)
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
export function toolsHeldBack(
  quoted: string,
  count: number,
  { catalogue, configOf, command }: Omit<WhyAwayOptions, 'report'>,
): string {
  const source = unquoted(quoted, catalogue) ?? ''
  return prompts.toolsHeldBack({ source: quoted, count, ...approval(source, configOf(source), command) })
}

function unquoted(name: string, { sources }: Toolwell['catalogue']): string | undefined {
  return [...sources.keys()].find((each) => quote(each, 60) === name)
}
