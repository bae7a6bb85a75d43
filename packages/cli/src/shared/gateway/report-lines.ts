import { quote } from '@toolwell/core/internal'
import type { HallReport } from '@toolwell/gateway'
import { approval, shellWord } from '@toolwell/gateway/bridge'
import { plural } from '../layout.js'

/** What lines about a gateway need to know, so that their commands can be pasted and their reasons are the right ones. */

export interface Hints {
  /** How the command is called. */
  readonly name: string
  /** What a command needs to reach this gateway. */
  readonly at: string
  /** Whether the config of a project was trusted as it was once, and is another one by now. */
  readonly hasChanged: (file: string) => boolean
}

// What to do where a gateway has no servers, in the same words wherever it is said.

/** `name`: how the command is called. */
export function noServersLine(
  { files, missing, problems }: Pick<HallReport, 'files' | 'missing' | 'problems'>,
  name: string,
): string {
  if (problems.length > 0) return 'No servers: what is in the config cannot be used.'
  const why =
    missing.length > 0 ? `${missing.join(', ')} is missing` : `there are none in ${files.join(', ')}`
  return `No servers: ${why}. Take over those of your clients with: ${name} connect`
}

// What is wrong in the config of a gateway, in the same words wherever it is said.

export function problemLine({ server, problem, goesOn }: HallReport['problems'][number]): string {
  if (server === undefined) return `! ${problem}`
  return goesOn
    ? `! ${server} is used as it was before, because its entry is wrong now: ${problem}`
    : `! ${server} cannot be used: ${problem}`
}

// The config of a project that is not used, and what to do, in the same words wherever it is said.

export function untrustedLine(
  { folder, file }: HallReport['untrusted'][number],
  { at, name, hasChanged }: Hints,
): string {
  const why = hasChanged(file) ? 'it has changed since it was trusted' : 'nobody has trusted it'
  return `! ${file} is not used: ${why}. Look at it, and then: ${name} serve --trust ${shellWord(folder)}${at}`
}

// Tools that are held back, and what to do, in the same words wherever it is said.

const MOST_NAMED = 10

/** `config`: the file that a command about the server has to name; `name`: how the command is called. */
export function quarantinedLines(
  server: string,
  tools: readonly string[],
  config: string | undefined,
  name: string,
): string[] {
  const { look, approve } = approval(server, config, name)
  const isOne = tools.length === 1
  const names = tools.slice(0, MOST_NAMED).map((name) => (/^[\w.@-]+$/.test(name) ? name : quote(name, 60)))
  const rest = tools.length - names.length
  return [
    `! ${plural(tools.length, 'tool')} of ${server} ${isOne ? 'is' : 'are'} held back: ${names.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`,
    `    Look at ${isOne ? 'it' : 'them'} first: ${look}`,
    `    Approve ${isOne ? 'it' : 'them'}: ${approve}`,
  ]
}
