/** Lists that have to be read again: however often a server says that its list has changed, one listing follows the one under way. */

export class Relisting {
  #underWay: Promise<void> | undefined
  #isAsked = false

  /** What a call has to wait for, because the list may have changed since its caller saw it. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay
  }

  /** `list` must not throw. */
  ask(list: () => Promise<void>): void {
    if (this.#isAsked) return
    this.#isAsked = true
    this.#underWay = (this.#underWay ?? Promise.resolve()).then(async () => {
      this.#isAsked = false
      await list()
      if (!this.#isAsked) this.#underWay = undefined
    })
  }
}
