/** Finds the ledgers at a path, or reports what is there instead. */
import { findLedgerFiles } from '@toolwell/core/internal/node'
import { Problem } from '../shared/problem.js'

export async function findLedgers(path: string): Promise<readonly string[]> {
  const found = await findLedgerFiles(path).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new Problem(`There is no file or folder ${path}.`, LEDGERS, { cause: error })
    if (code === 'ENOTDIR') throw new Problem(`${path} is not a ledger.`, LEDGERS, { cause: error })
    throw unreadable(path, error)
  })
  if (found.length > 0) return found.sort()
  throw new Problem(`There is no ledger in ${path}.`, LEDGERS)
}

const LEDGERS = 'Give a file named NAME.jsonl, or a folder with such files.'

/** Finds exactly one ledger, for tasks that show or change one. */
export async function findLedger(path: string): Promise<string> {
  const [first, ...more] = await findLedgers(path)
  if (first !== undefined && more.length === 0) return first
  throw new Problem(`There are ${more.length + 1} ledgers in ${path}.`, 'Name one of its files.')
}

export function unreadable(path: string, error: unknown): Problem {
  const { message } = error as Error
  return new Problem(`${path} could not be used: ${message}.`, '', { cause: error })
}
