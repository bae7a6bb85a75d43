/** Loads the config for a verb: the file of `--config`, or the user's toolwell.json and the trusted one of the folder. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { dropUndefined, matchesGlob, nearest } from '@toolwell/core/internal'
import {
  type Config,
  type ConfigFile,
  type ConfigProblem,
  defaultConfigFiles,
  describeProblem,
  loadConfig,
  type ServerConfig,
} from '@toolwell/mcp'
import {
  defaultTrustFolder,
  type ProjectFile,
  showEndpoint,
  type TrustedProjects,
  trustedProjects,
} from '@toolwell/mcp/internal'
import { visible } from '@toolwell/mcp/lock'
import { untrustedLine } from '../gateway.js'
import { Problem } from '../problem.js'
import { askForAnswer, hasPerson, isInteractive, type Terminal } from '../terminal.js'
import { withCommandName } from '../this-command.js'

/** Common configs of other clients. They are only suggested: using them would start their servers. */
const NEAR = ['.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json'] as const

export interface ReadOptions {
  /** Do not print problems of the config: the verb does. */
  readonly isQuiet?: boolean
  /** The verb also shows refused servers, so a config without usable ones is fine. */
  readonly showsRefused?: boolean
  readonly profile?: string | undefined
}

/** Prints problems to standard error and continues with the other servers. Throws if no server is usable. */
export async function readConfig(
  file: string | undefined,
  terminal: Terminal,
  { isQuiet = false, showsRefused = false, profile }: ReadOptions = {},
): Promise<Config> {
  const { folder, env, errors, name } = terminal
  const files =
    file === undefined
      ? await findConfigFiles(terminal)
      : [await readNamedFile(resolve(folder, file), terminal)]
  const isSkipped = file === undefined && files.length < defaultConfigFiles(folder, env).length
  const config = loadConfig({ files, env, workspaceFolder: folder, ...dropUndefined({ profile }) })
  const near = NEAR.find((each) => existsSync(join(folder, each)))
  if (config.files.length === 0 && file === undefined)
    throw new Problem(
      `No ${isSkipped ? 'trusted ' : ''}config found. Looked for ${files.map(({ path }) => path).join(' and ')}.`,
      isSkipped
        ? `Create your own with: ${name} import`
        : near === undefined
          ? `Name one with --config FILE, or create one with: ${name} import`
          : `Use ${near} with --config ${near}, or import its servers with: ${name} import`,
      { reason: 'no-config' },
    )
  const lines = config.problems.map(describeProblem)
  const isShown = showsRefused && findRefused(config, profile).length > 0
  if (config.servers.length === 0 && !isShown)
    throw new Problem(
      lines.length > 0
        ? `No server is usable:\n${lines.map((line) => `  ${line}`).join('\n')}\n`
        : `${config.files.join(' and ')} ${config.files.length === 1 ? 'has' : 'have'} no servers.`,
      lines.length > 0
        ? 'Fix the problems above.'
        : `Add servers to "mcpServers", or import those of other clients with: ${name} import`,
      { reason: 'no-servers', details: { problems: config.problems } },
    )
  for (const problem of isQuiet ? [] : config.problems)
    await errors.write(`${withCommandName(problemLine(problem), name)}\n`)
  return config
}

/**
 * Returns the user's config and the one of the folder, if the user trusts its content. Asks on a terminal; otherwise it skips the
 * file and says so, because a cloned folder must not start programs.
 */
async function findConfigFiles(terminal: Terminal): Promise<ConfigFile[]> {
  const { folder, env, errors, name } = terminal
  const all = defaultConfigFiles(folder, env)
  const [own, project] = all
  const trusted = trustedProjects(defaultTrustFolder(env))
  const found = project && project.path !== own?.path ? trusted.read(project.path) : undefined
  if (!own || !project || !found) return all
  const used = [own, { ...project, text: found.text }]
  if (found.isTrusted) return used
  if (found.isTrusted === undefined && (await askForTrust(found, trusted, terminal))) return used
  const hints = { name, at: '', hasChanged: () => found.hasChanged }
  await errors.write(`${untrustedLine({ folder, file: project.path }, hints)}\n`)
  return [own]
}

/** Naming a file is consent, also in CI. A file that the user refused is used only after another question. */
async function readNamedFile(path: string, terminal: Terminal): Promise<ConfigFile> {
  const trusted = trustedProjects(defaultTrustFolder(terminal.env))
  const found = trusted.read(path)
  if (found?.isTrusted !== false) return { path }
  if (await askForTrust(found, trusted, terminal)) return { path, text: found.text }
  throw new Problem(
    `${visible(path)} is not used: you refused to start its servers.`,
    'Run the command again in a terminal, and answer yes.',
    { reason: 'untrusted' },
  )
}

/** Shows the servers of a file and asks. Stores the answer, but not the end of the input. False without a person. */
async function askForTrust(
  found: ProjectFile,
  trusted: TrustedProjects,
  terminal: Terminal,
): Promise<boolean> {
  if (!hasPerson(terminal) || !isInteractive(terminal)) return false
  const { path, text } = found
  const { env, folder, output } = terminal
  const { servers } = loadConfig({ files: [{ path, text }], env, workspaceFolder: folder })
  const lines = servers.map(
    (each) => `  ${visible(`${each.name}: ${showEndpoint(each.endpoint, each.secrets)}`)}\n`,
  )
  await output.write(`${visible(path)} has these servers:\n${lines.join('')}`)
  const isTrusted = await askForAnswer('Its author decides what they do. Start them?', terminal)
  if (isTrusted !== undefined) trusted.remember(found, isTrusted)
  return isTrusted === true
}

/** Returns the first problem of each server whose entry is unusable, ordered by name. */
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

/** Finds a server of the config by its name. */
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
    throw new Problem(`The entry of the server ${shown} has errors.`, 'Fix the problems above.', {
      reason: 'broken-config',
      details: { server: name, problems: own },
    })
  const known = servers.map((each) => each.name)
  const [meant] = nearest(name, known, 1)
  throw new Problem(
    `Unknown server ${shown}.`,
    meant ? `Did you mean ${meant}?` : `Known: ${known.join(', ')}.`,
    { reason: 'unknown-server', details: { server: name } },
  )
}
