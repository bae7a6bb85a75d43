/** `toolwell status`: shows the running gateway. */
import { firstLine } from '@toolwell/core/internal'
import type { GatewayReport, ServerSetReport, ServerStatus } from '@toolwell/gateway'
import type { DaemonFile } from '@toolwell/gateway/bridge'
import {
  folderArgument,
  folderFlag,
  gatewayFolder,
  type Hints,
  noServersLine,
  printPaths,
  problemLine,
  quarantinedLines,
  stickyLine,
  untrustedLine,
} from '../shared/gateway.js'
import { count, plural, table } from '../shared/layout.js'
import { Problem } from '../shared/problem.js'
import { npmStartFolder, version, withCommandName } from '../shared/this-command.js'
import { defineVerb } from '../shared/verb.js'

export const status = defineVerb({
  name: 'status',
  summary: 'Show the running gateway: clients, servers, processes, memory, tokens saved.',
  usage: ['[--folder FOLDER] [--json]'],
  flags: {
    folder: folderFlag,
    json: { type: 'boolean', description: 'Print the result as JSON.' },
  },
  examples: [
    { line: 'toolwell status', about: 'an overview' },
    { line: 'toolwell status --json', about: 'the same for a program' },
  ],
  exits: {
    0: 'The gateway is running.',
    1: 'No gateway is running.',
    2: 'Wrong flags, or the gateway does not answer.',
  },
  async run(flags, terminal) {
    const { askDaemon, findDaemon } = await import('@toolwell/gateway/bridge')
    const { output } = terminal
    const folder = gatewayFolder(flags.folder, terminal)
    const found = await findDaemon(folder)
    if (found.kind === 'none') {
      const started = npmStartFolder(terminal.program)
      const isOther = flags.folder === undefined && (await findDaemon(started)).kind !== 'none'
      const other = isOther
        ? `The gateway of npm start is running: ${terminal.name} status${folderArgument(started, terminal.env)}\n`
        : ''
      await output.write(
        flags.json
          ? '{"running":false}\n'
          : `No gateway is running. A connected client starts it. To start it yourself, run: ${terminal.name} serve${folderArgument(folder, terminal.env)}\n${other}`,
      )
      return 1
    }
    if (found.kind === 'silent')
      throw new Problem(
        `The gateway (process ${found.file.pid}) does not answer.`,
        `Kill it with: ${terminal.name} stop --force${folderArgument(folder, terminal.env)}`,
        { reason: 'silent' },
      )
    const report = await askDaemon(found, 'GET', '/status')
    if (flags.json) {
      const { key: _secret, ...file } = found.file
      await output.write(`${JSON.stringify({ running: true, ...file, ...(report as object) })}\n`)
      return 0
    }
    const { trustedProjects } = await import('@toolwell/mcp/internal')
    const trusted = trustedProjects(folder)
    await output.write(
      statusText(report, found.file, {
        name: terminal.name,
        at: folderArgument(folder, terminal.env),
        hasChanged: (file) => trusted.read(file)?.hasChanged === true,
      }),
    )
    return 0
  },
})

export function statusText(given: unknown, file: DaemonFile, hints: Hints): string {
  const report = given as GatewayReport
  const { at, name } = hints
  const { clients, serverSets } = report
  const own = version()
  return [
    whereText(report, file),
    ...(own === report.version
      ? []
      : [`This command is version ${own}. To update the gateway, restart it: ${name} stop${at}`]),
    `${countsText(report)}; ${memoryText(report)}`,
    ...lostLines(report),
    ...databaseLines(report),
    '',
    ...(clients.length === 0
      ? ['No clients.']
      : table(
          [
            { title: 'client' },
            { title: 'over' },
            { title: 'endpoint' },
            { title: 'calls', align: 'right' },
            { title: 'searches', align: 'right' },
            { title: 'not run', align: 'right' },
            { title: 'folder' },
          ],
          clients.map(({ name, kind, endpoint, calls, searches, refused, workspace }) => [
            firstLine(name, 100) || '(unnamed)',
            kind === 'stdio' ? kind : 'HTTP',
            endpoint,
            count(calls),
            count(searches),
            count(refused),
            printPaths([workspace ?? '']),
          ]),
        )),
    ...withoutRepeats(serverSets).flatMap((set) => ['', ...describeServerSet(set, clients, hints)]),
    '',
    costText(report),
    '',
  ].join('\n')
}

function whereText({ pid, version, uptime }: GatewayReport, { port, startedBy }: DaemonFile): string {
  const end = startedBy === 'bridge' ? 'stops ten minutes after the last client' : 'runs until you stop it'
  return `http://127.0.0.1:${port}/mcp  process ${pid}, version ${version}, up ${duration(uptime)}, ${end}`
}

function countsText({ counts: { calls, failed, searches, refused } }: GatewayReport): string {
  return `${plural(calls, 'call')} (${count(failed)} failed), ${plural(searches, 'search', 'searches')}, ${count(refused)} not run`
}

function databaseLines({ database, serverSets }: GatewayReport): string[] {
  if (!database) return []
  const sticky = stickyLine(serverSets)
  return [
    database.problem === undefined
      ? 'Shared with other gateways through a database.'
      : `! Clients are refused: ${firstLine(database.problem, 400)}`,
    ...(sticky === undefined ? [] : [sticky]),
  ]
}

