/** What a network adds to the contract: lost answers, killed backends, pooled connections, upgrades, wrong settings. */
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createToolwell, defineTool, type LedgerEvent, type ToolwellError } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { type PostgresClient, type PostgresStore, postgresStore, schemaSql } from '@toolwell/postgres'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProxy } from './network-proxy.ts'
import { type PostgresServer, startPooler, startPostgres } from './postgres-server.ts'
import { withoutPooler, withoutPostgres } from './skip.ts'

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

function event(id: number, query = 'query'): LedgerEvent {
  return { id, anchor: `m-${id}`, kind: 'searched', query, loaded: [], dropped: [], missed: true, tokens: 12 }
}

const events = (from: number, count: number, query?: string) =>
  Array.from({ length: count }, (_, index) => event(from + index, query))

async function refusal(attempt: Promise<unknown>): Promise<ToolwellError> {
  return attempt.then(
    () => expect.fail('it succeeded'),
    (error: ToolwellError) => error,
  )
}

describe.skipIf(withoutPostgres)('lost connections', () => {
  it('replaces connections that were killed while idle', async () => {
    const store = postgresStore({ connectionString: server.url, schema: 'idle' })
    for (let round = 0; round < 5; round += 1) {
      await store.append('t', round, events(round, 1))
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'`,
      )
    }
    expect(await store.read('t')).toEqual(events(0, 5))
    await store.close()
  })

  it('runs a conversation while its backends are killed', async () => {
    const tools = [
      defineTool({ name: 'clock', description: 'Tells the time.', inputSchema: {}, execute: () => '12:00' }),
    ]
    const store = postgresStore({ connectionString: server.url, schema: 'conversation' })
    const well = createToolwell({ store, mode: 'on' })
    well.catalogue.setSource('s', { tools })
    const chat = openaiChat(await well.open({ id: 'c' }))
    const turn = await chat.begin([{ role: 'user', content: 'time?' }])
    await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'`,
    )
    const { messages } = await turn.run({
      choices: [
        {
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: 'call-1',
                type: 'function',
                function: { name: 'tool_search', arguments: '{"query":"clock"}' },
              },
            ],
          },
        },
      ],
    })
    expect(JSON.stringify(messages)).toContain('s__clock')
    const stored = await store.read('c')
    expect(stored.map(({ kind }) => kind)).toContain('loaded')
    await store.close()
  })

  it('fails with the cause and the fix when the server stays away', async () => {
    const proxy = await startProxy(server.port)
    const store = postgresStore({
      connectionString: `postgres://toolwell@127.0.0.1:${proxy.port}/postgres`,
      schema: 'away',
    })
    await store.append('t', 0, events(0, 1))
    await proxy.close()
    const error = await refusal(store.append('t', 1, events(1, 1)))
    expect(error.code).toBe('store-failed')
    expect(error.message).toMatch(/Check host and port/)
    await store.close()
  })
})

describe.skipIf(withoutPostgres)('connections that a pooler shares', () => {
  /** Like PgBouncer in transaction mode: each statement gets any connection, and the state of a session is lost. */
  function createPooler(): PostgresClient & { close(): Promise<void> } {
    const clients = [0, 1, 2].map(() => new pg.Client({ connectionString: server.url }))
    const ready = Promise.all(clients.map((client) => client.connect()))
    let turn = 0
    return {
      async query(text, values) {
        await ready
        turn = (turn + 1) % clients.length
        const client = clients[turn] as pg.Client
        const result = await client.query(text, values)
        await client.query('discard all')
        return result
      },
      close: async () => void (await Promise.all(clients.map((client) => client.end()))),
    }
  }

  it('needs no state of a session', async () => {
    const client = createPooler()
    const store = postgresStore({ client, schema: 'pooled' })
    for (let id = 0; id < 9; id += 1) await store.append('t', id, events(id, 1))
    expect(await store.read('t', 4)).toEqual(events(4, 5))
    expect(await store.list()).toEqual(['t'])
    await client.close()
  })

  it.skipIf(withoutPooler)('serves more stores than PgBouncer has connections', async () => {
    const pooler = await startPooler(server.port)
    const stores = Array.from({ length: 8 }, () =>
      postgresStore({ connectionString: pooler.url, schema: 'bouncer' }),
    )
    const append = async (store: PostgresStore, name: string) => {
      for (let id = 0; id < 20; id += 1) await store.append(name, id, events(id, 1))
    }
    await Promise.all(stores.map((store, index) => append(store, `t${index}`)))
    for (const [index, store] of stores.entries())
      expect(await store.read(`t${(index + 1) % 8}`)).toEqual(events(0, 20))
    await Promise.all(stores.map((store) => store.close()))
    await pooler.stop()
  })
})

