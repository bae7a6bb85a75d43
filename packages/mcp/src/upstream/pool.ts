/** The connections of one server: each is opened once for all waiting callers, and closed when idle. Delays attempts after failures. */

import type { Place } from './choose-place.js'
import type { Connection } from './connection.js'
import type { LossReason } from './server-state.js'

export interface PoolOptions {
  /** Milliseconds; `Infinity` for never. */
  readonly idle: (place: Place) => number
  readonly now: () => number
  readonly random: () => number
  /** Called when a connection is opened, opening, or closed. */
  readonly onChange: () => void
  /** Called when a connection ended by itself. */
  readonly onLost: (place: Place, reason: string) => void
  /** Called when a used connection is gone. Its callers may come back. */
  readonly onGone: (place: Place, reason: LossReason) => void
}

export interface Running {
  readonly place: Place
  readonly connection: Connection
}

interface Slot {
  readonly place: Place
  /** Number of users, including waiting ones. */
  users: number
  opening: Promise<Connection> | undefined
  connection: Connection | undefined
  idle: NodeJS.Timeout | undefined
  /** When the last user left, in milliseconds of this process. */
  idleSince: number
  /** A call was sent on the connection. */
  isUsed: boolean
  /** Its client has left. The connection closes after its last call. */
  isLeft: boolean
}

export class Pool {
  readonly #options: PoolOptions
  readonly #slots = new Map<string, Slot>()
  /** By folder: a server may fail in one project and work in another. */
  readonly #breakers = new Map<string, Breaker>()
  readonly #closing = new AbortController()
  readonly #ending = new Set<Promise<void>>()

  constructor(options: PoolOptions) {
    this.#options = options
  }

  breaker({ folder }: Pick<Place, 'folder'>): Breaker {
    const known = this.#breakers.get(folder) ?? createBreaker(this.#options.now, this.#options.random)
    this.#breakers.set(folder, known)
    return known
  }

  /** Open connections with their places. */
  running(): Running[] {
    return [...this.#slots.values()].flatMap(({ place, connection }) =>
      connection ? [{ place, connection }] : [],
    )
  }

  find({ key }: Pick<Place, 'key'>): Connection | undefined {
    return this.#slots.get(key)?.connection
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

  /** Returns an open connection at once, if there is one. It needs a `release`, like `acquire`. */
  take({ key }: Place): Connection | undefined {
    const slot = this.#slots.get(key)
    if (!slot?.connection || slot.connection.isClosed) return undefined
    slot.users++
    slot.isLeft = false
    return slot.connection
  }

  /** Opens a connection once for all waiting callers. Every successful `acquire` needs a `release`; until then the connection is not closed as idle. */
  async acquire(place: Place, open: () => Promise<Connection>): Promise<Connection> {
    const { key } = place
    const slot = this.#slots.get(key) ?? {
      place,
      users: 0,
      opening: undefined,
      connection: undefined,
      idle: undefined,
      idleSince: 0,
      isUsed: false,
      isLeft: false,
    }
    this.#slots.set(key, slot)
    slot.users++
    slot.isLeft = false
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
      const rest = this.breaker(slot.place).remaining()
      if (rest > 0) await sleep(rest, this.#closing.signal)
      const connection = await open()
      if (this.#closing.signal.aborted) {
        await connection.close()
        throw this.#closing.signal.reason
      }
      slot.connection = connection
      void connection.closed.then((reason) => {
        if (slot.connection !== connection) return
        this.#forget(key, slot, 'ended')
        this.breaker(slot.place).fail()
        this.#options.onLost(slot.place, reason)
        this.#options.onChange()
      })
      return connection
    } finally {
      slot.opening = undefined
      this.#options.onChange()
    }
  }

  /** After the last release, the idle timer starts. With `isDone`, a connection without state of a caller is closed at once. */
  release({ key }: Place, isDone = false): void {
    const slot = this.#slots.get(key)
    if (!slot) return
    this.#leave(key, slot)
    if (slot.users > 0 || !slot.connection) return
    if ((isDone && !slot.isUsed) || slot.isLeft) this.#retire(key, slot)
    else {
      slot.idleSince = performance.now()
      this.#waitForIdle(key, slot)
    }
  }

