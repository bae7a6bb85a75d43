/** Lets one process at a time change a file, with a lock file that names its owner. */
import { randomUUID } from 'node:crypto'
import { open, readFile, readlink, rename, rm, symlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { makeFolder } from './folders.js'

/** A task takes milliseconds. A lock that stays longer is from a process that died on another machine. */
const STALE_AFTER = 10_000
const GIVE_UP_AFTER = 15_000

/**
 * Runs the task while no other process holds the lock. Rejects with the path of the lock file if it cannot get the lock. A long task
 * needs a longer `staleAfter`. Time is measured here: file times and the wall clock may jump.
 */
export async function withFileLock<T>(
  file: string,
  task: () => Promise<T>,
  { staleAfter = STALE_AFTER, giveUpAfter = GIVE_UP_AFTER } = {},
): Promise<T> {
  const lock = `${file}.lock`
  // The random part distinguishes two locks of the same process.
  const owner = `${hostname()}:${process.pid}:${randomUUID()}`
  const started = performance.now()
  const seen: Seen = new Map()
  for (let attempt = 0; !(await take(lock, owner)); attempt++) {
    await clearStale(lock, owner, staleAfter, seen)
    if (performance.now() - started > giveUpAfter)
      throw new Error(`another process holds ${lock}; if none does, delete that file and try again`)
    await new Promise((resolve) => setTimeout(resolve, Math.min(20, 1 + attempt)))
  }
  try {
    return await task()
  } finally {
    if ((await ownerOf(lock)) === owner) await rm(lock, { force: true })
  }
}

/**
 * The owner is the target of a symbolic link, so that it is known from the first moment. A process that died between creating and
 * writing a file would block everybody until the file is old.
 */
async function take(lock: string, owner: string): Promise<boolean> {
  try {
    await symlink(owner, lock).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST' || error.code === 'ENOENT') throw error
      // This disk has no links, or this user may not create them.
      const handle = await open(lock, 'wx')
      await handle.writeFile(owner).finally(() => handle.close())
    })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') {
      makeFolder(dirname(lock))
      return false
    }
    if (code === 'EEXIST') return false
    throw error
  }
}

/**
 * Removes a lock whose owner is gone. Only one process at a time may do this, and it checks again first: otherwise it could remove the
 * lock that another process has just taken.
 */
async function clearStale(lock: string, owner: string, staleAfter: number, seen: Seen): Promise<void> {
  if (!(await isStale(lock, staleAfter, seen))) return
  const right = `${lock}.clearing`
  if (!(await take(right, owner))) {
    // The process that clears locks died. Only one process succeeds in renaming its file.
    if (await isStale(right, STALE_AFTER, seen))
      await rename(right, `${right}.${process.pid}`).then(
        () => rm(`${right}.${process.pid}`, { force: true }),
        () => {},
      )
    return
  }
  try {
    if (await isStale(lock, staleAfter, seen)) await rm(lock, { force: true })
  } finally {
    await rm(right, { force: true })
  }
}

/** The owner of each lock that this process waits for, and when it was first seen. */
type Seen = Map<string, { readonly owner: string; readonly since: number }>

/** Whether the owner is a dead process of this machine, or has been seen for longer than any task takes. */
async function isStale(lock: string, staleAfter: number, seen: Seen): Promise<boolean> {
  const owner = await ownerOf(lock)
  if (owner === undefined) return false
  const [host, pid] = owner.split(':')
  if (host === hostname() && pid !== undefined && !isAlive(Number(pid))) return true
  const now = performance.now()
  const known = seen.get(lock)
  if (known?.owner === owner) return now - known.since > staleAfter
  seen.set(lock, { owner, since: now })
  return false
}

async function ownerOf(lock: string): Promise<string | undefined> {
  return readlink(lock).catch(() => readFile(lock, 'utf8').catch(() => undefined))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
