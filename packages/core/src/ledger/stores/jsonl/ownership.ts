/**
 * Who may write a ledger. One process at a time holds the lock of the newest segment, for one append. A lock that its owner did not
 * give back is never removed to go on with the same segment: whoever takes over writes the next one, and records how far the
 * old one counts. Should the old owner still be there, it writes where nobody reads.
 */
import { lstat, open, readFile, readlink, symlink, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isFenced, topOf } from './chain.js'
import { isMissing, makeOwnFolder } from './files.js'
import { lockFile } from './names.js'
import { newOwner, type Owner, readOwner, type Standing, standingOf } from './owner.js'

/** An append takes milliseconds. A process that was stopped for a while gets this long to go on. */
const GIVE_UP_AFTER = 15_000
/** For an owner that wrote its name to no lock: it died right after making it, or is about to. */
const NAMELESS_AFTER = 2000

export interface Holding {
  /** The segment that may be written now. It may not be there yet. */
  readonly segment: number
  release(): Promise<void>
}

export interface LockState {
  readonly segment: number
  readonly owner: Owner | undefined
  readonly standing: Standing
}

/** `top`: the newest segment as far as known. Rejects when the lock cannot be had, with what to do. */
export async function hold(base: string, top: number, giveUpAfter = GIVE_UP_AFTER): Promise<Holding> {
  const deadline = Date.now() + giveUpAfter
  let newest = Math.max(1, top)
  for (let attempt = 0; ; attempt++) {
    const taken = await takeNext(base, newest)
    if (typeof taken === 'number') {
      const release = () => giveBack(base, taken)
      // Somebody may have gone on with a later segment before this lock was taken.
      if (!isFenced(base, taken)) return { segment: taken, release }
      await release()
      newest = topOf(base, taken + 1)
      continue
    }
    if (Date.now() > deadline) throw new Error(refusal(base, taken))
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(25, 2 + attempt)))
    newest = Math.max(newest, topOf(base, newest))
  }
}

/** Takes the segment after the newest, whoever holds that one. Only for whoever knows that its owner is gone, or was told so. */
export async function holdNext(base: string): Promise<Holding> {
  const taken = await takeNext(base, Math.max(1, topOf(base)) + 1)
  if (typeof taken !== 'number') throw new Error(refusal(base, taken))
  return { segment: taken, release: () => giveBack(base, taken) }
}

/** Somebody may have removed it: whoever took over, or a person. */
async function giveBack(base: string, segment: number): Promise<void> {
  await unlink(lockFile(base, segment)).catch((error: unknown) => {
    if (!isMissing(error)) throw error
  })
}

/** The number of the lock that was taken, or who is in the way. Locks of the dead are passed by. */
async function takeNext(base: string, newest: number): Promise<number | LockState> {
  for (let segment = newest; ; segment++) {
    if (await take(lockFile(base, segment), newOwner())) return segment
    const state = await lockState(base, segment)
    // Given back in this moment.
    if (!state) return { segment, owner: undefined, standing: 'unknown' }
    if (state.standing !== 'dead') return state
  }
}

/**
 * The owner is where a link points to, so that it is known from the first moment: a file would have no owner between its making
 * and its writing. The link is only read, never followed.
 */
async function take(lock: string, owner: string): Promise<boolean> {
  try {
    await symlink(owner, lock).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST' || error.code === 'ENOENT') throw error
      // No links on this disk, or not for this user.
      const handle = await open(lock, 'wx', 0o600)
      await handle.writeFile(owner).finally(() => handle.close())
    })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (code !== 'ENOENT') throw error
    await makeOwnFolder(dirname(lock))
    return take(lock, owner)
  }
}

/** Undefined where nobody holds it. */
export async function lockState(base: string, segment: number): Promise<LockState | undefined> {
  const lock = lockFile(base, segment)
  try {
    const text = await readlink(lock).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw error
      return readFile(lock, 'utf8')
    })
    const owner = readOwner(text)
    const standing = standingOf(owner)
    const isOld = standing === 'unknown' && Date.now() - (await lstat(lock)).mtimeMs > NAMELESS_AFTER
    return { segment, owner, standing: isOld ? 'dead' : standing }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function refusal(base: string, { segment, owner, standing }: LockState): string {
  const lock = lockFile(base, segment)
  const who = owner
    ? `process ${owner.pid}${standing === 'elsewhere' ? ` on ${owner.host}` : ''}`
    : 'another process'
  const next =
    standing === 'elsewhere'
      ? `If it is no longer there, run: toolwell ledger unlock ${base}.jsonl`
      : 'End it, or let it go on, and try again'
  return `${who} holds ${lock}. ${next}`
}
