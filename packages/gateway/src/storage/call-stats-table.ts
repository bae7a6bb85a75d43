/** Sums of calls in PostgreSQL: every replica adds its own. */
import { randomUUID } from 'node:crypto'
import type { Database, Row } from '@toolwell/postgres/internal'
import { type CallStats, createStats, DAYS_KEPT, HOURS_KEPT, type Line, Sums } from './call-stats.js'

/** Milliseconds in which sums are collected for one write. */
const COLLECT = 5000
/** Milliseconds after which `tools` and `slots` read the sums of the other replicas again. */
const HOLDS = 5000
const DAY = 24 * 3_600_000

export function callStatsTable({ schema, query }: Database): CallStats & { open(): Promise<void> } {
  /** The sums of all replicas, and of this one since they were read. */
  let all = new Sums()
  /** Not written yet. */
  let own = new Sums()
  /** Keeps its key over every attempt, so a write whose answer was lost is not repeated. */
  let batch: { readonly key: string; readonly sums: Sums } | undefined
  let timer: NodeJS.Timeout | undefined
  let day = 0
  let readAt = 0
  /** Reads and writes run one after another, so that a read never counts a batch twice. */
  let last = Promise.resolve()
  const afterLast = (work: () => Promise<void>) => {
    last = last.catch(() => undefined).then(work)
    return last
  }

  const read = async () => {
    const rows = await query(`select kind, start, names, sums, most from ${schema}.call_sums`, [])
    const found = new Sums()
    for (const row of rows) found.add(toLine(row))
    for (const sums of [batch?.sums, own]) for (const line of sums?.lines() ?? []) found.add(line)
    all = found
  }
  const refresh = () => {
    if (performance.now() - readAt < HOLDS) return
    readAt = performance.now()
    afterLast(read).catch(() => undefined)
  }
  const write = async () => {
    if (!batch) {
      batch = { key: randomUUID(), sums: own }
      own = new Sums()
    }
    const rows = [...batch.sums.lines()].map(toRow)
    if (rows.length > 0) await query(addSums(schema), [batch.key, JSON.stringify(rows)])
    batch = undefined
    const today = Math.floor(Date.now() / DAY)
    if (today > day) await query(ageSums(schema), [Date.now() - HOURS_KEPT, Date.now() - DAYS_KEPT])
    day = today
  }
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    return afterLast(write)
  }
  const schedule = () => {
    timer ??= setTimeout(() => flush().catch(schedule), COLLECT).unref()
  }
  const stats = createStats(
    () => all,
    (line) => {
      own.add(line)
      schedule()
    },
    () => flush().catch(() => undefined),
  )
  return {
    ...stats,
    open: read,
    tools: () => {
      refresh()
      return stats.tools()
    },
    slots: () => {
      refresh()
      return stats.slots()
    },
  }
}

/** The order of the values in a line of `Sums`. */
function toRow([kind, ...values]: Line): object {
  if (kind === 'tool') {
    const [server, tool, calls, errors, refused, tokensIn, tokensOut, largest, bytes, took, used, durations] =
      values
    return {
      kind,
      start: 0,
      names: JSON.stringify([server, tool]),
      sums: [calls, errors, refused, tokensIn, tokensOut, bytes, took, ...(durations as number[])],
      most: [largest, used],
    }
  }
  const [unit, start, client, project, ...sums] = values
  return { kind: unit, start, names: JSON.stringify([client, project]), sums, most: [] }
}

function toLine({ kind, start, names, sums, most }: Row): Line {
  const [first, second] = JSON.parse(String(names)) as string[]
  if (kind !== 'tool') return ['slot', kind, start, first, second, ...(sums as number[])]
  const [calls, errors, refused, tokensIn, tokensOut, bytes, took, ...durations] = sums as number[]
  const [largest, used] = most as number[]
  const counts = [calls, errors, refused, tokensIn, tokensOut, largest, bytes, took, used, durations]
  return ['tool', first, second, ...counts]
}

const addUp = (schema: string) => `on conflict (kind, start, names) do update set
  sums = (select array_agg(one + other order by place)
    from unnest(${schema}.call_sums.sums, excluded.sums) with ordinality as both_sums (one, other, place)),
  most = (select coalesce(array_agg(greatest(one, other) order by place), '{}')
    from unnest(${schema}.call_sums.most, excluded.most) with ordinality as both_mosts (one, other, place))`

/** Does nothing if the batch was written before. Sorted, so that two replicas cannot wait for each other. */
const addSums = (schema: string) =>
  `with old as (delete from ${schema}.batches where written_at < now() - interval '1 hour'),
   fresh as (insert into ${schema}.batches (key) values ($1) on conflict do nothing returning key)
   insert into ${schema}.call_sums (kind, start, names, sums, most)
   select kind, start, names, sums, most from fresh, json_to_recordset($2::json) as given
     (kind text, start double precision, names text, sums double precision[], most double precision[])
   order by kind, start, names
   ${addUp(schema)}`

/** Turns hours before `$1` into days, and deletes days before `$2`. */
const ageSums = (schema: string) =>
  `with gone as (delete from ${schema}.call_sums where kind = 'day' and start < $2::double precision),
   old as (delete from ${schema}.call_sums where kind = 'hour' and start < $1::double precision
     returning floor(start / ${DAY}) * ${DAY} as start, names, sums, most),
   places as (select start, names, place, sum(value) as value
     from old, unnest(sums) with ordinality as each_sum (value, place) group by start, names, place)
   insert into ${schema}.call_sums (kind, start, names, sums, most)
   select 'day', start, names, array_agg(value order by place), '{}' from places group by start, names
   order by start, names
   ${addUp(schema)}`
