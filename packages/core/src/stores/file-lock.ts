/** Keeps processes apart that append to one file: a lock file that names its owner, held for one append. */
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'

/** An append takes milliseconds. A lock this old was left by a process that died on another machine. */
const STALE_AFTER = 10_000
const GIVE_UP_AFTER = 15_000

/** Runs the task while no other process holds the file. Rejects when the lock cannot be had, with the path to look at. */
export async function withFileLock<T>(file: string, task: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`
  const owner = `${hostname()}:${process.pid}`
  const deadline = Date.now() + GIVE_UP_AFTER
  for (let attempt = 0; !(await take(lock, owner)); attempt++) {
    if (await isStale(lock)) await rm(lock, { force: true })
    else if (Date.now() > deadline)
      throw new Error(`another process holds ${lock}; if none does, delete that file and try again`)
    else await new Promise((resolve) => setTimeout(resolve, Math.min(20, 1 + attempt)))
  }
  try {
    return await task()
  } finally {
    await rm(lock, { force: true })
  }
}

async function take(lock: string, owner: string): Promise<boolean> {
  try {
    const handle = await open(lock, 'wx')
    await handle.writeFile(owner)
    await handle.close()
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') {
      await mkdir(dirname(lock), { recursive: true })
      return false
    }
    if (code === 'EEXIST') return false
    throw error
  }
}

/** Left by a dead process of this machine, or older than any append. */
async function isStale(lock: string): Promise<boolean> {
  try {
    const [host, pid] = (await readFile(lock, 'utf8')).split(':')
    if (host === hostname() && pid !== undefined && !isAlive(Number(pid))) return true
    return Date.now() - (await stat(lock)).mtimeMs > STALE_AFTER
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
