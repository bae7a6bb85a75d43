/** Processes on this machine, for tests that must leave nothing behind. */
import { readdirSync, readFileSync } from 'node:fs'

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie is dead, and waits only for its parent to notice.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Processes whose command line holds this text. Linux only, where the tests run. */
export function running(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark) && isAlive(pid)
      } catch {
        return false
      }
    })
}

export function openFiles(): number {
  return readdirSync('/proc/self/fd').length
}

/** Polls until the condition holds. Fails only if it never does. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  const limit = Date.now() + 200_000
  while (!holds()) {
    if (Date.now() > limit) throw new Error(`This never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
