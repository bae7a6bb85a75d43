/** Several processes on one conversation: nobody sees a conflict, and no call runs twice. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { schemaSql } from '@toolwell/postgres'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isLong } from '../../../test/setup/tier.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { withoutPostgres } from './skip.ts'

const ROUNDS = isLong ? 60 : 8

let server: PostgresServer
let pool: pg.Pool
beforeAll(async () => {
  if (withoutPostgres) return
  server = await startPostgres()
  pool = server.pool
})
afterAll(async () => {
  await server?.stop()
})

it.skipIf(withoutPostgres).each(isLong ? [2, 4, 8] : [2, 4])(
  'works with %i processes',
  { timeout: 1_800_000 },
  async (count) => {
    await pool.query('drop schema if exists replicas cascade')
    await pool.query(schemaSql('replicas'))
    await pool.query('create table replicas.paid (number int, by text)')
    const outputs = await Promise.all(
      Array.from({ length: count }, (_, index) => {
        const child = spawn(
          process.execPath,
          [
            '--import',
            'tsx',
            fileURLToPath(new URL('./replica.ts', import.meta.url)),
            server.url,
            `p${index}`,
            String(ROUNDS),
          ],
          { stdio: ['ignore', 'pipe', 'pipe'] },
        )
        return Promise.all([text(child.stdout), text(child.stderr)])
      }),
    )
    expect(outputs.map(([, errors]) => errors).join('')).toBe('')
    const { rows } = await pool.query(
      'select number, count(*)::int as times from replicas.paid group by number',
    )
    expect(rows.length).toBe(ROUNDS)
    expect(rows.filter(({ times }) => times !== 1)).toEqual([])
    if (!isLong) return
    const figures = outputs.map(([output]) => JSON.parse(output))
    const turns = 2 * ROUNDS * count
    const conflicts = figures.reduce((sum, each) => sum + each.conflicts, 0)
    const slowest = Math.max(...figures.map(({ milliseconds }) => milliseconds))
    console.log(
      `${count} processes: ${turns} turns, ${conflicts} conflicts, ${(slowest / 2 / ROUNDS).toFixed(0)} ms for each turn`,
    )
  },
)
