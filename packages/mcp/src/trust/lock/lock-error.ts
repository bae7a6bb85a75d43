/** What can be wrong with a lock file. Each says what to do; none of them changes the file. */

export type LockErrorCode =
  /** The file is no lock: cut off, edited by hand, or something else. */
  | 'corrupt'
  /** Markers of a merge stand in it. */
  | 'conflict'
  /** A newer program wrote it. */
  | 'too-new'
  /** It could not be read or written. */
  | 'failed'
  /** There is no such server or tool to approve. */
  | 'unknown-target'

const brand = Symbol.for('toolwell.mcp.lock-error')

export class LockError extends Error {
  readonly code: LockErrorCode
  /** The message in its two halves: what is wrong, and what to do about it. */
  readonly problem: string
  readonly fix: string
  readonly [brand] = true

  constructor(code: LockErrorCode, problem: string, fix: string, options: { cause?: unknown } = {}) {
    super(`${problem} ${fix}`, options)
    this.name = 'LockError'
    this.code = code
    this.problem = problem
    this.fix = fix
  }

  /** Holds across duplicate installs of this package, where `instanceof` does not. */
  static is(value: unknown): value is LockError {
    return typeof value === 'object' && value !== null && brand in value
  }
}
