/** `@toolwell/core/stores/jsonl`: ledgers as files, with a folder for results that are too long to send. */
import { join } from 'node:path'
import type { LedgerStore } from '../ledger/store.js'
import { jsonlStore as jsonlLedgers } from '../ledger/stores/jsonl.js'
import { resultFolder } from './folder.js'
import type { ResultStore } from './store.js'

export interface JsonlStore extends LedgerStore {
  /** The default store for long results. */
  readonly results: ResultStore
}

/** Never the folder of a ledger: those have the first 200 characters of a long id as their name. */
const RESULTS = 'results'

/** Stores ledgers in a folder, and their long results in `<folder>/results`. Deleting a ledger deletes its results. */
export function jsonlStore(folder: string): JsonlStore {
  const ledgers = jsonlLedgers(folder)
  const results = resultFolder(join(folder, RESULTS))
  return {
    ...ledgers,
    results,
    async delete(ledger) {
      // The ledger first: if the store refuses to delete it, its results stay.
      await ledgers.delete?.(ledger)
      await results.delete?.(ledger)
    },
  }
}
