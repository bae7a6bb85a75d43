/** Whether a server waits for a login. While it does, somebody may log in elsewhere at any time. */

export class LoginNeed {
  isNeeded = false
  #isOver = false
  #stopWatching: (() => void) | undefined
  readonly #watch: () => (() => void) | undefined

  /** `watch` looks out for new credentials, where there are any to look for; it gives a function that stops it. */
  constructor(watch: () => (() => void) | undefined) {
    this.#watch = watch
  }

  set(isNeeded: boolean): void {
    this.isNeeded = isNeeded
    if (isNeeded && !this.#isOver) this.#stopWatching ??= this.#watch()
    else this.#stop()
  }

  /** Nobody is looked out for any more. */
  end(): void {
    this.#isOver = true
    this.#stop()
  }

  #stop(): void {
    this.#stopWatching?.()
    this.#stopWatching = undefined
  }
}
