/** The status of the gateway on a screen. */
import type { GatewayReport, HallReport } from '@toolwell/gateway'
import type { DaemonFile } from '@toolwell/gateway/bridge'
import { noServers } from '../shared/gateway/no-servers.js'
import { untrustedLine } from '../shared/gateway/untrusted-line.js'
import { count, plural, table } from '../shared/table.js'
import { version } from '../shared/version.js'

/** `at`: what a command needs to reach this gateway. */
export function statusText(given: unknown, file: DaemonFile, at: string): string {
  const report = given as GatewayReport
  const { clients, counts, halls, memory } = report
  const processes = halls.flatMap(({ servers }) => servers.flatMap(({ pids }) => pids)).length
  const own = version()
  return [
    `http://127.0.0.1:${file.port}/mcp  process ${report.pid}, version ${report.version}, up ${duration(report.uptime)}, ${file.startedBy === 'bridge' ? 'stops ten minutes after the last client' : 'stays until it is stopped'}`,
    ...(own === report.version
      ? []
      : [`This command is version ${own}. Restart the gateway to have it serve that: toolwell stop${at}`]),
    `${plural(counts.calls, 'call')} (${count(counts.failed)} failed), ${plural(counts.searches, 'search', 'searches')}, ${count(counts.refused)} not run; memory ${megabytes(memory.gateway)}${memory.servers === undefined ? '' : `, servers ${megabytes(memory.servers)}`} in ${plural(processes, 'process', 'processes')}`,
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
            name || '(unnamed)',
            kind === 'stdio' ? kind : 'HTTP',
            endpoint,
            count(calls),
            count(searches),
            count(refused),
            workspace ?? '',
          ]),
        )),
    ...halls.flatMap((hall) => ['', ...hallText(hall, at)]),
    '',
    `Search answers came to about ${count(report.answerTokens)} tokens in all.`,
    '',
  ].join('\n')
}

/** A gateway that is older than this command may not know these. */
type ReportedHall = Omit<HallReport, 'missing' | 'untrusted'> &
  Partial<Pick<HallReport, 'missing' | 'untrusted'>>

function hallText(
  { workspaces, files, missing = [], untrusted = [], problem, servers, tokens }: ReportedHall,
  at: string,
): string[] {
  const held = servers.filter(({ quarantined }) => Object.keys(quarantined).length > 0)
  return [
    `${files.join(', ') || 'No config file'}${workspaces.length === 0 ? '' : `, for ${workspaces.join(', ')}`}`,
    ...(problem === undefined ? [] : [`! The config cannot be used as it is now: ${problem}`]),
    ...untrusted.map((each) => untrustedLine(each, at)),
    ...(servers.length === 0
      ? [noServers({ files, missing })]
      : table(
          [
            { title: 'server' },
            { title: 'state' },
            { title: 'tools', align: 'right' },
            { title: 'processes' },
            { title: '' },
          ],
          servers.map(({ name, state, tools, pids, reason }) => [
            name,
            state,
            count(tools),
            pids.join(' '),
            reason,
          ]),
        )),
    ...held.map(
      ({ name, quarantined }) =>
        `! ${name}: ${Object.keys(quarantined).join(', ')} held back. Look at them with: toolwell approve ${name}`,
    ),
    `A request carries ${count(tokens.list)} tokens of tools instead of ${count(tokens.all)}.`,
  ]
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
