/** Servers one by one: can each be used, and is it what it was? */
import { defined, firstLine } from '@toolwell/core/internal'
import type { ServerReport } from '@toolwell/mcp'
import { approveCommand, keepOut, lockFileOf } from '@toolwell/mcp/lock'
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
  /** Milliseconds that listing took, if it was listed now. */
  readonly time: number | undefined
  /** Milliseconds from which on a server is slow. */
  readonly slow: number
  /** Another server with the same command or address. */
  readonly duplicate: string | undefined
  /** Its entry runs a command, or reads a file, that waits for approval, so it is not started. */
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
    ...defined({ tool }),
    message: firstLine(message, 600),
    fix: firstLine(fix, 400),
  }
}

/** Tools of one server with the same finding are one finding from this number on. */
const ALIKE = 4

/** What differs from tool to tool is the name alone: then it is said once, with all names. */
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
        message: firstLine(`${alike.length} tools alike (${names.join(', ')}${more}): ${first.message}`, 600),
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
        reason || 'It could not be listed.',
        'Fix its entry, or set "enabled": false.',
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
      `It took ${(time / 1000).toFixed(1)} s to be listed.`,
      'Its first call waits as long. Install it instead of fetching it at each start, or keep it running with "lazy": false.',
    ),
  ]
}

function checkQuarantine({ report, waits }: Subject): Diagnosis[] {
  const { name, state, reason, findings, quarantined, trusted } = report
  if (waits)
    return [
      about(
        report,
        'held-back',
        'error',
        'It is not started: its entry runs a command, reads a file or sends a variable of your environment, and is not in your own config file.',
        `See which, and approve it, with: ${approveCommand(name)}`,
      ),
    ]
  const hard = new Set(findings.filter(({ severity }) => severity === 'hard').map(({ tool }) => tool))
  const fixOf = (tool?: string) =>
    hard.has(tool)
      ? `Do not approve it. ${keepOut(name, tool)}`
      : trusted === 'nothing'
        ? 'The reason says what to do.'
        : `See what differs, and approve it, with: ${approveCommand(name)}`
  if (state === 'quarantined')
    return [about(report, 'held-back', 'error', `It is held back: ${reason}`, fixOf())]
  // Why a poisoned one is held back is said with its finding.
  const others = [...quarantined].filter(([tool]) => !hard.has(tool))
  return others.map(([tool, why]) =>
    about(report, 'held-back', 'error', `It is held back: ${why}`, fixOf(tool), tool),
  )
}

function checkEntries({ report }: Subject): Diagnosis[] {
  return report.unusable.map((each) => {
    // Another tool of that name is there: whether it can be used is said of that one.
    const isRepeated = each.name !== undefined && report.tools.includes(each.name)
    const exclude = each.name === undefined || isRepeated ? '' : ', or keep it out with "deny"'
    return about(
      report,
      'bad-schema',
      isRepeated ? 'warning' : 'error',
      `It cannot be used: ${unusableLine(each)}.`,
      `Ask the author to fix it${exclude}.`,
      each.name,
    )
  })
}

function checkFindings({ report, duplicate }: Subject): Diagnosis[] {
  return report.findings.flatMap((finding) => {
    // That a server is there twice is one finding: see `checkTwins`.
    if (duplicate !== undefined && isDuplicateFinding(finding)) return []
    const { tool, severity, detail, fix } = finding
    const isHeld =
      severity === 'hard' && report.trusted !== 'config' && tool !== undefined && report.quarantined.has(tool)
    return [
      about(
        report,
        'poisoned',
        severity === 'hard' ? 'error' : 'warning',
        `${isHeld ? 'It is held back: ' : ''}${fix !== undefined && detail.endsWith(fix) ? detail.slice(0, -fix.length) : detail}`,
        isHeld
          ? `Do not approve it. ${keepOut(report.name, tool)}`
          : (fix ?? 'Look at the definition before you approve it.'),
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
      `${beyond.length} of its tools would be in every request, and are deferred because they take too much: ${some}${beyond.length > 5 ? ` and ${beyond.length - 5} more` : ''}.`,
      'Name fewer in "alwaysLoad", or allow more with "surfaceTokens".',
    ),
  ]
}

function checkChanges({ report }: Subject): Diagnosis[] {
  return findChanges(report.warnings).map(({ text }) =>
    about(report, 'changed', 'warning', `${text}.`, 'See what differs with: toolwell approve'),
  )
}

/** What no lock holds, in one line: a lock is written for all of them at once. */
export function checkLocks({ config, servers }: OpenServers): Diagnosis[] {
  const named = new Map(config.servers.map((server) => [server.name, server]))
  const met = servers
    .inspect()
    .filter(({ name, trusted }) => trusted === 'first-use' && lockFileOf(named.get(name) ?? {}) !== undefined)
    .map(({ name }) => firstLine(name, 40))
  return met.length === 0
    ? []
    : [
        {
          rule: 'lock',
          level: 'note',
          message: `Trusted on first use, because no lock holds them: ${met.join(', ')}.`,
          fix: 'Pin their definitions with: toolwell lock',
        },
      ]
}

export function checkTwins(open: OpenServers): Diagnosis[] {
  return duplicatePairs(findDuplicates(open)).map(([name, other]) => ({
    rule: 'same-server',
    level: 'warning',
    server: name,
    ...duplicateMessage(other),
  }))
}
