/** Waits and retries of one server: abortable waits, a timer, repeated listings, and attempts while a login is missing. */

/** Waits for work until the signal aborts. The work itself continues. */
export function abortable<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  reason: () => Error = () => new Error('cancelled'),
): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(reason())
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** A timer for one piece of work. A new one replaces the last. Does not keep the process alive. */
export class SingleTimer {
  #timer: NodeJS.Timeout | undefined

  start(milliseconds: number, work: () => void): void {
    this.clear()
    this.#timer = setTimeout(work, milliseconds)
    this.#timer.unref()
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}

/** Minimum milliseconds between two listings. */
const LEAST_PAUSE = 1000

/** Lists again after changes. However often a server announces a change, the current listing finishes, and one more follows after a pause. */
export class Relisting {
  #underWay: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** Requested listings, by connection. */
  readonly #asked = new Map<object, () => Promise<void>>()
  #last = Number.NEGATIVE_INFINITY

  /** The current listing. A call must wait for it, because the list may have changed since its caller saw it. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay
  }

  /** The next or current listing, for a call of an unknown tool. */
  get due(): Promise<void> | undefined {
    return this.#next ?? this.#underWay
  }

  /** Requests a listing. `list` must not throw. Requests before the next listing starts are combined. */
  ask(connection: object, list: () => Promise<void>): void {
    this.#asked.set(connection, list)
    if (this.#next) return
    if (this.#underWay || this.#pause() > 0) this.#next = this.#later()
    else void this.#begin()
  }

  async #later(): Promise<void> {
    await this.#underWay
    await new Promise<void>((resolve) => setTimeout(resolve, this.#pause()).unref())
    this.#next = undefined
    await this.#begin()
  }

  #pause(): number {
    return Math.max(0, this.#last + LEAST_PAUSE - performance.now())
  }

  #begin(): Promise<void> {
    this.#underWay = Promise.resolve().then(async () => {
      const lists = [...this.#asked.values()]
      this.#asked.clear()
      for (const list of lists) await list()
      this.#last = performance.now()
      this.#underWay = undefined
    })
    return this.#underWay
  }
}

/** Milliseconds until the next attempt. Each pause is twice as long as the last. */
const FIRST_TRY = 1000
const LAST_TRY = 600_000

/** State of a server that needs a login. Watches for a login by another program, and tries the server again, less and less often. */
export class LoginNeed {
  isNeeded = false
  #isOver = false
  #stopWatching: (() => void) | undefined
  #isWaiting = false
  #tries = 0
  readonly #later = new SingleTimer()
  readonly #watch: () => (() => void) | undefined
  readonly #tryAgain: () => Promise<void>

  /** `watch` watches for new credentials and returns a function that stops it. `tryAgain` must call `set`, and must not throw. */
  constructor(watch: () => (() => void) | undefined, tryAgain: () => Promise<void>) {
    this.#watch = watch
    this.#tryAgain = tryAgain
  }

  set(isNeeded: boolean): void {
    this.isNeeded = isNeeded
    if (!isNeeded || this.#isOver) {
      this.#stop()
      return
    }
    this.#stopWatching ??= this.#watch()
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#later.start(Math.min(FIRST_TRY * 2 ** this.#tries, LAST_TRY), () => {
      this.#tries++
      void this.#tryAgain().then(() => {
        this.#isWaiting = false
        if (this.isNeeded) this.set(true)
      })
    })
  }

  /** Stops watching. */
  end(): void {
    this.#isOver = true
    this.#stop()
  }

  #stop(): void {
    this.#later.clear()
    this.#isWaiting = false
    this.#tries = 0
    this.#stopWatching?.()
    this.#stopWatching = undefined
  }
}
