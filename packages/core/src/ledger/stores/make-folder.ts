/** A folder with all those above it. */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Level by level: Node's own `recursive` never returns where a folder exists and takes no entries, as below `/proc`. Throws what the
 * system says.
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
