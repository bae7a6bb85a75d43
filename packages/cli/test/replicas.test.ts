/** `toolwell serve --database` as an operator runs it: two gateways, and the other verbs on a third machine. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { schemaSql } from '@toolwell/postgres'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong } from '../../../test/setup/tier.ts'
import { openClient } from '../../gateway/test/support/clients.js'
import { browse, startProtected } from '../../mcp/test/support/auth-server.js'
import { type PostgresServer, startPostgres } from '../../postgres/test/postgres-server.js'
import { withoutPostgres } from '../../postgres/test/skip.js'
import { homeWith, misbehaving } from './support/home.js'
import { createMachine, type Replica } from './support/replicas.js'
import { folderWith, toolwell } from './support/run.js'

/** An address on which other machines reach this one. */
const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((found) => found?.family === 'IPv4' && !found.internal)?.address

const KEY = 'a key that only the replicas know'

let postgres: PostgresServer
beforeAll(async () => {
  if (!withoutPostgres) postgres = await startPostgres()
})
afterAll(async () => {
  await postgres?.stop()
})

async function read(database: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: postgres.url.replace(/postgres$/, database) })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** A database, a config on every machine, and a terminal of an operator. */
async function setUp(name: string, servers: object) {
  await postgres.pool.query(`create database ${name}`)
  const database = postgres.url.replace(/postgres$/, name)
  const env = { TOOLWELL_DATABASE: database, TOOLWELL_DATABASE_KEY: KEY }
  const config = join(folderWith({ 'toolwell.json': { mcpServers: servers } }), 'toolwell.json')
  const operator = homeWith({})
  return {
    env,
    config,
    database,
    machine: (words: readonly string[] = []) =>
      createMachine(['--host', '0.0.0.0', '--config', config, ...words], env),
    ask: (words: readonly string[]) => operator.atTerminal(words, { env }),
    run: (words: readonly string[]) => operator.run(words, { env }),
  }
}

