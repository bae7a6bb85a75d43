/** Sums of calls: right after every write, bounded, and the same after a restart. */
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import {
  type CallFacts,
  callStatsFile,
  estimateQuantile,
  memoryCallStats,
  type SlotStats,
} from '../src/storage/call-stats.js'
import { openClient } from './support/clients.js'
import { authorized, entry, startGateway, temporary } from './support/gateway.js'

const HOUR = 3_600_000
const NOON = Date.UTC(2026, 10, 18, 12)

const call = (more: Partial<CallFacts> = {}): CallFacts => ({
  time: NOON,
  client: 'an-agent 1.2.3',
  project: '/project',
  server: 'files',
  tool: 'read',
  outcome: 'ok',
  milliseconds: 15,
  tokensIn: 10,
  tokensOut: 100,
  bytesOut: 400,
  ...more,
})

it('sums calls per tool, and per client and project in each hour', () => {
  const stats = memoryCallStats()
  stats.recordCall(call())
  stats.recordCall(call({ outcome: 'error', milliseconds: 800, tokensOut: 300 }))
  stats.recordCall(call({ outcome: 'refused', tokensOut: 20 }))
  stats.recordCall(call({ time: NOON + HOUR, client: 'another' }))
  stats.recordCall(call({ server: '', tool: 'no such tool', outcome: 'refused', tokensOut: 5 }))
  stats.recordSearch({ time: NOON, client: 'an-agent 1.2.4', project: '/project', tokens: 50 })
  stats.recordList({ time: NOON, client: 'an-agent', project: '/project', listTokens: 700, allTokens: 9000 })
  expect(stats.tools()).toMatchObject([
    { server: 'files', tool: 'read', calls: 3, errors: 1, refused: 1, tokensOut: 500, largest: 300 },
  ])
  expect(stats.slots()).toMatchObject([
    {
      unit: 'hour',
      start: NOON,
      client: 'an-agent',
      calls: 2,
      errors: 1,
      refused: 2,
      searches: 1,
      answerTokens: 75,
      lists: 1,
      listTokens: 700,
      allTokens: 9000,
    },
    { start: NOON + HOUR, client: 'another', calls: 1 },
  ])
})

it('estimates quantiles of durations', () => {
  const stats = memoryCallStats()
  for (let round = 1; round <= 100; round++) stats.recordCall(call({ milliseconds: round * 10 }))
  const [tool] = stats.tools()
  expect(tool && estimateQuantile(tool, 0.5)).toBeCloseTo(500, -2)
  expect(tool && estimateQuantile(tool, 0.95)).toBeCloseTo(950, -2)
  expect(estimateQuantile({ durations: [0, 0] }, 0.5)).toBeUndefined()
})

it('turns hours into days after two days, and forgets days after ninety', () => {
  const stats = memoryCallStats()
  const total = () => stats.slots().reduce((sum, { calls }) => sum + calls, 0)
  for (let hour = 0; hour < 24 * 30; hour++) stats.recordCall(call({ time: NOON + hour * HOUR }))
  expect(total()).toBe(24 * 30)
  expect(stats.slots().length).toBeLessThan(49 + 31)
  const days: readonly SlotStats[] = stats.slots().filter(({ unit }) => unit === 'day')
  expect(days[1]).toMatchObject({ start: NOON + 12 * HOUR, calls: 24 })
  stats.recordCall(call({ time: NOON + 24 * HOUR * 200 }))
  expect(total()).toBe(1)
})

it('has the same sums after a restart, also with half a line at the end', async () => {
  const folder = temporary()
  const file = join(folder, 'stats.jsonl')
  const stats = callStatsFile(folder)
  stats.recordCall(call())
  stats.recordSearch({ time: NOON, client: 'a', project: '', tokens: 7 })
  await stats.flush()
  expect(statSync(file).mode & 0o777).toBe(0o600)
  appendFileSync(file, '["call",17')
  const again = callStatsFile(folder)
  expect(again.tools()).toEqual(stats.tools())
  expect(again.slots()).toEqual(stats.slots())
  again.recordCall(call({ tool: 'write' }))
  await again.flush()
  expect(callStatsFile(folder).tools()).toEqual(again.tools())
})

it('keeps the file small: records become sums', async () => {
  const folder = temporary()
  const stats = callStatsFile(folder, { maxBytes: 10_000 })
  for (let round = 0; round < 2000; round++) {
    stats.recordCall(call({ tool: `tool_${round % 7}`, time: NOON + round * 60_000 }))
    if (round % 100 === 0) await stats.flush()
  }
  await stats.flush()
  expect(statSync(join(folder, 'stats.jsonl')).size).toBeLessThan(25_000)
  const again = callStatsFile(folder)
  expect(again.tools()).toEqual(stats.tools())
  expect(again.slots()).toEqual(stats.slots())
})

it('counts tools and clients above its limits as one', () => {
  const stats = memoryCallStats()
  for (let round = 0; round < 10_500; round++)
    stats.recordCall(call({ tool: `tool_${round}`, client: `client_${round}` }))
  expect(stats.tools()).toHaveLength(10_001)
  expect(stats.slots()).toHaveLength(101)
  expect(stats.slots().reduce((sum, { calls }) => sum + calls, 0)).toBe(10_500)
})

it('records lists, searches and calls of a gateway, and no arguments', async () => {
  const folder = temporary()
  const stats = callStatsFile(folder)
  const tools = [describedTool('give')]
  const { url } = await startGateway(
    { mcpServers: { odd: entry(oddServer('odd', { tools })) } },
    { storage: { stats } },
  )
  const client = await openClient('v2 modern', `${url}/mcp`, authorized, 'an-agent')
  await client.list()
  await client.text('find_tools', { query: 'a hidden word' })
  await client.call('run_tool', { name: 'odd__give', arguments: { file: 'another hidden word' } })
  expect(stats.tools()).toMatchObject([{ server: 'odd', tool: 'give' }])
  const [slot] = stats.slots()
  expect(slot).toMatchObject({ client: 'an-agent', searches: 1, lists: 1 })
  expect(slot?.listTokens).toBeGreaterThan(100)
  await stats.flush()
  expect(existsSync(join(folder, 'stats.jsonl'))).toBe(true)
  expect(readFileSync(join(folder, 'stats.jsonl'), 'utf8')).not.toContain('hidden')
})
