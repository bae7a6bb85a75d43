/** Looking for poisoned definitions. */
export { excerptOf, type Finding, type Rule, type Severity } from './finding.js'
export {
  createScanner,
  type Scanner,
  type ServerReport as ScanReport,
  scanServers,
  type ToolReport,
} from './scan.js'
export type { ScannedServer } from './shadowing.js'
