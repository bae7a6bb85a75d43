/** Files and folders, for the packages of this repository that run on Node. Not for hosts. */
export { withFileLock } from './ledger/stores/file-lock.js'
export { makeFolder } from './ledger/stores/folders.js'
export {
  checkLedger,
  findLedgerFiles,
  type LedgerReport,
  readLedgerEvents,
  repairLedger,
} from './ledger/stores/repair.js'