it.skipIf(withoutPostgres)(
  'reports a conflict under repeatable read, even if the ledger changes during each attempt',
  async () => {
    const other = postgresStore({ client: pool, schema: 'repeatable' })
    let count = 0
    const appendByOther = async () => {
      await other.append('t', count, events(count, 1))
      count += 1
    }
    await appendByOther()
    const connection = await pool.connect()
    const client: PostgresClient = {
      async query(text, values) {
        if (!text.includes('.append(')) return pool.query(text, values)
        await connection.query('begin isolation level repeatable read')
        await connection.query('select 1') // From here on, the transaction does not see changes of others.
        await appendByOther()
        try {
          return await connection.query(text, values)
        } finally {
          await connection.query('rollback')
        }
      },
    }
    const error = await refusal(postgresStore({ client, schema: 'repeatable' }).append('t', 0, events(0, 1)))
    connection.release()
    expect(error.code).toBe('ledger-conflict')
  },
)

describe.skipIf(withoutPostgres)('forks and retention', () => {
  const fork = (ledger: string): LedgerEvent =>
    ({ id: 0, anchor: '', kind: 'forked', origin: { ledger, count: 1 } }) as unknown as LedgerEvent

  it('keeps a ledger that a fork continues', async () => {
    const store = postgresStore({ client: pool, schema: 'forks' })
    await store.append('parent', 0, events(0, 1))
    await store.append('child', 0, [fork('parent')])
    expect((await refusal(store.delete('parent'))).message).toContain('"child" was forked from it')
    await store.delete('child')
    await store.delete('parent')
    expect(await store.list()).toEqual([])
  })

  it('expires old ledgers, by the clock of the database, and their results', async () => {
    const store = postgresStore({ client: pool, schema: 'expire' })
    for (const id of ['old', 'old-parent', 'kept-parent', 'new']) await store.append(id, 0, events(0, 1))
    await store.append('old-fork', 0, [fork('old-parent')])
    await store.append('new-fork', 0, [fork('kept-parent')])
    await store.results.write('old', 'h', { text: 'long' })
    await pool.query(
      `update expire.ledgers set updated_at = now() - interval '2 hours' where ledger like 'old%' or ledger like 'kept%'`,
    )
    expect(await store.expire({ olderThan: 3_600_000 })).toBe(3)
    expect((await store.list()).sort()).toEqual(['kept-parent', 'new', 'new-fork'])
    expect(await store.results.read('old', 'h')).toBeUndefined()
    expect((await refusal(store.expire({ olderThan: 0 }))).code).toBe('invalid-option')
  })
})

describe.skipIf(withoutPostgres)('results and usage', () => {
  it('lists and expires more ledgers than fit in one answer', async () => {
    const store = postgresStore({ client: pool, schema: 'many' })
    await store.read('t')
    await pool.query(
      `insert into many.ledgers (ledger, events, updated_at)
       select 't' || number, 1, now() - interval '2 days' from generate_series(1, 2500) as number`,
    )
    expect(new Set(await store.list()).size).toBe(2500)
    expect(await store.expire({ olderThan: 24 * 3_600_000 })).toBe(2500)
    expect(await store.list()).toEqual([])
  })

  it('keeps results and examples', async () => {
    const { results, usage } = postgresStore({ client: pool, schema: 'kept' })
    await results.write('l\u0000', 'h', { text: 'a\u0000\ud800' })
    await results.write('l\u0000', 'h', { text: 'second' })
    await results.write('l\u0000', 'file', { data: 'AAAA', mediaType: 'image/png' })
    expect(await results.read('l\u0000', 'h')).toEqual({ text: 'second' })
    expect(await results.read('l\u0000', 'file')).toEqual({ data: 'AAAA', mediaType: 'image/png' })
    expect(await results.read('other', 'h')).toBeUndefined()
    await results.delete?.('l\u0000')
    expect(await results.read('l\u0000', 'h')).toBeUndefined()
    const example = (tool: string, principal = '') => ({ principal, tool, fingerprint: 'f', words: [1, -2] })
    await usage.append([example('a'), example('b\u0000'), example('a', 'p')])
    await usage.append([])
    expect(await usage.read()).toEqual([example('a'), example('b\u0000'), example('a', 'p')])
    await usage.forget({ tool: 'a', principal: 'p' })
    await usage.forget({ tool: 'b\u0000' })
    expect(await usage.read()).toEqual([example('a')])
    await usage.forget({})
    expect(await usage.read()).toEqual([])
  })
})