/** A gateway of an older version does not report losses. */
function lostLines({ lost }: Partial<Pick<GatewayReport, 'lost'>>): string[] {
  const line = (number: number, what: string, reason: string) =>
    number === 0 ? [] : [`! ${what}: ${firstLine(reason, 100)}. Check the disk.`]
  if (!lost) return []
  const { calls, results } = lost
  return [
    ...line(calls.count, `${plural(calls.count, 'call')} could not be recorded`, calls.reason),
    ...line(results.count, `${plural(results.count, 'long result')} could not be kept`, results.reason),
  ]
}

function memoryText({ memory, serverSets }: GatewayReport): string {
  // A shared server is listed in every project.
  const processes = new Set(serverSets.flatMap(({ servers }) => servers.flatMap(({ pids }) => pids))).size
  const servers = memory.servers === undefined ? '' : `, servers ${megabytes(memory.servers)}`
  return `memory ${megabytes(memory.gateway)}${servers} in ${plural(processes, 'process', 'processes')}`
}

/** A gateway of an older version may not report these. */
type ReportedHall = Omit<ServerSetReport, 'missing' | 'untrusted' | 'problems'> &
  Partial<Pick<ServerSetReport, 'missing' | 'untrusted' | 'problems'>>

type ShownHall = ReportedHall & {
  /** Including the problems already shown above. */
  readonly all?: ServerSetReport['problems']
}

/** Shows each problem once: the user's own config applies to every project. */
function withoutRepeats(serverSets: readonly ReportedHall[]): ShownHall[] {
  const shown = new Set<string>()
  return serverSets.map(({ problems: all = [], ...set }) => {
    const problems = all.filter((each) => !shown.has(problemLine(each)))
    for (const each of problems) shown.add(problemLine(each))
    return { ...set, problems, all }
  })
}

function describeServerSet(
  {
    workspaces,
    files,
    missing = [],
    untrusted = [],
    problem,
    problems = [],
    all = problems,
    servers,
    tokens,
  }: ShownHall,
  clients: GatewayReport['clients'],
  hints: Hints,
): string[] {
  const affected = servers.filter(({ quarantined }) => Object.keys(quarantined).length > 0)
  return [
    `${printPaths(files) || 'No config file'}${workspaces.length === 0 ? '' : `, for ${printPaths(workspaces)}`}`,
    ...(problem === undefined ? [] : [`! The config has errors: ${firstLine(problem, 1000)}`]),
    ...problems.map(problemLine),
    ...untrusted.map((each) => untrustedLine(each, hints)),
    ...(servers.length === 0
      ? [noServersLine({ files, missing, problems: all }, hints.name)]
      : table(
          [
            { title: 'server' },
            { title: 'state' },
            { title: 'tools', align: 'right' },
            { title: 'one process for' },
            { title: 'processes' },
            { title: '' },
          ],
          servers.map(({ name, state, tools, sharedBy, processes, reason }) => [
            firstLine(name, 100),
            state,
            count(tools),
            SHARED_BY[sharedBy],
            describeProcesses(processes, clients),
            // Only this reason is a text of Toolwell. Others may quote the server.
            state === 'needs-login' ? withCommandName(reason, hints.name) : reason,
          ]),
        )),
    ...affected.flatMap(({ name, quarantined, config }) =>
      quarantinedLines(name, Object.keys(quarantined), config, hints.name),
    ),
    savedText(tokens),
  ]
}

const SHARED_BY: Readonly<Record<ServerStatus['sharedBy'], string>> = {
  everyone: 'all clients',
  folder: 'each folder',
  client: 'each client',
  conversation: 'each conversation',
}

/** Process ids. A process with only one client names it. */
function describeProcesses(processes: ServerStatus['processes'], clients: GatewayReport['clients']): string {
  return processes
    .map(({ pid, client }) => {
      if (client === undefined) return String(pid)
      const owner = clients.find(({ id }) => id === client)
      const from = owner?.pid === undefined ? '' : `, process ${owner.pid}`
      return `${pid} (${owner ? firstLine(owner.name, 100) || 'unnamed' : 'client has left'}${from})`
    })
    .join(' ')
}

function savedText({ all, list }: ServerSetReport['tokens']): string {
  const carried = `A request carries ${plural(list, 'token')} of tools instead of ${count(all)}`
  return all < list
    ? `${carried}: ${count(list - all)} more.`
    : `${carried}: ${count(all - list)} saved per request.`
}

/** The gateway does not see the requests to the model, so it knows the savings per request but not the number of requests. */
function costText({ answerTokens, serverSets }: GatewayReport): string {
  const cost = `Answers to searches and refused calls used about ${plural(answerTokens, 'token')}`
  const saved = Math.max(0, ...serverSets.map(({ tokens }) => tokens.all - tokens.list))
  if (saved === 0 || answerTokens === 0) return `${cost}.`
  return `${cost}, as much as ${plural(Math.ceil(answerTokens / saved), 'request')} saved.`
}

function duration(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000)
  return minutes < 1
    ? `${Math.floor(milliseconds / 1000)} s`
    : minutes < 120
      ? `${minutes} min`
      : `${Math.floor(minutes / 60)} h`
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`
}
