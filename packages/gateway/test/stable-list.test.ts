/** The list of tools depends only on config and definitions: calls and failing servers do not change a byte. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runs, someOf } from '../../../test/setup/tier.ts'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually } from '../../mcp/test/support/processes.js'
import { realServer } from '../../mcp/test/support/real-servers.js'
import { CLIENT_KINDS, listSettled, openClient } from './support/clients.js'
import { authorized, entry, startGateway, temporary } from './support/gateway.js'

const ASKED = {
  method: 'POST',
  headers: {
    ...authorized,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  },
}

/** Bytes of the answers to `tools/list` in both protocol generations. */
async function listBytes(url: string): Promise<string> {
  const ask = async (method: string, params: object, headers: Record<string, string>) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(url, { ...ASKED, headers: { ...ASKED.headers, ...headers }, body })
    return { session: response.headers.get('mcp-session-id') ?? '', text: await response.text() }
  }
  const clientInfo = { name: 'bytes', version: '1' }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const modern = await ask(
    'tools/list',
    { _meta },
    { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' },
  )
  const begun = await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }, {})
  const session = { 'Mcp-Session-Id': begun.session }
  const legacy = await ask('tools/list', {}, session)
  await fetch(url, { method: 'DELETE', headers: { ...authorized, ...session } })
  expect(modern.text).toContain('"tools":[')
  expect(legacy.text).toContain('"tools":[')
  return `${modern.text}\n${legacy.text}`
}

