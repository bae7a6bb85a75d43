/** The lock: approved definitions of servers and tools. Pure; lock-file.ts reads and writes it. */

import { isRecord } from '@toolwell/core/internal'
import { fingerprint, type JsonObject, normalised } from '../../definition/fingerprint.js'
import type { ScannedServer } from '../scan/name-index.js'
import type { Scanner } from '../scan/scan.js'

export const LOCK_VERSION = 1

export interface LockedTool {
  readonly fingerprint: string
  /** The complete definition, for readable differences. */
  readonly definition: JsonObject
}

export interface LockedServer {
  /** Of the instructions and all tools. */
  readonly fingerprint: string
  /** How it was started or reached: program, package and version, address. Empty if not known. */
  readonly start: string
  readonly instructions: string
  readonly tools: Readonly<Record<string, LockedTool>>
}

export interface Lock {
  readonly version: typeof LOCK_VERSION
  readonly servers: Readonly<Record<string, LockedServer>>
}

/** A server as listed now. */
export interface ListedServer extends ScannedServer {
  /** How it is started or reached: see `describeStart`. */
  readonly start?: string
}

export const EMPTY_LOCK: Lock = { version: LOCK_VERSION, servers: {} }

/**
 * Adds new servers and tools to the lock `before`. Existing pins stay, even if the tool changed or is gone: only `approve` changes
 * them. With a scanner, tools with hard findings are skipped.
 */
export function createLock(
  servers: readonly ListedServer[],
  scanner?: Pick<Scanner, 'scanTool' | 'scanInstructions'>,
  before: Lock = EMPTY_LOCK,
): Lock {
  const locked: [string, LockedServer][] = []
  for (const server of servers) {
    const { name } = server
    const old = Object.hasOwn(before.servers, name) ? before.servers[name] : undefined
    const { instructions = '', start = '' } = old ?? server
    if (!old && scanner && isHard(scanner.scanInstructions(name, instructions))) continue
    const pins = Object.entries(old?.tools ?? {}).map(([tool, { definition }]) => [tool, definition] as const)
    const fresh = [...namedTools(server)].filter(
      ([tool, definition]) =>
        !Object.hasOwn(old?.tools ?? {}, tool) && !(scanner && isHard(scanner.scanTool(name, definition))),
    )
    locked.push([name, lockedServer(start || (server.start ?? ''), instructions, [...pins, ...fresh])])
  }
  return lockOf(locked)
}

/** Takes the named servers from another lock. */
export function keepServers(lock: Lock, other: Lock, names: readonly string[]): Lock {
  const kept = Object.entries(other.servers).filter(([name]) => names.includes(name))
  return lockOf([...Object.entries(lock.servers).filter(([name]) => !names.includes(name)), ...kept])
}

const isHard = (findings: readonly { readonly severity: string }[]) =>
  findings.some(({ severity }) => severity === 'hard')

/** Approves the current `server` or `server/tool`: added, changed or gone. Returns a new lock; all other pins stay. */
export function approve(lock: Lock, servers: readonly ListedServer[], target: string): Lock {
  const { server: name, tool } = parseTarget(lock, servers, target)
  const listed = servers.find((server) => server.name === name)
  const others = Object.entries(lock.servers).filter(([key]) => key !== name)
  if (tool === undefined) {
    if (!listed) return lockOf(others)
    const { start = lock.servers[name]?.start ?? '', instructions = '' } = listed
    return lockOf([...others, [name, lockedServer(start, instructions, [...namedTools(listed)])]])
  }
  const old = lock.servers[name]
  const kept = Object.entries(old?.tools ?? {}).filter(([key]) => key !== tool)
  const definition = listed && namedTools(listed).get(tool)
  const tools = [
    ...kept.map(([key, value]) => [key, value.definition] as const),
    ...(definition ? [[tool, definition] as const] : []),
  ]
  // Instructions and start command are approved only with the whole server.
  const { start, instructions } = old ?? { start: listed?.start ?? '', instructions: '' }
  return lockOf([...others, [name, lockedServer(start, instructions, tools)]])
}

