/** The contract of ledger stores, on a real PostgreSQL. */

import { postgresStore } from '@toolwell/postgres'
import { storeContract } from '@toolwell/testing'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { isLong } from '../../../test/setup/tier.ts'
import { startProxy } from './network-proxy.ts'
import { type PostgresServer, startPooler, startPostgres } from './postgres-server.ts'
import { withoutPooler, withoutPostgres } from './skip.ts'

let server: PostgresServer
let pooler: Awaited<ReturnType<typeof startPooler>> | undefined
let count = 0
beforeAll(async () => {
  if (withoutPostgres) return
  server = await startPostgres()
  if (!withoutPooler) pooler = await startPooler(server.port)
})
afterAll(async () => {
  await pooler?.stop()
  await server?.stop()
})

describe
  .skipIf(withoutPostgres)
  .each(isLong && !withoutPooler ? ['directly', 'through PgBouncer'] : ['directly'])(
  'postgresStore, %s',
  (way) => {
    const cases = storeContract({
      async create() {
        count += 1
        const schema = `contract_${count}`
        const { url, pool } = server
        const behind = new URL(way === 'directly' ? url : (pooler?.url ?? ''))
        const proxy = await startProxy(Number(behind.port))
        behind.port = String(proxy.port)
        const store = postgresStore({ connectionString: behind.href, schema })
        return {
          store,
          reopen: async () => postgresStore({ client: pool, schema }),
          network: {
            loseNextAnswer: () => proxy.loseAnswerTo('.append('),
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
  },
)