describe.skipIf(withoutPostgres)('the schema', () => {
  it('is created once by many stores that start together', async () => {
    const stores = Array.from({ length: 8 }, () =>
      postgresStore({ connectionString: server.url, schema: 'together' }),
    )
    const outcomes = await Promise.allSettled(stores.map((store) => store.append('t', 0, events(0, 1))))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason.code).toBe('ledger-conflict')
    await Promise.all(stores.map((store) => store.close()))
  })

  it('can be created beforehand by somebody else', async () => {
    await pool.query(schemaSql('before'))
    const store = postgresStore({ client: pool, schema: 'before' })
    await store.append('t', 0, events(0, 1))
    expect(await store.read('t')).toEqual(events(0, 1))
  })

  it('serves a user who may only read and write its tables', async () => {
    await pool.query(schemaSql('owned'))
    await pool.query(
      `create role writer login; grant usage on schema owned to writer;
       grant select, insert, update, delete on all tables in schema owned to writer`,
    )
    const store = postgresStore({
      connectionString: server.url.replace('toolwell@', 'writer@'),
      schema: 'owned',
    })
    await store.append('t', 0, events(0, 1))
    await store.usage.append([{ principal: '', tool: 'a', fingerprint: 'f', words: [1] }])
    expect(await store.expire({ olderThan: 60_000 })).toBe(0)
    await store.delete('t')
    expect(await store.list()).toEqual([])
    await store.close()
  })

  it('is upgraded while an older writer appends', async () => {
    const old = postgresStore({ client: pool, schema: 'growing' })
    await old.append('t', 0, events(0, 1))
    // The tables of version 1.
    await pool.query(
      `drop table growing.clock, growing.state, growing.calls, growing.call_sums, growing.batches, growing.questions;
       update growing.version set version = 1`,
    )
    let count = 1
    let isUpgraded = false
    const writing = (async () => {
      for (let more = 5; more > 0; count += 1, more -= isUpgraded ? 1 : 0)
        await old.append('t', count, events(count, 1))
    })()
    const stores = [0, 1, 2].map(() => postgresStore({ connectionString: server.url, schema: 'growing' }))
    for (const read of await Promise.all(stores.map((store) => store.read('t'))))
      expect(read.length).toBeGreaterThan(0)
    isUpgraded = true
    await writing
    expect(await stores[0]?.read('t')).toEqual(events(0, count))
    const { rows } = await pool.query(
      `select version, to_regclass('growing.state') is not null as grown from growing.version`,
    )
    expect(rows).toEqual([{ version: 2, grown: true }])
    await Promise.all(stores.map((store) => store.close()))
  })

  it('is refused if it is newer; a writer that is already open goes on', async () => {
    const open = postgresStore({ client: pool, schema: 'upgraded' })
    await open.append('t', 0, events(0, 1))
    await pool.query(
      `alter table upgraded.ledgers add column more text; update upgraded.version set version = 99`,
    )
    const late = await refusal(postgresStore({ client: pool, schema: 'upgraded' }).read('t'))
    expect(late.code).toBe('ledger-too-new')
    expect(late.message).toContain('Update @toolwell/postgres')
    await open.append('t', 1, events(1, 1))
    expect(await open.read('t')).toEqual(events(0, 2))
  })

  it('refuses rows that somebody changed, and events of a newer format', async () => {
    const store = postgresStore({ client: pool, schema: 'changed' })
    await store.append('t', 0, events(0, 2))
    await store.append('t', 2, events(2, 2))
    await store.append('t', 4, events(4, 2))
    await pool.query(`delete from changed.appends where first = 2`)
    expect((await refusal(store.read('t'))).code).toBe('ledger-corrupt')
    expect(await store.read('t', 5)).toEqual(events(5, 1))
    await store.append('new', 0, events(0, 1))
    await pool.query(`update changed.appends set format = 99 where ledger = 'new'`)
    expect((await refusal(store.read('new'))).code).toBe('ledger-too-new')
  })
})

