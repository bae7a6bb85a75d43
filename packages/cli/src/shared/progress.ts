/** One line on the screen that says how far a long step is. Nothing is shown in the first second, in a pipe, or when all is done. */
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
