/** Groups the listed servers by their lock file. */
import type { ServerWarning } from '@toolwell/mcp'
import { groupByLock, type LockGroup, type LockGroups, scanChange } from '@toolwell/mcp/internal'
import { EMPTY_LOCK, type Lock, type LockChange, LockError, renderLockDiff } from '@toolwell/mcp/lock'
import type { Scanner } from '@toolwell/mcp/scan'
import { Problem } from '../shared/problem.js'
import { findChanges, unusableLine } from '../shared/servers/server-facts.js'
import type { OpenServers } from '../shared/servers/with-servers.js'
import type { Paint } from '../shared/terminal.js'

export interface Group extends LockGroup {
  /** Config files of its servers. */
  readonly configs: readonly string[]
  /** Without a lock: changes since the first use. */
  readonly since: readonly ServerWarning[]
  /** By server: the unusable entries of its list, one line each. */
  readonly unusable: ReadonlyMap<string, readonly string[]>
}

export interface Groups extends LockGroups {
  readonly groups: readonly Group[]
}

export function groupServers({ config, servers, firstUse, took }: OpenServers): Groups {
  const reports = new Map(servers.inspect().map((report) => [report.name, report]))
  const isCurrent = (name: string) => took.has(name)
  const found = withProblems(() => groupByLock({ config, servers, firstUse, isCurrent }))
  const groups = found.groups.map((group): Group => {
    const own = [...group.named.values()]
    const unusable = group.servers.flatMap(({ name }): [string, string[]][] => {
      const entries = reports.get(name)?.unusable ?? []
      return entries.length > 0 ? [[name, entries.map(unusableLine)]] : []
    })
    return {
      ...group,
      configs: [...new Set(own.flatMap((server) => server.file ?? []))],
      since: own.flatMap(({ name }) => findChanges(reports.get(name)?.warnings ?? [])),
      unusable: new Map(unusable),
    }
  })
  return { ...found, groups }
}

export const lockOrEmpty = ({ lock }: Pick<Group, 'lock'>): Lock => lock ?? EMPTY_LOCK

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
  group: LockGroup,
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
