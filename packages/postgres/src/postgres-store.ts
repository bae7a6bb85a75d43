/** The store: ledgers, kept results and usage examples in one PostgreSQL schema. */
import { randomUUID } from 'node:crypto'
import { type LedgerEvent, type LedgerStore, ToolwellError, type UsageStore } from '@toolwell/core'
import { LEDGER_FORMAT } from '@toolwell/core/internal'
import type { ResultStore } from '@toolwell/core/result'
import { assertLedgerId, conflict, eventsToJson, stillNeeded } from '@toolwell/core/store'
import { openClient, openDatabase, type PostgresOptions, type Row } from './database.js'
import { postgresResults, postgresUsage } from './results-and-usage.js'

export interface PostgresStore extends Required<LedgerStore> {
  /** Keeps long results. `createToolwell({ store })` uses it. */
  readonly results: ResultStore
  /** Keeps usage examples: give it as `search.usage.store`. */
  readonly usage: UsageStore
  /** Deletes ledgers without an append for `olderThan` milliseconds, unless a younger fork needs them. Returns their number. */
  expire(options: { readonly olderThan: number }): Promise<number>
  /** Ends the Pool that `connectionString` created. Does nothing to a given `client`. */
  close(): Promise<void>
}

const PAGE = 1000

export function postgresStore(options: PostgresOptions): PostgresStore {
  const { client, close } = openClient(options)
  const database = openDatabase(client, options.schema ?? 'toolwell_data')
  const { schema } = database
  const results = postgresResults(database)

  async function countEvents(ledger: string): Promise<number> {
    const [row] = await database.query(`select events from ${schema}.ledgers where ledger = $1`, [
      encodeId(ledger),
    ])
    return Number(row?.events ?? 0)
  }

  return {
    results,
    usage: postgresUsage(database),
    close,

    async read(ledger, from = 0) {
      assertLedgerId(ledger)
      const rows = await database.query(
        `select l.events as total, a.first, a.count, a.format, a.events from ${schema}.ledgers l
         left join ${schema}.appends a on a.ledger = l.ledger and a.first + a.count > $2::bigint
           and a.first >= coalesce((select max(first) from ${schema}.appends where ledger = $1 and first <= $2::bigint), 0)
         where l.ledger = $1 order by a.first`,
        [encodeId(ledger), from],
      )
      const total = Number(rows[0]?.total ?? 0)
      if (from > total) throw conflict(ledger, from, total)
      return from === total ? [] : readEvents(ledger, rows, from, total)
    },

    async append(ledger, expected, events) {
      assertLedgerId(ledger)
      const text = eventsToJson(ledger, expected, events)
      if (events.length === 0) {
        const count = await countEvents(ledger)
        if (count !== expected) throw conflict(ledger, expected, count)
        return
      }
      const [first] = events
      const origin = first?.kind === 'forked' ? encodeId(first.origin.ledger) : null
      // The statement may run twice if its connection is lost. The key shows that its events are stored already.
      const [row] = await database.query(`select ${schema}.append($1, $2, $3, $4, $5, $6, $7) as other`, [
        encodeId(ledger),
        expected,
        events.length,
        LEDGER_FORMAT,
        randomUUID(),
        text,
        origin,
      ])
      if (row?.other !== null) throw conflict(ledger, expected, Number(row?.other))
    },

    async list() {
      const ids: string[] = []
      for (let page: readonly Row[] = []; ; ) {
        page = await database.query(
          `select ledger from ${schema}.ledgers where ledger > $1 order by ledger limit ${PAGE}`,
          [page.at(-1)?.ledger ?? ''],
        )
        ids.push(...page.map((row) => decodeId(String(row.ledger))))
        if (page.length < PAGE) return ids
      }
    },

    async delete(ledger) {
      assertLedgerId(ledger)
      const id = encodeId(ledger)
      try {
        await database.query(`delete from ${schema}.ledgers where ledger = $1`, [id])
      } catch (error) {
        // 23503: a foreign key, so a fork continues this ledger.
        if ((error as ToolwellError).data?.code !== '23503') throw error
        const [fork] = await database.query(
          `select ledger from ${schema}.ledgers where forked_from = $1 limit 1`,
          [id],
        )
        throw stillNeeded(ledger, fork === undefined ? 'a fork' : decodeId(String(fork.ledger)))
      }
      await results.delete?.(ledger)
    },

    async expire({ olderThan }) {
      if (typeof olderThan !== 'number' || !(olderThan > 0))
        throw new ToolwellError('invalid-option', 'olderThan needs a number of milliseconds above 0.', {
          path: 'olderThan',
        })
      let deleted = 0
      // Forks are deleted before the ledgers that they continue, so one round may make the next one possible.
      for (;;) {
        const rows = await database.query(
          `with old as (
             select ledger from ${schema}.ledgers l
             where updated_at < now() - $1::float8 * interval '1 millisecond'
               and not exists (select from ${schema}.ledgers f where f.forked_from = l.ledger)
             limit ${PAGE} for update skip locked
           ), emptied as (delete from ${schema}.results r using old where r.ledger = old.ledger)
           delete from ${schema}.ledgers l using old where l.ledger = old.ledger returning l.ledger`,
          [olderThan],
        )
        deleted += rows.length
        if (rows.length === 0) return deleted
      }
    },
  }
}

/** Writes U+0000 and lone surrogates, which PostgreSQL refuses, as JSON does. */
export function encodeId(id: string): string {
  return JSON.stringify(id).slice(1, -1)
}

function decodeId(text: string): string {
  return JSON.parse(`"${text}"`) as string
}

/** Joins the events of consecutive appends. Throws if a number is missing: somebody changed the rows. */
function readEvents(ledger: string, rows: readonly Row[], from: number, total: number): LedgerEvent[] {
  const events: LedgerEvent[] = []
  let next = Number(rows[0]?.first)
  const skipped = from - next
  for (const row of rows) {
    const format = Number(row.format)
    if (format > LEDGER_FORMAT)
      throw new ToolwellError(
        'ledger-too-new',
        `Ledger ${JSON.stringify(ledger)} has events of format ${format}; this release knows format ${LEDGER_FORMAT}. Update @toolwell/core on this host. Nothing was changed.`,
        { ledger, found: format, known: LEDGER_FORMAT },
      )
    const batch = parse(String(row.events))
    if (Number(row.first) !== next || batch?.length !== Number(row.count)) break
    for (const event of batch) events.push(event)
    next += batch.length
  }
  if (next === total && skipped >= 0) return skipped === 0 ? events : events.slice(skipped)
  throw new ToolwellError(
    'ledger-corrupt',
    `The rows of ledger ${JSON.stringify(ledger)} do not fit together at event ${next}: somebody changed them. Nothing was changed. Restore the tables from a backup, or delete this ledger.`,
    { ledger, event: next },
  )
}

function parse(text: string): LedgerEvent[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? (value as LedgerEvent[]) : undefined
  } catch {
    return undefined
  }
}
