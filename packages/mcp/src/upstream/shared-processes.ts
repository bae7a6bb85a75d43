/**
 * Processes shared by several server sets. Each is started once, and ends when the last set releases it. Only the connection is
 * shared: definitions, reviews and permissions are separate.
 */

import type { Result } from '@modelcontextprotocol/client'
import { canonicalJson } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'
import type { McpTool, ServerDefinition } from '../definition/server-definition.js'
import type { Place } from './choose-place.js'
import type { CallOptions, Connection, ServerRequest } from './connection.js'
import { AnswerLost, ConnectionLost } from './failures.js'
import { abortable } from './retries.js'
import { createWatchdog, type Watchdog } from './watchdog.js'

/** A user of a process. */
export interface ProcessUser {
  /** Aborts waiting for the process. */
  readonly signal: AbortSignal
  readonly onListChanged: () => void
  /** Called before the start with the server after its references were resolved. Their values are secret. */
  readonly onResolved: (server: ServerConfig) => void
}

export type OpenProcess = (user: ProcessUser) => Promise<Connection>

export class SharedProcesses {
  /** For all processes, including those that are not shared. */
  readonly watchdog: Watchdog = createWatchdog()
  readonly #processes = new Map<string, SharedProcess>()

  /** Connects to a running or starting process; otherwise calls `start`. The caller must close the connection. */
  open(key: string, user: ProcessUser, start: OpenProcess): Promise<Connection> {
    const known = this.#processes.get(key)
    if (known && !known.isOver) return known.join(user)
    const made: SharedProcess = new SharedProcess(start, () => {
      if (this.#processes.get(key) === made) this.#processes.delete(key)
    })
    this.#processes.set(key, made)
    return made.join(user)
  }

  /** Call after all sets are closed. Idempotent. */
  close(): void {
    this.watchdog.close()
  }
}

/**
 * Key of a local server's process that is the same for everyone in every folder; undefined for other servers. Includes the config
 * file, because trust depends on it: an equal entry in another project is another server.
 */
export function processKey(server: ServerConfig, place: Place): string | undefined {
  const { name, file, endpoint, share, timeout, workspace } = server
  const isForAll = workspace.need === 'none' && share === 'all' && place.folder === ''
  if (!isForAll || file === undefined || endpoint.type !== 'stdio') return undefined
  return canonicalJson({ file, name, endpoint, timeout, place: place.key })
}

class SharedProcess {
  readonly #start: OpenProcess
  readonly #onOver: () => void
  readonly #users = new Map<ProcessUser, Lease | undefined>()
  readonly #giveUp = new AbortController()
  #opening: Promise<Connection> | undefined
  #connection: Connection | undefined
  #server: ServerConfig | undefined
  #isOver = false

  constructor(start: OpenProcess, onOver: () => void) {
    this.#start = start
    this.#onOver = onOver
  }

  /** Nobody can join any more. */
  get isOver(): boolean {
    return this.#isOver || this.#connection?.isClosed === true
  }

  async join(user: ProcessUser): Promise<Connection> {
    this.#users.set(user, undefined)
    if (this.#server) user.onResolved(this.#server)
    const opening = this.#opening ?? this.#open()
    try {
      const connection = await abortable(opening, user.signal, () => user.signal.reason)
      const lease = new Lease(connection, {
        leave: () => this.#leave(user),
        fail: () => this.#end(connection),
      })
      this.#users.set(user, lease)
      return lease
    } catch (error) {
      const isLast = this.#users.size === 1
      await this.#leave(user)
      // The last output of the program says more than the abort reason.
      throw isLast ? await opening.then(() => error).catch((why: unknown) => why) : error
    }
  }

  #open(): Promise<Connection> {
    const opening = this.#start({
      signal: this.#giveUp.signal,
      onListChanged: () => {
        for (const { onListChanged } of [...this.#users.keys()]) onListChanged()
      },
      onResolved: (server) => {
        this.#server = server
        for (const { onResolved } of this.#users.keys()) onResolved(server)
      },
    })
    this.#opening = opening
    opening.then(
      (connection) => {
        this.#connection = connection
        void connection.closed.then((reason) => this.#ended(reason))
      },
      () => this.#finish(),
    )
    return opening
  }

  #finish(): void {
    this.#isOver = true
    this.#onOver()
  }

  #ended(reason: string): void {
    this.#finish()
    for (const lease of this.#users.values()) lease?.end(reason)
  }

  /** Ends the process for all users. */
  async #end(connection: Connection): Promise<void> {
    this.#finish()
    await connection.close()
  }

  /** After the last user left, waits for the end of the process. */
  async #leave(user: ProcessUser): Promise<void> {
    if (!this.#users.delete(user) || this.#users.size > 0) return
    this.#finish()
    this.#giveUp.abort(user.signal.reason)
    const connection = await this.#opening?.catch(() => undefined)
    await connection?.close()
  }
}

interface LeaseOptions {
  /** Releases the lease. If it was the last, resolves when the connection has ended. */
  readonly leave: () => Promise<void>
  /** Called when the connection is broken. */
  readonly fail: () => Promise<void>
}

const CLOSED = 'the connection was closed'

class Lease implements Connection {
  readonly era: Connection['era']
  readonly closed: Promise<string>
  readonly #connection: Connection
  readonly #options: LeaseOptions
  readonly #calls = new Set<AbortController>()
  #end: (reason: string) => void = () => undefined
  #isOver = false
  #leaving: Promise<void> | undefined

  constructor(connection: Connection, options: LeaseOptions) {
    this.era = connection.era
    this.#connection = connection
    this.#options = options
    this.closed = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  get pid(): number | null {
    return this.#connection.pid
  }

  /** Calls of all leases. */
  get busy(): number {
    return this.#connection.busy
  }

  get isClosed(): boolean {
    return this.#isOver || this.#connection.isClosed
  }

  /** The connection has ended. */
  end(reason: string): void {
    this.#isOver = true
    this.#end(reason)
  }

  list(signal: AbortSignal): Promise<ServerDefinition> {
    return this.#connection.list(signal)
  }

  async request(
    asked: ServerRequest,
    tool: McpTool | undefined,
    { signal, ...options }: CallOptions,
  ): Promise<Result> {
    if (this.isClosed) throw new ConnectionLost(CLOSED, false)
    const call = new AbortController()
    const stop = () => call.abort(signal?.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    this.#calls.add(call)
    try {
      return await this.#connection.request(asked, tool, { ...options, signal: call.signal })
    } catch (error) {
      const isLost = error instanceof ConnectionLost && !(error instanceof AnswerLost)
      if (isLost) void this.#options.fail().catch(() => undefined)
      // Cancelled by closing the lease, not by the caller.
      else if (call.signal.aborted && !signal?.aborted)
        throw new ConnectionLost(CLOSED, true, { cause: error })
      throw error
    } finally {
      this.#calls.delete(call)
      signal?.removeEventListener('abort', stop)
    }
  }

  rootsChanged(): Promise<void> {
    return this.#connection.rootsChanged()
  }

  close(): Promise<void> {
    this.#leaving ??= this.#leave()
    return this.#leaving
  }

  async #leave(): Promise<void> {
    this.end(CLOSED)
    for (const call of this.#calls) call.abort(new Error(CLOSED))
    await this.#options.leave()
  }
}
