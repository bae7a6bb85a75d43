/**
 * Whether a server waits for a login. While it does, somebody may log in elsewhere at any time; and it may have refused one
 * call only, or let everybody in again: it is tried by itself, less and less often.
 */
import { Later } from './watchdog.js'

/** Milliseconds until it is tried again. Each time is twice as long as the last. */
const FIRST_TRY = 1000
const LAST_TRY = 600_000

export class LoginNeed {
  isNeeded = false
  #isOver = false
  #stopWatching: (() => void) | undefined
  #isWaiting = false
  #tries = 0
  readonly #later = new Later()
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
    this.#later.in(Math.min(FIRST_TRY * 2 ** this.#tries, LAST_TRY), () => {
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
