/** Limits: how much work is done at a time, and how long a wait lasts. */

export type Lane = <T>(work: () => Promise<T>) => Promise<T>

/** At most so many at a time, in order. */
export function createLane(most: number): Lane {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      return await work()
    } finally {
      running--
      waiting.shift()?.()
    }
  }
}

/** Waits for the work, but no longer than this. */
export async function bounded(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
