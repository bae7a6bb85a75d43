/** Internal API for other packages of this repository. It may change with any release. */
export { defaultLoginFolder, type Login, loginFingerprint } from './auth/login-store.js'
export { type ConfigDocument, readDocument } from './config/document.js'
export { type EntryEdit, editEntries, findEntry, readEntry } from './config/edit-entry.js'
export { readDuration } from './config/entry-reader.js'
export { findUnmatchedPatterns, selectByProfile } from './config/file-settings.js'
export { describeReadError, MOST_BYTES_OF_DATA, readSmallFile } from './config/read-small-file.js'
export { createRedactor, describeStart, showEndpoint } from './config/redact.js'
export { isSecretName } from './config/secret-parts.js'
export { DEFAULTS, isOffered, matchesDenied, matchesTool } from './config/server-config.js'
export { findEntryFolder, type Translated, translateEntry } from './config/translate-entry.js'
export { type VariableDialect, withCommonVariables } from './config/variables.js'
export { connectWithSharedProcesses } from './connect-servers/connect-servers.js'
export {
  applyApproved,
  approvePending,
  changeName,
  changesJson,
  compareLock,
  findPending,
  groupByLock,
  isHard,
  type LockGroup,
  type LockGroups,
  looksPoisoned,
  type Pending,
  scanChange,
  trustedLock,
} from './connect-servers/pending-changes.js'
export { insertFolder, replaceFolder } from './definition/clean-definition.js'
export { defaultCacheFolder } from './definition/disk-cache.js'
export { fingerprint } from './definition/fingerprint.js'
export { wantsHeaders } from './definition/server-definition.js'
export { describeWarning } from './definition/warning.js'
export { defaultFirstUseFolder } from './trust/lock/disk-first-use.js'
export {
  approveCommands,
  approveSeen,
  approveSeenServer,
  asLock,
  trustScope,
  waitingCommands,
} from './trust/lock/first-use.js'
export {
  defaultReadOnlyFolder,
  diskReadOnly,
  memoryReadOnly,
  type ReadOnlyStore,
  type ReadOnlyTools,
} from './trust/read-only.js'
export {
  defaultTrustFolder,
  type ProjectFile,
  type TrustedProjects,
  trustedProjects,
} from './trust/trusted-projects.js'
export { defaultLogFolder, findLogFile } from './upstream/server-log.js'
export { SharedProcesses } from './upstream/shared-processes.js'
