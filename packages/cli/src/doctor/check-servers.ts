/** Checks each server: is it usable, fast, approved and unchanged? */
import { dropUndefined, firstLine } from '@toolwell/core/internal'
import type { ServerReport } from '@toolwell/mcp'
import { approveCommand, findLockFile, keepOut } from '@toolwell/mcp/lock'
import {
  duplicateMessage,
  duplicatePairs,
  findChanges,
  findDuplicates,
  findWaitingCommands,
  isDuplicateFinding,
  unusableLine,
} from '../shared/servers/server-facts.js'
import type { OpenServers } from '../shared/servers/with-servers.js'
import type { Diagnosis, Level, RuleName } from './report.js'

interface Subject {
  readonly report: ServerReport
  /** Milliseconds that the listing took. */
  readonly time: number | undefined
  /** Limit in milliseconds. */
  readonly slow: number
  /** Another server with the same command or address. */
  readonly duplicate: string | undefined
  /** The entry runs a command or reads a file without approval, so the server is not started. */
  readonly waits: boolean
}

const CHECKS: readonly ((subject: Subject) => Diagnosis[])[] = [
  checkReachable,
  checkSpeed,
  checkQuarantine,
  checkEntries,
  checkFindings,
  checkChanges,
  checkSurface,
]

export function checkServer(
  report: ServerReport,
  open: OpenServers,
  { slow, times }: { readonly slow: number; readonly times: ReadonlyMap<string, number> },
): Diagnosis[] {
  const { name } = report
  const waits = findWaitingCommands(open).some(({ server }) => server.name === name)
  const subject = { report, time: times.get(name), slow, duplicate: findDuplicates(open).get(name), waits }
  return CHECKS.flatMap((check) => groupByCause(check(subject)))
}

function about(
  { name }: ServerReport,
  rule: RuleName,
  level: Level,
  message: string,
  fix: string,
  tool?: string,
): Diagnosis {
  return {
    rule,
    level,
    server: name,
    ...dropUndefined({ tool }),
    message: firstLine(message, 600),
    fix: firstLine(fix, 400),
  }
}

/** From this number, equal findings of one server are shown as one. */
const ALIKE = 4

/** Joins findings that differ only in the name of the tool. */
function groupByCause(found: readonly Diagnosis[]): Diagnosis[] {
  const causes = new Map<string, Diagnosis[]>()
  for (const each of found) {
    const without = (text: string) => (each.tool === undefined ? text : text.replaceAll(each.tool, '…'))
    const key = JSON.stringify([
      each.rule,
      each.level,
      each.tool === undefined ? each : without(each.message),
    ])
    causes.set(key, [...(causes.get(key) ?? []), each])
  }
  return [...causes.values()].flatMap((alike) => {
    const [first] = alike
    if (!first || alike.length < ALIKE) return alike
    const { tool: _, ...rest } = first
    const names = alike.slice(0, 5).map(({ tool = '' }) => firstLine(tool, 60))
    const more = alike.length > 5 ? ` and ${alike.length - 5} more` : ''
    return [
      {
        ...rest,
        message: firstLine(`${alike.length} tools (${names.join(', ')}${more}): ${first.message}`, 600),
      },
    ]
  })
}

function checkReachable({ report, waits }: Subject): Diagnosis[] {
  const { name, state, reason } = report
  if (waits) return []
  if (state === 'failed' || state === 'connecting')
    return [
      about(
        report,
        'dead-server',
        'error',
        reason || 'Listing its tools failed.',
        'Fix its entry, or disable it with "enabled": false.',
      ),
    ]
  return state === 'needs-login'
    ? [about(report, 'dead-server', 'error', 'It needs a login.', `Log in with: toolwell login ${name}`)]
    : []
}

function checkSpeed({ report, time, slow }: Subject): Diagnosis[] {
  if (time === undefined || time <= slow) return []
  return [
    about(
      report,
      'slow-server',
      'warning',
      `Listing its tools took ${(time / 1000).toFixed(1)} s.`,
      'The first call takes as long. Install the server instead of downloading it at each start, or keep it running with "lazy": false.',
    ),
  ]
}

