/** Entry point for the scan for poisoned definitions. */
export type { ScannedServer } from './name-index.js'
export {
  type Finding,
  type Rule,
  type RuleEntry,
  type RuleSettings,
  SCAN_RULES,
  SCAN_VERSION,
  type Severity,
} from './rules.js'
export { createScanner, type Scanner, type ScanOptions, scanServers } from './scan.js'