describe.skipIf(withoutPostgres)('wrong settings', () => {
  /** The address with another user, port or database. */
  const address = ({ user = 'toolwell', password = '', port = server.port, database = 'postgres' } = {}) =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}`

  beforeAll(async () => {
    // Users that the server treats as a wrong configuration would be treated.
    await pool.query(schemaSql('settings'))
    await pool.query(`
      create role standby login; alter role standby set default_transaction_read_only = on;
      create role hurried login; alter role hurried set statement_timeout = '1ms';
      create role crowded login connection limit 0;
      create role guest login;
      create role secret login password 'right';
      grant usage on schema settings to standby, hurried;
      grant all on all tables in schema settings to standby, hurried;`)
    const [{ hba_file: file }] = (await pool.query('show hba_file')).rows
    await pool.query(
      `copy (select unnest(array['host all secret 127.0.0.1/32 scram-sha-256', 'host all all 127.0.0.1/32 trust'])) to '${file}'`,
    )
    await pool.query('select pg_reload_conf()')
  })

  /** `prepare` returns what undoes it. */
  const cases: readonly (readonly [string, () => string, RegExp, (() => Promise<() => unknown>)?])[] = [
    ['another kind of address', () => 'mysql://u:p@127.0.0.1/db', /Write postgres:\/\/user/],
    ['a host name alone', () => 'localhost', /Write postgres:\/\/user/],
    ['a "#" in the password', () => 'postgres://u:p#q@127.0.0.1/db', /special characters.*"#" is %23/],
    ['a wrong port', () => address({ port: 1 }), /Check host and port/],
    ['a missing database', () => address({ database: 'nowhere' }), /does not exist.*createdb/s],
    ['an unknown user', () => address({ user: 'stranger' }), /Check the user/],
    ['a wrong password', () => address({ user: 'secret', password: 'wrong' }), /Check user and password/],
    ['a missing password', () => address({ user: 'secret' }), /Check user and password/],
    ['a read-only server', () => address({ user: 'standby' }), /address of the primary/],
    ['a missing right', () => address({ user: 'guest' }), /Grant it, or run the output of/],
    ['a limit of connections', () => address({ user: 'crowded' }), /Raise max_connections/],
    ['a statement timeout', () => address({ user: 'hurried' }), /Raise statement_timeout/, lockLedgers],
    ['newer tables', () => address(), /have version 99.*Update @toolwell\/postgres/, makeNewer],
    ...(process.platform === 'linux'
      ? ([['a full disk', () => address(), /disk of the server is full. Free space/, fillDisk]] as const)
      : []),
  ]
  for (const [title, url, message, prepare] of cases)
    it(`says what to do about ${title}`, async () => {
      const undo = await prepare?.()
      const attempt = async () => {
        const store = postgresStore({ connectionString: url(), schema: 'settings' })
        await store.append('t', 0, events(0, 1)).finally(() => store.close())
      }
      const error = await refusal(attempt())
      await undo?.()
      expect(error.message).toMatch(message)
      expect(error.message).not.toMatch(/p#q|u:p@/)
      expect(['store-failed', 'invalid-option', 'ledger-too-new']).toContain(error.code)
    })

  async function lockLedgers() {
    const blocker = await pool.connect()
    await blocker.query('begin; lock table settings.ledgers in exclusive mode')
    return async () => {
      await blocker.query('rollback')
      blocker.release()
    }
  }

  async function makeNewer() {
    await pool.query('update settings.version set version = 99')
    return () => pool.query('update settings.version set version = 2')
  }

  /** Every write to the empty table then fails as on a full disk. */
  async function fillDisk() {
    await pool.query('truncate settings.appends, settings.ledgers')
    const [{ file }] = (
      await pool.query(
        `select current_setting('data_directory') || '/' || pg_relation_filepath('settings.appends') as file`,
      )
    ).rows
    rmSync(file)
    symlinkSync('/dev/full', file)
    return () => {
      rmSync(file)
      writeFileSync(file, '')
    }
  }

  it.each(['ENOTFOUND', 'EAI_AGAIN'])('says what to do about a host with %s', async (code) => {
    const client = { query: () => Promise.reject(Object.assign(new Error(`getaddrinfo ${code}`), { code })) }
    expect((await refusal(postgresStore({ client }).read('t'))).message).toMatch(/Check the host/)
  })

  it('refuses options that cannot work', () => {
    expect(() => postgresStore({})).toThrow(/either client .* or connectionString/)
    expect(() => postgresStore({ client: {} as PostgresClient })).toThrow(/query\(text, values\)/)
    expect(() => postgresStore({ client: pool, schema: 'a"; drop' })).toThrow(
      /letters, digits and underscores/,
    )
  })
})
