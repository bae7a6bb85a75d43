/**
 * Decides what may be seen and called: by the lock where there is one, by first use where there is none, and by the scan.
 * Asked at listing, and again at each call, because a server may answer differently in between.
 */
import type { Finding } from '../scan/finding.js'
import { createScanner, type Scanner } from '../scan/scan.js'
import { fingerprint } from './fingerprint.js'
import { createLock, EMPTY_LOCK, type ListedServer, type Lock, namedTools, nameOf } from './lock.js'

export type HoldReason =
  /** Not in the lock. */
  | 'new'
  /** Not what the lock holds. */
  | 'changed'
  /** Was something else in between, or between listing and call. */
  | 'unsteady'
  /** The scan has a hard finding, and nobody approved the definition. */
  | 'findings'
  /** Two tools of one server have this name. */
  | 'duplicate'

export type Decision =
  | { readonly allowed: true; readonly findings: readonly Finding[]; readonly warning?: string }
  | {
      readonly allowed: false
      readonly kind: HoldReason
      /** One sentence, with the command that approves. */
      readonly reason: string
      readonly findings: readonly Finding[]
    }

export interface ServerDecision {
  /** About the server as a whole: its instructions, or that it is not in the lock. */
  readonly server: Decision
  readonly tools: ReadonlyMap<string, Decision>
}

export interface ReviewOptions {
  /** Undefined: there is no lock, and what is met first is trusted. */
  readonly lock?: Lock | undefined
  /** Whether new and changed definitions are scanned. What the lock or the memory holds is not scanned again. */
  readonly scan?: boolean
  /** What was met before, where there is no lock. */
  readonly remembered?: Lock
  /** Without a lock: a definition that changed since it was first met is used with a warning, or held back. */
  readonly changes?: 'warn' | 'quarantine'
  /** Called with what is remembered whenever it grows, for hosts that keep it. */
  readonly onRemember?: (lock: Lock) => void
}

export interface DefinitionReview {
  /** What of this listing may be used. */
  list(server: ListedServer): ServerDecision
  /** May this tool, as it is defined now, be called? */
  call(server: string, tool: unknown): Decision
  /** Another lock is in force: something was approved. What was unsteady is judged anew. */
  update(lock: Lock | undefined): void
  readonly remembered: Lock
}

