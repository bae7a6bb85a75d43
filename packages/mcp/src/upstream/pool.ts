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
  opening: Promise<Connection> | undefined
  connection: Connection | undefined
  idle: NodeJS.Timeout | undefined
}

export class Pool {
  readonly breaker: Breaker
  readonly #options: PoolOptions
  readonly #slots = new Map<string, Slot>()
  readonly #closing = new AbortController()

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

  /** A failed `open` counts against the server unless it says otherwise. A caller that gives up leaves the others waiting. */
  acquire(key: string, open: () => Promise<Connection>): Promise<Connection> {
    const slot = this.#slots.get(key) ?? { opening: undefined, connection: undefined, idle: undefined }
    this.#slots.set(key, slot)
    clearTimeout(slot.idle)
    if (slot.connection && !slot.connection.isClosed) return Promise.resolve(slot.connection)
    if (slot.opening) return slot.opening
    slot.opening = this.#open(key, slot, open)
    this.#options.onChange()
    return slot.opening
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
      if (!slot.connection) this.#forget(key, slot)
      this.#options.onChange()
    }
  }

  /** Nobody uses the connection now: the clock starts. */
  release(key: string): void {
    const slot = this.#slots.get(key)
    const connection = slot?.connection
    if (!slot || !connection) return
    clearTimeout(slot.idle)
    if (connection.busy > 0 || !Number.isFinite(this.#options.idle)) return
    slot.idle = setTimeout(() => {
      if (slot.connection === connection && connection.busy === 0) void this.retire(key)
    }, this.#options.idle)
    slot.idle.unref()
  }

  /** Closes a connection that works. */
  async retire(key: string): Promise<void> {
    const slot = this.#slots.get(key)
    const connection = slot?.connection
    if (!slot || !connection) return
    this.#forget(key, slot)
    this.#options.onChange()
    await connection.close()
  }

  /** Closes a connection that does not. */
  async drop(key: string, connection: Connection): Promise<void> {
    const slot = this.#slots.get(key)
    if (slot?.connection === connection) {
      this.#forget(key, slot)
      this.breaker.fail()
      this.#options.onChange()
    }
    await connection.close()
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
    await Promise.all(ends)
  }

  #forget(key: string, slot: Slot): void {
    clearTimeout(slot.idle)
    slot.connection = undefined
    if (this.#slots.get(key) === slot && !slot.opening) this.#slots.delete(key)
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
