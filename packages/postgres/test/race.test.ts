/** Processes that append to one ledger while backends and writers are killed: nothing is lost and nothing is doubled. */
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { postgresStore } from '@toolwell/postgres'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isLong } from '../../../test/setup/tier.ts'
import { type NetworkProxy, startProxy } from './network-proxy.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { withoutPostgres } from './skip.ts'

const WRITERS = isLong ? 8 : 3
// Half of the writers are killed after half of their appends, so at least 10,000 are acknowledged.
const APPENDS = isLong ? 1700 : 40

let server: PostgresServer
let proxy: NetworkProxy
let pool: pg.Pool
beforeAll(async () => {
  if (withoutPostgres) return
  server = await startPostgres()
  proxy = await startProxy(server.port)
  pool = server.pool
})
afterAll(async () => {
  await proxy?.close()
  await server?.stop()
})

const acknowledged: string[] = []

/** Starts a writer; resolves when it ends. `onLine` is called for each acknowledged append. */
function startWriter(name: string, onLine: (child: ChildProcess) => void): Promise<string> {
  const child = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      fileURLToPath(new URL('./writer.ts', import.meta.url)),
      `postgres://toolwell@127.0.0.1:${proxy.port}/postgres`,
      name,
      String(APPENDS),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let errors = ''
  child.stderr?.on('data', (bytes) => {
    errors += bytes
  })
  let rest = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      acknowledged.push(line)
      onLine(child)
    }
  })
  return new Promise((resolve) => child.once('close', () => resolve(errors)))
}

it.skipIf(withoutPostgres)('loses and doubles no append', { timeout: 1_800_000 }, async () => {
  let running = true
  let killed = 0
  const chaos = (async () => {
    while (running) {
      await wait(40)
      const { rows } = await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid() order by random() limit 1`,
      )
      killed += rows.length
      if (killed % 10 === 9) proxy.cutAll()
    }
  })()
  const errors = await Promise.all(
    Array.from({ length: WRITERS }, (_, index) => {
      let lines = 0
      // Every second writer is killed after half of its appends.
      return startWriter(`w${index}`, (child) => {
        lines += 1
        if (index % 2 === 1 && lines === APPENDS / 2) child.kill('SIGKILL')
      })
    }),
  )
  running = false
  await chaos
  expect(errors.join('')).toBe('')
  const store = postgresStore({ client: pool, schema: 'race' })
  const events = await store.read('race')
  expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index))
  const queries = events.map((event) => (event.kind === 'searched' ? event.query : ''))
  expect(new Set(queries).size, 'no append is doubled').toBe(queries.length)
  const stored = new Set(queries)
  expect(
    acknowledged.filter((each) => !stored.has(each)),
    'no acknowledged append is lost',
  ).toEqual([])
  expect(acknowledged.length).toBeGreaterThanOrEqual(isLong ? 10_000 : (WRITERS * APPENDS) / 2)
  expect(killed).toBeGreaterThan(0)
  if (isLong)
    console.log(`${acknowledged.length} acknowledged, ${events.length} stored, ${killed} backends killed`)
})
