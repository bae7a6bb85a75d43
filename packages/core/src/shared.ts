/** Small parts that the other packages of this workspace are built with too. Not for hosts: they may change with any release. */
export { fitWire } from './dialect.js'
export { canonicalJson, fingerprintOf, shortHash } from './fingerprint.js'
export { explainBadJson } from './json-error.js'
export { assertKnownKeys } from './options.js'
export { matchesGlob } from './rules.js'
export { type ParsedQuery, parseQuery } from './search/query.js'
export { withFileLock } from './stores/file-lock.js'
export { firstLine } from './text.js'
