/** The ledger in pi's own session: an entry for each append, on the branch where it happened. Forks and trees of pi are then its forks. */
import type { LedgerEvent } from '@toolwell/core'
import { isRecord } from '@toolwell/core/internal'
import { conflict, eventsFrom, eventsToJson, type LedgerStore } from '@toolwell/core/store'
import type { Pi, SessionEntry, SessionManager } from './pi.js'

/** The name of our entries in the session file. */
export const ENTRY = 'toolwell'

/**
 * One ledger: that of the branch where the session stands. pi writes a session from its first reply on; what was appended
 * before is written with it.
 */
export function sessionStore(pi: Pick<Pi, 'appendEntry'>, session: SessionManager): LedgerStore {
  const events = () => {
    const branch = session.getBranch()
    return branch.slice(branch.findLastIndex(isReset) + 1).flatMap(eventsIn)
  }
  return {
    read: async (ledger, from) => eventsFrom(ledger, events(), from),
    async append(ledger, expected, fresh) {
      const found = events().length
      if (found !== expected) throw conflict(ledger, expected, found)
      pi.appendEntry(ENTRY, JSON.parse(eventsToJson(ledger, expected, fresh)))
    },
  }
}

/** What an entry says from which on the ledger begins anew. What stands before it stays in the file. */
interface Reset {
  readonly reset: string
}

export const resetBecause = (reason: string): Reset => ({ reset: reason })

function isReset({ type, customType, data }: SessionEntry): boolean {
  return type === 'custom' && customType === ENTRY && isRecord(data) && 'reset' in data
}

/** The events of one entry: none where it is not ours. */
function eventsIn({ type, customType, data }: SessionEntry): LedgerEvent[] {
  return type === 'custom' && customType === ENTRY && Array.isArray(data) ? data : []
}

/** Whether pi has shortened the history, and the ledger does not know it yet. The session itself says so, also after a restart. */
export function awaitsCompaction(branch: readonly SessionEntry[]): boolean {
  const last = branch.findLastIndex(({ type }) => type === 'compaction')
  return (
    last >= 0 && !branch.slice(last).some((entry) => eventsIn(entry).some(({ kind }) => kind === 'compacted'))
  )
}
