/** Selects changes that wait for approval by the names that the user gives. */
import { matchesGlob } from '@toolwell/core/internal'
import {
  approvePending,
  changeName,
  type LockGroups,
  type Pending,
  trustedLock,
} from '@toolwell/mcp/internal'
import { approve, type LockChange, visible } from '@toolwell/mcp/lock'
import { Problem } from '../shared/problem.js'
import { type Group, toProblem, withProblems } from './groups.js'

/** Selects changes by name. A server name selects all its changes; `*` matches any characters. */
export function selectPending(
  pending: readonly Pending[],
  targets: readonly string[],
  groups: readonly Group[],
): Pending[] {
  // Servers that the config does not name are removed from the lock by their full name.
  const dropped = groups.flatMap((group) =>
    group.unnamed
      .filter((server) => targets.includes(server))
      .map((server): Pending => ({ group, change: { kind: 'removed', server, fields: [] } })),
  )
  const all = [...pending, ...dropped]
  for (const target of targets) assertKnown(target, all, groups)
  return all.filter(({ change }) => targets.some((target) => isMeant(target, change)))
}

function isMeant(target: string, change: LockChange): boolean {
  return matchesGlob(target, change.server) || matchesGlob(target, changeName(change))
}

/** Throws for unknown targets. Targets that are already approved are fine. */
function assertKnown(target: string, pending: readonly Pending[], groups: readonly Group[]): void {
  for (const { unlisted } of groups)
    for (const [server, reason] of unlisted)
      if (isOf(target, server))
        throw new Problem(
          `${visible(server)} could not be listed, so there is nothing to approve: ${visible(reason).replace(/\.$/, '')}.`,
          'Fix the server first. Nothing was changed.',
          { reason: 'unlisted' },
        )
  if (pending.some(({ change }) => isMeant(target, change))) return
  if (target.includes('*'))
    throw new Problem(
      `No waiting change matches ${JSON.stringify(target)}.`,
      pending.length === 0
        ? 'No changes wait for approval.'
        : `Waiting: ${pending
            .slice(0, 10)
            .map(({ change }) => visible(changeName(change)))
            .join(', ')}.`,
      { reason: 'unknown-target' },
    )
  for (const { quarantined } of groups)
    for (const [server, tools] of quarantined) {
      const reason = target.startsWith(`${server}/`) ? tools.get(target.slice(server.length + 1)) : undefined
      // Two tools have the same name.
      if (reason !== undefined)
        throw new Problem(`${visible(target)} cannot be approved: ${reason}`, 'Nothing was changed.', {
          reason: 'not-approvable',
        })
    }
  const owner = groups.find(({ servers, lock, seen }) =>
    [...servers.map(({ name }) => name), ...Object.keys((lock ?? seen).servers)].some((name) =>
      isOf(target, name),
    ),
  )
  if (owner) {
    withProblems(() => approve(trustedLock(owner), owner.servers, target))
    return
  }
  const known = groups.flatMap(({ servers, unlisted }) => [
    ...servers.map(({ name }) => name),
    ...unlisted.keys(),
  ])
  throw new Problem(
    `Unknown server ${JSON.stringify(target.split('/')[0])}.`,
    `Known: ${known.sort().slice(0, 20).map(visible).join(', ') || 'none'}.`,
    { reason: 'unknown-target' },
  )
}

export const poisonedLine = (poisoned: readonly Pending[]) =>
  `${poisoned.map(({ change }) => visible(changeName(change))).join(', ')} ${poisoned.length === 1 ? 'is' : 'are'} not approved, because the scan has hard findings. To approve anyway, add --despite-findings.\n`

/** Writes approvals. Errors of a lock become problems that the user can fix. */
export async function writeApproved(
  groups: LockGroups,
  approved: readonly Pending[],
  targets: readonly string[] = [],
): Promise<void> {
  await approvePending(groups, approved, targets).catch((error) => {
    throw toProblem(error)
  })
}

const isOf = (target: string, server: string) => target === server || target.startsWith(`${server}/`)
