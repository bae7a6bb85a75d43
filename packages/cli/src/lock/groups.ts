/** Groups the listed servers by their lock file. */
import type { FirstUse, FirstUseStore, ServerConfig, ServerWarning } from '@toolwell/mcp'
import { asLock, describeStart, fingerprint } from '@toolwell/mcp/internal'
import {
  checkLock,
  EMPTY_LOCK,
  findLockFile,
  type ListedServer,
  type Lock,
  type LockChange,
  LockError,
  readLock,
  renderLockDiff,
} from '@toolwell/mcp/lock'
import { createScanner, type Finding, type Scanner } from '@toolwell/mcp/scan'
import { Problem } from '../shared/problem.js'
import { findChanges, unusableLine } from '../shared/servers/server-facts.js'
import type { OpenServers } from '../shared/servers/with-servers.js'
import type { Paint } from '../shared/terminal.js'

export interface Group {
  readonly file: string
  /** Config files of its servers. */
  readonly configs: readonly string[]
  readonly lock: Lock | undefined
  /** The first definitions seen, which count if there is no lock. */
  readonly seen: Lock
  /** Its servers in the config, by name. */
  readonly named: ReadonlyMap<string, ServerConfig>
  /** By server: quarantined tools with the reason. */
  readonly quarantined: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** Servers that are quarantined as a whole. */
  readonly quarantinedServers: ReadonlySet<string>
  readonly servers: readonly ListedServer[]
  /** Servers that could not be listed, with the reason. */
  readonly unlisted: ReadonlyMap<string, string>
  /** Disabled servers, which are not reported. */
  readonly disabled: readonly string[]
  /** By server: tools that the config excludes, which are not reported either. */
  readonly denied: ReadonlyMap<string, ReadonlySet<string>>
  /** Without a lock: changes since the first use. */
  readonly since: readonly ServerWarning[]
  /** Servers in the lock that this config does not name. Another config of the folder may name them. */
  readonly unnamed: readonly string[]
  /** By server: the unusable entries of its list, one line each. */
  readonly unusable: ReadonlyMap<string, readonly string[]>
}

export interface Groups {
  readonly groups: readonly Group[]
  readonly firstUse: FirstUseStore
  /** Knows the names of all servers. */
  readonly scanner: Scanner
}

export function groupServers({ config, servers, firstUse, took }: OpenServers): Groups {
  const reports = new Map(servers.inspect().map((report) => [report.name, report]))
  const byFile = new Map<string, ServerConfig[]>()
  for (const server of config.servers) {
    const file = findLockFile(server)
    if (file === undefined) continue
    byFile.set(file, [...(byFile.get(file) ?? []), server])
  }
  const listed: ListedServer[] = []
  const groups = [...byFile].map(([file, own]): Group => {
    const unlisted = new Map<string, string>()
    const mine: ListedServer[] = []
    const denied = new Map<string, ReadonlySet<string>>()
    const unusable = new Map<string, readonly string[]>()
    const quarantined = new Map<string, ReadonlyMap<string, string>>()
    const quarantinedServers = new Set<string>()
    for (const server of own) {
      const { name, enabled } = server
      const definition = servers.definition(name)
      const report = reports.get(name)
      // A cached definition may be out of date.
      if (definition && report && took.has(name)) {
        const offered = new Set(report.tools)
        for (const twice of repeated(definition.tools)) offered.delete(twice)
        const tools = definition.tools.filter((tool) => offered.has(tool.name))
        const { instructions } = definition
        // A tool that is not quarantined counts as known, so the scan does not report it as an imitation of a new one.
        const known = (tool: string) => (report.quarantined.has(tool) ? undefined : ('before' as const))
        mine.push({ name, start: describeStart(server), instructions, tools, known })
        quarantined.set(name, report.quarantined)
        if (report.state === 'quarantined') quarantinedServers.add(name)
        denied.set(name, new Set(report.denied))
        if (report.unusable.length > 0) unusable.set(name, report.unusable.map(unusableLine))
      } else if (enabled) unlisted.set(name, report?.reason || 'it was not listed')
    }
    listed.push(...mine)
    const since = own.flatMap(({ name }) => findChanges(reports.get(name)?.warnings ?? []))
    const disabled = own.filter(({ enabled }) => !enabled).map(({ name }) => name)
    const lock = withProblems(() => readLock(file))
    return {
      file,
      configs: [...new Set(own.flatMap((server) => server.file ?? []))],
      lock,
      seen: asLock(
        own.flatMap((server) => {
          const record = firstUse.read(server)
          if (!record || Object.keys(record.tools).length === 0) return []
          const now = mine.find(({ name }) => name === server.name)
          const isQuarantined = quarantinedServers.has(server.name)
          return [
            [
              server.name,
              now ? withoutQuarantined(record, now, quarantined.get(server.name), isQuarantined) : record,
            ],
          ]
        }),
      ),
      named: new Map(own.map((server) => [server.name, server])),
      quarantined,
      quarantinedServers,
      servers: mine,
      unlisted,
      disabled,
      unnamed: Object.keys(lock?.servers ?? {}).filter((name) => !own.some((server) => server.name === name)),
      denied,
      since,
      unusable,
    }
  })
  return { groups, firstUse, scanner: createScanner(listed, config.scan) }
}

