/** The running connections of one server: each opened once however many wait for it, and closed when nobody has used it for a while. */
import { type Breaker, createBreaker } from './breaker.js'
import type { Connection } from './connection.js'

export interface PoolOptions {
  /** Milliseconds; infinite for never. */
  readonly idle: number
  readonly now: () => number
  readonly random: () => number
  /** A connection came, went, or is being opened. */
  readonly onChange: () => void
  /** A connection ended that nobody closed. */
  readonly onLost: (reason: string) => void
}

interface Slot {
  /** Those who have it, or wait for it. */
  users: number
  opening: Promise<Connection> | undefined
  connection: Connection | undefined
  idle: NodeJS.Timeout | undefined
}

export class Pool {
  readonly breaker: Breaker
  readonly #options: PoolOptions
  readonly #slots = new Map<string, Slot>()
  readonly #closing = new AbortController()
  readonly #ending = new Set<Promise<void>>()

  constructor(options: PoolOptions) {
    this.#options = options
    this.breaker = createBreaker(options.now, options.random)
  }

  get connections(): Connection[] {
    return [...this.#slots.values()].flatMap(({ connection }) => connection ?? [])
  }

  get isOpening(): boolean {
    return [...this.#slots.values()].some(({ opening }) => opening !== undefined)
  }

  /** Aborted when the pool is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /**
   * Opened once, however many wait for it; every `acquire` that succeeds needs its `release`. Until then nothing but
   * the connection's own end, or ours, takes it away.
   */
  async acquire(key: string, open: () => Promise<Connection>): Promise<Connection> {
    const slot = this.#slots.get(key) ?? {
      users: 0,
      opening: undefined,
      connection: undefined,
      idle: undefined,
    }
    this.#slots.set(key, slot)
    slot.users++
    try {
      if (slot.connection && !slot.connection.isClosed) return slot.connection
      if (!slot.opening) {
        slot.opening = this.#open(key, slot, open)
        this.#options.onChange()
      }
      return await slot.opening
    } catch (error) {
      this.#leave(key, slot)
      throw error
    }
  }

  async #open(key: string, slot: Slot, open: () => Promise<Connection>): Promise<Connection> {
    try {
      const rest = this.breaker.remaining()
      if (rest > 0) await sleep(rest, this.#closing.signal)
      const connection = await open()
      if (this.#closing.signal.aborted) {
        await connection.close()
        throw this.#closing.signal.reason
      }
      slot.connection = connection
      void connection.closed.then((reason) => {
        if (slot.connection !== connection) return
        this.#forget(key, slot)
        this.breaker.fail()
        this.#options.onLost(reason)
        this.#options.onChange()
      })
      return connection
    } finally {
      slot.opening = undefined
      this.#options.onChange()
    }
  }

  /** When the last user leaves, the idle timer starts, or with `isDone` the connection is closed at once. */
  release(key: string, isDone = false): void {
    const slot = this.#slots.get(key)
    if (!slot) return
    this.#leave(key, slot)
    if (slot.users > 0 || !slot.connection) return
    if (isDone) this.#retire(key, slot)
    // One timer for all calls, restarted after each. A connection that is in use when it fires stays open.
    else if (slot.idle) slot.idle.refresh()
    else if (Number.isFinite(this.#options.idle)) {
      slot.idle = setTimeout(() => this.#retire(key, slot), this.#options.idle)
      slot.idle.unref()
    }
  }

  #leave(key: string, slot: Slot): void {
    slot.users--
    if (slot.users === 0 && !slot.connection && !slot.opening && this.#slots.get(key) === slot)
      this.#slots.delete(key)
  }

  /** Closes a connection that works. Nobody waits for its end but `close`. */
  #retire(key: string, slot: Slot): void {
    const { connection } = slot
    if (!connection || slot.users > 0) return
    this.#forget(key, slot)
    this.#end(connection)
    this.#options.onChange()
  }

  #end(connection: Connection): void {
    const end = connection.close().finally(() => this.#ending.delete(end))
    this.#ending.add(end)
  }

  /** Closes a connection that does not. */
  drop(key: string, connection: Connection): void {
    const slot = this.#slots.get(key)
    if (slot?.connection === connection) {
      this.#forget(key, slot)
      this.breaker.fail()
      this.#options.onChange()
    }
    this.#end(connection)
  }

  async close(reason: Error): Promise<void> {
    this.#closing.abort(reason)
    const slots = [...this.#slots]
    const ends = slots.map(async ([key, slot]) => {
      const { connection, opening } = slot
      this.#forget(key, slot)
      await connection?.close()
      await opening?.catch(() => undefined)
    })
    await Promise.all([...ends, ...this.#ending])
  }

  #forget(key: string, slot: Slot): void {
    clearTimeout(slot.idle)
    slot.idle = undefined
    slot.connection = undefined
    if (slot.users === 0 && !slot.opening && this.#slots.get(key) === slot) this.#slots.delete(key)
  }
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', stop, { once: true })
  })
}
