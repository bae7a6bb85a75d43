/** Stores the ledger in pi's session file: one entry per append, on the current branch. A fork of the session forks the ledger. */
import { type LedgerEvent, memoryStore } from '@toolwell/core'
import { isRecord, LEDGER_FORMAT } from '@toolwell/core/internal'
import { conflict, eventsFrom, eventsToJson, type LedgerStore } from '@toolwell/core/store'
import type { Pi, SessionEntry, SessionManager } from './pi.js'

/** Type of our entries in the session file. */
export const ENTRY = 'toolwell'

/**
 * The ledger of the current branch. pi writes a session from its first reply on, including earlier appends. If a newer version
 * has written to the branch, the ledger stays in memory.
 */
export function sessionStore(pi: Pick<Pi, 'appendEntry'>, session: SessionManager): LedgerStore {
  const memory = memoryStore()
  const events = () => {
    const all = sinceReset(session.getBranch()).flatMap(readEvents)
    // A missing or repeated event would change everything after it.
    const at = all.findIndex((event, index) => event?.id !== index)
    if (at >= 0) throw new Error(`The ledger in this session is damaged: event ${at} is missing or repeated.`)
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

/** A newer version has written to this branch. */
export function isFromNewer(branch: readonly SessionEntry[]): boolean {
  return branch.some((entry) => isOurs(entry) && isRecord(entry.data) && Number(entry.data.v) > LEDGER_FORMAT)
}

/** An entry from which the ledger starts again. Earlier entries stay in the file. */
interface Reset {
  readonly reset: string
}

export const createReset = (reason: string): Reset => ({ reset: reason })

const isOurs = ({ type, customType }: SessionEntry) => type === 'custom' && customType === ENTRY

function sinceReset(branch: readonly SessionEntry[]): readonly SessionEntry[] {
  const isReset = (entry: SessionEntry) => isOurs(entry) && isRecord(entry.data) && 'reset' in entry.data
  return branch.slice(branch.findLastIndex(isReset) + 1)
}

/** Events of one entry; none if it belongs to someone else. Throws if our entry is damaged. */
function readEvents(entry: SessionEntry): LedgerEvent[] {
  if (!isOurs(entry)) return []
  const { data, id } = entry
  if (isRecord(data) && Array.isArray(data.events)) return data.events
  throw new Error(`The ledger in this session is damaged: entry ${id} has no events.`)
}

/** pi has compacted the history, and the ledger does not know it yet. Read from the session, so it works after a restart. */
export function awaitsCompaction(branch: readonly SessionEntry[]): boolean {
  const last = branch.findLastIndex(({ type }) => type === 'compaction')
  if (last < 0) return false
  return !sinceReset(branch.slice(last))
    .flatMap(readEvents)
    .some(({ kind }) => kind === 'compacted')
}
