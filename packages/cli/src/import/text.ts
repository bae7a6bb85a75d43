/** Prints the plan of an import, as text or JSON, without values of environment variables and headers. */
import { relative } from 'node:path'
import { dropUndefined, firstLine } from '@toolwell/core/internal'
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
  /** The additions as the config loader reads them. */
  readonly read: ReadonlyMap<string, ServerConfig>
  /** Problems of the additions. */
  readonly problems: readonly ConfigProblem[]
}

/** A path relative to the folder or the home folder, if it is inside. */
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
      lines.push(`    ${paint('skipped', 'dim')} ${firstLine(name, 60)}: ${why}`)
  }
  lines.push('', paint(`For ${near(target)}`, 'bold'))
  for (const addition of plan.add)
    lines.push(...additionLines(addition, read.get(addition.name), problems, paint))
  for (const name of plan.same) lines.push(`  = ${firstLine(name, 60)}  exists already`)
  for (const { name, from } of plan.kept)
    lines.push(
      `  ! ${firstLine(name, 60)}  exists already and differs from the one in ${near(from.file)}. Yours stays. To have both, rename one of them.`,
    )
  if (plan.add.length === 0) lines.push('  nothing new')
  return `${lines.join('\n')}\n`
}

/** Lines about one new server. */
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
    ...(entry.enabled === false ? ['      disabled, as in the client'] : []),
    ...(was === undefined
      ? []
      : [`      renamed from ${firstLine(was, 60)}, because another server has that name`]),
    ...(names.length > 0 ? [`      with ${names.map((each) => firstLine(each, 60)).join(', ')}`] : []),
    ...(left.length > 0
      ? [`      without ${left.map((each) => firstLine(each, 60)).join(', ')}, which Toolwell does not use`]
      : []),
    ...limits.map(
      (key) =>
        `      ${key} differs between these clients; using the ${entry[key] === undefined ? 'default' : `longer one, ${String(entry[key])}`}`,
    ),
    ...problems
      .filter((problem) => problem.server === name)
      .map(
        ({ path, message, fix }) =>
          `      ${paint('!', 'error')} ${firstLine(path.replace(WITHIN, ''), 120)}: ${firstLine(nameInput(message, inputs), 200)}. ${firstLine(fix, 200)}.`,
      ),
  ]
}

/** The path to an entry, which the line above already names. */
const WITHIN = /^mcpServers(?:\.[\w-]+|\["(?:[^"\\]|\\.)*"\])\.?/

/** The endpoint without secrets. `${workspaceFolder}` stays a variable, because it differs per project. */
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
      ...dropUndefined({ problem }),
    })),
    added: plan.add.map(({ name, was, entry, from, left }) => {
      const server = read.get(name)
      return {
        name,
        ...dropUndefined({ was }),
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
