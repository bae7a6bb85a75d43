/** Replicas that are killed, stopped, and cut off from their database. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { defineServer, McpFailure } from '@toolwell/mcp'
import { expect, it, onTestFinished } from 'vitest'
import { openClient } from '../../gateway/test/support/clients.js'
import { setup } from '../../mcp/test/support/setup.js'
import { startProxy } from '../../postgres/test/network-proxy.js'
import { startPostgres } from '../../postgres/test/postgres-server.js'
import { withoutPostgres } from '../../postgres/test/skip.js'
import { homeWith, misbehaving } from './support/home.js'
import { type Balanced, createMachine, type Replica, startBalancer } from './support/replicas.js'
import { folderWith } from './support/run.js'

const REQUESTS = 10_000
/** Milliseconds. */
const KILL_EVERY = 5000

it.skipIf(withoutPostgres)(
  'is not ready 30 seconds after it lost the database, until it answers',
  async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const proxy = await startProxy(postgres.port)
    onTestFinished(() => proxy.close())
    const config = join(folderWith({ 'toolwell.json': { mcpServers: {} } }), 'toolwell.json')
    const env = { TOOLWELL_DATABASE: postgres.url.replace(String(postgres.port), String(proxy.port)) }
    const { url } = await createMachine(['--config', config], env).start()
    const ready = async () => {
      const answer = await fetch(`${url}/readyz`)
      const { checks } = (await answer.json()) as { checks: { database: string } }
      return [answer.status, checks.database]
    }
    await expect.poll(ready, { timeout: 60_000 }).toEqual([200, 'ok'])
    proxy.stop()
    await expect.poll(ready, { timeout: 35_000, interval: 500 }).toEqual([503, 'does not answer'])
    proxy.start()
    await expect.poll(ready, { timeout: 10_000 }).toEqual([200, 'ok'])
  },
)

it.skipIf(withoutPostgres)(
  'ends a call that outlasts SIGTERM by 25 seconds, with an unknown outcome',
  async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const log = join(folderWith({}), 'log')
    const endless = { name: 'wait', description: 'Never answers.', inputSchema: { type: 'object' } }
    const servers = { 'toolwell.json': { mcpServers: { odd: misbehaving({ log, tools: [endless] }) } } }
    const env = { TOOLWELL_DATABASE: postgres.url }
    const added = await homeWith({}).atTerminal(['token', 'add', 'agents'], { env })
    const headers = { Authorization: `Bearer ${added.output.split('\n')[0]}` }
    const config = join(folderWith(servers), 'toolwell.json')
    const replica = await createMachine(['--config', config], env).start()
    const client = await openClient('v2 modern', `${replica.url}/mcp/all`, headers)
    const answer = client.text('odd__wait', {})
    await expect.poll(() => readFileSync(log, 'utf8'), { timeout: 60_000 }).toContain('call wait')
    replica.process.kill('SIGTERM')
    const began = performance.now()
    expect(await answer).toContain('The call may have taken effect')
    expect(await replica.exited).toBe(0)
    const seconds = (performance.now() - began) / 1000
    expect(seconds).toBeGreaterThan(24)
    expect(seconds).toBeLessThan(30)
  },
)

it.skipIf(withoutPostgres)(
  'loses only requests in flight on a killed replica',
  { timeout: 1_800_000 },
  async () => {
    const postgres = await startPostgres()
    try {
      await run(postgres.url)
    } finally {
      await postgres.stop()
    }
  },
)

async function run(database: string): Promise<void> {
  const folder = folderWith({})
  const log = join(folder, 'log')
  const note = {
    name: 'note',
    description: 'Notes a number.',
    inputSchema: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
  }
  const shared = folderWith({
    'toolwell.json': { mcpServers: { odd: misbehaving({ log, delay: 20, tools: [note] }) } },
  })
  const env = { TOOLWELL_DATABASE: database, TOOLWELL_DATABASE_KEY: 'a key' }
  const added = await homeWith({}).atTerminal(['token', 'add', 'agents'], { env })
  const token = added.output.split('\n')[0] ?? ''
  const machines = [0, 1, 2].map(() =>
    createMachine(['--host', '0.0.0.0', '--config', join(shared, 'toolwell.json'), '--json'], env),
  )
  let replicas: readonly Replica[] = await Promise.all(machines.map((machine) => machine.start()))
  const killed = new Set<Replica>()
  const lost: Balanced[] = []
  const url = await startBalancer(
    () => replicas,
    (request) => lost.push(request),
  )
  const headers = { Authorization: `Bearer ${token}` }

  const agents = await Promise.all(
    Array.from({ length: 12 }, () => openClient('v2 modern', `${url}/mcp/all`, headers)),
  )
  expect(new Set(agents.map(({ version }) => version))).toEqual(new Set(['2026-07-28']))
  const { text } = await setup([defineServer('gateway', { url: `${url}/mcp/all`, headers })])
  const ways = agents.flatMap(({ text: official }) => [
    official,
    (name: string, input: object) => text('gateway', name, input),
  ])

  const succeeded: number[] = []
  const failed = new Map<number, unknown>()
  let next = 0
  const end = new AbortController()
  const killing = (async () => {
    const pause = () => wait(KILL_EVERY, false, { signal: end.signal }).catch(() => true)
    for (let index = 0, due = pause(); ; index = (index + 1) % machines.length) {
      const isOver = await due
      const victim = replicas[index]
      if (isOver || !victim) return
      due = pause()
      killed.add(victim)
      victim.process.kill('SIGKILL')
      await victim.exited
      const started = await machines[index]?.start()
      replicas = replicas.map((replica) => (replica === victim && started ? started : replica))
    }
  })()
  const began = performance.now()
  await Promise.all(
    ways.map(async (call) => {
      while (next < REQUESTS) {
        const number = next++
        try {
          expect(await call('odd__note', { number })).toBe(`{"number":${number}}`)
          succeeded.push(number)
        } catch (error) {
          failed.set(number, error)
        }
      }
    }),
  )
  end.abort()
  await killing
  const seconds = (performance.now() - began) / 1000

  const runs = new Map<number, number>()
  for (const [, number] of readFileSync(log, 'utf8').matchAll(/^call note \{"number":(\d+)\}$/gm))
    runs.set(Number(number), (runs.get(Number(number)) ?? 0) + 1)
  const inFlight = new Set(
    lost.flatMap(({ body, replica }) =>
      killed.has(replica) ? JSON.parse(body).params?.arguments?.number : [],
    ),
  )
  console.log(
    `${succeeded.length} succeeded, ${failed.size} failed (${[...failed.keys()].filter((number) => runs.has(number)).length} of them had run), ${killed.size} replicas killed, ${seconds.toFixed(0)} s`,
  )
  expect([...runs].filter(([, times]) => times > 1)).toEqual([])
  expect(succeeded.filter((number) => runs.get(number) !== 1)).toEqual([])
  expect([...failed].filter(([number]) => !inFlight.has(number))).toEqual([])
  expect(succeeded.length + failed.size).toBe(REQUESTS)
  expect(killed.size).toBeGreaterThan(5)
  for (const error of failed.values()) {
    expect(String(error)).toMatch(/outcome of the request is unknown|may have taken effect/)
    if (McpFailure.is(error)) expect(error.kind).toBe('lost')
  }
}
