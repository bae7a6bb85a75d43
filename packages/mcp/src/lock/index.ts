/** Pinning definitions, and holding back what was not approved. */
export {
  type CheckOptions,
  checkLock,
  compareFields,
  type FieldChange,
  type LockChange,
} from './check-lock.js'
export {
  approveCommand,
  createReview,
  type Decision,
  type DefinitionReview,
  type HoldReason,
  type ReviewOptions,
  type ServerDecision,
} from './create-review.js'
export { fingerprint } from './fingerprint.js'
export {
  approve,
  createLock,
  EMPTY_LOCK,
  type ListedServer,
  type Lock,
  type LockedServer,
  type LockedTool,
} from './lock.js'
export { LockError, type LockErrorCode } from './lock-error.js'
export { formatLock, LOCK_FILE, parseLock, readLock, writeLock } from './lock-file.js'
export { type DiffPart, type RenderOptions, renderLockDiff, visible } from './render-diff.js'
export { lockReviewer } from './reviewer.js'
