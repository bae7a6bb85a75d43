/**
 * Lists that have to be read again. However often a server says that its list has changed, the listing under way is
 * finished and used, and one more follows it, after a while.
 */

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
