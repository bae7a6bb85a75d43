/** The config that a verb works on: the file it was given, or the user's own and that of the folder. */

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defined, matchesGlob, nearest } from '@toolwell/core/internal'
import {
  type Config,
  type ConfigProblem,
  defaultConfigFiles,
  describeProblem,
  loadConfig,
  type ServerConfig,
} from '@toolwell/mcp'
import { Problem } from '../problem.js'
import type { Terminal } from '../terminal.js'
import { withCommandName } from '../this-command.js'

/** Configs of other clients that often lie in a folder. They are not taken unasked: their servers would be started. */
const NEAR = ['.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json'] as const

export interface ReadOptions {
  /** The verb itself tells what is wrong in the config. */
  readonly isQuiet?: boolean
  /** The verb shows refused servers too, so there need be no others. */
  readonly showsRefused?: boolean
  readonly profile?: string | undefined
}

/** What is wrong in it goes to standard error unless `isQuiet`, and costs no other server. Refused where no server is left. */
export async function readConfig(
  file: string | undefined,
  terminal: Terminal,
  { isQuiet = false, showsRefused = false, profile }: ReadOptions = {},
): Promise<Config> {
  const { folder, env, errors, name } = terminal
  const files = file === undefined ? defaultConfigFiles(folder, env) : [{ path: resolve(folder, file) }]
  const config = loadConfig({ files, env, workspaceFolder: folder, ...defined({ profile }) })
  const near = NEAR.find((each) => existsSync(join(folder, each)))
  if (config.files.length === 0 && file === undefined)
    throw new Problem(
      `There is no config: looked for ${files.map(({ path }) => path).join(' and ')}.`,
      near === undefined
        ? `Give one with --config FILE, or make one with: ${name} import`
        : `There is ${near}: use it with --config ${near}, or take it over with: ${name} import`,
      { reason: 'no-config' },
    )
  const told = config.problems.map(describeProblem)
  const isShown = showsRefused && findRefused(config, profile).length > 0
  if (config.servers.length === 0 && !isShown)
    throw new Problem(
      told.length > 0
        ? `No server can be used:\n${told.map((line) => `  ${line}`).join('\n')}\n`
        : `${config.files.join(' and ')} ${config.files.length === 1 ? 'names' : 'name'} no servers.`,
      told.length > 0
        ? 'Fix the problems above.'
        : `Write them into "mcpServers", or take over those of other clients with: ${name} import`,
      { reason: 'no-servers', details: { problems: config.problems } },
    )
  for (const problem of isQuiet ? [] : config.problems)
    await errors.write(`${withCommandName(problemLine(problem), name)}\n`)
  return config
}

/** The first problem of each server that is not used because of its entry, in order of name. */
export function findRefused(
  { problems, servers, profiles }: Config,
  profile: string | undefined,
): (ConfigProblem & { readonly server: string })[] {
  const known = new Set(servers.map(({ name }) => name))
  const selected =
    profile === undefined ? {} : Object.hasOwn(profiles, profile) ? profiles[profile] : undefined
  const refused = problems.flatMap((problem) => {
    const { server, severity } = problem
    if (server === undefined || severity !== 'error' || known.has(server)) return []
    if (!(selected?.servers ?? (selected ? ['*'] : [])).some((each) => matchesGlob(each, server))) return []
    known.add(server)
    return [{ ...problem, server }]
  })
  return refused.sort((a, b) => (a.server < b.server ? -1 : 1))
}

const problemLine = (problem: ConfigProblem) =>
  `toolwell: ${problem.severity === 'error' ? 'error: ' : ''}${describeProblem(problem)}`

// The server that a word on the command line means, out of the user's config.

export async function findServer(
  name: string,
  file: string | undefined,
  terminal: Terminal,
): Promise<ServerConfig> {
  const { servers, problems } = await readConfig(file, terminal)
  const server = servers.find((each) => each.name === name)
  if (server) return server
  const shown = JSON.stringify(name.slice(0, 60))
  const own = problems.filter((problem) => problem.server === name && problem.severity === 'error')
  if (own.length > 0)
    throw new Problem(`The server ${shown} cannot be used as its config stands.`, 'Fix the problems above.', {
      reason: 'broken-config',
      details: { server: name, problems: own },
    })
  const known = servers.map((each) => each.name)
  const [meant] = nearest(name, known, 1)
  throw new Problem(
    `No server is called ${shown}.`,
    meant ? `Did you mean ${meant}?` : `Known: ${known.join(', ')}.`,
    { reason: 'unknown-server', details: { server: name } },
  )
}
