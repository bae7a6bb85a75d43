/** The gateway as verbs see it: the flag for its folder, and lines about its servers. */
import { resolve } from 'node:path'
import { firstLine, quote } from '@toolwell/core/internal'
import type { ServerSetReport } from '@toolwell/gateway'
import { approval, defaultGatewayFolder, shellWord } from '@toolwell/gateway/bridge'
import { plural } from './layout.js'
import type { Terminal } from './terminal.js'

export const folderFlag = {
  type: 'string',
  valueHint: 'FOLDER',
  description:
    'The private folder of the gateway, with its token and log. Each folder has one gateway. Default: in your state folder.',
} as const

export function gatewayFolder(given: string | undefined, { env, folder }: Terminal): string {
  return given === undefined ? defaultGatewayFolder(env) : resolve(folder, given)
}

/** The `--folder` argument that a command needs to reach this gateway. Empty for the default folder. */
export function folderArgument(folder: string, env: Terminal['env']): string {
  return folder === defaultGatewayFolder(env) ? '' : ` --folder ${shellWord(folder)}`
}

/** Values that the lines below need. */
export interface Hints {
  /** The words that start this command. */
  readonly name: string
  /** The `--folder` argument for this gateway. */
  readonly at: string
  /** True if the config of a project was trusted and has changed since. */
  readonly hasChanged: (file: string) => boolean
}

/** Joins paths without their control characters: the name of a folder may contain commands for the terminal. */
export function printPaths(paths: readonly string[]): string {
  return paths.map((path) => firstLine(path, 400)).join(', ')
}

/** `name`: the words that start this command. */
export function noServersLine(
  { files, missing, problems }: Pick<ServerSetReport, 'files' | 'missing' | 'problems'>,
  name: string,
): string {
  if (problems.length > 0) return 'No servers: no entry of the config is usable.'
  const why = missing.length > 0 ? `${printPaths(missing)} does not exist` : `${printPaths(files)} has none`
  return `No servers: ${why}. Import the servers of your clients with: ${name} connect`
}

export function problemLine({ server, problem, stillUsed }: ServerSetReport['problems'][number]): string {
  const text = firstLine(problem, 1000)
  if (server === undefined) return `! ${text}`
  const shown = firstLine(server, 60)
  return stillUsed
    ? `! ${shown} keeps its previous config, because its entry now has an error: ${text}`
    : `! ${shown} is not usable: ${text}`
}

/** Names the local servers that keep something in memory for one client, which another replica does not have. */
export function stickyLine(sets: readonly Pick<ServerSetReport, 'servers'>[]): string | undefined {
  const names = new Set(
    sets.flatMap(({ servers }) =>
      servers.flatMap(({ name, sharedBy, isLocal }) =>
        isLocal && (sharedBy === 'client' || sharedBy === 'conversation') ? [name] : [],
      ),
    ),
  )
  if (names.size === 0) return undefined
  const isOne = names.size === 1
  return `! ${[...names].map((name) => firstLine(name, 60)).join(', ')} ${isOne ? 'runs' : 'run'} once for each client. Let the load balancer send each client to the same replica.`
}

export function untrustedLine(
  { folder, file }: ServerSetReport['untrusted'][number],
  { at, name, hasChanged }: Hints,
): string {
  const why = hasChanged(file) ? 'it has changed since you trusted it' : 'you have not trusted it'
  return `! ${printPaths([file])} is not used: ${why}. Review it, then run: ${name} serve --trust ${shellWord(printPaths([folder]))}${at}`
}

const MOST_NAMED = 10

/** `config`: the file that commands about the server must name. `name`: the words that start this command. */
export function quarantinedLines(
  server: string,
  tools: readonly string[],
  config: string | undefined,
  name: string,
): string[] {
  const shown = firstLine(server, 100)
  const { look, approve } = approval(shown, config, name)
  const isOne = tools.length === 1
  const names = tools.slice(0, MOST_NAMED).map((name) => (/^[\w.@-]+$/.test(name) ? name : quote(name, 60)))
  const rest = tools.length - names.length
  return [
    `! ${plural(tools.length, 'tool')} of ${shown} ${isOne ? 'is' : 'are'} quarantined: ${names.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`,
    `    Review ${isOne ? 'it' : 'them'} first: ${look}`,
    `    Approve ${isOne ? 'it' : 'them'}: ${approve}`,
  ]
}
