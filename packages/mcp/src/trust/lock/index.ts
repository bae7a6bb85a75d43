/** Pinning definitions: the lock, what differs from it, and how that is shown. */
export { type CheckOptions, checkLock, type FieldChange, type LockChange } from './check-lock.js'
export {
  approve,
  approveChange,
  createLock,
  EMPTY_LOCK,
  keepServers,
  type ListedServer,
  type Lock,
} from './lock.js'
export { LockError, type LockErrorCode } from './lock-error.js'
export { LOCK_FILE, readLock, writeLock } from './lock-file.js'
export { lockFileOf } from './locks.js'
export { approveCommand, keepOut } from './reasons.js'
export { type DiffPart, type RenderOptions, renderLockDiff, visible } from './render-diff.js'
