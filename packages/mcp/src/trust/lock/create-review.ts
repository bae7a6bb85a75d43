/**
 * Decides what may be seen and called: by the lock where there is one, by first use where there is none, and by the scan.
 * Asked at every listing, also the one before a call, because a server may answer differently in between.
 */
import { defined } from '@toolwell/core/internal'
import type { Trust } from '../../config/server-config.js'
import type { Remembered } from '../../definition/cache.js'
import { fingerprint } from '../../definition/fingerprint.js'
import type { ServerWarning, WarningCode } from '../../definition/warning.js'
import type { Finding } from '../scan/finding.js'
import type { Examinations } from './examinations.js'
import { type ListedServer, type Lock, namedTools } from './lock.js'
import type { LockState } from './locks.js'
import type { Prints } from './notes.js'

export type HoldReason =
  /** Not in the lock. */
  | 'new'
  /** Not what the lock holds. */
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
      readonly kind: HoldReason
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
  /** What was seen before. */
  readonly remembered: Remembered | undefined
}

export interface DefinitionReview {
  /** What of this listing may be used, and what is to be remembered of it if that is more than before. */
  judge(subject: ReviewSubject): { readonly decision: ServerDecision; readonly remember?: Remembered }
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
    const shown = show(server, name)
    if (approved === undefined) return hold('new', server, name, `${shown} is not in toolwell.lock`, findings)
    if (approved === print)
      return hold('unsteady', server, name, `${shown} changed and changed back`, findings)
    unsteady.add(key)
    return hold('changed', server, name, `${shown} is not what toolwell.lock holds`, findings)
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
      ? hold('findings', server, name, `${show(server, name)} looks poisoned`, findings)
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
      return hold(
        'changed',
        name,
        undefined,
        `the instructions of ${called} are not what toolwell.lock holds`,
        findings,
      )
    if (trust === 'none')
      return hold(
        'untrusted',
        name,
        undefined,
        `the trust of ${called} is "none", and nothing of it has been approved`,
        findings,
      )
    if (lock && trust !== 'full')
      return hold('new', name, undefined, `${called} is not in toolwell.lock`, findings)
    if (isHard(findings) && trust !== 'full')
      return hold('findings', name, undefined, `the instructions of ${called} look poisoned`, findings)
    return { allowed: true, findings }
  }

  return {
    judge(subject) {
      const { server, prints, trust } = subject
      const lock = subject.lock?.lock
      const locked = lock && ownServer(lock, server.name)
      const governing = locked || (lock && trust !== 'full') ? lock : undefined
      const tools = new Map<string, Decision>()
      for (const [name, tool] of namedTools(server)) {
        if (subject.offers?.(name) === false) continue
        const print = prints.tools.get(name) ?? fingerprint(tool)
        const decision = governing
          ? byLock(subject, governing, name, tool, print)
          : byScan(subject, name, tool, print)
        tools.set(
          name,
          prints.twice.has(name)
            ? hold(
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
      const met = by === 'first-use' ? firstUse(subject, tools) : undefined
      return {
        decision: { server: whole, tools, by, warnings: met?.warnings ?? [] },
        ...defined({ remember: met?.remember }),
      }
    },
    reset(server) {
      for (const key of unsteady)
        if (server === undefined || key.startsWith(`${server}\u0000`)) unsteady.delete(key)
    },
  }
}

/** A server that invents names forever does not fill the disk: beyond this, only what it still lists is remembered. */
const MOST_REMEMBERED = 50_000

/** Fingerprints show that something has changed, not what it was. */
const PIN =
  'Without a lock only fingerprints are kept, so the earlier definition cannot be shown. Pin it as it is with: toolwell lock'

/** Compares with what was first seen, and remembers what is new. Only what was let through is remembered. */
function firstUse(
  { server, prints, remembered, offers = () => true }: ReviewSubject,
  decisions: ReadonlyMap<string, Decision>,
): { readonly warnings: ServerWarning[]; readonly remember?: Remembered } {
  const warnings: ServerWarning[] = []
  const warn = (code: WarningCode, text: string, fix = PIN) => warnings.push({ code, text, fix })
  const called = visibleName(server.name)
  const allowed = [...prints.tools].filter(([name]) => decisions.get(name)?.allowed)
  const first = (name: string) => ownTool(remembered?.tools, name)
  const fresh = allowed.filter(([name]) => first(name) === undefined)
  const changed = allowed.filter(([name, print]) => (first(name) ?? print) !== print).map(([name]) => name)
  if (remembered && remembered.instructions !== prints.instructions)
    warn('instructions-changed', `the instructions of ${called} are not what they were when first seen`)
  if (changed.length > 0)
    warn(
      'tools-changed',
      `${truncated(changed)} of ${called} ${changed.length === 1 ? 'is' : 'are'} not what ${changed.length === 1 ? 'it was' : 'they were'} when first seen`,
    )
  const left = Object.keys(remembered?.tools ?? {}).filter(
    (name) => !prints.tools.has(name) && offers(name) !== false,
  )
  if (left.length > 0)
    warn(
      'tools-removed',
      `${truncated(left)} of ${called} ${left.length === 1 ? 'is' : 'are'} gone since ${left.length === 1 ? 'it was' : 'they were'} first seen`,
    )
  if (remembered && fresh.length === 0) return { warnings }
  if (remembered)
    warn(
      'tools-added',
      `${truncated(fresh.map(([name]) => name))} of ${called} joined after it was first seen`,
    )
  else if (fresh.length > 0)
    warn(
      'first-use',
      `${fresh.length} ${fresh.length === 1 ? 'tool' : 'tools'} of ${called} ${fresh.length === 1 ? 'is' : 'are'} trusted on first use`,
      `Pin ${fresh.length === 1 ? 'it' : 'them'} with: toolwell lock`,
    )
  const tools = Object.create(null) as Record<string, string>
  const isTooMuch = Object.keys(remembered?.tools ?? {}).length > MOST_REMEMBERED
  for (const [name, print] of Object.entries(remembered?.tools ?? {}))
    if (!isTooMuch || prints.tools.has(name)) tools[name] = print
  for (const [name, print] of fresh) tools[name] = print
  return { warnings, remember: { instructions: remembered?.instructions ?? prints.instructions, tools } }
}

function truncated(names: readonly string[]): string {
  const shown = names.slice(0, 5).map(visibleName).join(', ')
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown
}

function hold(
  kind: HoldReason,
  server: string,
  tool: string | undefined,
  why: string,
  findings: readonly Finding[],
): Decision {
  const hard = [...new Set(findings.filter(({ severity }) => severity === 'hard').map(({ rule }) => rule))]
  const advice =
    hard.length > 0
      ? `The scan found ${hard.join(', ')}: do not approve it. ${keepOut(server, tool)}`
      : kind === 'duplicate'
        ? `Ask the author to fix it. ${keepOut(server, tool)}`
        : `Look at it with "toolwell lock --check", then approve it with: ${approveCommand(server, tool)}`
  return { allowed: false, kind, reason: `${why}. ${advice}`, findings }
}

/** What to do about a tool, or a server, that should not be used. */
export function keepOut(server: string, tool?: string): string {
  const entry = `in the entry of ${visibleName(server)}`
  if (tool === undefined) return `Keep it out: "enabled": false ${entry}.`
  // A pattern: what cannot be shown is matched by a star.
  const pattern = `${tool.slice(0, 80)}${tool.length > 80 ? '*' : ''}`.replace(/[^\u0020-\u007e]+/g, '*')
  return `Keep it out: "deny": [${JSON.stringify(pattern)}] ${entry}.`
}

const isHard = (findings: readonly Finding[]) => findings.some(({ severity }) => severity === 'hard')

const ownServer = (lock: Lock, server: string) =>
  Object.hasOwn(lock.servers, server) ? lock.servers[server] : undefined

function ownTool<T>(tools: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return tools && Object.hasOwn(tools, name) ? tools[name] : undefined
}

/** Names come from servers: shown so that they can neither hide nor run anything. */
const visibleName = (name: string) =>
  /^[\w.@/-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80).replace(/[^\u0020-\u007e]/g, '?'))

const show = (server: string, tool: string) => `${visibleName(server)}/${visibleName(tool)}`

export function approveCommand(server: string, tool?: string): string {
  const target = tool === undefined ? server : `${server}/${tool}`
  return `toolwell lock --approve ${/^[\w.@/-]+$/.test(target) ? target : `'${target.replaceAll("'", "'\\''").replace(/[^\u0020-\u007e]/g, '?')}'`}`
}
