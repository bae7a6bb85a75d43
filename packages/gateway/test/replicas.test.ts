/** Two gateways that share a real PostgreSQL: any of them answers any request. */
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { GatewayOptions } from '@toolwell/gateway'
import { openPostgresStorage, type SharedStorage } from '@toolwell/gateway/postgres'
import { hashToken, type Rights } from '@toolwell/gateway/storage'
import { defineServer, loadConfig, login } from '@toolwell/mcp'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startProtected } from '../../mcp/test/support/auth-server.js'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { setup } from '../../mcp/test/support/setup.js'
import { startProxy } from '../../postgres/test/network-proxy.js'
import { type PostgresServer, startPooler, startPostgres } from '../../postgres/test/postgres-server.js'
import { withoutPooler, withoutPostgres } from '../../postgres/test/skip.js'
import { openClient } from './support/clients.js'
import { entry, type Started, startGateway, temporary } from './support/gateway.js'

let postgres: PostgresServer
beforeAll(async () => {
  if (!withoutPostgres) postgres = await startPostgres()
})
afterAll(async () => {
  await postgres?.stop()
})

let schemas = 0
const nextSchema = () => `replicas_${++schemas}`

async function openStorage(schema: string, more: { url?: string; key?: string } = {}) {
  const shared = await openPostgresStorage({
    connectionString: more.url ?? postgres.url,
    schema,
    key: more.key,
  })
  onTestFinished(() => shared.close())
  return shared
}

async function startReplica(
  schema: string,
  config: object,
  { url, ...options }: Partial<GatewayOptions> & { readonly url?: string } = {},
): Promise<Started> {
  const { storage, firstUse, readOnly } = await openStorage(schema, url === undefined ? {} : { url })
  return startGateway(config, { storage, readOnly, connect: { firstUse }, ...options })
}

/** Adds a token as the command does, from another process. */
async function addToken(
  schema: string,
  name: string,
  rights: Rights = {},
): Promise<{ Authorization: string }> {
  const { storage, close } = await openStorage(schema)
  const token = `tw_${name}-of-${schema}`
  expect(await storage.tokens.add({ name, hash: hashToken(token), createdAt: 0, rights })).toBe(true)
  await close()
  return { Authorization: `Bearer ${token}` }
}

/** Resolves when `check` passes. Replicas look for changes every two seconds. */
const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 30_000, interval: 50 })

const post = (url: string, headers: Record<string, string>) =>
  fetch(`${url}/mcp`, { method: 'POST', headers, body: '{}' })

const odd = (...tools: readonly object[]) => ({
  mcpServers: { odd: entry(oddServer('odd', { tools })) },
})
const give = describedTool('give')

/** A file with the result that the server gives. */
function fileWith(text: string): string {
  const file = join(temporary(), 'result.json')
  writeFileSync(file, JSON.stringify({ content: [{ type: 'text', text }] }))
  return file
}

