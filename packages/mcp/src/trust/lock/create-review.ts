/**
 * Decides which tools may be seen and called: by the lock if there is one, otherwise by first use, and by the scan. Runs at every
 * listing, including the one before a call, because a server may answer differently each time.
 */
import { dropUndefined } from '@toolwell/core/internal'
import type { Trust } from '../../config/server-config.js'
import { fingerprint } from '../../definition/fingerprint.js'
import type { ServerWarning } from '../../definition/warning.js'
import type { Finding } from '../scan/rules.js'
import { compareWithFirstUse, quarantine, showTool, startWarning, visibleName } from './compare-first-use.js'
import type { Examinations } from './examinations.js'
import { type FirstUse, ownTool } from './first-use.js'
import { type ListedServer, type Lock, namedTools } from './lock.js'
import type { LockState } from './lock-file.js'
import type { Prints } from './review-notes.js'

export type QuarantineReason =
  /** Not in the lock. */
  | 'new'
  /** Differs from the lock or the first-use record. */
  | 'changed'
  /** Changed and changed back. */
  | 'unsteady'
  /** Has a hard finding and is not approved. */
  | 'findings'
  /** Two different tools of the server have this name. */
  | 'duplicate'
  /** The lock cannot be read. */
  | 'lock-broken'
  /** With `trust: none`, nothing is used before it is approved. */
  | 'untrusted'

export type Decision =
  | { readonly allowed: true; readonly findings: readonly Finding[] }
  | {
      readonly allowed: false
      readonly kind: QuarantineReason
      /** One sentence with the command that approves it. */
      readonly reason: string
      readonly findings: readonly Finding[]
    }

/** Shared object, because a start makes thousands of decisions. */
const IN_ORDER: Decision = { allowed: true, findings: [] }

export interface ServerDecision {
  /** About the whole server: its instructions, or that it is not in the lock. */
  readonly server: Decision
  readonly tools: ReadonlyMap<string, Decision>
  /** Why it is trusted. */
  readonly by: 'lock' | 'first-use' | 'config' | 'nothing'
  /** Messages that do not quarantine anything. */
  readonly warnings: readonly ServerWarning[]
}

export interface ReviewSubject {
  readonly server: ListedServer
  readonly prints: Prints
  readonly trust: Trust
  /** Does the config offer a tool? Default: every tool. Other tools are not judged. */
  readonly offers?: (tool: string) => boolean
  readonly lock: LockState | undefined
  /** The listing may be older than the lock. */
  readonly isFromCache?: boolean
  /** The first-use record. */
  readonly remembered: FirstUse | undefined
}

export interface DefinitionReview {
  /** Decides which parts of a listing may be used. `remember`: the new first-use record, if it changed. */
  judge(subject: ReviewSubject): { readonly decision: ServerDecision; readonly remember?: FirstUse }
  /** After an approval: forgets unsteady tools of one server or of all. */
  reset(server?: string): void
}

