/** Entry point for the storage of a gateway. Does not load the SDK. */
import { join } from 'node:path'
import { resultFolder } from '@toolwell/core/stores/results'
import { auditFile } from './audit-file.js'
import { callStatsFile } from './call-stats.js'
import type { GatewayStorage } from './storage.js'
import { tokenFile } from './token-file.js'

export { auditFile } from './audit-file.js'
export type { CallFacts, CallStats, SlotStats, ToolStats } from './call-stats.js'
export type { AuditLog, AuditRecord, GatewayStorage, Rights, TokenRecord, TokenStore } from './storage.js'
export { hashToken } from './token-file.js'

/** Limits of the results that are kept because they are too long for a client. */
const KEPT_RESULTS = { maxBytes: 512 * 1024 * 1024, maxAge: 24 * 60 * 60_000 }

/** Keeps everything in files of the daemon's private folder. */
export function fileStorage(folder: string): GatewayStorage {
  return {
    tokens: tokenFile(folder),
    audit: auditFile(folder),
    results: resultFolder(join(folder, 'results'), KEPT_RESULTS),
    stats: callStatsFile(folder),
  }
}
