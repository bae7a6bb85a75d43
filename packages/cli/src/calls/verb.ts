/** `toolwell calls`: shows the audit log of the gateway. Needs no running gateway. */
import { firstLine, matchesGlob } from '@toolwell/core/internal'
import type { AuditLog, AuditRecord } from '@toolwell/gateway/storage'
import { databaseFlag, withDatabase } from '../shared/database.js'
import { readDuration } from '../shared/duration.js'
import { folderFlag, gatewayFolder } from '../shared/gateway.js'
import { count, plural } from '../shared/layout.js'
import { painter, type Terminal } from '../shared/terminal.js'
import { defineVerb, type ExitCode } from '../shared/verb.js'

/** Calls that are shown without `--since`. */
const LAST = 20
/** Milliseconds between two reads of the log. */
const POLL_INTERVAL = 250
/** Milliseconds by which the record of another replica may arrive late. */
const LATE = 10_000

export const calls = defineVerb({
  name: 'calls',
  summary: 'Show which client called which tool of the gateway, and the outcome.',
  usage: ['[--since 1h] [--server NAME] [--tool NAME] [--principal NAME] [--follow] [--json]'],
  flags: {
    since: {
      type: 'string',
      valueHint: 'DURATION',
      description: `Show every call of this time, for example 30m, 12h or 7d. Default: the last ${LAST} calls.`,
    },
    server: {
      type: 'string',
      valueHint: 'NAME',
      description: 'Only calls to this server. * matches any characters.',
    },
    tool: {
      type: 'string',
      valueHint: 'NAME',
      description: 'Only calls of this tool. * matches any characters.',
    },
    principal: {
      type: 'string',
      valueHint: 'NAME',
      description:
        'Only calls with this token, or of this stdio client (stdio:CLIENT). * matches any characters.',
    },
    follow: { type: 'boolean', alias: 'f', description: 'Keep printing new calls until you press Ctrl-C.' },
    json: { type: 'boolean', description: 'Print each call as a line of JSON.' },
    database: databaseFlag,
    folder: folderFlag,
  },
  notes: [
    'The log has a line for each call of a tool, also for calls that the gateway refused. It holds the time, the token, the\nclient, the folder, sizes and a digest of the arguments, never the arguments or the result. It keeps about 50 megabytes.',
  ],
  examples: [
    { line: 'toolwell calls', about: `the last ${LAST} calls` },
    { line: 'toolwell calls --since 1h --server github', about: 'the calls to one server in the last hour' },
    { line: "toolwell calls --tool 'delete_*' --since 7d", about: 'who deleted something this week' },
    { line: 'toolwell calls --follow', about: 'watch the calls as they end' },
    {
      line: 'toolwell calls --since 1d --json | jq -r .tool | sort | uniq -c',
      about: 'count the calls of each tool',
    },
  ],
  exits: { 0: 'Calls were printed.', 1: 'No calls match.', 2: 'Wrong flags.' },
  async run(flags, terminal) {
    const { auditFile } = await import('@toolwell/gateway/storage')
    return withDatabase(flags.database, terminal, (shared) =>
      showCalls(shared?.storage.audit ?? auditFile(gatewayFolder(flags.folder, terminal)), flags, terminal),
    )
  },
})

interface Wanted {
  readonly server?: string | undefined
  readonly tool?: string | undefined
  readonly principal?: string | undefined
  readonly since?: string | undefined
  readonly follow?: boolean | undefined
  readonly json?: boolean | undefined
}

async function showCalls(audit: AuditLog, flags: Wanted, terminal: Terminal): Promise<ExitCode> {
  const { output, errors } = terminal
  const { server = '*', tool = '*', principal = '*', since } = flags
  const isWanted = (record: AuditRecord) =>
    matchesGlob(server, record.server) &&
    matchesGlob(tool, record.tool) &&
    matchesGlob(principal, record.principal)
  const print = async (records: readonly AuditRecord[]) => {
    const lines = records.map((record) =>
      flags.json ? JSON.stringify(record) : describeCall(record, terminal),
    )
    if (lines.length > 0) await output.write(`${lines.join('\n')}\n`)
  }
  const from = since === undefined ? 0 : Date.now() - readDuration(since, '--since')
  const all = await audit.read(from)
  const wanted = all.filter(isWanted)
  const shown = since === undefined ? wanted.slice(-LAST) : wanted
  if (!flags.json && (shown.length > 0 || flags.follow)) await output.write(`${title(terminal)}\n`)
  await print(shown)
  if (!flags.follow) {
    if (!flags.json)
      await (shown.length > 0 ? output : errors).write(
        shown.length > 0 ? `\n${summary(shown)}\n` : 'toolwell: No calls match.\n',
      )
    return shown.length > 0 ? 0 : 1
  }
  let last = Date.parse(all.at(-1)?.time ?? '') || from
  let printed = new Set(numberEqual(all).keys())
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL))
    const found = numberEqual(await audit.read(last - LATE))
    await print([...found].flatMap(([key, record]) => (printed.has(key) || !isWanted(record) ? [] : record)))
    printed = new Set(found.keys())
    last = Math.max(last, ...[...found.values()].map(({ time }) => Date.parse(time)))
  }
}

/** Equal records of the same millisecond get different keys. */
function numberEqual(records: readonly AuditRecord[]): Map<string, AuditRecord> {
  const numbers = new Map<string, number>()
  return new Map(
    records.map((record) => {
      const text = JSON.stringify(record)
      const number = (numbers.get(text) ?? 0) + 1
      numbers.set(text, number)
      return [`${number} ${text}`, record]
    }),
  )
}

const WIDTHS = [19, 7, 9, 9, 32] as const

function layOut([
  time = '',
  outcome = '',
  took = '',
  tokens = '',
  tool = '',
  caller = '',
]: readonly string[]): string {
  const [first, second, third, fourth, fifth] = WIDTHS
  return [
    time.padEnd(first),
    outcome.padEnd(second),
    took.padStart(third),
    tokens.padStart(fourth),
    tool.padEnd(fifth),
    caller,
  ]
    .join('  ')
    .trimEnd()
}

function title({ output, env }: Terminal): string {
  return painter(output, env)(layOut(['time', 'outcome', 'took', 'tokens', 'tool', 'caller']), 'dim')
}

/** Names come from clients and servers, so control characters are removed. */
function describeCall(record: AuditRecord, { output, env }: Terminal): string {
  const { time, outcome, reason, milliseconds, tokensOut, server, tool, principal, client, folder } = record
  const name = firstLine(server === '' ? tool : `${server}/${tool}`, 100)
  const text = layOut([
    // Local time, as 2026-11-18 13:54:09.
    new Date(time).toLocaleString('sv-SE'),
    outcome,
    milliseconds < 10_000 ? `${count(milliseconds)} ms` : `${count(Math.round(milliseconds / 1000))} s`,
    count(tokensOut),
    reason === undefined ? name : `${name} (${firstLine(reason, 40)})`,
    [principal, client, folder].flatMap((each) => firstLine(each, 100) || []).join(', '),
  ])
  return outcome === 'ok' ? text : painter(output, env)(text, outcome === 'error' ? 'error' : 'bold')
}

function summary(records: readonly AuditRecord[]): string {
  const number = (outcome: AuditRecord['outcome']) =>
    records.filter((each) => each.outcome === outcome).length
  const tokens = records.reduce((sum, { tokensOut }) => sum + tokensOut, 0)
  return `${plural(records.length, 'call')}: ${count(number('ok'))} ok, ${count(number('error'))} failed, ${count(number('refused'))} refused. Results of about ${plural(tokens, 'token')}.`
}
