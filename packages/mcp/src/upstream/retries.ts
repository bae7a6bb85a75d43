/** Waits and retries of one server: abortable waits, a timer, repeated listings, and attempts while a login is missing. */

/** Work that somebody may stop waiting for. The work itself goes on. */
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

/** One piece of work for later. A new one takes the place of the last, and none keeps a program alive. */
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

// Lists that have to be read again. However often a server says that its list has changed, the listing under way is finished and used, and one more follows it, after a while.

/** Milliseconds between two listings that follow each other. */
const LEAST_PAUSE = 1000

export class Relisting {
  #underWay: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** By connection: several may have said so meanwhile. */
  readonly #asked = new Map<object, () => Promise<void>>()
  #last = Number.NEGATIVE_INFINITY

  /** What a call has to wait for, because the list may have changed since its caller saw it. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay
  }

  /** The same for a call of a tool that is not known: also a listing that is to come. */
  get due(): Promise<void> | undefined {
    return this.#next ?? this.#underWay
  }

  /** `list` must not throw. What is asked for before the next listing begins is part of it. */
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

// Whether a server waits for a login. While it does, somebody may log in elsewhere at any time; and it may have refused one call only, or let everybody in again: it is tried by itself, less and less often.

/** Milliseconds until it is tried again. Each time is twice as long as the last. */
const FIRST_TRY = 1000
const LAST_TRY = 600_000

export class LoginNeed {
  isNeeded = false
  #isOver = false
  #stopWatching: (() => void) | undefined
  #isWaiting = false
  #tries = 0
  readonly #later = new SingleTimer()
  readonly #watch: () => (() => void) | undefined
  readonly #tryAgain: () => Promise<void>

  /**
   * `watch` looks out for new credentials, where there are any to look for; it gives a function that stops it. `tryAgain`
   * sets what comes of it, and must not throw.
   */
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
        // Whatever came of it.
        if (this.isNeeded) this.set(true)
      })
    })
  }

  /** Nobody is looked out for any more. */
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
