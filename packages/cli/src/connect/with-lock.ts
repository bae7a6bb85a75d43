/** One `connect` or `undo` writes at a time. */
import { join } from 'node:path'
import { makeFolder, withFileLock } from '@toolwell/core/internal/node'
import { Problem } from '../shared/problem.js'
import type { Records } from './records.js'

export async function withLock<T>({ folder }: Records, task: () => Promise<T>): Promise<T> {
  let isMine = false
  try {
    // Copies of configs are kept there: for their owner alone.
    makeFolder(folder, 0o700)
    return await withFileLock(join(folder, 'connect'), () => {
      isMine = true
      return task()
    })
  } catch (error) {
    if (isMine) throw error
    const { message, code } = error as NodeJS.ErrnoException
    throw new Problem(
      `${folder} cannot be used: ${code ?? message}. Nothing was written.`,
      'Check that the folder may be written to, and that no other connect or undo is running.',
      { reason: 'unwritable', cause: error },
    )
  }
}
