/** How long a server that keeps failing is left alone. */

const FIRST = 500
const LONGEST = 60_000

export interface Breaker {
  /** Failures in a row. */
  readonly failures: number
  /** Milliseconds until the next try is due; 0 when it may be made now. */
  remaining(): number
  fail(): void
  succeed(): void
}

/** The first failure costs no wait: servers die for reasons of their own. From the second on, each doubles it. */
export function createBreaker(now: () => number, random: () => number): Breaker {
  let failures = 0
  let until = 0
  return {
    get failures() {
      return failures
    },
    remaining: () => Math.max(0, until - now()),
    fail() {
      failures++
      // Twenty doublings are more than the longest wait already.
      const rest = failures < 2 ? 0 : Math.min(LONGEST, FIRST * 2 ** Math.min(failures - 2, 20))
      until = now() + rest * (0.75 + random() / 2)
    },
    succeed() {
      failures = 0
      until = 0
    },
  }
}
