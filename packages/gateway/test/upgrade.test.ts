/** A newer version replaces a running daemon: calls under way are finished, and nothing waits for them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runDaemon } from '@toolwell/gateway'
import { askDaemon } from '@toolwell/gateway/bridge'
import { memoryCache, memoryFirstUse } from '@toolwell/mcp'
import { expect, it, onTestFinished } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually, isAlive } from '../../mcp/test/support/processes.js'
import { UPGRADE_PATH } from '../src/bridge/protocol.js'
import { CLIENT_KINDS, openClient, ownNames } from './support/clients.js'
import { entry, temporary } from './support/gateway.js'
import { home } from './support/home.js'

it.each(CLIENT_KINDS)('finishes the calls of its clients and advises them to restart (%s)', async (kind) => {
  const folder = temporary()
  const [log, answersOnce] = [join(folder, 'log'), join(folder, 'go')]
  const { way, daemon, state } = home({ mcpServers: { odd: entry(oddServer('odd', { log, answersOnce })) } })
  const old = await openClient(kind, way())
  const { run } = await ownNames(old)
  const running = old.text(run, { name: 'odd__echo', arguments: { n: 1 } })
  await eventually(
    () => existsSync(log) && readFileSync(log, 'utf8').includes('call echo'),
    'a call is under way',
  )
  const { file } = await daemon()
  // The next client takes it for an older one.
  writeFileSync(join(state, 'daemon.json'), JSON.stringify({ ...file, protocol: 0 }))
  const next = await openClient('v2 legacy', way())
  expect(await next.list()).toHaveLength(3)
  expect((await daemon()).file.pid).not.toBe(file.pid)
  expect(isAlive(file.pid)).toBe(true)
  // Advised before anything is cut.
  const refused = await old.call(run, { name: 'odd__echo', arguments: { n: 2 } })
  expect(refused.isError).toBe(true)
  expect(refused.content[0]?.text).toContain('Ask the user to restart this client')
  writeFileSync(answersOnce, '')
  expect(await running).toBe('{"n":1}')
  await eventually(() => !isAlive(file.pid), 'the older one has ended')
  expect(readFileSync(log, 'utf8')).not.toContain('"n":2')
  expect(await next.text(run, { name: 'odd__echo', arguments: { n: 3 } })).toBe('{"n":3}')
})

it('frees its port and file at once, and ends after its time, whatever still runs', async () => {
  const folder = temporary()
  const config = join(folder, 'toolwell.json')
  const log = join(folder, 'log')
  writeFileSync(config, JSON.stringify({ mcpServers: { odd: entry(oddServer('odd', { log })) } }))
  const start = async (port: number) => {
    mkdirSync(join(folder, 'state'), { recursive: true })
    const started = await runDaemon({
      folder: join(folder, 'state'),
      startedBy: 'bridge',
      version: '1.0.0',
      port,
      drain: 3000,
      files: () => [{ path: config }],
      env: process.env,
      connect: { cache: memoryCache(), firstUse: memoryFirstUse(), logs: false },
    })
    if (started.kind !== 'serving') throw new Error('another one serves')
    onTestFinished(() => started.daemon.close())
    return started.daemon
  }
  const first = await start(0)
  const client = await openClient('v2 legacy', `${first.url}/mcp`, { Authorization: `Bearer ${first.token}` })
  const { run } = await ownNames(client)
  client.call(run, { name: 'odd__wait', arguments: {} }).catch(() => undefined)
  await eventually(
    () => existsSync(log) && readFileSync(log, 'utf8').includes('call wait'),
    'a call is under way',
  )
  await askDaemon(first, 'POST', UPGRADE_PATH)
  const order: string[] = []
  const stopped = first.stopped.then(() => order.push('the first has stopped'))
  const second = await start(first.file.port)
  order.push('the second serves')
  expect(second.file.takenPort).toBeUndefined()
  await stopped
  expect(order).toEqual(['the second serves', 'the first has stopped'])
})
