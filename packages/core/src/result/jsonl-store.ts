/** `@toolwell/core/stores/jsonl`: ledgers as files, and beside them a folder for the results that are too long to send. */
import { join } from 'node:path'
import type { LedgerStore } from '../ledger/store.js'
import { jsonlStore as jsonlLedgers } from '../ledger/stores/jsonl.js'
import { resultFolder } from './folder.js'
import type { ResultStore } from './store.js'

export interface JsonlStore extends LedgerStore {
  /** Used where a host names no other place for its kept results. */
  readonly results: ResultStore
}

/** No folder of a ledger: those have the first 200 characters of a long id as their name. */
const RESULTS = 'results'

/** The ledgers of a folder. What they keep of long results is in `<folder>/results`, and goes when its ledger is deleted. */
export function jsonlStore(folder: string): JsonlStore {
  const ledgers = jsonlLedgers(folder)
  const results = resultFolder(join(folder, RESULTS))
  return {
    ...ledgers,
    results,
    async delete(ledger) {
      // The ledger first: one that is still needed is refused, and keeps its results.
      await ledgers.delete?.(ledger)
      await results.delete?.(ledger)
    },
  }
}