function checkQuarantine({ report, waits }: Subject): Diagnosis[] {
  const { name, state, reason, findings, quarantined, trusted } = report
  if (waits)
    return [
      about(
        report,
        'quarantined',
        'error',
        'It is not started: its entry runs a command, reads a file or sends an environment variable, and the entry is not in your own config file.',
        `Review and approve it with: ${approveCommand(name)}`,
      ),
    ]
  const hard = new Set(findings.filter(({ severity }) => severity === 'hard').map(({ tool }) => tool))
  const fixOf = (tool?: string) =>
    hard.has(tool)
      ? `Do not approve it. ${keepOut(name, tool)}`
      : trusted === 'nothing'
        ? 'The message says what to do.'
        : `Review and approve the change with: ${approveCommand(name)}`
  if (state === 'quarantined')
    return [about(report, 'quarantined', 'error', `It is quarantined: ${reason}`, fixOf())]
  // `checkFindings` reports poisoned tools.
  const others = [...quarantined].filter(([tool]) => !hard.has(tool))
  return others.map(([tool, why]) =>
    about(report, 'quarantined', 'error', `It is quarantined: ${why}`, fixOf(tool), tool),
  )
}

function checkEntries({ report }: Subject): Diagnosis[] {
  return report.unusable.map((each) => {
    // Another tool has the same name and may be usable.
    const isRepeated = each.name !== undefined && report.tools.includes(each.name)
    const exclude = each.name === undefined || isRepeated ? '' : ', or exclude it with "deny"'
    return about(
      report,
      'bad-schema',
      isRepeated ? 'warning' : 'error',
      `It is unusable: ${unusableLine(each)}.`,
      `Ask the author to fix it${exclude}.`,
      each.name,
    )
  })
}

function checkFindings({ report, duplicate }: Subject): Diagnosis[] {
  return report.findings.flatMap((finding) => {
    // `checkDuplicates` reports duplicate servers once.
    if (duplicate !== undefined && isDuplicateFinding(finding)) return []
    const { tool, severity, detail, fix } = finding
    const isQuarantined =
      severity === 'hard' && report.trusted !== 'config' && tool !== undefined && report.quarantined.has(tool)
    return [
      about(
        report,
        'poisoned',
        severity === 'hard' ? 'error' : 'warning',
        `${isQuarantined ? 'It is quarantined: ' : ''}${fix !== undefined && detail.endsWith(fix) ? detail.slice(0, -fix.length) : detail}`,
        isQuarantined
          ? `Do not approve it. ${keepOut(report.name, tool)}`
          : (fix ?? 'Read the definition before you approve it.'),
        tool,
      ),
    ]
  })
}

function checkSurface({ report }: Subject): Diagnosis[] {
  const { beyondSurface: beyond } = report
  if (beyond.length === 0) return []
  const some = beyond
    .slice(0, 5)
    .map((name) => firstLine(name, 60))
    .join(', ')
  return [
    about(
      report,
      'surface',
      'warning',
      `${beyond.length} of its always-loaded tools are deferred, because they exceed the token limit of the server: ${some}${beyond.length > 5 ? ` and ${beyond.length - 5} more` : ''}.`,
      'Name fewer tools in "alwaysLoad", or raise the limit with "surfaceTokens".',
    ),
  ]
}

function checkChanges({ report }: Subject): Diagnosis[] {
  return findChanges(report.warnings).map(({ text }) =>
    about(report, 'changed', 'warning', `${text}.`, 'Review the change with: toolwell approve'),
  )
}

/** Reports all servers without a lock in one diagnosis. */
export function checkLocks({ config, servers }: OpenServers): Diagnosis[] {
  const named = new Map(config.servers.map((server) => [server.name, server]))
  const met = servers
    .inspect()
    .filter(
      ({ name, trusted }) => trusted === 'first-use' && findLockFile(named.get(name) ?? {}) !== undefined,
    )
    .map(({ name }) => firstLine(name, 40))
  return met.length === 0
    ? []
    : [
        {
          rule: 'lock',
          level: 'note',
          message: `No lock pins these servers, so they are trusted on first use: ${met.join(', ')}.`,
          fix: 'Pin their definitions with: toolwell lock',
        },
      ]
}

export function checkDuplicates(open: OpenServers): Diagnosis[] {
  return duplicatePairs(findDuplicates(open)).map(([name, other]) => ({
    rule: 'same-server',
    level: 'warning',
    server: name,
    ...duplicateMessage(other),
  }))
}
