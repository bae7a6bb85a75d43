/** What stops a verb: something the user can fix. It is printed as it is; every other error is a bug in the command. */
import { dropUndefined } from '@toolwell/core/internal'
import type { ExitCode } from './verb.js'

export interface ProblemOptions {
  /** One word for programs. Default: `failed`, or `usage`. */
  readonly reason?: string
  /** Shows where the manual is: the words of the command line themselves are wrong. */
  readonly isUsage?: boolean
  /** Default 2: it could not be done. */
  readonly exit?: Exclude<ExitCode, 0>
  /** What else programs are told, beside reason, message and fix. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

export class Problem extends Error {
  readonly reason: string
  /** What to do about it; a sentence. */
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
