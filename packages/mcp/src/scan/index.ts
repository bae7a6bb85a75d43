/** Looking for poisoned definitions. */
export type { Finding, Rule, Severity } from './finding.js'
export { createScanner, SCAN_VERSION, type Scanner, scanServers } from './scan.js'
export type { ScannedServer } from './shadowing.js'
