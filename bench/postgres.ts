/** What does the PostgreSQL store cost compared with bare statements through the same client, and what do replicas ask of it? */
import { randomUUID } from 'node:crypto'
import type { LedgerEvent } from '@toolwell/core'
import { createToolwell } from '@toolwell/core'
import { postgresStore } from '@toolwell/postgres'
import { startPostgres } from '../packages/postgres/test/postgres-server.ts'
import { benchReplicas } from './replicas.ts'
import { createLines, printLines } from './retrieval/lines.ts'

const APPENDS = 1200
const WARM_UP = 200
const OPENS = 100

const print = (line: string) => process.stdout.write(`${line}\n`)
const median = (times: readonly number[]) =>
  [...times].sort((one, other) => one - other)[times.length >> 1] ?? 0

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const event = (id: number): LedgerEvent => ({
  id,
  anchor: `call:call_${id}`,
  kind: 'searched',
  query: `export the invoices of ${id}`,
  loaded: ['billing/export'],
  dropped: [],
  missed: false,
  tokens: 120,
})

export async function benchPostgres(): Promise<object> {
  const server = await startPostgres()
  try {
    const { pool } = server
    const store = postgresStore({ client: pool })
    await pool.query(
      'create table bare (ledger text, first bigint, key text, events text, primary key (ledger, first))',
    )
    await store.append('warm', 0, [event(0)])

    const bareAppends: number[] = []
    const appends: number[] = []
    for (let at = 0; at < APPENDS; at++) {
      const bare = async () => {
        const values = ['t', at, randomUUID(), JSON.stringify([event(at)])]
        bareAppends.push(await timed(() => pool.query('insert into bare values ($1, $2, $3, $4)', values)))
      }
      const append = async () => {
        appends.push(await timed(() => store.append('t', at, [event(at)])))
      }
      // The second one of a pair finds warmer caches.
      for (const work of at % 2 === 0 ? [bare, append] : [append, bare]) await work()
    }
    for (const times of [bareAppends, appends]) times.splice(0, WARM_UP)

    const opens: Record<
      number,
      {
        readonly bare: number
        readonly parsed: number
        readonly read: number
        readonly open: number
        readonly bytes: number
      }
    > = {}
    for (const events of [1000, 10_000]) {
      const ledger = `open-${events}`
      // Three events per append, as a request leaves them.
      for (let at = 0; at < events; at += 3) {
        const batch = Array.from({ length: Math.min(3, events - at) }, (_, index) => event(at + index))
        await store.append(ledger, at, batch)
        await pool.query('insert into bare values ($1, $2, $3, $4)', [
          ledger,
          at,
          randomUUID(),
          JSON.stringify(batch),
        ])
      }
      const bare: number[] = []
      const parsed: number[] = []
      const read: number[] = []
      const open: number[] = []
      let bytes = 0
      for (let round = 0; round < OPENS; round++) {
        const select = () => pool.query('select events from bare where ledger = $1 order by first', [ledger])
        const well = createToolwell({ store })
        const works: readonly (readonly [number[], () => Promise<unknown>])[] = [
          [
            bare,
            async () => {
              bytes = (await select()).rows.reduce((sum, row) => sum + row.events.length, 0)
            },
          ],
          [parsed, async () => (await select()).rows.map((row) => JSON.parse(row.events))],
          [read, () => store.read(ledger)],
          [open, () => well.open({ id: ledger })],
        ]
        // Each of them is first in its turn.
        for (let at = 0; at < works.length; at++) {
          const [times, work] = works[(at + round) % works.length] as (typeof works)[number]
          times.push(await timed(work))
        }
      }
      opens[events] = {
        bare: median(bare),
        parsed: median(parsed),
        read: median(read),
        open: median(open),
        bytes,
      }
      print(
        `${events} events (${Math.round(bytes / 1000)} kB): a bare select ${median(bare).toFixed(1)} ms, with JSON.parse ${median(parsed).toFixed(1)} ms, read ${median(read).toFixed(1)} ms, open with an empty cache ${median(open).toFixed(1)} ms`,
      )
    }

    const append = { bare: median(bareAppends), append: median(appends) }
    print(`append: ${append.append.toFixed(2)} ms; a bare insert: ${append.bare.toFixed(2)} ms`)
    const { lines, add } = createLines()
    add('append, times a bare insert', append.append / append.bare, { goal: 1.3, atMost: true })
    const thousand = opens[1000]
    if (thousand) {
      add('read of 1,000 events, times a bare select', thousand.read / thousand.bare, {
        goal: 2,
        atMost: true,
      })
      add('the same, times a bare select and JSON.parse', thousand.read / thousand.parsed, {
        goal: 2,
        atMost: true,
      })
    }
    printLines(lines)
    return { append, opens, replicas: await benchReplicas(), lines }
  } finally {
    await server.stop()
  }
}
