/** What `undo` would put back, in which file. Nothing is written here. */
import { type ClientState, readState } from '../connect/client-file.js'
import { asRefusal, type Refusal } from '../connect/edit/refusal.js'
import type { ClientRecord, Records } from '../connect/records.js'
import { type Restored, restore } from '../connect/restore.js'
import { type Pruned, planPrune } from '../connect/servers-file.js'
import { CLIENTS } from '../shared/clients/clients.js'

export interface UndoneClient {
  readonly record: ClientRecord
  readonly state: ClientState
  readonly restored: Restored
  /** What was changed since is lost, because that was asked for; a copy is kept. */
  readonly isOverwritten: boolean
}

export interface UndoPlan {
  readonly clients: readonly UndoneClient[]
  readonly refused: readonly { readonly record: ClientRecord; readonly refusal: Refusal }[]
  readonly servers: Pruned | undefined
  /** toolwell.json cannot be changed: the servers stay in it. */
  readonly left: Refusal | undefined
}

export function planUndo(records: Records, clients: readonly string[], isOverwriting: boolean): UndoPlan {
  const all = records.clients()
  const order = (client: string) => (CLIENTS as readonly string[]).indexOf(client)
  const meant = all
    .filter(({ client }) => clients.length === 0 || clients.includes(client))
    .sort((a, b) => order(a.client) - order(b.client))
  const undone: UndoneClient[] = []
  const refused: { record: ClientRecord; refusal: Refusal }[] = []
  for (const record of meant) {
    const before = records.before(record)
    try {
      const found = readState(record.real)
      // A file that is gone comes back as it was in this, too.
      const state = found.bytes === undefined ? { ...found, mode: record.mode ?? found.mode } : found
      try {
        undone.push({ record, state, restored: restore(record, state.bytes, before), isOverwritten: false })
      } catch (error) {
        if (!isOverwriting) throw error
        asRefusal(error)
        const restored: Restored = { bytes: before, how: 'exact', back: [] }
        undone.push({ record, state, restored, isOverwritten: true })
      }
    } catch (error) {
      refused.push({ record, refusal: asRefusal(error) })
    }
  }
  const left = all.filter((record) => !undone.some((each) => each.record === record))
  try {
    return { clients: undone, refused, servers: planServers(records, left, undone.length), left: undefined }
  } catch (error) {
    return { clients: undone, refused, servers: undefined, left: asRefusal(error) }
  }
}

function planServers(records: Records, left: readonly ClientRecord[], count: number): Pruned | undefined {
  if (count === 0 && left.length > 0) return undefined
  const used = new Set(left.flatMap(({ taken }) => taken.map(({ as }) => as)))
  return planPrune(records, used, left.length === 0)
}