export function createReview(options: ReviewOptions = {}): DefinitionReview {
  const { scan = true, changes = 'warn', onRemember } = options
  let lock = options.lock
  let remembered = options.remembered ?? EMPTY_LOCK
  /** Every server met, for the scan to compare names with. */
  const servers = new Map<string, ListedServer>()
  let scanner: Scanner | undefined
  /** Fingerprints by server and tool as last listed. */
  const listed = new Map<string, Map<string, string>>()
  /** Tools that were seen with more than one definition since the lock took effect. */
  const unsteady = new Set<string>()
  const scanned = new Map<string, readonly Finding[]>()

  const findingsOf = (server: string, tool: unknown, print: string): readonly Finding[] => {
    if (!scan) return []
    scanner ??= createScanner([...servers.values()])
    const key = `${server}\u0000${print}`
    const known = scanned.get(key)
    if (known) return known
    const found = scanner.scanTool(server, tool)
    if (scanned.size > 50_000) scanned.clear()
    scanned.set(key, found)
    return found
  }

  const hold = (
    kind: HoldReason,
    server: string,
    tool: string | undefined,
    why: string,
    findings: readonly Finding[],
  ): Decision => {
    const hard = findings.filter(({ severity }) => severity === 'hard').map(({ rule }) => rule)
    const notes = hard.length > 0 ? ` The scan found ${[...new Set(hard)].join(', ')}.` : ''
    return {
      allowed: false,
      kind,
      reason: `${why}.${notes} Look at it with "toolwell lock --check", then approve it with: ${approveCommand(server, tool)}`,
      findings,
    }
  }

  const isHard = (findings: readonly Finding[]) => findings.some(({ severity }) => severity === 'hard')

  /** The definition alone, against lock or memory. */
  const judge = (server: string, name: string, tool: unknown, print: string): Decision => {
    const key = `${server}\u0000${name}`
    if (lock) {
      const locked = ownServer(lock, server)
      const approved =
        locked && Object.hasOwn(locked.tools, name) ? locked.tools[name]?.fingerprint : undefined
      if (approved === print && !unsteady.has(key)) return { allowed: true, findings: [] }
      const findings = findingsOf(server, tool, print)
      if (approved === undefined)
        return hold('new', server, name, `${show(server, name)} is not in toolwell.lock`, findings)
      if (approved !== print) {
        unsteady.add(key)
        return hold(
          'changed',
          server,
          name,
          `${show(server, name)} is not what toolwell.lock holds`,
          findings,
        )
      }
      return hold('unsteady', server, name, `${show(server, name)} changed and changed back`, findings)
    }
    const known = ownServer(remembered, server)
    const first = known && Object.hasOwn(known.tools, name) ? known.tools[name]?.fingerprint : undefined
    if (first === print && !unsteady.has(key)) return { allowed: true, findings: [] }
    const findings = findingsOf(server, tool, print)
    if (isHard(findings))
      return hold('findings', server, name, `${show(server, name)} looks poisoned`, findings)
    if (first === undefined)
      return {
        allowed: true,
        findings,
        warning: `${show(server, name)} is trusted as first met. Pin it with: toolwell lock`,
      }
    unsteady.add(key)
    if (changes === 'quarantine')
      return hold(
        'changed',
        server,
        name,
        `${show(server, name)} is not what it was when it was first met`,
        findings,
      )
    return {
      allowed: true,
      findings,
      warning: `${show(server, name)} is not what it was when it was first met. See the change and pin it with: toolwell lock`,
    }
  }

  const judgeServer = (server: ListedServer): Decision => {
    const instructions = server.instructions ?? ''
    const locked = ownServer(lock ?? remembered, server.name)
    if (locked && locked.instructions === instructions) return { allowed: true, findings: [] }
    if (scan) scanner ??= createScanner([...servers.values()])
    const findings =
      scan && instructions !== '' ? (scanner?.scanInstructions(server.name, instructions) ?? []) : []
    if (lock) {
      if (!locked)
        return hold(
          'new',
          server.name,
          undefined,
          `${visibleName(server.name)} is not in toolwell.lock`,
          findings,
        )
      return hold(
        'changed',
        server.name,
        undefined,
        `the instructions of ${visibleName(server.name)} are not what toolwell.lock holds`,
        findings,
      )
    }
    if (isHard(findings))
      return hold(
        'findings',
        server.name,
        undefined,
        `the instructions of ${visibleName(server.name)} look poisoned`,
        findings,
      )
    if (locked) {
      const why = `the instructions of ${visibleName(server.name)} are not what they were when first met`
      return changes === 'quarantine'
        ? hold('changed', server.name, undefined, why, findings)
        : { allowed: true, findings, warning: `${why}. Pin them with: toolwell lock` }
    }
    return { allowed: true, findings }
  }

  /** Only what was let through: what is remembered is not scanned again. */
  const remember = (server: ListedServer, { server: whole, tools }: ServerDecision) => {
    if (lock || !whole.allowed) return
    const known = ownServer(remembered, server.name)
    const fresh = [...namedTools(server)].filter(
      ([name]) => tools.get(name)?.allowed && (!known || !Object.hasOwn(known.tools, name)),
    )
    if (known && fresh.length === 0) return
    const old = Object.values(known?.tools ?? {}).map(({ definition }) => definition)
    const one = createLock([
      {
        name: server.name,
        instructions: known?.instructions ?? server.instructions,
        tools: [...old, ...fresh.map(([, tool]) => tool)],
      },
    ])
    remembered = { ...remembered, servers: { ...remembered.servers, ...one.servers } }
    onRemember?.(remembered)
  }

  return {
    list(server) {
      servers.set(server.name, server)
      // The scan has to know the names of this server too, once it is needed.
      scanner = undefined
      const prints = new Map<string, string>()
      const tools = new Map<string, Decision>()
      for (const tool of server.tools) {
        const name = nameOf(tool)
        if (name === undefined) continue
        const print = fingerprint(tool)
        if (prints.has(name) && prints.get(name) !== print) {
          tools.set(
            name,
            hold(
              'duplicate',
              server.name,
              name,
              `${visibleName(server.name)} lists two tools called ${visibleName(name)}`,
              findingsOf(server.name, tool, print),
            ),
          )
          continue
        }
        prints.set(name, print)
        tools.set(name, judge(server.name, name, tool, print))
      }
      const decision = { server: judgeServer(server), tools }
      listed.set(server.name, prints)
      remember(server, decision)
      return decision
    },
    call(server, tool) {
      const name = nameOf(tool) ?? ''
      const print = fingerprint(tool)
      const before = listed.get(server)?.get(name)
      if (before !== undefined && before !== print) {
        unsteady.add(`${server}\u0000${name}`)
        return hold(
          'unsteady',
          server,
          name,
          `${show(server, name)} changed between listing and call`,
          findingsOf(server, tool, print),
        )
      }
      return judge(server, name, tool, print)
    },
    update(next) {
      lock = next
      unsteady.clear()
    },
    get remembered() {
      return remembered
    },
  }
}

const ownServer = (lock: Lock, server: string) =>
  Object.hasOwn(lock.servers, server) ? lock.servers[server] : undefined

/** Names come from servers: shown so that they can neither hide nor run anything. */
const visibleName = (name: string) =>
  /^[\w.@/-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80).replace(/[^\u0020-\u007e]/g, '?'))

const show = (server: string, tool: string) => `${visibleName(server)}/${visibleName(tool)}`

export function approveCommand(server: string, tool?: string): string {
  const target = tool === undefined ? server : `${server}/${tool}`
  return `toolwell lock --approve ${/^[\w.@/-]+$/.test(target) ? target : `'${target.replaceAll("'", "'\\''").replace(/[^\u0020-\u007e]/g, '?')}'`}`
}
