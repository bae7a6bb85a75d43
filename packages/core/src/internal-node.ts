/** The same for packages that run on Node alone: files and folders. */
export { withFileLock } from './ledger/stores/file-lock.js'
export {
  checkLedger,
  type LedgerReport,
  ledgersAt,
  readLedger,
  repairLedger,
  unlockLedger,
} from './ledger/stores/jsonl/upkeep.js'
export { makeFolder } from './ledger/stores/make-folder.js'