describe('the list of tools', () => {
  it('has the same bytes over hundreds of calls, with a server that dies again and again', async () => {
    const folder = temporary()
    const dead = join(folder, 'dead')
    const { url, events } = await startGateway({
      mcpServers: {
        flapping: entry(oddServer('flapping', { diesEvery: 7, diesWhile: dead }), { alwaysLoad: ['echo'] }),
        steady: entry(realServer('everything')),
      },
    })
    const client = await openClient('v2 modern', `${url}/mcp`)
    await listSettled(client)
    const [three, all] = [await listBytes(`${url}/mcp`), await listBytes(`${url}/mcp/all`)]
    expect(three).toContain('find_tools')
    for (let round = 0; round < runs(20) + 3; round++) {
      if (round % 4 === 1) writeFileSync(dead, '')
      if (round % 4 === 3) rmSync(dead, { force: true })
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          index % 3 === 0
            ? client.call('find_tools', { query: `thing ${index}` })
            : index % 3 === 1
              ? client.call('run_tool', { name: 'flapping__echo', arguments: {} })
              : client.call('run_tool', { name: 'steady__echo', arguments: { message: 'x' } }),
        ),
      )
      expect(await listBytes(`${url}/mcp`)).toBe(three)
      expect(await listBytes(`${url}/mcp/all`)).toBe(all)
    }
    const states = new Set(
      events.flatMap((event) =>
        event.kind === 'server' && event.event.kind === 'server-state' && event.event.server === 'flapping'
          ? [event.event.state]
          : [],
      ),
    )
    expect(states).toContain('failed')
    expect(states).toContain('ready')
  })

  it('is there at once from the cache, with no server started', async () => {
    const folder = temporary()
    const log = join(folder, 'log')
    const server = oddServer('noted', { log })
    const { memoryCache, memoryFirstUse } = await import('@toolwell/mcp')
    const known = { cache: memoryCache(), firstUse: memoryFirstUse() }
    const first = await startGateway({ mcpServers: { noted: entry(server) } }, { connect: known })
    const before = await (await openClient('v2 modern', `${first.url}/mcp/all`)).list()
    expect(before.length).toBeGreaterThan(5)
    await first.gateway.close()
    rmSync(log)
    const second = await startGateway({ mcpServers: { noted: entry(server) } }, { connect: known })
    const client = await openClient('v2 modern', `${second.url}/mcp/all`)
    expect(await client.list()).toEqual(before)
    await (await openClient('v1', `${second.url}/mcp`)).text('find_tools', { query: 'echo' })
    const { serverSets } = await second.gateway.inspect()
    expect(serverSets[0]?.servers[0]).toMatchObject({ starts: 0, pids: [], state: 'cached' })
  })

  /** A cache that contains one server. */
  const knowing = async () => {
    const { memoryCache, memoryFirstUse } = await import('@toolwell/mcp')
    const connect = { cache: memoryCache(), firstUse: memoryFirstUse() }
    const good = entry(oddServer('good'))
    const { url, gateway } = await startGateway({ mcpServers: { good } }, { connect })
    await listSettled(await openClient('v2 modern', `${url}/mcp`))
    await gateway.close()
    return { good, connect }
  }

  it('is there at once where a tool is known, whatever a server does that was never listed', async () => {
    const { good, connect } = await knowing()
    const mcpServers = { good, hangs: entry(oddServer('hangs', { mute: true })) }
    // Waiting for the other server would take more than a minute.
    for (let start = 0; start < 15; start++) {
      const { url, gateway } = await startGateway({ mcpServers }, { connect })
      expect(await listBytes(`${url}/mcp`)).toContain('good__echo')
      expect(await listBytes(`${url}/mcp/all`)).toContain('good__echo')
      await gateway.close()
    }
  }, 60_000)

  it.each(CLIENT_KINDS)(
    'grows when a server is listed for the first time, and %s is notified',
    async (kind) => {
      const { good, connect } = await knowing()
      const listsOnce = join(temporary(), 'go')
      const mcpServers = { good, late: entry(oddServer('late', { listsOnce })) }
      const { url } = await startGateway({ mcpServers }, { connect })
      const clients = await Promise.all(['/mcp', '/mcp/all'].map((path) => openClient(kind, url + path)))
      const told = [0, 0]
      for (const [at, client] of clients.entries()) {
        await client.onListChanged(() => told.splice(at, 1, (told[at] ?? 0) + 1))
        const before = JSON.stringify(await client.list())
        expect(before).toContain('good__echo')
        expect(before).not.toContain('late__echo')
      }
      writeFileSync(listsOnce, '')
      for (const [at, client] of clients.entries()) {
        await eventually(() => told[at] !== 0, 'the client is told')
        expect(JSON.stringify(await client.list())).toContain('late__echo')
      }
    },
  )

  it('of every tool waits for the first listing if it would be empty', async () => {
    const listsOnce = join(temporary(), 'go')
    const mcpServers = { late: entry(oddServer('late', { listsOnce })) }
    const { url, gateway } = await startGateway({ mcpServers })
    const client = await openClient('v2 modern', `${url}/mcp/all`)
    const { lastUsed } = gateway.activity
    const listing = client.list()
    await eventually(() => gateway.activity.lastUsed > lastUsed, 'the list is requested')
    writeFileSync(listsOnce, '')
    expect(JSON.stringify(await listing)).toContain('late__echo')
  })

  it('comes in pages that hold every tool once', async () => {
    const { url } = await startGateway({
      mcpServers: {
        many: entry(oddServer('many', { count: 700 })),
        more: entry(oddServer('more', { count: 600 })),
      },
    })
    for (const kind of CLIENT_KINDS) {
      const names = (await (await openClient(kind, `${url}/mcp/all`)).list()).map(({ name }) => name)
      expect(names).toHaveLength(1300)
      expect(new Set(names).size).toBe(1300)
    }
  })

  it.each(someOf(CLIENT_KINDS, 1))('changes with the config, and %s is notified', async (kind) => {
    const started = await startGateway({ mcpServers: { one: entry(oddServer('one')) } })
    const client = await openClient(kind, `${started.url}/mcp/all`)
    expect((await client.list()).map(({ name }) => name.split('__')[0])).toContain('one')
    let told = 0
    await client.onListChanged(() => told++)
    started.write({ mcpServers: { one: entry(oddServer('one')), two: entry(oddServer('two')) } })
    await eventually(() => told > 0, 'the client is notified that the list has changed')
    await eventually(
      () =>
        started.of('server').some(({ event }) => event.kind === 'server-listed' && event.server === 'two'),
      'the new server is listed',
    )
    const names = (await client.list()).map(({ name }) => name.split('__')[0])
    expect(new Set(names)).toEqual(new Set(['one', 'two']))
  })

  it.each(['{ "mcpServers": { "one": ', '{ "mcpServers": null }', ''])(
    'stays while a config that cannot be read lies there: %s',
    async (broken) => {
      const started = await startGateway({ mcpServers: { one: entry(oddServer('one')) } })
      const client = await openClient('v2 legacy', `${started.url}/mcp/all`)
      const before = await client.list()
      started.write(broken)
      await eventually(() => started.of('config-refused').length > 0, 'the config is refused')
      expect(await client.list()).toEqual(before)
      expect(await client.text('one__echo', {})).toBe('{}')
      expect((await started.gateway.inspect()).serverSets[0]?.problem).toMatch(/toolwell\.json/)
      started.write({ mcpServers: {} })
      await eventually(() => started.of('config-read').length > 0, 'the config is read')
      expect(await client.list()).toEqual([])
    },
  )

  it('stays while the config is missing for a moment, and ends if it stays missing', async () => {
    let now = 1_000_000
    let looks = 0
    const path = join(temporary(), 'toolwell.json')
    const write = (config: object) => writeFileSync(path, JSON.stringify(config))
    write({ mcpServers: { one: entry(oddServer('one')) } })
    const started = await startGateway(
      {},
      {
        now: () => now,
        files: () => {
          looks++
          return [{ path, optional: true }]
        },
      },
    )
    const looked = async () => {
      const before = looks
      await eventually(() => looks > before, 'the config is looked for')
    }
    const client = await openClient('v2 legacy', `${started.url}/mcp/all`)
    const before = await client.list()
    expect(before.length).toBeGreaterThan(0)
    rmSync(path)
    await looked()
    now += 4000
    expect(await client.list()).toEqual(before)
    expect(await client.text('one__echo', {})).toBe('{}')
    // When the file is back, the grace period starts again.
    write({ mcpServers: { one: entry(oddServer('one')) } })
    await looked()
    rmSync(path)
    await looked()
    now += 4000
    await looked()
    expect(await client.list()).toEqual(before)
    expect([...started.of('config-read'), ...started.of('config-refused')]).toEqual([])
    now += 4000
    await eventually(() => started.of('config-read').length > 0, 'the config is gone')
    expect(await client.list()).toEqual([])
    // A file that returns later takes effect at once.
    write({ mcpServers: { one: entry(oddServer('one')) } })
    await eventually(() => started.of('config-read').length > 1, 'the config is read')
  })
})
