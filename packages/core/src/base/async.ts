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

/** Ends the wait for work when its signal does; the work itself may go on. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('cancelled'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Bounds the wait for code of a host that may never answer. What it answers later is not used. */
export function withTimeout<T>(work: T | Promise<T>, milliseconds: number, problem: Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // It holds the process: somebody waits.
    const timer = setTimeout(() => reject(problem), milliseconds)
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

// Long work in pieces: others get their turn in between, and nothing is held for long.

/** Milliseconds of work at a stretch. */
const PIECE = 10

/** What Node has for it, and some others. */
interface Immediate {
  setImmediate?(work: () => void): unknown
}

/**
 * Gives the event loop back once. Not by a timer where there is another way: two who work in turns would find each other's due, and nobody
 * else would get theirs.
 */
export function yieldToEventLoop(): Promise<void> {
  const here: Immediate = globalThis
  return new Promise((resolve) => {
    if (here.setImmediate) here.setImmediate(resolve)
    else setTimeout(resolve)
  })
}

/** Does the work item by item, and gives the event loop back whenever a piece is done. */
export async function runInPieces<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  let started = performance.now()
  for (const item of items) {
    work(item)
    if (performance.now() - started < PIECE) continue
    await yieldToEventLoop()
    started = performance.now()
  }
}

// Work that is done later: in pieces, where somebody can wait, or all at once, where somebody asks for what it makes.

export interface PendingWork {
  /** Does what is left; false where it is asked from within the work. Throws what the work threw, each time. */
  finish(): boolean
  /** Does it in pieces, and rejects with what the work threw. */
  inPieces(): Promise<void>
}

/** `steps` gives way after each step. */
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
