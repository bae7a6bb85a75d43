/** Tells a server that floods us from one that has much to say: by how many messages come in how short a time, not by how many in all. */

/** Messages a second that nobody asked for, for as long as the server likes. Reading so many takes a few hundredths of a processor. */
const RATE = 2000
/** As many may come at once. */
const BURST = 20_000
/** A request of ours makes room for its answer, and for what is logged on the way. */
const PER_REQUEST = 16
/** The same of progress that a caller has asked for. What is above it counts as if nobody had. */
const PROGRESS_RATE = 5000
const PROGRESS_BURST = 50_000

export interface Flood {
  /** We have sent a request. */
  sent(): void
  /** A message has come; `isProgress` of a call that is under way and asked for it. True: it is one too many. */
  came(isProgress: boolean): boolean
}

/** `now` in milliseconds. */
export function createFlood(now: () => number): Flood {
  const all = createBucket(RATE, BURST, now)
  const progress = createBucket(PROGRESS_RATE, PROGRESS_BURST, now)
  return {
    sent: () => all.empty(PER_REQUEST),
    came: (isProgress) => !(isProgress && progress.fill()) && !all.fill(),
  }
}

export const FLOOD = `the server sent more than ${RATE} unasked messages a second`

/** Runs out at a rate; what is poured in faster fills it. */
function createBucket(rate: number, most: number, now: () => number) {
  let level = 0
  let last = now()
  return {
    empty(count: number) {
      level = Math.max(0, level - count)
    },
    /** False where it is full. */
    fill(): boolean {
      const time = now()
      level = Math.max(0, level - ((time - last) * rate) / 1000)
      last = time
      if (level >= most) return false
      level++
      return true
    },
  }
}
