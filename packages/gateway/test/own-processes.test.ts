/** Servers with `share: client`: each client has its own process and state, which ends with the client. */
import { describe, expect, it } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually, isAlive } from '../../mcp/test/support/processes.js'
import { realServer } from '../../mcp/test/support/real-servers.js'
import { openClient, ownNames, type TestClient } from './support/clients.js'
import { entry, startGateway } from './support/gateway.js'
import { home } from './support/home.js'
import { openWire, type Wire } from './support/stdio-wire.js'

const run = async (client: TestClient, name: string, input: object = {}) =>
  client.text((await ownNames(client)).run, { name, arguments: input })

describe('a server that each client has for itself', () => {
  it('keeps the state of two windows in one folder apart', async () => {
    const { way } = home({
      mcpServers: { thinking: entry(realServer('sequential-thinking'), { share: 'client' }) },
    })
    const [one, two] = await Promise.all([openClient('v2 legacy', way()), openClient('v1', way())])
    const think = async (client: TestClient, thoughtNumber: number) =>
      run(client, 'thinking__sequentialthinking', {
        thought: `thought ${thoughtNumber}`,
        thoughtNumber,
        totalThoughts: 3,
        nextThoughtNeeded: true,
      })
    expect(await think(one, 1)).toContain('"thoughtHistoryLength": 1')
    expect(await think(one, 2)).toContain('"thoughtHistoryLength": 2')
    expect(await think(two, 1)).toContain('"thoughtHistoryLength": 1')
    expect(await think(one, 3)).toContain('"thoughtHistoryLength": 3')
  })

  it('ends with its client, and the report says whose it is until then', async () => {
    const { url, gateway } = await startGateway({
      mcpServers: {
        own: entry(oddServer('own'), { share: 'client' }),
        shared: entry(oddServer('shared'), { workspace: false }),
      },
    })
    const [one, two] = await Promise.all([1, 2].map(() => openClient('v1', `${url}/mcp`)))
    if (!one || !two) throw new Error('two clients were opened')
    const pids = [await run(one, 'own__pid'), await run(two, 'own__pid')].map(Number)
    const shared = Number(await run(one, 'shared__pid'))
    expect(await run(two, 'shared__pid')).toBe(String(shared))
    const { clients, serverSets } = await gateway.inspect()
    const [own, other] = serverSets[0]?.servers ?? []
    expect(own).toMatchObject({ sharedBy: 'client' })
    expect(own?.processes.map(({ pid }) => pid).sort()).toEqual([...pids].sort())
    expect(own?.processes.map(({ client }) => client).sort()).toEqual(clients.map(({ id }) => id).sort())
    expect(other).toMatchObject({ sharedBy: 'everyone', processes: [{ pid: shared, client: undefined }] })
    await one.leave()
    await eventually(() => !isAlive(pids[0] ?? 0), 'the process of the client that left ends')
    expect(await run(two, 'own__pid')).toBe(String(pids[1]))
    expect(isAlive(shared)).toBe(true)
  })

  it('stays for a bridge that reconnects in time', async () => {
    const started = await startGateway({ mcpServers: { own: entry(oddServer('own'), { share: 'client' }) } })
    const names = await ownNames(await openClient('v1', `${started.url}/mcp`))
    const open = async (id: string) => {
      const wire = await openWire(started, '/mcp', { 'X-Toolwell-Client': id })
      const clientInfo = { name: id, version: '1' }
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
      await wire.ask({ id: 1, method: 'initialize', params })
      wire.say({ method: 'notifications/initialized' })
      return wire
    }
    const pidOf = async (wire: Wire) => {
      const call = { name: names.run, arguments: { name: 'own__pid', arguments: {} } }
      const { result } = await wire.ask({ id: 2, method: 'tools/call', params: call })
      return Number((result as { content: { text: string }[] }).content[0]?.text)
    }
    const [one, two] = [await open('one'), await open('two')]
    const pids = [await pidOf(one), await pidOf(two)]
    one.close()
    two.close()
    const again = await open('two')
    await eventually(() => !isAlive(pids[0] ?? 0), 'the process of the client that left ends')
    expect(await pidOf(again)).toBe(pids[1])
  })

  it('ends with its bridge', async () => {
    const { way } = home({ mcpServers: { own: entry(oddServer('own'), { share: 'client' }) } })
    const [one, two] = await Promise.all([1, 2].map(() => openClient('v2 modern', way())))
    if (!one || !two) throw new Error('two clients were opened')
    const pids = [await run(one, 'own__pid'), await run(two, 'own__pid')].map(Number)
    expect(pids[0]).not.toBe(pids[1])
    process.kill(one.pid as number, 'SIGKILL')
    await eventually(() => !isAlive(pids[0] ?? 0), 'the process of the client that left ends')
    expect(await run(two, 'own__pid')).toBe(String(pids[1]))
  })
})
