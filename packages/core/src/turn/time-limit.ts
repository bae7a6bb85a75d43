/** Ends the wait for a call when its time is over. The call is told to stop; what it gives afterwards is dropped. */
import { abortable } from '../base/abortable.js'

/** Thrown when the time is over: whether the call took effect is not known. */
export class TimeIsOver extends Error {}

/**
 * Runs the work with a signal that ends with the host's, or when `limit` milliseconds are over. Without a limit the host's signal
 * is passed on as it is. `onLate` hears of a result that came after the limit.
 */
export async function withTimeLimit<T>(
  work: (signal: AbortSignal | undefined) => T | Promise<T>,
  limit: number | undefined,
  signal: AbortSignal | undefined,
  onLate: () => void,
): Promise<T> {
  signal?.throwIfAborted()
  if (limit === undefined) return abortable(Promise.resolve(work(signal)), signal)
  const expiry = new AbortController()
  const running = Promise.resolve(work(signal ? AbortSignal.any([signal, expiry.signal]) : expiry.signal))
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const reason = new TimeIsOver(`the time limit of ${limit} ms is over`)
      reject(reason)
      running.then(onLate, onLate)
      expiry.abort(reason)
    }, limit)
  })
  try {
    return await Promise.race([abortable(running, signal), over])
  } finally {
    clearTimeout(timer)
  }
}
