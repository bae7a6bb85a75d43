/** Limits of the calls that one principal makes at one server, at the same time and in a minute, and turns for searches. */
import type { ServerConfig } from '@toolwell/mcp'
import { prompts } from '../prompts.js'

export type Limited = Pick<ServerConfig, 'name' | 'file' | 'maxConcurrentCalls' | 'maxCallsPerMinute'>

/** A call that may run until `release`, or the sentence that says which limit refused it. */
export type Taken = { readonly release: () => void } | { readonly refusal: string }

interface Use {
  running: number
  /** Calls that may be made at once. Grows with time, up to the limit of a minute. */
  allowance: number
  at: number
}

const MINUTE = 60_000
/** Above this, uses that limit nothing any more are forgotten. */
const MOST_USES = 1000

export class CallLimits {
  readonly #uses = new Map<string, Use>()
  readonly #now: () => number

  readonly #searches = new Map<string, (() => void)[]>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Waits until the caller may search. The callers take turns, and other requests are answered between two searches. */
  searchTurn(caller: string): Promise<void> {
    if (this.#searches.size === 0) setImmediate(() => this.#nextSearch())
    return new Promise((resolve) => {
      const waiting = this.#searches.get(caller)
      if (waiting) waiting.push(resolve)
      else this.#searches.set(caller, [resolve])
    })
  }

  #nextSearch(): void {
    const [next] = this.#searches
    if (!next) return
    const [caller, waiting] = next
    waiting.shift()?.()
    this.#searches.delete(caller)
    if (waiting.length > 0) this.#searches.set(caller, waiting)
    if (this.#searches.size > 0) setImmediate(() => this.#nextSearch())
  }

  take(principal: string, { name, file, maxConcurrentCalls, maxCallsPerMinute }: Limited): Taken {
    if (maxConcurrentCalls === 0 && maxCallsPerMinute === 0) return { release: () => undefined }
    const now = this.#now()
    const key = JSON.stringify([principal, file, name])
    const use = this.#uses.get(key) ?? { running: 0, allowance: maxCallsPerMinute, at: now }
    if (maxConcurrentCalls > 0 && use.running >= maxConcurrentCalls)
      return { refusal: prompts.tooManyAtOnce({ server: name, most: maxConcurrentCalls }) }
    if (maxCallsPerMinute > 0) {
      const grown = use.allowance + (Math.max(0, now - use.at) * maxCallsPerMinute) / MINUTE
      use.allowance = Math.min(maxCallsPerMinute, grown)
      use.at = now
      if (use.allowance < 1) {
        const seconds = Math.ceil(((1 - use.allowance) * MINUTE) / maxCallsPerMinute / 1000)
        this.#uses.set(key, use)
        return { refusal: prompts.tooManyPerMinute({ server: name, most: maxCallsPerMinute, seconds }) }
      }
      use.allowance--
    }
    use.running++
    this.#uses.set(key, use)
    let isOver = false
    return {
      release: () => {
        if (isOver) return
        isOver = true
        use.running--
        if (use.running > 0) return
        if (maxCallsPerMinute === 0) this.#uses.delete(key)
        else if (this.#uses.size > MOST_USES) this.#forget()
      },
    }
  }

  /** After a minute without calls, the allowance is whole again. */
  #forget(): void {
    const now = this.#now()
    for (const [key, { running, at }] of this.#uses)
      if (running === 0 && now - at >= MINUTE) this.#uses.delete(key)
  }
}
