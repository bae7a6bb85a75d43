/** One line on the terminal that shows the progress of long steps. It appears after one second, never in a pipe, and is cleared at the end. */
import type { Terminal } from './terminal.js'

const FIRST = 1000
const EVERY = 200

export interface Progress {
  /** Cheap enough to call for every item. */
  tick(): Promise<void>
  done(): Promise<void>
}

export function startProgress(label: string, { errors, now }: Terminal): Progress {
  let count = 0
  let shown = false
  let next = now() + FIRST
  return {
    async tick() {
      count += 1
      if (!errors.isTerminal || now() < next) return
      next = now() + EVERY
      shown = true
      await errors.write(`\r\u001b[K${label} … ${count.toLocaleString('en')}`)
    },
    async done() {
      if (shown) await errors.write('\r\u001b[K')
      shown = false
    },
  }
}

/** Shows `line()` while `work` runs, refreshed every 200 ms and cut to the width of the terminal. */
export async function withStatus<T>(
  line: () => string,
  { errors, now }: Terminal,
  work: () => Promise<T>,
): Promise<T> {
  if (!errors.isTerminal) return work()
  const first = now() + FIRST
  let shown = false
  let writing: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    if (now() < first) return
    shown = true
    const text = line().slice(0, Math.max(20, (errors.columns ?? 80) - 1))
    writing = errors.write(`\r\u001b[K${text}`).catch(() => undefined)
  }, EVERY)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    await writing
    if (shown) await errors.write('\r\u001b[K').catch(() => undefined)
  }
}
