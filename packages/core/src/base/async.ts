/** Promises: lazy loading, waits with a limit, and long work in small pieces. */

/** Loads a module on its first use, so that bundlers can split it off. Later uses return the same promise. */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  const retryNextTime = (error: unknown): never => {
    // A chunk that could not be fetched may be available the next time.
    made = undefined
    throw error
  }
  return () => {
    made ??= load().catch(retryNextTime)
    return made
  }
}

/** Rejects when the signal aborts. The work itself may continue. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('cancelled'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Limits the wait for host code that may never answer. A late answer is ignored. */
export function withTimeout<T>(work: T | Promise<T>, milliseconds: number, problem: Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // Not unref'd: a caller is waiting, so the process must stay alive.
    const timer = setTimeout(() => reject(problem), milliseconds)
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

/** Milliseconds of work before the event loop gets a turn. */
const PIECE = 10

/** `setImmediate`, which Node and some other runtimes have. */
interface Immediate {
  setImmediate?(work: () => void): unknown
}

/**
 * Gives other work one turn of the event loop. Prefers `setImmediate`: with timers, two long jobs would wake only each other, and other
 * work would wait.
 */
export function yieldToEventLoop(): Promise<void> {
  const here: Immediate = globalThis
  return new Promise((resolve) => {
    if (here.setImmediate) here.setImmediate(resolve)
    else setTimeout(resolve)
  })
}

/** Works item by item, and yields to the event loop every `PIECE` milliseconds. */
export async function runInPieces<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  let started = performance.now()
  for (const item of items) {
    work(item)
    if (performance.now() - started < PIECE) continue
    await yieldToEventLoop()
    started = performance.now()
  }
}

/** Work for later: in pieces if the caller can wait, at once if its outcome is needed now. */
export interface PendingWork {
  /** Does the rest at once. False if the work itself called it. If the work threw, every call throws that error. */
  finish(): boolean
  /** Does the rest in pieces. Rejects with the error of the work. */
  inPieces(): Promise<void>
}

/** `steps` yields after each step. */
export function createPendingWork(steps: Generator<void>): PendingWork {
  let state: 'waiting' | 'running' | 'done' = 'waiting'
  let failure: { readonly error: unknown } | undefined

  const step = () => {
    state = 'running'
    try {
      state = steps.next().done ? 'done' : 'waiting'
    } catch (error) {
      state = 'done'
      failure = { error }
    }
  }
  function* left(): Generator<void> {
    while (state === 'waiting') yield step()
  }
  const check = () => {
    if (failure) throw failure.error
  }
  return {
    finish() {
      while (state === 'waiting') step()
      check()
      return state === 'done'
    },
    async inPieces() {
      if (state !== 'done') await runInPieces(left(), () => undefined)
      check()
    },
  }
}
