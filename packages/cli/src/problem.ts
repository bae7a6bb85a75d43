/** What stops a verb: something the user can mend. It is printed as it stands; every other error is a fault of the command. */

export class Problem extends Error {
  /** What to do about it; a sentence. */
  readonly fix: string
  /** Shows where the manual is: the words of the command line themselves are wrong. */
  readonly isUsage: boolean

  constructor(
    message: string,
    fix = '',
    { isUsage = false, cause }: { isUsage?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'Problem'
    this.fix = fix
    this.isUsage = isUsage
  }
}

export function usageProblem(message: string, fix = ''): Problem {
  return new Problem(message, fix, { isUsage: true })
}
