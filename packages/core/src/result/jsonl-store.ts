/** `@toolwell/core/stores/jsonl`: stores ledgers as files, and results that are too long to send in a folder next to them. */
import { join } from 'node:path'
import type { LedgerStore } from '../ledger/store.js'
import { jsonlStore as jsonlLedgers } from '../ledger/stores/jsonl.js'
import { resultFolder } from './folder.js'
import type { ResultStore } from './store.js'

export interface JsonlStore extends LedgerStore {
  /** Default store for kept results. */
  readonly results: ResultStore
}

/** Never the folder of a ledger: those have names of 200 characters. */
const RESULTS = 'results'

/** Stores ledgers in a folder and long results in `<folder>/results`. Deleting a ledger also deletes its results. */
export function jsonlStore(folder: string): JsonlStore {
  const ledgers = jsonlLedgers(folder)
  const results = resultFolder(join(folder, RESULTS))
  return {
    ...ledgers,
    results,
    async delete(ledger) {
      // The ledger first: if a fork needs it, it is refused and keeps its results.
      await ledgers.delete?.(ledger)
      await results.delete?.(ledger)
    },
  }
}
