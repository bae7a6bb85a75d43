/** A module that is loaded with its first use: a bundle need not hold it at the start. Later uses cost nothing. */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  const again = (error: unknown): never => {
    // A piece of a bundle that could not be fetched may be there the next time.
    made = undefined
    throw error
  }
  return () => {
    made ??= load().catch(again)
    return made
  }
}
