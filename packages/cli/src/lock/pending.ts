/** What waits for a person: every change that is neither used nor pinned until somebody approves it. */
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

/** In a group without a lock, what joins is met for the first time; it waits only where it is held back. */
export function findPending(group: Group, base: Lock = trustedLock(group)): Pending[] {
  const isMet = ({ kind, server, tool }: LockChange) =>
    group.lock === undefined &&
    kind === 'added' &&
    !(tool !== undefined && group.quarantined.get(server)?.has(tool))
  return compareLock(group, base, group.servers)
    .filter((change) => !isMet(change))
    .map((change) => ({ group, change }))
}

/** Those that are named: a server means all of its changes; `*` stands for any characters. */
export function selectPending(
  pending: readonly Pending[],
  targets: readonly string[],
  groups: readonly Group[],
): Pending[] {
  // A pin that the config does not name waits for nobody, and is dropped by its whole name.
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

/** What was approved already is no mistake; what there never was is one. */
function assertKnown(target: string, pending: readonly Pending[], groups: readonly Group[]): void {
  for (const { unlisted } of groups)
    for (const [server, reason] of unlisted)
      if (isOf(target, server))
        throw new Problem(
          `${visible(server)} cannot be listed, so there is nothing to approve: ${visible(reason)}`,
          'Fix that first. Nothing was changed.',
          { reason: 'unlisted' },
        )
  if (pending.some(({ change }) => isMeant(target, change))) return
  if (target.includes('*'))
    throw new Problem(
      `Nothing that waits fits ${JSON.stringify(target)}.`,
      pending.length === 0
        ? 'Nothing waits.'
        : `Waiting: ${pending
            .slice(0, 10)
            .map(({ change }) => visible(changeName(change)))
            .join(', ')}.`,
      { reason: 'unknown-target' },
    )
  for (const { quarantined: held } of groups)
    for (const [server, tools] of held) {
      const reason = target.startsWith(`${server}/`) ? tools.get(target.slice(server.length + 1)) : undefined
      // Two tools of one name: nobody can say which of them is meant.
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
    `There is no server ${JSON.stringify(target.split('/')[0])} to approve.`,
    `Known: ${known.sort().slice(0, 20).map(visible).join(', ') || 'none'}.`,
    { reason: 'unknown-target' },
  )
}

/** Approving by name is not reading: what has hard findings takes a word of its own. */
export function looksPoisoned({ group, change }: Pending, scanner: Scanner): boolean {
  return isHard(scanChange(group, scanner, change))
}

export const poisonedLine = (poisoned: readonly Pending[]) =>
  `${poisoned.map(({ change }) => visible(changeName(change))).join(', ')} ${poisoned.length === 1 ? 'is' : 'are'} not approved: the scan has hard findings. Whoever knows better adds --despite-findings.\n`

/** A lock with these changes as they are now. */
export function applyApproved(lock: Lock, { servers }: Group, approved: readonly Pending[]): Lock {
  return approved.reduce((next, { change }) => withProblems(() => approveChange(next, servers, change)), lock)
}

/**
 * Into the lock where there is one, otherwise into what is remembered of first use. A lock whose servers are named is
 * written also where nothing differs: a program that runs may hold back what changed and changed back.
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
