/** An error that the user can fix. The command prints its message; every other error is a bug. */
import { dropUndefined } from '@toolwell/core/internal'
import type { ExitCode } from './verb.js'

export interface ProblemOptions {
  /** A code for programs. Default: `failed`, or `usage`. */
  readonly reason?: string
  /** The arguments are wrong, so the message also points to the manual page. */
  readonly isUsage?: boolean
  /** Default 2. */
  readonly exit?: Exclude<ExitCode, 0>
  /** More fields for the JSON output. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

export class Problem extends Error {
  readonly reason: string
  /** A sentence that says what to do. */
  readonly fix: string
  readonly isUsage: boolean
  readonly exit: Exclude<ExitCode, 0>
  readonly details: Readonly<Record<string, unknown>>

  constructor(message: string, fix = '', options: ProblemOptions = {}) {
    const { isUsage = false, reason = isUsage ? 'usage' : 'failed', exit = 2, details = {}, cause } = options
    super(message, dropUndefined({ cause }))
    this.name = 'Problem'
    this.reason = reason
    this.fix = fix
    this.isUsage = isUsage
    this.exit = exit
    this.details = details
  }
}

export function usageProblem(message: string, fix = ''): Problem {
  return new Problem(message, fix, { isUsage: true })
}
