/** Entry point for pinned definitions: locks, differences, and their rendering. */
export {
  type CheckOptions,
  checkLock,
  type DiffPart,
  type FieldChange,
  type LockChange,
  type RenderOptions,
  renderLockDiff,
  visible,
} from './check-lock.js'
export { approveCommand, keepOut } from './compare-first-use.js'
export {
  approve,
  approveChange,
  createLock,
  EMPTY_LOCK,
  keepServers,
  type ListedServer,
  type Lock,
  LockError,
  type LockErrorCode,
} from './lock.js'
export { findLockFile, LOCK_FILE, readLock, writeLock } from './lock-file.js'
export { isOfferName, type LockableOffer, listLockableOffers } from './offers.js'
