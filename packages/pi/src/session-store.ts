/** The ledger in pi's own session: an entry for each append, on the branch where it happened. Forks and trees of pi are then its forks. */
import { type LedgerEvent, memoryStore } from '@toolwell/core'
import { isRecord, LEDGER_FORMAT } from '@toolwell/core/internal'
import { conflict, eventsFrom, eventsToJson, type LedgerStore } from '@toolwell/core/store'
import type { Pi, SessionEntry, SessionManager } from './pi.js'

/** The name of our entries in the session file. */
export const ENTRY = 'toolwell'

/**
 * One ledger: that of the branch where the session stands. pi writes a session from its first reply on; what was appended
 * before is written with it. A branch on which a newer version has written is not added to: there the ledger is in memory.
 */
export function sessionStore(pi: Pick<Pi, 'appendEntry'>, session: SessionManager): LedgerStore {
  const memory = memoryStore()
  const events = () => {
    const all = sinceReset(session.getBranch()).flatMap(eventsIn)
    // One that is lost or comes twice makes another conversation of what follows.
    const at = all.findIndex((event, index) => event?.id !== index)
    if (at >= 0) throw new Error(`Event ${at} of the ledger in this session is not where it should be.`)
    return all
  }
  return {
    async read(ledger, from) {
      if (isFromNewer(session.getBranch())) return memory.read(ledger, from)
      return eventsFrom(ledger, events(), from)
    },
    async append(ledger, expected, fresh) {
      if (isFromNewer(session.getBranch())) return memory.append(ledger, expected, fresh)
      const found = events().length
      if (found !== expected) throw conflict(ledger, expected, found)
      pi.appendEntry(ENTRY, {
        v: LEDGER_FORMAT,
        events: JSON.parse(eventsToJson(ledger, expected, fresh)),
      })
    },
  }
}

/** Whether a newer version has written on this branch, which this one may not be able to read. */
export function isFromNewer(branch: readonly SessionEntry[]): boolean {
  return branch.some((entry) => isOurs(entry) && isRecord(entry.data) && Number(entry.data.v) > LEDGER_FORMAT)
}

/** What an entry says from which on the ledger begins anew. What stands before it stays in the file. */
interface Reset {
  readonly reset: string
}

export const resetBecause = (reason: string): Reset => ({ reset: reason })

const isOurs = ({ type, customType }: SessionEntry) => type === 'custom' && customType === ENTRY

function sinceReset(branch: readonly SessionEntry[]): readonly SessionEntry[] {
  const isReset = (entry: SessionEntry) => isOurs(entry) && isRecord(entry.data) && 'reset' in entry.data
  return branch.slice(branch.findLastIndex(isReset) + 1)
}

/** The events of one entry: none where it is not ours. One that says that it is and holds none is damaged. */
function eventsIn(entry: SessionEntry): LedgerEvent[] {
  if (!isOurs(entry)) return []
  const { data, id } = entry
  if (isRecord(data) && Array.isArray(data.events)) return data.events
  throw new Error(`The entry ${id} of the session holds no events of a ledger.`)
}

/** Whether pi has shortened the history, and the ledger does not know it yet. The session itself says so, also after a restart. */
export function awaitsCompaction(branch: readonly SessionEntry[]): boolean {
  const last = branch.findLastIndex(({ type }) => type === 'compaction')
  if (last < 0) return false
  return !sinceReset(branch.slice(last))
    .flatMap(eventsIn)
    .some(({ kind }) => kind === 'compacted')
}
