/** Why one file is left alone: a sentence without its end, what to do about it, and the line where that is known. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly fix: string,
    readonly line?: number,
  ) {
    super(message)
    this.name = 'Refusal'
  }
}

/** The refusal that was thrown; every other error is a fault of ours. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}
