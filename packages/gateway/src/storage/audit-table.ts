/** Audit log in PostgreSQL, for 30 days. */
import { randomUUID } from 'node:crypto'
import type { Database } from '@toolwell/postgres/internal'
import type { AuditLog, AuditRecord } from './storage.js'

const DAYS = 30
/** Milliseconds in which records are collected for one write. */
const COLLECT = 100
/** Milliseconds before the next attempt after a failure. */
const AGAIN = 1000
const LARGEST_BATCH = 1000
/** Records that wait for the database. More are lost, and counted. */
const MOST_QUEUED = 10_000

export function auditTable({ schema, query }: Database): AuditLog {
  let queue: AuditRecord[] = []
  /** Keeps its key over every attempt, so a write whose answer was lost is not repeated. */
  let batch: { readonly key: string; readonly records: readonly AuditRecord[] } | undefined
  let writing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let lost = { count: 0, reason: '' }
  let failure = 'the database is too slow'

  /** Throws if the database cannot be used. */
  const write = async () => {
    while (batch || queue.length > 0) {
      batch ??= { key: randomUUID(), records: queue.splice(0, LARGEST_BATCH) }
      const rows = batch.records.map((record, place) => ({
        place,
        ended_at: record.time,
        record: JSON.stringify(record),
      }))
      await query(
        `with old as (
           delete from ${schema}.calls where (batch, place) in (
             select batch, place from ${schema}.calls where ended_at < now() - interval '${DAYS} days' limit 1000
           )
         ) insert into ${schema}.calls (batch, place, ended_at, record)
         select $1, place, ended_at, record
         from json_to_recordset($2::json) as given (place integer, ended_at timestamptz, record text)
         on conflict do nothing`,
        [batch.key, JSON.stringify(rows)],
      )
      batch = undefined
    }
  }
  const start = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    writing ??= write().finally(() => {
      writing = undefined
    })
    return writing
  }
  const schedule = (wait: number) => {
    if (timer || writing) return
    timer = setTimeout(() => {
      timer = undefined
      start().then(
        () => queue.length > 0 && schedule(COLLECT),
        (error: Error) => {
          failure = error.message
          schedule(AGAIN)
        },
      )
    }, wait)
    timer.unref()
  }
  return {
    append(record) {
      if (queue.length >= MOST_QUEUED) lost = { count: lost.count + 1, reason: failure }
      else queue.push(record)
      schedule(COLLECT)
    },
    get lost() {
      return lost
    },
    async read(since) {
      const rows = await query(
        `select record from ${schema}.calls where ended_at >= $1::timestamptz order by ended_at, batch, place`,
        [new Date(since).toISOString()],
      )
      return rows.map(({ record }) => JSON.parse(String(record)) as AuditRecord)
    },
    async flush() {
      await start().catch((error: Error) => {
        lost = { count: lost.count + queue.length + (batch?.records.length ?? 0), reason: error.message }
        queue = []
        batch = undefined
      })
    },
  }
}