/** Approves one change: a tool, or the instructions and start command of a server without its tools. */
export function approveChange(
  lock: Lock,
  servers: readonly ListedServer[],
  { server, tool }: { readonly server: string; readonly tool?: string },
): Lock {
  if (tool !== undefined) return approve(lock, servers, `${server}/${tool}`)
  const listed = servers.find(({ name }) => name === server)
  const others = Object.entries(lock.servers).filter(([key]) => key !== server)
  if (!listed) return lockOf(others)
  const old = Object.hasOwn(lock.servers, server) ? lock.servers[server] : undefined
  const pins = Object.entries(old?.tools ?? {}).map(([key, { definition }]) => [key, definition] as const)
  const { start = old?.start ?? '', instructions = '' } = listed
  return lockOf([...others, [server, lockedServer(start, instructions, pins)]])
}

/** Names may contain slashes, so known names decide where the server name ends. */
function parseTarget(
  lock: Lock,
  servers: readonly ListedServer[],
  target: string,
): { server: string; tool?: string } {
  const names = new Set([...servers.map(({ name }) => name), ...Object.keys(lock.servers)])
  if (names.has(target)) return { server: target }
  const matching = [...names]
    .filter((name) => target.startsWith(`${name}/`))
    .sort((one, other) => other.length - one.length)
  for (const server of matching) {
    const tool = target.slice(server.length + 1)
    const listed = servers.find(({ name }) => name === server)
    if ((listed && namedTools(listed).has(tool)) || Object.hasOwn(lock.servers[server]?.tools ?? {}, tool))
      return { server, tool }
  }
  const known = [...names].sort().slice(0, 20).join(', ')
  const [server] = matching
  throw new LockError(
    'unknown-target',
    server === undefined
      ? `There is no server ${JSON.stringify(target.split('/')[0])} to approve.`
      : `${server} has no tool ${JSON.stringify(target.slice(server.length + 1))}, now or in the lock.`,
    server === undefined
      ? `${known === '' ? 'No server is known' : `Known: ${known}`}.`
      : 'List its tools, or approve the whole server.',
  )
}

function lockedServer(
  start: string,
  instructions: string,
  tools: readonly (readonly [string, unknown])[],
): LockedServer {
  const locked = [...tools]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, tool]): [string, LockedTool] => [
      name,
      { fingerprint: fingerprint(tool), definition: normalised(tool) },
    ])
  const summary = { start, instructions, tools: locked.map(([name, tool]) => [name, tool.fingerprint]) }
  return { fingerprint: fingerprint(summary), start, instructions, tools: record(locked) }
}

function lockOf(servers: readonly (readonly [string, LockedServer])[]): Lock {
  return {
    version: LOCK_VERSION,
    servers: record([...servers].sort(([one], [other]) => (one < other ? -1 : 1))),
  }
}

/** Creates an object without a prototype: a tool may be named `__proto__`. */
function record<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  const result = Object.create(null) as Record<string, T>
  for (const [key, value] of entries) result[key] = value
  return result
}

/** Tools by name. If two tools have the same name, the first wins. */
export function namedTools({ tools }: ListedServer): Map<string, unknown> {
  const named = new Map<string, unknown>()
  for (const tool of tools) {
    const name = readToolName(tool)
    if (name !== undefined && !named.has(name)) named.set(name, tool)
  }
  return named
}

export function readToolName(tool: unknown): string | undefined {
  const name = isRecord(tool) ? tool.name : undefined
  return typeof name === 'string' ? name : undefined
}

export type LockErrorCode =
  /** The file is not a valid lock. */
  | 'corrupt'
  /** The file contains merge conflict markers. */
  | 'conflict'
  /** Written by a newer version. */
  | 'too-new'
  /** The file could not be read or written. */
  | 'failed'
  /** There is no such server or tool to approve. */
  | 'unknown-target'

const brand = Symbol.for('toolwell.mcp.lock-error')

/** An error of a lock file. The file was not changed. */
export class LockError extends Error {
  readonly code: LockErrorCode
  /** First half of the message: what is wrong. */
  readonly problem: string
  readonly fix: string
  readonly [brand] = true

  constructor(code: LockErrorCode, problem: string, fix: string, options: { cause?: unknown } = {}) {
    super(`${problem} ${fix}`, options)
    this.name = 'LockError'
    this.code = code
    this.problem = problem
    this.fix = fix
  }

  /** Works across duplicate installs of this package, unlike `instanceof`. */
  static is(value: unknown): value is LockError {
    return typeof value === 'object' && value !== null && brand in value
  }
}
