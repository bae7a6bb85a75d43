/** Work that somebody may stop waiting for. The work itself goes on. */

export function abortable<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  reason: () => Error = () => new Error('cancelled'),
): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(reason())
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
