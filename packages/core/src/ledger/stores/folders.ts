/** Makes folders, and makes their names survive a crash. */
import { mkdirSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'

export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT'
}

/**
 * Makes a folder and its parents, one by one: the `recursive` option of Node never returns if a folder takes no entries, as below
 * `/proc`. Throws the error of the system.
 */
export function makeFolder(path: string, mode?: number): void {
  if (isFolder(path)) return
  const above = dirname(path)
  if (above !== path) makeFolder(above, mode)
  try {
    mkdirSync(path, mode)
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error
  }
}

/** Makes a folder that only its owner can use, and syncs every folder that got a new entry. */
export async function makeOwnFolder(folder: string): Promise<void> {
  const changed: string[] = []
  for (let each = folder; !isFolder(each) && dirname(each) !== each; each = dirname(each))
    changed.push(dirname(each))
  makeFolder(folder, 0o700)
  for (const each of changed) await syncFolder(each)
}

/** Makes the names in a folder survive a crash. Windows cannot open folders and does this by itself. */
export async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle
  try {
    handle = await open(folder, 'r')
  } catch {
    return
  }
  await handle.sync().catch(() => {})
  await handle.close()
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