/**
 * The first definitions seen, without unchanged ones that are quarantined: a newer version of the scan objects to them, so
 * they wait for approval like new ones.
 */
function withoutQuarantined(
  { tools, instructions, ...record }: FirstUse,
  now: ListedServer,
  quarantined: ReadonlyMap<string, string> = new Map(),
  isQuarantined: boolean,
): FirstUse {
  const prints = new Map(
    now.tools
      .map((tool) => [(tool as { name: string }).name, tool] as const)
      .filter(([name]) => quarantined.has(name))
      .map(([name, tool]) => [name, fingerprint(tool)]),
  )
  const kept = Object.entries(tools).filter(([name, seen]) => prints.get(name) !== seen.fingerprint)
  const isSame = isQuarantined && instructions === now.instructions
  return { ...record, instructions: isSame ? '' : instructions, tools: Object.fromEntries(kept) }
}

/** Names of two different tools. Neither is usable. */
function repeated(tools: readonly { readonly name: string }[]): string[] {
  const seen = new Set<string>()
  return tools.filter(({ name }) => seen.size === seen.add(name).size).map(({ name }) => name)
}

/** Returns the differences from the lock, without tools that the config excludes. */
export function compareLock(
  { denied, unlisted, disabled, unnamed }: Group,
  lock: Lock,
  servers: readonly ListedServer[],
): LockChange[] {
  return checkLock(lock, servers, { unlisted: [...unlisted.keys(), ...disabled, ...unnamed] }).filter(
    ({ server, tool }) => tool === undefined || !denied.get(server)?.has(tool),
  )
}

/** Scans the current definition of a tool, or the instructions of a server. */
export function scanChange(
  { servers }: Group,
  scanner: Scanner,
  { server, tool }: { readonly server: string; readonly tool?: string | undefined },
): readonly Finding[] {
  const listed = servers.find(({ name }) => name === server)
  if (tool === undefined) return scanner.scanInstructions(server, listed?.instructions ?? '')
  const definition = listed?.tools.find((each) => (each as { name?: unknown }).name === tool)
  return definition === undefined ? [] : scanner.scanTool(server, definition)
}

export const isHard = (findings: readonly Finding[]) => findings.some(({ severity }) => severity === 'hard')

/** Changes as JSON, with the findings of the scan. */
export function changesJson(group: Group, changes: readonly LockChange[], scanner: Scanner) {
  return changes.map((change) => {
    const findings = scanChange(group, scanner, change)
    return {
      ...change,
      isPoisoned: isHard(findings),
      findings: findings.map(({ severity, rule, where, why }) => ({ severity, rule, where, why })),
    }
  })
}

export const lockOrEmpty = ({ lock }: Group): Lock => lock ?? EMPTY_LOCK

/** The approved definitions, or the first ones seen. A new lock starts with them. */
export const trustedLock = ({ lock, seen }: Group): Lock => lock ?? seen

/** Turns errors of a lock file into problems that the user can fix. */
export function withProblems<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toProblem(error)
  }
}

export function toProblem(error: unknown): unknown {
  return LockError.is(error)
    ? new Problem(error.problem, error.fix, { reason: error.code, cause: error })
    : error
}

/** Changes as a diff, with the findings of the scan. */
export function diffText(
  group: Group,
  changes: readonly LockChange[],
  scanner: Scanner,
  paint: Paint,
): string {
  return renderLockDiff(changes, {
    style: (part, line) =>
      part === 'heading'
        ? paint(line, 'bold')
        : part === 'added'
          ? paint(line, 'name')
          : part === 'note'
            ? paint(line, 'error')
            : paint(line, 'dim'),
    findings: (server, tool) => scanChange(group, scanner, { server, tool }),
  })
}