const post = (replica: Replica, headers: Record<string, string>, body: object = {}) =>
  fetch(`${replica.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  })

/** Waits until a change counts; in the long tier, at most the five seconds that the guide promises. */
const soon = (check: () => Promise<void>) =>
  expect.poll(() => check().then(() => 'counts', String), { timeout: isLong ? 5000 : 60_000 }).toBe('counts')

const give = { name: 'give', description: 'Gives a file.', inputSchema: { type: 'object' } }
const wait = { ...give, name: 'slow' }

describe.skipIf(withoutPostgres)('serve --database', () => {
  it('shares tokens, approvals, calls and long results', async () => {
    const servers = { odd: { ...misbehaving({ tools: [give] }), share: 'client' } }
    const { ask, run, machine, config } = await setUp('shared', servers)
    const replicas = await Promise.all([machine(), machine()].map((each) => each.start()))
    const [first, second] = replicas as [Replica, Replica]
    const greeting = expect.poll(first.output, { timeout: 60_000 })
    await greeting.toContain('Tokens, approvals, logins, calls and long results are in the database.')
    await greeting.toContain('! Other machines need a token. Add one with: toolwell token add NAME')
    await greeting.toContain(
      '! odd runs once for each client. Let the load balancer send each client to the same replica.',
    )
    expect(await (await fetch(`${first.url}/readyz`)).json()).toMatchObject({ checks: { database: 'ok' } })

    const added = await ask(['token', 'add', 'ci'])
    const headers = { Authorization: `Bearer ${added.output.split('\n')[0]}` }
    for (const replica of replicas)
      await soon(async () => expect((await post(replica, headers)).status).toBe(400))

    const text = `${'a line\n'.repeat(20_000)}the end`
    const file = join(folderWith({ result: { content: [{ type: 'text', text }] } }), 'result')
    const clients = await Promise.all(
      replicas.map(({ url }) => openClient('v2 modern', `${url}/mcp`, headers)),
    )
    const [writer, reader] = clients as [(typeof clients)[0], (typeof clients)[0]]
    const call = { name: 'odd__give', arguments: { file } }
    const handle = /"handle": "(r_[\w-]+)"/.exec(await writer.text('run_tool', call))?.[1]
    expect(await reader.text('read_result', { handle, lines: '20001' })).toContain('the end')

    for (const client of clients)
      expect(await client.text('run_read_only_tool', call)).toContain('is not approved as read-only')
    const approve = ['approve', '--read-only', '--config', config]
    expect(await ask([...approve, 'odd/give'])).toMatchObject({ code: 0 })
    for (const client of clients)
      await soon(async () => expect(await client.text('run_read_only_tool', call)).toContain('a line'))
    expect(await ask([...approve, '--revoke', 'odd/give'])).toMatchObject({ code: 0 })
    for (const client of clients)
      await soon(async () => expect(await client.text('run_read_only_tool', call)).toContain('not approved'))

    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    }
    const opened = await post(first, headers, { jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    expect((await post(first, { ...headers, ...session }, list)).status).toBe(200)
    expect((await post(second, { ...headers, ...session }, list)).status).toBe(404)

    expect((await ask(['token', 'revoke', 'ci'])).code).toBe(0)
    for (const replica of replicas)
      await soon(async () => expect((await post(replica, headers)).status).toBe(401))

    for (const { process } of replicas) process.kill('SIGTERM')
    expect(await Promise.all(replicas.map(({ exited }) => exited))).toEqual([0, 0])
    const records = (await run(['calls', '--json', '--since', '1d'])).output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const ran = records.filter(({ outcome }) => outcome === 'ok')
    expect(ran.length).toBeGreaterThanOrEqual(3)
    expect(new Set(records.map(({ principal }) => principal))).toEqual(new Set(['ci']))
    const [counted] = await read(
      'shared',
      `select sums[1] as calls from toolwell_data.call_sums where kind = 'tool'`,
    )
    expect(counted).toEqual({ calls: ran.length })
  })

  it.skipIf(ownAddress === undefined)(
    'with --host answers other machines, but not with the token of the owner',
    async () => {
      const { ask, machine } = await setUp('hosted', {})
      const added = await ask(['token', 'add', 'ci'])
      const named = added.output.split('\n')[0] ?? ''
      const folder = folderWith({})
      const replica = await machine(['--folder', folder]).start()
      const owner = (await toolwell(['token', '--folder', folder], { folder })).output.trim()
      const asks = [
        { path: '/mcp', token: named },
        { path: '/healthz', token: '' },
        { path: '/metrics', token: named },
        { path: '/mcp', token: owner },
        { path: '/status', token: owner },
        { path: '/identity', token: '' },
        { path: '/dashboard', token: '' },
      ]
      const status = await Promise.all(
        asks.map(async ({ path, token }) => {
          // Tests may only connect to loopback themselves. Packets to an address of this machine do not leave it.
          const code = `fetch(${JSON.stringify(`http://${ownAddress}:${replica.port}${path}`)}, {
          method: ${JSON.stringify(path === '/mcp' ? 'POST' : 'GET')},
          headers: { authorization: 'Bearer ${token}' },
        }).then(({ status }) => console.log(status))`
          const { stdout } = await promisify(execFile)(process.execPath, ['-e', code])
          return Number(stdout)
        }),
      )
      expect(status).toEqual([415, 200, 200, 401, 401, 404, 404])
    },
  )

  it('is named in status', async () => {
    const { machine, database } = await setUp('status', {
      odd: { ...misbehaving({ tools: [give] }), share: 'client' },
    })
    const folder = folderWith({})
    await machine(['--folder', folder, '--database', database]).start()
    const status = () => toolwell(['status', '--folder', folder], { folder }).then(({ output }) => output)
    expect(await status()).toContain('Shared with other gateways through a database.')
    expect(await status()).toContain('! odd runs once for each client.')
  })

  it('ends running calls before it stops', async () => {
    const log = join(folderWith({}), 'log')
    const once = join(folderWith({}), 'go')
    const { ask, machine } = await setUp('drained', {
      odd: misbehaving({ log, answersOnce: once, tools: [wait] }),
    })
    const added = await ask(['token', 'add', 'ci'])
    const headers = { Authorization: `Bearer ${added.output.split('\n')[0]}` }
    const replica = await machine().start()
    const client = await openClient('v2 modern', `${replica.url}/mcp/all`, headers)
    const answer = client.text('odd__slow', { a: 1 })
    await expect.poll(() => readFileSync(log, 'utf8'), { timeout: 60_000 }).toContain('call slow')
    replica.process.kill('SIGTERM')
    await expect
      .poll(
        () =>
          post(replica, headers).then(
            () => 'accepts',
            () => 'refuses',
          ),
        { timeout: 60_000 },
      )
      .toBe('refuses')
    writeFileSync(once, '')
    expect(await answer).toBe('{"a":1}')
    expect(await replica.exited).toBe(0)
  })

  it('uses a login of the command, and renews it once', async () => {
    const remote = await startProtected()
    const { env, config, ask, machine } = await setUp('logins', { notes: { url: remote.url } })
    const words = ['login', 'notes', '--config', config]
    const login = (more: object) =>
      toolwell(words, {
        folder: folderWith({}),
        env: { ...process.env, ...env, ...more },
        onErrors(text) {
          const [, address] = /^ {2}(http\S+)\n/m.exec(text) ?? []
          if (address !== undefined) void browse(address)
        },
      })
    expect((await login({ TOOLWELL_DATABASE_KEY: '' })).errors).toContain('Set TOOLWELL_DATABASE_KEY')
    expect(await login({})).toMatchObject({ code: 0 })
    const added = await ask(['token', 'add', 'ci'])
    const headers = { Authorization: `Bearer ${added.output.split('\n')[0]}` }
    const replicas = await Promise.all([machine(), machine()].map((each) => each.start()))
    const clients = await Promise.all(
      replicas.map(({ url }) => openClient('v2 modern', `${url}/mcp/all`, headers)),
    )
    for (let round = 1; round <= 3; round++) {
      remote.expire()
      const texts = await Promise.all(
        clients.flatMap((client) => [0, 1, 2].map((at) => client.text('notes__echo', { at }))),
      )
      expect(texts).toEqual([0, 1, 2, 0, 1, 2].map((at) => `{"at":${at}}`))
      expect(remote.count('refresh_token')).toBe(round)
    }
    const rows = await read('logins', 'select * from toolwell_data.state')
    expect(rows.map(({ kind }) => kind)).toContain('login')
    for (const secret of [...remote.secrets, added.output.split('\n')[0] ?? '', KEY])
      expect(JSON.stringify(rows)).not.toContain(secret)
  })

  it('names the cause if a write fails', async () => {
    const { ask } = await setUp('full_disk', {})
    await read(
      'full_disk',
      `${schemaSql()}; create function fail() returns trigger language plpgsql as $$
         begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
       create trigger fail before insert on toolwell_data.state execute function fail()`,
    )
    const attempt = await ask(['token', 'add', 'ci'])
    expect(attempt).toMatchObject({ code: 2, output: '' })
    expect(attempt.errors).toContain('The disk of the server is full. Free space on it.')
    expect(attempt.errors).toContain('The connection string is in the variable TOOLWELL_DATABASE.')
    expect(attempt.errors).not.toContain('bug')
  })

  it.each<readonly [string, (url: URL) => unknown, string]>([
    [
      'an address of another kind',
      (url) => Object.assign(url, { href: 'mysql://127.0.0.1/db' }),
      'not an address',
    ],
    ['a closed port', (url) => Object.assign(url, { port: '1' }), 'Check host and port'],
    ['a missing database', (url) => Object.assign(url, { pathname: '/nowhere' }), 'does not exist'],
    ['newer tables', (url) => Object.assign(url, { pathname: '/newer' }), 'Update @toolwell/postgres'],
    ['a read-only database', (url) => Object.assign(url, { pathname: '/fixed' }), 'address of the primary'],
  ])('refuses %s, and uses no files instead', async (_, change, message) => {
    const url = new URL(postgres.url)
    change(url)
    if (url.pathname === '/newer') {
      await postgres.pool.query('create database newer')
      await read('newer', `${schemaSql()}; update toolwell_data.version set version = 99`)
    }
    if (url.pathname === '/fixed') {
      await postgres.pool.query('create database fixed')
      await read('fixed', `${schemaSql()}; alter database fixed set default_transaction_read_only = on`)
    }
    const { home, atTerminal } = homeWith({})
    const env = { TOOLWELL_DATABASE: url.href }
    const attempts = [
      await atTerminal(['serve', '--port', '0'], { env }),
      await atTerminal(['token', 'add', 'ci'], { env }),
      await atTerminal(['calls'], { env }),
    ]
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({ code: 2, output: '' })
      expect(attempt.errors).toContain(message)
      expect(attempt.errors).toContain('The connection string is in the variable TOOLWELL_DATABASE.')
    }
    const flagged = await atTerminal(['serve', '--port', '0', '--database', url.href])
    expect(flagged.errors).toContain('The connection string is in --database.')
    expect(existsSync(join(home, '.local', 'state', 'toolwell', 'gateway'))).toBe(false)
  })
})
