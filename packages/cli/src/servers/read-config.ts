/** The config that a verb works on: the file it was given, or the user's own and that of the folder. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  type Config,
  type ConfigProblem,
  defaultConfigFiles,
  describeProblem,
  loadConfig,
} from '@toolwell/mcp'
import { Problem } from '../problem.js'
import type { Terminal } from '../terminal.js'

/** Configs of other clients that often lie in a folder. They are not taken unasked: their servers would be started. */
const NEAR = ['.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json'] as const

/** What is wrong in it goes to standard error unless `isQuiet`, and costs no other server. Refused where no server is left. */
export async function readConfig(
  file: string | undefined,
  terminal: Terminal,
  { isQuiet = false, profile }: { readonly isQuiet?: boolean; readonly profile?: string | undefined } = {},
): Promise<Config> {
  const { folder, env, errors } = terminal
  const files = file === undefined ? defaultConfigFiles(folder, env) : [{ path: resolve(folder, file) }]
  const config = loadConfig({
    files,
    env,
    workspaceFolder: folder,
    ...(profile === undefined ? {} : { profile }),
  })
  const near = NEAR.find((each) => existsSync(join(folder, each)))
  if (config.files.length === 0 && file === undefined)
    throw new Problem(
      `There is no config: looked for ${files.map(({ path }) => path).join(' and ')}.`,
      near === undefined
        ? 'Give one with --config FILE, or make one with: toolwell import'
        : `There is ${near}: use it with --config ${near}, or take it over with: toolwell import`,
      { reason: 'no-config' },
    )
  const told = config.problems.map(describeProblem)
  if (config.servers.length === 0)
    throw new Problem(
      told.length > 0
        ? `No server can be used:\n${told.map((line) => `  ${line}`).join('\n')}\n`
        : `${config.files.join(' and ')} ${config.files.length === 1 ? 'names' : 'name'} no servers.`,
      told.length > 0
        ? 'Mend what is named here.'
        : 'Write them into "mcpServers", or take over those of other clients with: toolwell import',
      { reason: 'no-servers', details: { problems: config.problems } },
    )
  for (const problem of isQuiet ? [] : config.problems) await errors.write(`${toldAs(problem)}\n`)
  return config
}

const toldAs = (problem: ConfigProblem) =>
  `toolwell: ${problem.severity === 'error' ? 'error: ' : ''}${describeProblem(problem)}`
