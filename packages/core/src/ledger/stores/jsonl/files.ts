/** Files that are ours alone: no link is followed, nobody else may read or write, and a new name is on the disk when it is said to be. */
import { constants, lstatSync, mkdirSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Systems that do not know it look at the file before they open it. */
const NO_LINK = constants.O_NOFOLLOW ?? 0
const OWN_FILE = 0o600
const OWN_FOLDER = 0o700

export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT'
}

/**
 * Bytes in the file; undefined where there is none. Throws where something else has its name. At once: the system knows it without the
 * disk, and each append asks three times.
 */
export function sizeOf(file: string): number | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (!found) return undefined
  if (found.isSymbolicLink())
    throw new Error(`${file} is a link, and links are not followed; put the file itself there`)
  if (!found.isFile()) throw new Error(`${file} is not a file`)
  return found.size
}

/** `to` ends the reading before the end of the file. */
export async function readFrom(file: string, from: number, to?: number): Promise<Buffer> {
  const size = sizeOf(file)
  if (size === undefined) return Buffer.alloc(0)
  const handle = await open(file, constants.O_RDONLY | NO_LINK)
  try {
    const wanted = Math.max(0, (to ?? (await handle.stat()).size) - from)
    const bytes = Buffer.allocUnsafe(wanted)
    let read = 0
    while (read < wanted) {
      const { bytesRead } = await handle.read(bytes, read, wanted - read, from + read)
      if (bytesRead === 0) break
      read += bytesRead
    }
    return bytes.subarray(0, read)
  } finally {
    await handle.close()
  }
}

export function openToAppend(file: string): Promise<FileHandle> {
  return open(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | NO_LINK, OWN_FILE)
}

/** Rejects where there is one already. */
export function openNew(file: string): Promise<FileHandle> {
  return open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_LINK, OWN_FILE)
}

/** False where there is one already. */
export async function createFile(file: string): Promise<boolean> {
  try {
    await (await openNew(file)).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Makes the names in a folder last. Where folders cannot be opened (Windows), the system does it by itself. */
export async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle
  try {
    handle = await open(folder, constants.O_RDONLY)
  } catch {
    return
  }
  await handle.sync().catch(() => {})
  await handle.close()
}

/** Makes a folder and those above it, and makes them last. */
export async function makeOwnFolder(folder: string): Promise<void> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  const above = dirname(folder)
  if (above !== folder) await makeOwnFolder(above)
  try {
    mkdirSync(folder, OWN_FOLDER)
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
  }
  await syncFolder(above)
}

/** Throws where everybody may write: they could put files of their own in the place of ours. Windows has no such mark. */
export function assertOwnFolder(folder: string): void {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  if (process.platform !== 'win32' && (mode & 0o002) !== 0)
    throw new Error(
      `everybody may write to the folder ${folder}; take that right away (chmod o-w) or use another folder`,
    )
}
