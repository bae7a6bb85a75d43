/**
 * Definitions that differ from the approved ones and wait for approval, by lock file. They are neither used nor pinned until then.
 * The command and the gateway approve with this code.
 */
import type { Config } from '../config/load-config.js'
import { describeStart } from '../config/redact.js'
import type { ServerConfig } from '../config/server-config.js'
import { fingerprint } from '../definition/fingerprint.js'
import { checkLock, type LockChange } from '../trust/lock/check-lock.js'
import {
  approveSeen,
  approveSeenServer,
  asLock,
  type FirstUse,
  type FirstUseStore,
} from '../trust/lock/first-use.js'
import { approveChange, type ListedServer, type Lock } from '../trust/lock/lock.js'
import { findLockFile, readLock, writeLock } from '../trust/lock/lock-file.js'
import { isOfferName, listLockableOffers } from '../trust/lock/offers.js'
import type { Finding } from '../trust/scan/rules.js'
import { createScanner, type Scanner } from '../trust/scan/scan.js'
import type { Servers } from './connect-servers.js'

/** The servers of one lock file. */
export interface LockGroup {
  readonly file: string
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
  /** Servers in the lock that this config does not name. Another config of the folder may name them. */
  readonly unnamed: readonly string[]
}

export interface LockGroups {
  readonly groups: readonly LockGroup[]
  readonly firstUse: FirstUseStore
  /** Knows the names of all servers. */
  readonly scanner: Scanner
}

export interface LockGroupsOptions {
  readonly config: Pick<Config, 'servers' | 'scan'>
  readonly servers: Pick<Servers, 'inspect' | 'definition'>
  readonly firstUse: FirstUseStore
  /** False for a server whose definition may be out of date. Default: true. */
  readonly isCurrent?: (server: string) => boolean
}

/** Throws `LockError` if a lock cannot be read. */
export function groupByLock({
  config,
  servers,
  firstUse,
  isCurrent = () => true,
}: LockGroupsOptions): LockGroups {
  const reports = new Map(servers.inspect().map((report) => [report.name, report]))
  const byFile = new Map<string, ServerConfig[]>()
  for (const server of config.servers) {
    const file = findLockFile(server)
    if (file === undefined) continue
    byFile.set(file, [...(byFile.get(file) ?? []), server])
  }
  const listed: ListedServer[] = []
  const groups = [...byFile].map(([file, own]): LockGroup => {
    const unlisted = new Map<string, string>()
    const mine: ListedServer[] = []
    const denied = new Map<string, ReadonlySet<string>>()
    const quarantined = new Map<string, ReadonlyMap<string, string>>()
    const quarantinedServers = new Set<string>()
    for (const server of own) {
      const { name, enabled } = server
      const definition = servers.definition(name)
      const report = reports.get(name)
      // A cached definition may be out of date.
      if (definition && report && isCurrent(name)) {
        const offered = new Set(report.tools)
        for (const twice of repeated(definition.tools)) offered.delete(twice)
        const tools = [
          ...definition.tools.filter((tool) => offered.has(tool.name)),
          ...listLockableOffers(definition),
        ]
        const { instructions } = definition
        // A tool that is not quarantined counts as known, so the scan does not report it as an imitation of a new one.
        const known = (tool: string) => (report.quarantined.has(tool) ? undefined : ('before' as const))
        mine.push({ name, start: describeStart(server), instructions, tools, known })
        quarantined.set(name, report.quarantined)
        if (report.state === 'quarantined') quarantinedServers.add(name)
        denied.set(name, new Set(report.denied))
      } else if (enabled) unlisted.set(name, report?.reason || 'it was not listed')
    }
    listed.push(...mine)
    const disabled = own.filter(({ enabled }) => !enabled).map(({ name }) => name)
    const lock = readLock(file)
    return {
      file,
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
  { denied, unlisted, disabled, unnamed }: LockGroup,
  lock: Lock,
  servers: readonly ListedServer[],
): LockChange[] {
  return checkLock(lock, servers, { unlisted: [...unlisted.keys(), ...disabled, ...unnamed] }).filter(
    ({ server, tool }) => tool === undefined || !denied.get(server)?.has(tool),
  )
}

/** Scans the current definition of a tool, or the instructions of a server. */
export function scanChange(
  { servers }: LockGroup,
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
export function changesJson(group: LockGroup, changes: readonly LockChange[], scanner: Scanner) {
  return changes.map((change) => {
    const findings = scanChange(group, scanner, change)
    return {
      ...change,
      isPoisoned: isHard(findings),
      findings: findings.map(({ severity, rule, where, why }) => ({ severity, rule, where, why })),
    }
  })
}

/** The approved definitions, or the first ones seen. A new lock starts with them. */
export const trustedLock = ({ lock, seen }: LockGroup): Lock => lock ?? seen

export interface Pending {
  readonly group: LockGroup
  readonly change: LockChange
}

export const changeName = ({ server, tool }: { readonly server: string; readonly tool?: string }) =>
  tool === undefined ? server : `${server}/${tool}`

/**
 * Without a lock, a new definition is trusted on first use and waits only if it is quarantined. Prompts and templates that are gone
 * need no approval.
 */
export function findPending(group: LockGroup, base: Lock = trustedLock(group)): Pending[] {
  const isMet = ({ kind, server, tool }: LockChange) =>
    group.lock === undefined &&
    (kind === 'added'
      ? !(tool === undefined
          ? group.quarantinedServers.has(server)
          : group.quarantined.get(server)?.has(tool))
      : kind === 'removed' && tool !== undefined && isOfferName(tool))
  return compareLock(group, base, group.servers)
    .filter((change) => !isMet(change))
    .map((change) => ({ group, change }))
}

/** True if the definition has hard findings, which need an explicit flag. */
export function looksPoisoned({ group, change }: Pending, scanner: Scanner): boolean {
  return isHard(scanChange(group, scanner, change))
}

/** Returns the lock with the current definitions of these changes. */
export function applyApproved(lock: Lock, { servers }: LockGroup, approved: readonly Pending[]): Lock {
  return approved.reduce((next, { change }) => approveChange(next, servers, change), lock)
}

/**
 * Writes approvals to the lock, or to the first-use records if there is no lock. Writes the lock of a named server even if
 * nothing differs, because a running program may still quarantine a change that was reverted.
 */
export async function approvePending(
  { groups, firstUse }: LockGroups,
  approved: readonly Pending[],
  targets: readonly string[] = [],
): Promise<void> {
  for (const group of groups) {
    const own = approved.filter((each) => each.group === group)
    const isNamed = targets.some((target) => [...group.named.keys()].some((name) => isOf(target, name)))
    if (group.lock && (own.length > 0 || isNamed))
      await writeLock(group.file, applyApproved(group.lock, group, own))
    if (group.lock) continue
    for (const { change } of own) {
      const server = group.named.get(change.server)
      const listed = group.servers.find(({ name }) => name === change.server)
      if (!server || !listed) continue
      const before = firstUse.read(server)
      firstUse.write(
        server,
        change.tool === undefined
          ? approveSeenServer(before, listed)
          : approveSeen(before, listed, change.tool),
      )
    }
  }
}

const isOf = (target: string, server: string) => target === server || target.startsWith(`${server}/`)
