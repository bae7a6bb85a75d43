/**
 * Processes that several sets of servers have in common. Each is started once, and ends when the last set that has it lets go. Only
 * the connection is shared: what a set knows, reviews and allows of a server is its own.
 */
import { canonicalJson } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'
import { abortable } from './abortable.js'
import type { Connection } from './connection.js'
import { Lease } from './lease.js'
import type { Place } from './place.js'
import { createWatchdog, type Watchdog } from './watchdog.js'

/** Whoever starts a process, or comes to one. */
export interface ProcessUser {
  /** It stops waiting. */
  readonly signal: AbortSignal
  readonly onListChanged: () => void
  /** The server with its references resolved: what came out of them is secret. Told before anything is started. */
  readonly onResolved: (server: ServerConfig) => void
}

export type OpenProcess = (user: ProcessUser) => Promise<Connection>

export class SharedProcesses {
  /** One for all: also for what is not shared. */
  readonly watchdog: Watchdog = createWatchdog()
  readonly #processes = new Map<string, SharedProcess>()

  /** Gives a connection to a process that runs or is being started; otherwise `start` starts it. To be closed like one's own. */
  open(key: string, user: ProcessUser, start: OpenProcess): Promise<Connection> {
    const known = this.#processes.get(key)
    if (known && !known.isOver) return known.join(user)
    const made: SharedProcess = new SharedProcess(start, () => {
      if (this.#processes.get(key) === made) this.#processes.delete(key)
    })
    this.#processes.set(key, made)
    return made.join(user)
  }

  /** Once every set is closed. Idempotent. */
  close(): void {
    this.watchdog.close()
  }
}

/**
 * Names the process of a local server that is the same for everyone in every folder; undefined for any other. The file that its
 * entry stands in is part of it: that is what trust is bound to, and the same words in another project are another server.
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

  /** Nobody can come to it any more. */
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
      // What a program said before it was given up says more than that it was.
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

  /** It does not work any more, for anyone. */
  async #end(connection: Connection): Promise<void> {
    this.#finish()
    await connection.close()
  }

  /** Where nobody is left, waits until it has ended. */
  async #leave(user: ProcessUser): Promise<void> {
    if (!this.#users.delete(user) || this.#users.size > 0) return
    this.#finish()
    this.#giveUp.abort(user.signal.reason)
    const connection = await this.#opening?.catch(() => undefined)
    await connection?.close()
  }
}
