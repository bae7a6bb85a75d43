/** Shared parts that need Node: files and folders. Not for hosts: any release may change them. */
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
