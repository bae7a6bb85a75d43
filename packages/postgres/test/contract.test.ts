/** The contract of ledger stores, on a real PostgreSQL. */

import { postgresStore } from '@toolwell/postgres'
import { storeContract } from '@toolwell/testing'
import type pg from 'pg'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type PostgresServer, startPostgres, withoutPostgres } from './postgres-server.ts'

let server: PostgresServer
let pool: pg.Pool
let count = 0
beforeAll(async () => {
  if (withoutPostgres) return
  server = await startPostgres()
  pool = server.pool
})
afterAll(async () => {
  await server?.stop()
})

describe.skipIf(withoutPostgres)('postgresStore', () => {
  const cases = storeContract({
    async create() {
      count += 1
      const schema = `contract_${count}`
      return {
        store: postgresStore({ client: pool, schema }),
        reopen: async () => postgresStore({ client: pool, schema }),
        dispose: async () => {
          await pool.query(`drop schema if exists ${schema} cascade`)
        },
      }
    },
  })
  for (const { title, run } of cases) it(title, run)
})
