/** Who holds a lock: a process of a machine, told from every other by its number and by when it started. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

export interface Owner {
  readonly host: string
  readonly pid: number
  /** When the process started, as its system counts; empty where it does not tell. */
  readonly start: string
}

/** `alive` is also said of a process that is only stopped. `elsewhere`: of another machine, which cannot be asked. */
export type Standing = 'alive' | 'dead' | 'elsewhere' | 'unknown'

/**
 * This holding of a lock, apart from every other, also of the same process. Short: where a link points to is kept in its entry as long as it
 * has less than 60 letters, and in a block of its own from there on.
 */
export function newOwner(): string {
  return [hostname(), process.pid, ownStart(), randomUUID().slice(0, 8)].join(':')
}

/** It stays what it is for as long as this process lives. */
function ownStart(): string {
  own ??= startOf(process.pid)
  return own
}

let own: string | undefined

export function readOwner(text: string | undefined): Owner | undefined {
  const [host, pid, start] = (text ?? '').split(':')
  if (!host || start === undefined || !/^\d+$/.test(pid ?? '')) return undefined
  return { host, pid: Number(pid), start }
}

export function standingOf(owner: Owner | undefined): Standing {
  if (!owner) return 'unknown'
  if (owner.host !== hostname()) return 'elsewhere'
  if (!isRunning(owner.pid)) return 'dead'
  const start = startOf(owner.pid)
  // The number has been given to another process since.
  return owner.start !== '' && start !== '' && owner.start !== start ? 'dead' : 'alive'
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** On Linux, with the boot it belongs to. Other systems tell only by starting a program, which is too slow for every lock. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program stands in brackets and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // It has ended, and its parent has not noticed yet.
    if (fields[0] === 'Z' || fields[0] === 'X') return 'ended'
    return `${boot()}-${fields[19]}`
  } catch {
    return ''
  }
}

function boot(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)
}