export function createReview(examinations: Pick<Examinations, 'findingsOf' | 'known'>): DefinitionReview {
  /** Tools that differed from the lock at some time since the lock was written. */
  const unsteady = new Set<string>()

  const byLock = (
    subject: ReviewSubject,
    lock: Lock,
    name: string,
    tool: unknown,
    print: string,
  ): Decision => {
    const server = subject.server.name
    const key = `${server}\u0000${name}`
    const approved = ownTool(ownServer(lock, server)?.tools, name)?.fingerprint
    if (approved === print && !unsteady.has(key))
      return { allowed: true, findings: examinations.known(server, print) }
    const findings = examinations.findingsOf(server, tool, print)
    const shown = showTool(server, name)
    if (approved === undefined)
      return quarantine('new', server, name, `${shown} is not in toolwell.lock`, findings)
    if (approved === print)
      return quarantine('unsteady', server, name, `${shown} changed and changed back`, findings)
    if (!subject.isFromCache) unsteady.add(key)
    return quarantine('changed', server, name, `${shown} differs from toolwell.lock`, findings)
  }

  /** Like SSH: new tools are remembered, and changed tools wait for approval. */
  const byFirstUse = (
    subject: ReviewSubject,
    name: string,
    tool: unknown,
    print: string,
    isFull: boolean,
  ): Decision => {
    const { server, trust, remembered } = subject
    const seen = ownTool(remembered?.tools, name)
    if (seen?.isApproved && seen.fingerprint === print)
      return { allowed: true, findings: examinations.known(server.name, print) }
    if (trust === 'full' || trust === 'follow') return byScan(subject, name, tool, print)
    const findings = () => examinations.findingsOf(server.name, tool, print)
    const shown = showTool(server.name, name)
    if (seen && seen.fingerprint !== print)
      return quarantine(
        'changed',
        server.name,
        name,
        `${shown} has changed since it was first seen`,
        findings(),
      )
    if (trust === 'none')
      return quarantine('untrusted', server.name, name, `${shown} has not been approved`, findings())
    if (!seen && isFull)
      return quarantine(
        'new',
        server.name,
        name,
        `${visibleName(server.name)} has listed more than ${MOST_REMEMBERED} tools`,
        findings(),
      )
    return byScan(subject, name, tool, print)
  }

  const byScan = (
    { server: { name: server }, trust }: ReviewSubject,
    name: string,
    tool: unknown,
    print: string,
  ): Decision => {
    const findings = examinations.findingsOf(server, tool, print)
    if (findings.length === 0) return IN_ORDER
    return isHard(findings) && trust !== 'full'
      ? quarantine('findings', server, name, `${showTool(server, name)} ${whatItDoes(findings)}`, findings)
      : { allowed: true, findings }
  }

  const judgeServer = (subject: ReviewSubject, lock: Lock | undefined): Decision => {
    const { server, prints, trust } = subject
    const { name, instructions = '' } = server
    const locked = lock && ownServer(lock, name)
    const known = examinations.known(name, prints.instructions)
    if (locked?.instructions === instructions) return { allowed: true, findings: known }
    const findings =
      instructions === '' ? [] : examinations.findingsOf(name, { instructions }, prints.instructions)
    const called = visibleName(name)
    if (subject.lock?.problem !== undefined)
      return { allowed: false, kind: 'lock-broken', reason: subject.lock.problem, findings }
    if (locked)
      return quarantine(
        'changed',
        name,
        undefined,
        `the instructions of ${called} differ from toolwell.lock`,
        findings,
      )
    const seen = lock ? undefined : subject.remembered
    const isCautious = trust === 'first-use' || trust === 'none'
    if (seen?.isApproved && seen.instructions === instructions) return { allowed: true, findings }
    if (seen && seen.instructions !== instructions && isCautious)
      return quarantine(
        'changed',
        name,
        undefined,
        `the instructions of ${called} have changed since they were first seen`,
        findings,
      )
    if (trust === 'none')
      return quarantine(
        'untrusted',
        name,
        undefined,
        `the trust of ${called} is "none", and it has not been approved`,
        findings,
      )
    if (lock && trust !== 'full')
      return quarantine('new', name, undefined, `${called} is not in toolwell.lock`, findings)
    if (isHard(findings) && trust !== 'full')
      return quarantine('findings', name, undefined, `the instructions of ${called} look poisoned`, findings)
    return { allowed: true, findings }
  }

  return {
    judge(subject) {
      const { server, prints, trust } = subject
      const lock = subject.lock?.lock
      const locked = lock && ownServer(lock, server.name)
      const governing = locked || (lock && trust !== 'full') ? lock : undefined
      const isFull = Object.keys(subject.remembered?.tools ?? {}).length >= MOST_REMEMBERED
      const tools = new Map<string, Decision>()
      for (const [name, tool] of namedTools(server)) {
        if (subject.offers?.(name) === false) continue
        const print = prints.tools.get(name) ?? fingerprint(tool)
        const decision = governing
          ? byLock(subject, governing, name, tool, print)
          : byFirstUse(subject, name, tool, print, isFull)
        tools.set(
          name,
          prints.twice.has(name)
            ? quarantine(
                'duplicate',
                server.name,
                name,
                `${visibleName(server.name)} lists two tools called ${visibleName(name)}`,
                decision.findings,
              )
            : decision,
        )
      }
      const whole = judgeServer(subject, lock)
      const by = governing ? 'lock' : trust === 'full' ? 'config' : whole.allowed ? 'first-use' : 'nothing'
      const met = by === 'first-use' ? compareWithFirstUse(subject, tools) : undefined
      const moved = startWarning(
        subject,
        locked?.start ?? subject.remembered?.start ?? '',
        governing !== undefined,
      )
      return {
        decision: { server: whole, tools, by, warnings: [...moved, ...(met?.warnings ?? [])] },
        ...dropUndefined({ remember: met?.remember }),
      }
    },
    reset(server) {
      for (const key of unsteady)
        if (server === undefined || key.startsWith(`${server}\u0000`)) unsteady.delete(key)
    },
  }
}

/** Limit against servers that invent names forever. Records are never dropped: a changed tool could come back as a new one. */
export const MOST_REMEMBERED = 50_000

/** For an imitating name, says which tool it imitates. */
function whatItDoes(findings: readonly Finding[]): string {
  const [worst, ...others] = findings.filter(({ severity }) => severity === 'hard')
  const isNameOnly = worst?.rule === 'lookalike-name' && worst.where === 'name' && others.length === 0
  return isNameOnly ? worst.why : 'looks poisoned'
}

const isHard = (findings: readonly Finding[]) => findings.some(({ severity }) => severity === 'hard')

const ownServer = (lock: Lock, server: string) =>
  Object.hasOwn(lock.servers, server) ? lock.servers[server] : undefined
