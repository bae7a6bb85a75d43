/** Bounds the wait for code of a host that may never answer. What it answers later is not used. */
export function inTime<T>(work: T | Promise<T>, milliseconds: number, problem: Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // It holds the process: somebody waits.
    const timer = setTimeout(() => reject(problem), milliseconds)
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}
