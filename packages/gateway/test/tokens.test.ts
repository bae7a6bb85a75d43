/** Tokens with rights: who is refused, what a token opens, and how long. The paths of a tool are in every-path.test.ts. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askDaemon } from '@toolwell/gateway/bridge'
import { fileStorage, hashToken, type TokenRecord } from '@toolwell/gateway/storage'
import { fingerprint } from '@toolwell/mcp/internal'
import { expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { CLIENT_KINDS, openClient } from './support/clients.js'
import { authorized, entry, startGateway, TOKEN, temporary } from './support/gateway.js'
import { home } from './support/home.js'
import { openWire } from './support/stdio-wire.js'

const tools = ['read_file', 'write_file', 'give'].map((name) => describedTool(name))
const config = {
  mcpServers: {
    files: entry(oddServer('files', { tools }), { readOnly: ['read_*'] }),
    notes: entry(oddServer('notes', { tools: [describedTool('write_note')] })),
  },
  profiles: { reading: { servers: ['files'], deny: ['write_*'] }, secret: { servers: ['notes'] } },
}

const initialize = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
}

const secretOf = (name: string) => `tw_${name}-is-a-token-for-tests-only`
const bearer = (name: string) => ({ Authorization: `Bearer ${secretOf(name)}` })

async function startWith(tokens: Readonly<Record<string, Partial<TokenRecord>>>, more: object = {}) {
  const folder = temporary()
  const storage = fileStorage(folder)
  for (const [name, record] of Object.entries(tokens))
    await storage.tokens.add({ name, hash: hashToken(secretOf(name)), createdAt: 0, rights: {}, ...record })
  const started = await startGateway(config, { storage, ...more })
  const listAll = async (name: string, path = '/mcp/all') =>
    (await (await openClient('v2 modern', started.url + path, bearer(name))).list()).map((tool) => tool.name)
  const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
    fetch(started.url + path, { method, headers })
  return { ...started, storage, home: folder, listAll, ask }
}

it('gives a token only the servers and tools in its rights', async () => {
  const { listAll } = await startWith({
    all: {},
    server: { rights: { servers: ['no*'] } },
    tool: { rights: { tools: ['write_*'] } },
    both: { rights: { tools: ['files/write_*', 'notes/read_*'] } },
    reader: { rights: { readOnly: true } },
    profile: { rights: { profile: 'reading' } },
    every: { rights: { profile: 'reading', servers: ['*'], tools: ['give'], readOnly: false } },
    nothing: { rights: { servers: [] } },
  })
  const every = ['files__give', 'files__read_file', 'files__write_file', 'notes__write_note']
  expect(await listAll('all')).toEqual(every)
  expect(await listAll('server')).toEqual(['notes__write_note'])
  expect(await listAll('tool')).toEqual(['files__write_file', 'notes__write_note'])
  expect(await listAll('both')).toEqual(['files__write_file'])
  expect(await listAll('reader')).toEqual(['files__read_file'])
  expect(await listAll('profile')).toEqual(['files__give', 'files__read_file'])
  expect(await listAll('profile', '/mcp/reading/all')).toEqual(['files__give', 'files__read_file'])
  expect(await listAll('every')).toEqual(['files__give'])
  expect(await listAll('nothing')).toEqual([])
})

it('limits a token to its profile, and hides the names of others', async () => {
  const { ask } = await startWith({
    profile: { rights: { profile: 'reading' } },
    lost: { rights: { profile: 'gone' } },
  })
  for (const path of ['/mcp/secret', '/mcp/secret/all', '/mcp/nothing']) {
    const refused = await ask(path, bearer('profile'), 'POST')
    expect(refused.status).toBe(403)
    expect(await refused.text()).toContain(
      'This token opens only the profile \\"reading\\". Connect to /mcp.',
    )
  }
  const unknown = await ask('/mcp', bearer('lost'), 'POST')
  expect(unknown.status).toBe(404)
  expect(await unknown.text()).not.toMatch(/secret|reading/)
})

it('follows the approvals of the user for a read-only token', async () => {
  let approved: Record<string, string> = {}
  const readOnly = { read: () => approved, write: () => undefined, stamp: () => JSON.stringify(approved) }
  const { listAll, url } = await startWith({ reader: { rights: { readOnly: true } } }, { readOnly })
  expect(await listAll('reader')).toEqual(['files__read_file'])
  const client = await openClient('v2 modern', `${url}/mcp`, bearer('reader'))
  const run = () => client.call('run_tool', { name: 'notes__write_note', arguments: {} })
  expect((await run()).isError).toBe(true)
  approved = { write_note: fingerprint(describedTool('write_note') as Parameters<typeof fingerprint>[0]) }
  expect(await listAll('reader')).toEqual(['files__read_file', 'notes__write_note'])
  expect((await run()).isError).toBeUndefined()
  approved = {}
  expect((await run()).isError).toBe(true)
  expect(await listAll('reader')).toEqual(['files__read_file'])
})

it('allows only the owner to read the status and to stop the gateway', async () => {
  let stops = 0
  const { ask } = await startWith({ all: {} }, { onStop: () => stops++ })
  for (const [path, method] of [
    ['/status', 'GET'],
    ['/stop', 'POST'],
  ] as const) {
    expect((await ask(path, bearer('all'), method)).status).toBe(403)
    expect((await ask(path, authorized, method)).status).toBe(200)
  }
  expect(stops).toBe(1)
})

it('gives the metrics to the owner and to tokens without limits', async () => {
  const { ask } = await startWith({ all: {}, one: { rights: { servers: ['files'] } } })
  expect((await ask('/metrics', authorized)).status).toBe(200)
  expect((await ask('/metrics', bearer('all'))).status).toBe(200)
  expect((await ask('/metrics', bearer('one'))).status).toBe(403)
})

it('refuses an expired token and says so', async () => {
  let time = 1000
  const { ask, listAll } = await startWith({ brief: { expiresAt: 2000 } }, { now: () => time })
  expect(await listAll('brief')).toHaveLength(4)
  time = 2000
  const refused = await ask('/mcp', bearer('brief'), 'POST')
  expect(refused.status).toBe(401)
  expect(await refused.text()).toContain('The token \\"brief\\" has expired')
})

it.each(CLIENT_KINDS)('finishes the call of a revoked token and refuses the next of %s', async (kind) => {
  const answersOnce = join(temporary(), 'now')
  const slow = entry(oddServer('slow', { tools: [describedTool('work')], answersOnce }))
  const { url, storage, gateway, write } = await startWith({ one: {}, other: {} })
  write({ mcpServers: { slow } })
  const [client, other] = [
    await openClient(kind, `${url}/mcp`, bearer('one')),
    await openClient(kind, `${url}/mcp`, bearer('other')),
  ]
  const work = (by: typeof client) => by.text('run_tool', { name: 'slow__work', arguments: {} })
  await expect.poll(() => client.text('find_tools', { query: 'work' })).toContain('slow__work')
  const running = work(client)
  await expect.poll(() => gateway.activity.busy).toBe(1)
  await storage.tokens.remove('one')
  writeFileSync(answersOnce, '')
  expect(await running).toBe('{}')
  await expect(work(client)).rejects.toThrow()
  expect(await work(other)).toBe('{}')
  // A later token of the same name is another principal.
  await storage.tokens.add({ name: 'one', hash: hashToken('tw_new'), createdAt: 0, rights: {} })
  await expect(work(client)).rejects.toThrow()
})

it('does not continue the session of another token', async () => {
  const { url } = await startWith({ one: {}, other: {} })
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
  const send = (name: string, body: object, more: object = {}) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { ...headers, ...bearer(name), ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    })
  const begun = await send('one', initialize)
  const session = { 'Mcp-Session-Id': begun.headers.get('mcp-session-id') ?? '' }
  const list = { id: 2, method: 'tools/list' }
  expect((await send('other', list, session)).status).toBe(404)
  expect((await send('one', list, session)).status).toBe(200)
})

it('limits a bridge by the token that its entry names, and records its principal', async () => {
  const started = await startWith({ notes: { rights: { servers: ['notes'] } } })
  const { storage } = started
  const open = async (headers: Record<string, string>) => {
    const wire = await openWire(started, '/mcp/all', headers)
    await wire.ask(initialize)
    let id = 1
    return {
      names: async () =>
        ((await wire.ask({ id: ++id, method: 'tools/list' })).result as { tools: { name: string }[] }).tools
          .map(({ name }) => name)
          .filter((name) => name !== 'read_result'),
      call: (name: string) => wire.ask({ id: ++id, method: 'tools/call', params: { name, arguments: {} } }),
    }
  }
  const named = await open({ 'X-Toolwell-Principal': 'notes' })
  expect(await named.names()).toEqual(['notes__write_note'])
  const codex = await open({ 'X-Toolwell-Principal': 'stdio:codex' })
  expect(await codex.names()).toHaveLength(4)
  await named.call('notes__write_note')
  await codex.call('notes__write_note')
  await storage.audit.flush()
  expect((await storage.audit.read(0)).map(({ principal }) => principal)).toEqual(['notes', 'stdio:codex'])
  await expect(open({ 'X-Toolwell-Principal': 'nobody' })).rejects.toThrow('403')
  // A token cannot name another principal.
  const token = await open({ ...bearer('notes'), 'X-Toolwell-Principal': 'stdio:codex' })
  expect(await token.names()).toEqual(['notes__write_note'])
  await storage.tokens.remove('notes')
  await expect
    .poll(async () => (await named.call('notes__write_note')).error)
    .toMatchObject({ message: expect.stringContaining('was revoked or has expired') })
  expect((await codex.call('notes__write_note')).error).toBeUndefined()
})

it('refuses a stdio client whose name is revoked, and nobody else', async () => {
  const started = await startWith({})
  const { tokens } = started.storage
  const open = async (client: string) => {
    const wire = await openWire(started, '/mcp/all', { 'X-Toolwell-Principal': `stdio:${client}` })
    await wire.ask(initialize)
    return { list: (id: number) => wire.ask({ id, method: 'tools/list' }) }
  }
  const [codex, cursor] = [await open('codex'), await open('cursor')]
  expect(await codex.list(2)).toHaveProperty('result')
  const hash = hashToken('nobody has it')
  await tokens.add({ name: 'stdio:codex', hash, createdAt: 0, expiresAt: 0, rights: {} })
  await expect
    .poll(async () => (await codex.list(3)).error)
    .toMatchObject({ message: expect.stringContaining('was revoked') })
  await expect(open('codex')).rejects.toThrow('403')
  expect(await cursor.list(2)).toHaveProperty('result')
  await tokens.remove('stdio:codex')
  await tokens.add({ name: 'stdio:codex', hash, createdAt: 0, rights: { servers: ['notes'] } })
  const limited = JSON.stringify(await (await open('codex')).list(2))
  expect(limited).toContain('notes__write_note')
  expect(limited).not.toContain('files__')
})

it('ends the connections and streams of a revoked token', async () => {
  const started = await startWith({ one: {}, other: {} }, { sessionIdle: 300 })
  const { storage, gateway, url } = started
  const wire = await openWire(started, '/mcp', bearer('one'))
  await wire.ask(initialize)
  const other = await openWire(started, '/mcp', bearer('other'))
  await other.ask(initialize)
  const client = await openClient('v2 legacy', `${url}/mcp`, bearer('one'))
  await client.list()
  expect((await gateway.inspect()).clients).toHaveLength(3)
  await storage.tokens.remove('one')
  await expect.poll(async () => (await gateway.inspect()).clients.length, { timeout: 10_000 }).toBe(1)
  await wire.closed
  expect(await other.ask({ id: 2, method: 'tools/list' })).toHaveProperty('result')
})

it('stores hashes, and accepts nothing from a damaged file', async () => {
  const { home: folder, ask, storage } = await startWith({ all: {} })
  const file = join(folder, 'tokens.json')
  expect(readFileSync(file, 'utf8')).not.toContain(secretOf('all'))
  expect((await ask('/mcp/nothing', bearer('all'), 'POST')).status).toBe(404)
  expect((await ask('/mcp', { Authorization: `Bearer ${hashToken(secretOf('all'))}` })).status).toBe(401)
  writeFileSync(file, '[{"name": "all"')
  expect(storage.tokens.list()).toEqual([])
  expect((await ask('/mcp', bearer('all'))).status).toBe(401)
  expect((await ask('/status', authorized)).status).toBe(200)
  await expect(
    storage.tokens.add({ name: 'x', hash: hashToken('x'), createdAt: 0, rights: {} }),
  ).rejects.toThrow('is damaged. Delete it')
})

it('answers wrong tokens ever more slowly, and right ones at once', async () => {
  const { ask } = await startWith({})
  const time = async (token: string) => {
    const before = performance.now()
    const { status } = await ask('/status', { Authorization: `Bearer ${token}` })
    return { status, took: performance.now() - before }
  }
  for (let round = 0; round < 6; round++) expect((await time('tw_wrong')).status).toBe(401)
  const [slow, right] = await Promise.all([time('tw_wrong'), time(TOKEN)])
  expect(slow.status).toBe(401)
  expect(slow.took).toBeGreaterThan(190)
  expect(right.status).toBe(200)
  const many = await Promise.all(Array.from({ length: 230 }, () => time('tw_wrong')))
  expect(many.some(({ status }) => status === 429)).toBe(true)
  expect(many.every(({ took }) => took < 30_000)).toBe(true)
})

it('limits the entry of a stdio client by the name of a token, and writes times into the log', async () => {
  const { way, state, daemon } = home(config)
  const codex = await openClient('v2 modern', way('--client', 'codex'))
  expect(await codex.text('run_tool', { name: 'notes__write_note', arguments: {} })).toBe('{}')
  const storage = fileStorage(state)
  await storage.tokens.add({
    name: 'ci',
    hash: hashToken('tw_ci'),
    createdAt: 0,
    rights: { servers: ['files'] },
  })
  const limited = await openClient('v2 modern', way('--client', 'codex', '--token', 'ci', '--all'))
  expect((await limited.list()).map(({ name }) => name)).toEqual([
    'files__give',
    'files__read_file',
    'files__write_file',
  ])
  await limited.call('files__read_file')
  await expect
    .poll(async () => (await storage.audit.read(0)).map(({ principal }) => principal))
    .toEqual(['stdio:codex', 'ci'])
  for (const [token, why] of [
    ['nobody', 'The token "nobody" of this client does not exist or was revoked'],
    [secretOf('x'.repeat(40)), 'must be the name of a token, not the token'],
  ] as const) {
    const refused = openClient('v2 modern', way('--token', token)).then((client) => client.list())
    await expect(refused).rejects.toThrow(why)
  }
  await storage.tokens.remove('ci')
  await expect.poll(() => limited.call('files__read_file').catch(String)).toContain('was revoked')
  await askDaemon(await daemon(), 'POST', '/stop')
  const lines = () => readFileSync(join(state, 'gateway.log'), 'utf8').trimEnd().split('\n')
  await expect.poll(() => lines().at(-1)).toContain('Stopped.')
  for (const line of lines()) expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z ./)
})
