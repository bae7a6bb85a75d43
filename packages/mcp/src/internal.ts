/** What the other packages of this workspace need besides the public API. Not for hosts: it may change with any release. */
export { defaultLoginFolder } from './auth/login-store.js'
export { type ConfigDocument, readDocument } from './config/document.js'
export { readDuration } from './config/duration.js'
export { showEndpoint } from './config/redact.js'
export { entryFolder, type Translated, translateEntry } from './config/translate-entry.js'
export { defaultCacheFolder } from './definition/disk-cache.js'
export { describeWarning } from './definition/warning.js'
