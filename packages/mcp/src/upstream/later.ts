/** One piece of work for later. A new one takes the place of the last, and none keeps a program alive. */
export class Later {
  #timer: NodeJS.Timeout | undefined

  in(milliseconds: number, work: () => void): void {
    this.clear()
    this.#timer = setTimeout(work, milliseconds)
    this.#timer.unref()
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}
