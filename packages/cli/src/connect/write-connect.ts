/** Carries out a plan of `connect`, one file after the other. Whatever happens in between, `undo` knows what to do. */
import { defined } from '@toolwell/core/internal'
import { digestBytes, replaceFile, sweepDrafts } from './client-file.js'
import type { ClientPlan, ConnectPlan, RefusedClient } from './connect-plan.js'
import { asRefusal } from './edit/refusal.js'
import type { ClientRecord, Records } from './records.js'
import { addServers, planPrune, prune } from './servers-file.js'

export interface Connected {
  readonly written: readonly ClientPlan[]
  readonly refused: readonly RefusedClient[]
}

/** First the servers, then what kept them: a crash in between leaves a server in two places, never in none. */
export async function writeConnect(plan: ConnectPlan, records: Records): Promise<Connected> {
  const { file, add, next } = plan.servers
  await addServers(records, file, add, next)
  const written: ClientPlan[] = []
  const refused: RefusedClient[] = []
  for (const client of plan.clients) {
    const before = records.clients().find(({ real }) => real === client.state.real)
    const record = createRecord(client, before)
    records.write(record, client.base)
    try {
      if (client.isDone) sweepDrafts(client.state.real)
      else await replaceFile(client.state, client.next)
      written.push(client)
    } catch (error) {
      if (before) records.write(before, records.before(before))
      else records.remove(record)
      refused.push({ from: client.from, refusal: asRefusal(error) })
    }
  }
  if (refused.length > 0) await pruneUnused(records)
  return { written, refused }
}

/** Takes out again what no client needs, because its file could not be written. */
async function pruneUnused(records: Records): Promise<void> {
  const clients = records.clients()
  const used = new Set(clients.flatMap(({ taken }) => taken.map(({ as }) => as)))
  const pruned = planPrune(records, used, clients.length === 0)
  if (pruned) await prune(records, pruned)
}

function createRecord(
  { from, state, table, base, next, taken, ownBefore, isRebased }: ClientPlan,
  before: ClientRecord | undefined,
): ClientRecord {
  return {
    format: 1,
    client: from.client,
    label: from.label,
    shape: from.shape,
    file: from.file,
    real: state.real,
    table,
    ...defined({ before: digestBytes(base) }),
    after: digestBytes(next) ?? '',
    ...defined({ made: before?.made ?? state.missing }),
    taken,
    ...defined({
      replaced: ownBefore,
      isRebased: isRebased ? (true as const) : undefined,
      mode: state.bytes === undefined ? before?.mode : state.mode,
    }),
  }
}