describe.skipIf(withoutPostgres)('replicas', () => {
  it('accept a new token and refuse a revoked one', async () => {
    const schema = nextSchema()
    const replicas = await Promise.all([startReplica(schema, odd(give)), startReplica(schema, odd(give))])
    const authorized = await addToken(schema, 'ci')
    for (const { url } of replicas)
      await eventually(async () => expect((await post(url, authorized)).status).not.toBe(401))
    const other = await openStorage(schema)
    expect(await other.storage.tokens.add({ name: 'ci', hash: '0', createdAt: 0, rights: {} })).toBe(false)
    expect(await other.storage.tokens.remove('ci')).toBe(true)
    expect(await other.storage.tokens.remove('ci')).toBe(false)
    for (const { url } of replicas)
      await eventually(async () => expect((await post(url, authorized)).status).toBe(401))
    expect(await other.storage.tokens.add({ name: 'ci', hash: '0', createdAt: 0, rights: {} })).toBe(true)
  })

  it('read the long results of each other, with the same token only', async () => {
    const schema = nextSchema()
    const config = odd(give)
    const token = await addToken(schema, 'one')
    const other = await addToken(schema, 'other')
    const [first, second] = [await startReplica(schema, config), await startReplica(schema, config)]
    const long = `${'a line\n'.repeat(20_000)}the end`
    const writer = await openClient('v2 modern', `${first.url}/mcp`, token)
    const shown = await writer.text('run_tool', { name: 'odd__give', arguments: { file: fileWith(long) } })
    const handle = /"handle": "(r_[\w-]+)"/.exec(shown)?.[1]
    const reader = await openClient('v2 modern', `${second.url}/mcp`, token)
    expect(await reader.text('read_result', { handle, lines: '20001' })).toContain('the end')
    const thief = await openClient('v2 modern', `${second.url}/mcp`, other)
    expect(await thief.text('read_result', { handle, lines: '20001' })).not.toContain('the end')
  })

  it('write one log of calls, and add up their sums', async () => {
    const schema = nextSchema()
    const token = await addToken(schema, 'ci')
    const replicas = [await startReplica(schema, odd(give)), await startReplica(schema, odd(give))]
    for (const { url, gateway } of replicas) {
      const client = await openClient('v2 modern', `${url}/mcp`, token)
      for (const text of ['a', 'b'])
        await client.text('run_tool', { name: 'odd__give', arguments: { file: fileWith(text) } })
      await gateway.close()
    }
    const { storage } = await openStorage(schema)
    const records = await storage.audit.read(0)
    expect(records.map(({ principal, tool, outcome }) => [principal, tool, outcome])).toEqual(
      Array.from({ length: 4 }, () => ['ci', 'give', 'ok']),
    )
    expect(storage.stats?.tools()).toMatchObject([{ server: 'odd', tool: 'give', calls: 4, errors: 0 }])
    const [slot, ...rest] = storage.stats?.slots() ?? []
    expect(slot).toMatchObject({ unit: 'hour', client: 'new-client', calls: 4 })
    expect(rest).toEqual([])
  })

  it('answer 404 to a session that another replica holds', async () => {
    const schema = nextSchema()
    const token = await addToken(schema, 'ci')
    const [first, second] = [await startReplica(schema, odd(give)), await startReplica(schema, odd(give))]
    const headers = {
      ...token,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const ask = (url: string, body: object, more: Record<string, string> = {}) =>
      fetch(`${url}/mcp`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    }
    const opened = await ask(first.url, { jsonrpc: '2.0', id: 1, method: 'initialize', params })
    const session = opened.headers.get('mcp-session-id') ?? ''
    await opened.text()
    const listed = await ask(
      second.url,
      { jsonrpc: '2.0', id: 2, method: 'tools/list' },
      { 'mcp-session-id': session },
    )
    expect(listed.status).toBe(404)
    expect(await listed.text()).toContain('Begin a new one with initialize')
  })

  it('refuse requests if the database has not answered for 30 seconds, and go on when it does', async () => {
    const schema = nextSchema()
    const token = await addToken(schema, 'ci')
    const proxy = await startProxy(postgres.port)
    const url = postgres.url.replace(String(postgres.port), String(proxy.port))
    const replica = await startReplica(schema, odd(give), { url })
    expect((await post(replica.url, token)).status).toBe(415)
    proxy.stop()
    let later = 0
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + later)
    onTestFinished(() => void vi.restoreAllMocks())
    later = 31_000
    const refused = await post(replica.url, token)
    expect(refused.status).toBe(503)
    expect(await refused.text()).toContain('cannot reach its database')
    for (const path of ['/api/v1/calls', '/metrics'])
      expect((await fetch(replica.url + path, { headers: token })).status).toBe(503)
    const ready = await fetch(`${replica.url}/readyz`)
    expect([
      ready.status,
      ((await ready.json()) as { checks: { database?: string } }).checks.database,
    ]).toEqual([503, 'does not answer'])
    await eventually(async () =>
      expect((await replica.gateway.inspect()).database?.problem).toMatch(/PostgreSQL could not be used/),
    )
    proxy.start()
    await eventually(async () => expect((await post(replica.url, token)).status).toBe(415))
  })

  it('use an approval of any machine, and lose it on all of them', async () => {
    const schema = nextSchema()
    const token = await addToken(schema, 'ci')
    const config = join(temporary(), 'toolwell.json')
    writeFileSync(config, JSON.stringify(odd(give)))
    const files = () => [{ path: config }]
    const replicas = [await startReplica(schema, {}, { files }), await startReplica(schema, {}, { files })]
    const clients = await Promise.all(replicas.map(({ url }) => openClient('v2 modern', `${url}/mcp`, token)))
    const call = { name: 'odd__give', arguments: { file: fileWith('given') } }
    const read = (client: (typeof clients)[number]) => client.text('run_read_only_tool', call)
    for (const client of clients) expect(await read(client)).toContain('is not approved as read-only')
    const { readOnly, firstUse, written } = await openStorage(schema)
    const [server] = loadConfig({ files: files(), env: process.env }).servers
    if (!server) throw new Error('the config has a server')
    // The first replica has remembered the definition for both.
    const { give: seen } = firstUse.read(server)?.tools ?? {}
    readOnly.write(server, { give: seen?.fingerprint ?? '' })
    await written()
    for (const client of clients) await eventually(async () => expect(await read(client)).toBe('given'))
    readOnly.write(server, {})
    await written()
    for (const client of clients)
      await eventually(async () => expect(await read(client)).toContain('is not approved as read-only'))
  })

  it('quarantine a definition that differs from the one another replica has seen first', async () => {
    const schema = nextSchema()
    const token = await addToken(schema, 'ci')
    const folder = temporary()
    const [config, list] = [join(folder, 'toolwell.json'), join(folder, 'list.json')]
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: { odd: entry(oddServer('odd', { toolsFrom: list })) } }),
    )
    writeFileSync(list, JSON.stringify([give]))
    const files = () => [{ path: config }]
    const first = await startReplica(schema, {}, { files })
    const client = await openClient('v2 modern', `${first.url}/mcp`, token)
    const call = { name: 'odd__give', arguments: { file: fileWith('given') } }
    expect(await client.text('run_tool', call)).toBe('given')
    await first.gateway.close()
    writeFileSync(list, JSON.stringify([describedTool('give', { description: 'Another one.' })]))
    const second = await startReplica(schema, {}, { files })
    const other = await openClient('v2 modern', `${second.url}/mcp`, token)
    expect(await other.text('run_tool', call)).toContain('quarantined')
  })

  it.each(withoutPooler ? ['directly'] : ['directly', 'through PgBouncer'])(
    'renew a login once for all of them, and store it encrypted, %s',
    async (way) => {
      const schema = nextSchema()
      const remote = await startProtected()
      const pooler = way === 'directly' ? undefined : await startPooler(postgres.port)
      onTestFinished(() => pooler?.stop())
      const url = pooler?.url ?? postgres.url
      const server = defineServer('notes', { url: remote.url })
      const key = 'a key that only the replicas know'
      const stores = [await openStorage(schema, { key, url }), await openStorage(schema, { key, url })]
      const [first] = stores
      await login(server, {
        store: (first as SharedStorage).logins,
        onAddress: (address) => void fetch(address).then((response) => response.text()),
      })
      await first?.written()
      for (const { logins } of stores)
        await eventually(async () => expect(logins.read(server)?.tokens).toBeDefined())
      const hosts = await Promise.all(stores.map(({ logins }) => setup([server], { logins })))
      for (let round = 1; round <= 3; round++) {
        remote.expire()
        const answers = await Promise.all(
          hosts.flatMap(({ text }) => [0, 1, 2, 3, 4].map((at) => text('notes', 'echo', { at }))),
        )
        expect(answers).toEqual(hosts.flatMap(() => [0, 1, 2, 3, 4].map((at) => `{"at":${at}}`)))
        // A refresh token that came twice would have ended the login.
        expect(remote.count('refresh_token')).toBe(round)
      }
      await first?.written()
      const { rows } = await postgres.pool.query(`select * from ${schema}.state where kind = 'login'`)
      for (const secret of remote.secrets) expect(JSON.stringify(rows)).not.toContain(secret)
      const problems: string[] = []
      const stranger = await openPostgresStorage({
        connectionString: postgres.url,
        schema,
        key: 'another key',
        onProblem: (problem) => problems.push(problem),
      })
      onTestFinished(() => stranger.close())
      expect(stranger.logins.read(server)).toBeUndefined()
      stranger.logins.read(server)
      expect(problems).toEqual([expect.stringContaining('TOOLWELL_DATABASE_KEY is not the key')])
    },
  )

  it('take the answer to a question that another replica asked', async () => {
    const schema = nextSchema()
    const token = await addToken(schema, 'ci')
    const config = { mcpServers: { suite: { command: process.execPath, args: [FIXTURE, 'legacy'] } } }
    const replicas = [await startReplica(schema, config), await startReplica(schema, config)]
    const { client, calls } = await connectInTurn(replicas, token)
    const { content } = await client.callTool({
      name: 'suite__test_elicitation',
      arguments: { message: 'Who?' },
    })
    expect(JSON.stringify(content)).toContain('ada')
    expect(calls).toEqual([0, 1])
  })

  it('say that the outcome is unknown if the replica with the call is gone', async () => {
    const schema = nextSchema()
    const token = await addToken(schema, 'ci')
    const config = { mcpServers: { suite: { command: process.execPath, args: [FIXTURE, 'legacy'] } } }
    const replicas = [await startReplica(schema, config), await startReplica(schema, config)]
    const { client } = await connectInTurn(replicas, token, async () => {
      await replicas[0]?.gateway.close()
    })
    await expect(
      client.callTool({ name: 'suite__test_elicitation', arguments: { message: 'Who?' } }),
    ).rejects.toThrow('the outcome of the call is unknown')
  })

  it('answer open connections while they end, and running calls with an unknown outcome', async () => {
    const schema = nextSchema()
    const token = await addToken(schema, 'ci')
    const started = join(temporary(), 'log')
    const replica = await startReplica(schema, {
      mcpServers: { odd: entry(oddServer('odd', { log: started, tools: [describedTool('wait')] })) },
    })
    const client = await openClient('v2 modern', `${replica.url}/mcp`, token)
    const answer = client.text('run_tool', { name: 'odd__wait', arguments: {} })
    await eventually(async () => expect(readFileSync(started, 'utf8')).toContain('call wait'))
    // A load balancer may have opened a connection just before.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const send = () =>
      new Promise<IncomingMessage>((resolve, reject) => {
        request(`${replica.url}/mcp`, { method: 'POST', agent, headers: token }, (response) =>
          resolve(response.resume()),
        )
          .on('error', reject)
          .end('{}')
      })
    expect((await send()).statusCode).toBe(415)
    const drained = replica.gateway.drain(1000)
    await eventually(() => expect(fetch(replica.url)).rejects.toThrow('fetch failed'))
    const late = await send()
    expect([late.statusCode, late.headers.connection]).toEqual([415, 'close'])
    await drained
    expect(await answer).toContain('The call may have taken effect')
  })
})

const FIXTURE = fileURLToPath(new URL('support/conformance-server.mjs', import.meta.url))

/** A client whose calls go to one replica after the other. `calls` has the replica of each call. */
async function connectInTurn(
  replicas: readonly Started[],
  token: { readonly Authorization: string },
  beforeAnswer: () => Promise<void> = async () => undefined,
) {
  const calls: number[] = []
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
  )
  client.setRequestHandler('elicitation/create', async () => {
    await beforeAnswer()
    return { action: 'accept', content: { username: 'ada' } }
  })
  const transport = new StreamableHTTPClientTransport(new URL(`${replicas[1]?.url}/mcp/all`), {
    requestInit: { headers: token },
    fetch: (url, init) => {
      if (!String(init?.body).includes('"tools/call"')) return fetch(url, init)
      const turn = calls.length % replicas.length
      calls.push(turn)
      return fetch(`${replicas[turn]?.url}/mcp/all`, init)
    },
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { client, calls }
}
