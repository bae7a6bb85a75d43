/**
 * Decides what may be seen and called: by the lock where there is one, by first use where there is none, and by the scan.
 * Asked at every listing, also the one before a call, because a server may answer differently in between.
 */
import { defined } from '@toolwell/core/internal'
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
  /** Not what the lock holds, or not what was first seen. */
  | 'changed'
  /** Was something else in between. */
  | 'unsteady'
  /** The scan has a hard finding, and nobody approved the definition. */
  | 'findings'
  /** Two tools of one server have this name. */
  | 'duplicate'
  /** There is a lock that cannot be read. */
  | 'lock-broken'
  /** Nothing of this server is used before it is approved. */
  | 'untrusted'

export type Decision =
  | { readonly allowed: true; readonly findings: readonly Finding[] }
  | {
      readonly allowed: false
      readonly kind: QuarantineReason
      /** One sentence, with the command that approves. */
      readonly reason: string
      readonly findings: readonly Finding[]
    }

/** The same for all: a start decides about thousands. */
const IN_ORDER: Decision = { allowed: true, findings: [] }

export interface ServerDecision {
  /** About the server as a whole: its instructions, or that it is not in the lock. */
  readonly server: Decision
  readonly tools: ReadonlyMap<string, Decision>
  /** Why it is let through. */
  readonly by: 'lock' | 'first-use' | 'config' | 'nothing'
  /** Worth telling, and no reason to hold anything back. */
  readonly warnings: readonly ServerWarning[]
}

export interface ReviewSubject {
  readonly server: ListedServer
  readonly prints: Prints
  readonly trust: Trust
  /** Whether the config lets a tool through; without it, every tool. What it excludes is not judged. */
  readonly offers?: (tool: string) => boolean
  readonly lock: LockState | undefined
  /** It was listed before, perhaps before the lock took effect. */
  readonly isFromCache?: boolean
  /** What was seen before. */
  readonly remembered: FirstUse | undefined
}

export interface DefinitionReview {
  /** What of this listing may be used, and what is to be remembered of it if that is more than before. */
  judge(subject: ReviewSubject): { readonly decision: ServerDecision; readonly remember?: FirstUse }
  /** Something was approved: what was unsteady is judged anew, of this server or of all. */
  reset(server?: string): void
}

export function createReview(examinations: Pick<Examinations, 'findingsOf' | 'known'>): DefinitionReview {
  /** Tools that were seen with another definition than the lock's since the lock took effect. */
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
    return quarantine('changed', server, name, `${shown} is not what toolwell.lock holds`, findings)
  }

  /** As SSH does it: what is met is remembered, and what is not what it was waits for a person. */
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
        `${shown} is not what it was when first seen`,
        findings(),
      )
    if (trust === 'none')
      return quarantine('untrusted', server.name, name, `${shown} has not been approved`, findings())
    if (!seen && isFull)
      return quarantine(
        'new',
        server.name,
        name,
        `${visibleName(server.name)} has listed more than ${MOST_REMEMBERED} names`,
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
        `the instructions of ${called} are not what toolwell.lock holds`,
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
        `the instructions of ${called} are not what they were when first seen`,
        findings,
      )
    if (trust === 'none')
      return quarantine(
        'untrusted',
        name,
        undefined,
        `the trust of ${called} is "none", and nothing of it has been approved`,
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
        ...defined({ remember: met?.remember }),
      }
    },
    reset(server) {
      for (const key of unsteady)
        if (server === undefined || key.startsWith(`${server}\u0000`)) unsteady.delete(key)
    },
  }
}

/**
 * A server that invents names forever does not fill the disk: beyond this, what is new waits. Nothing is forgotten for it, or
 * a changed tool could come back as a new one.
 */
const MOST_REMEMBERED = 50_000

/** A name that imitates is no poison: it says whose it is like. */
function whatItDoes(findings: readonly Finding[]): string {
  const [worst, ...others] = findings.filter(({ severity }) => severity === 'hard')
  const isNameOnly = worst?.rule === 'lookalike-name' && worst.where === 'name' && others.length === 0
  return isNameOnly ? worst.why : 'looks poisoned'
}

const isHard = (findings: readonly Finding[]) => findings.some(({ severity }) => severity === 'hard')

const ownServer = (lock: Lock, server: string) =>
  Object.hasOwn(lock.servers, server) ? lock.servers[server] : undefined
