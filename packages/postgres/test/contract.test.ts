/** The contract of ledger stores, on a real PostgreSQL. */

import { postgresStore } from '@toolwell/postgres'
import { storeContract } from '@toolwell/testing'
import type pg from 'pg'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { startProxy } from './network-proxy.ts'
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
      const proxy = await startProxy(server.port)
      const store = postgresStore({
        connectionString: server.url.replace(String(server.port), String(proxy.port)),
        schema,
      })
      return {
        store,
        reopen: async () => postgresStore({ client: pool, schema }),
        network: {
          loseNextAnswer: () => proxy.loseAnswerTo('insert into'),
          cut: async () => proxy.cutAll(),
        },
        dispose: async () => {
          await store.close()
          await proxy.close()
          await pool.query(`drop schema if exists ${schema} cascade`)
        },
      }
    },
  })
  for (const { title, run } of cases)
    it(title, async ({ skip }) => {
      const reason = await run()
      if (reason !== undefined) skip(reason)
    })
})
