/** Changes that wait for approval. They are neither used nor pinned until then. */
import { matchesGlob } from '@toolwell/core/internal'
import { approveSeen, approveSeenServer } from '@toolwell/mcp/internal'
import { approve, approveChange, type Lock, type LockChange, visible, writeLock } from '@toolwell/mcp/lock'
import type { Scanner } from '@toolwell/mcp/scan'
import { Problem } from '../shared/problem.js'
import {
  compareLock,
  type Group,
  type Groups,
  isHard,
  scanChange,
  toProblem,
  trustedLock,
  withProblems,
} from './groups.js'

export interface Pending {
  readonly group: Group
  readonly change: LockChange
}

export const changeName = ({ server, tool }: { readonly server: string; readonly tool?: string }) =>
  tool === undefined ? server : `${server}/${tool}`

/** Without a lock, a new definition is trusted on first use and waits only if it is quarantined. */
export function findPending(group: Group, base: Lock = trustedLock(group)): Pending[] {
  const isMet = ({ kind, server, tool }: LockChange) =>
    group.lock === undefined &&
    kind === 'added' &&
    !(tool !== undefined && group.quarantined.get(server)?.has(tool))
  return compareLock(group, base, group.servers)
    .filter((change) => !isMet(change))
    .map((change) => ({ group, change }))
}

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

/** True if the definition has hard findings, which need an explicit flag. */
export function looksPoisoned({ group, change }: Pending, scanner: Scanner): boolean {
  return isHard(scanChange(group, scanner, change))
}

export const poisonedLine = (poisoned: readonly Pending[]) =>
  `${poisoned.map(({ change }) => visible(changeName(change))).join(', ')} ${poisoned.length === 1 ? 'is' : 'are'} not approved, because the scan has hard findings. To approve anyway, add --despite-findings.\n`

/** Returns the lock with the current definitions of these changes. */
export function applyApproved(lock: Lock, { servers }: Group, approved: readonly Pending[]): Lock {
  return approved.reduce((next, { change }) => withProblems(() => approveChange(next, servers, change)), lock)
}

/**
 * Writes approvals to the lock, or to the first-use records if there is no lock. Writes the lock of a named server even if
 * nothing differs, because a running program may still quarantine a change that was reverted.
 */
export async function approvePending(
  { groups, firstUse }: Groups,
  approved: readonly Pending[],
  targets: readonly string[] = [],
): Promise<void> {
  for (const group of groups) {
    const own = approved.filter((each) => each.group === group)
    const isNamed = targets.some((target) => [...group.named.keys()].some((name) => isOf(target, name)))
    if (group.lock && (own.length > 0 || isNamed))
      await writeLock(group.file, applyApproved(group.lock, group, own)).catch((error) => {
        throw toProblem(error)
      })
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
