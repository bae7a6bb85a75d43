/** What an import would do, for people and for programs. Values of environment and headers are in neither. */
import { relative } from 'node:path'
import { defined, firstLine } from '@toolwell/core/internal'
import type { ConfigProblem, ServerConfig } from '@toolwell/mcp'
import { showEndpoint } from '@toolwell/mcp/internal'
import type { ClientServers } from '../shared/clients/read-client.js'
import { nameInput } from '../shared/clients/read-client.js'
import { plural } from '../shared/layout.js'
import type { Paint } from '../shared/terminal.js'
import type { Addition, Plan } from './plan.js'

export interface Preview {
  readonly target: string
  readonly found: readonly ClientServers[]
  readonly plan: Plan
  /** The additions as they will be read. */
  readonly read: ReadonlyMap<string, ServerConfig>
  /** What is wrong with an addition as it stands. */
  readonly problems: readonly ConfigProblem[]
}

/** As short as it is clear: from the folder, or from the home folder. */
export function shortenPath(file: string, { home, folder }: { home: string; folder: string }): string {
  const inside = relative(folder, file)
  if (!inside.startsWith('..')) return inside
  const own = relative(home, file)
  return own.startsWith('..') ? file : `~/${own}`
}

export function previewText(
  { target, found, plan, read, problems }: Preview,
  { home, folder }: { home: string; folder: string },
  paint: Paint,
): string {
  const near = (file: string) => shortenPath(file, { home, folder })
  const lines = [paint('Found', 'bold')]
  for (const { from, servers, refused, problem } of found) {
    lines.push(`  ${from.label.padEnd(14)}  ${near(from.file)}  ${problem ?? plural(servers.size, 'server')}`)
    for (const [name, why] of refused)
      lines.push(`    ${paint('left out', 'dim')} ${firstLine(name, 60)}: ${why}`)
  }
  lines.push('', paint(`For ${near(target)}`, 'bold'))
  for (const addition of plan.add)
    lines.push(...additionLines(addition, read.get(addition.name), problems, paint))
  for (const name of plan.same) lines.push(`  = ${firstLine(name, 60)}  is there already`)
  for (const { name, from } of plan.kept)
    lines.push(
      `  ! ${firstLine(name, 60)}  is there already and differs from the one in ${near(from.file)}: yours stays. Rename one of them to have both.`,
    )
  if (plan.add.length === 0) lines.push('  nothing new')
  return `${lines.join('\n')}\n`
}

/** One server that comes, and what is to be known of it. */
export function additionLines(
  { name, entry, from, was, left, inputs, limits }: Addition,
  server: ServerConfig | undefined,
  problems: readonly ConfigProblem[],
  paint: Paint,
): string[] {
  const shown = describeEndpoint(entry, server)
  const where = [...new Set(from.map(({ label }) => label))].join(', ')
  const names = [...keysOf(entry.env), ...keysOf(entry.headers)]
  return [
    `  + ${paint(firstLine(name, 60), 'name')}  ${firstLine(shown, 120)}  ${paint(`(${where})`, 'dim')}`,
    ...(entry.enabled === false ? ['      switched off there, and here'] : []),
    ...(was === undefined
      ? []
      : [`      called ${firstLine(was, 60)} there; that name is taken by another server`]),
    ...(names.length > 0 ? [`      with ${names.map((each) => firstLine(each, 60)).join(', ')}`] : []),
    ...(left.length > 0
      ? [
          `      without ${left.map((each) => firstLine(each, 60)).join(', ')}, which ${left.length === 1 ? 'has' : 'have'} no meaning here`,
        ]
      : []),
    ...limits.map(
      (key) =>
        `      ${key} differs in them: ${entry[key] === undefined ? 'the usual one' : `the longer one, ${String(entry[key])},`} counts for all`,
    ),
    ...problems
      .filter((problem) => problem.server === name)
      .map(
        ({ path, message, fix }) =>
          `      ${paint('!', 'error')} ${firstLine(path.replace(WITHIN, ''), 120)}: ${firstLine(nameInput(message, inputs), 200)}. ${firstLine(fix, 200)}.`,
      ),
  ]
}

/** The way to an entry, which is named above already. */
const WITHIN = /^mcpServers(?:\.[\w-]+|\["(?:[^"\\]|\\.)*"\])\.?/

/** As it will be read, but for the folder of the project, which is another one for each; where that cannot be done, as it is written. */
export function describeEndpoint(entry: Addition['entry'], server: ServerConfig | undefined): string {
  if (server) {
    const shown = showEndpoint(server.endpoint, server.secrets)
    const isEach = JSON.stringify(entry).includes(FOLDER)
    return isEach ? shown.replaceAll(server.workspace.folder, FOLDER) : shown
  }
  const { command, url, args } = entry
  return typeof command === 'string'
    ? showEndpoint({
        type: 'stdio',
        command,
        args: Array.isArray(args) ? args.map(String) : [],
        env: {},
        cwd: '',
      })
    : showEndpoint({ type: 'auto', url: String(url), headers: {} })
}

const FOLDER = '${workspaceFolder}'

export function previewJson({ target, found, plan, read, problems }: Preview, written: boolean): string {
  const value = {
    target,
    written,
    found: found.map(({ from, servers, refused, problem }) => ({
      client: from.client,
      file: from.file,
      servers: [...servers.keys()],
      refused: Object.fromEntries(refused),
      ...defined({ problem }),
    })),
    added: plan.add.map(({ name, was, entry, from, left }) => {
      const server = read.get(name)
      return {
        name,
        ...defined({ was }),
        enabled: entry.enabled !== false,
        endpoint: describeEndpoint(entry, server),
        from: from.map(({ file }) => file),
        env: keysOf(entry.env),
        headers: keysOf(entry.headers),
        left,
        problems: problems
          .filter((problem) => problem.server === name)
          .map(({ path, message, fix }) => `${path}: ${message}. ${fix}.`),
      }
    }),
    same: plan.same,
    kept: plan.kept.map(({ name, from }) => ({ name, file: from.file })),
  }
  return `${JSON.stringify(value, null, 2)}\n`
}

function keysOf(value: unknown): string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}