  /** One timer for many calls. When it fires, it checks the time of the last call. */
  #waitForIdle(key: string, slot: Slot): void {
    if (slot.idle) return
    const idle = this.#options.idle(slot.place)
    if (!Number.isFinite(idle)) return
    const rest = slot.idleSince + idle - performance.now()
    slot.idle = setTimeout(() => {
      slot.idle = undefined
      // In use again: the next release restarts the timer.
      if (slot.users > 0) return
      if (slot.idleSince + idle > performance.now() + 1) this.#waitForIdle(key, slot)
      else this.#retire(key, slot)
    }, rest)
    slot.idle.unref()
  }

  /** Marks a connection as used: the server may now have state of its caller. */
  use({ key }: Place): void {
    const slot = this.#slots.get(key)
    if (slot) slot.isUsed = true
  }

  /** Keeps a connection with subscriptions open. Every other method changes nothing. */
  keepSubscribed(place: Place, method: string): void {
    if (method === 'resources/subscribe') this.take(place)
    if (method === 'resources/unsubscribe') this.release(place)
  }

  /** Closes the connections that only this client used. */
  leave(client: string): void {
    for (const [key, slot] of this.#slots)
      if (slot.place.owner.client === client) {
        slot.isLeft = true
        this.#retire(key, slot)
      }
  }

  /** Stops every server, a busy one after its current calls. Earlier failures no longer delay a start. */
  stop(): void {
    for (const breaker of this.#breakers.values()) breaker.succeed()
    for (const [key, slot] of this.#slots) {
      this.#announceLoss(slot, 'ended')
      slot.isLeft = true
      this.#retire(key, slot)
    }
  }

  /** Announces all used connections as gone, because the config changed. */
  giveUp(): void {
    for (const slot of this.#slots.values()) this.#announceLoss(slot, 'changed')
  }

  #announceLoss(slot: Slot, reason: LossReason): void {
    if (!slot.isUsed) return
    slot.isUsed = false
    this.#options.onGone(slot.place, reason)
  }

  #leave(key: string, slot: Slot): void {
    slot.users--
    if (slot.users === 0 && !slot.connection && !slot.opening && this.#slots.get(key) === slot)
      this.#slots.delete(key)
  }

  /** Closes a working connection. Only `close` waits for its end. */
  #retire(key: string, slot: Slot): void {
    const { connection } = slot
    if (!connection || slot.users > 0) return
    this.#forget(key, slot, slot.isLeft ? undefined : 'idle')
    this.#end(connection)
    this.#options.onChange()
  }

  #end(connection: Connection): void {
    const end = connection.close().finally(() => this.#ending.delete(end))
    this.#ending.add(end)
  }

  /** Closes a broken connection. */
  drop({ key }: Place, connection: Connection): void {
    const slot = this.#slots.get(key)
    if (slot?.connection === connection) {
      this.#forget(key, slot, 'ended')
      this.breaker(slot.place).fail()
      this.#options.onChange()
    }
    this.#end(connection)
  }

  async close(reason: Error): Promise<void> {
    this.#closing.abort(reason)
    const slots = [...this.#slots]
    const ends = slots.map(async ([key, slot]) => {
      const { connection, opening } = slot
      this.#forget(key, slot, undefined)
      await connection?.close()
      await opening?.catch(() => undefined)
    })
    await Promise.all([...ends, ...this.#ending])
  }

  #forget(key: string, slot: Slot, reason: LossReason | undefined): void {
    if (slot.connection && reason) this.#announceLoss(slot, reason)
    slot.isUsed = false
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

const FIRST = 500
const LONGEST = 60_000

export interface Breaker {
  /** Failures in a row. */
  readonly failures: number
  /** Milliseconds until the next attempt; 0 if it is allowed now. */
  remaining(): number
  fail(): void
  succeed(): void
}

/** Delays attempts after failures. No delay after the first failure; from the second on, each failure doubles it. */
function createBreaker(now: () => number, random: () => number): Breaker {
  let failures = 0
  let until = 0
  return {
    get failures() {
      return failures
    },
    remaining: () => Math.max(0, until - now()),
    fail() {
      failures++
      // Twenty doublings exceed the longest delay.
      const rest = failures < 2 ? 0 : Math.min(LONGEST, FIRST * 2 ** Math.min(failures - 2, 20))
      until = now() + rest * (0.75 + random() / 2)
    },
    succeed() {
      failures = 0
      until = 0
    },
  }
}
