/** Health, readiness and metrics, for operators. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { writeMetrics } from '../src/http/operators.js'
import { memoryCallStats } from '../src/storage/call-stats.js'
import { openClient } from './support/clients.js'
import { authorized, entry, startGateway, temporary } from './support/gateway.js'

type Samples = ReadonlyMap<string, number>

/** Reads the text format of Prometheus strictly: each metric once, with help, type and samples of that name. */
function parseMetrics(text: string): Samples {
  expect(text.endsWith('\n')).toBe(true)
  const samples = new Map<string, number>()
  const seen = new Set<string>()
  let current = ''
  let type = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP (\w+) \S/.exec(line)
    const typed = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line)
    if (help) {
      current = help[1] ?? ''
      expect(seen.has(current)).toBe(false)
      seen.add(current)
    } else if (typed) {
      expect(typed[1]).toBe(current)
      type = typed[2] ?? ''
    } else {
      const [, name = '', labels = '', value] =
        /^(\w+)((?:\{(?:\w+="(?:[^"\\\n]|\\["\\n])*",?)+\})?) (-?\d[\d.e-]*)$/.exec(line) ?? []
      expect(name, line).not.toBe('')
      if (type === 'histogram') expect(name).toMatch(new RegExp(`^${current}_(bucket|sum|count)$`))
      else expect(name).toBe(current)
      if (type === 'counter') expect(name).toMatch(/_total$/)
      expect(samples.has(name + labels), line).toBe(false)
      samples.set(name + labels, Number(value))
    }
  }
  return samples
}

async function startWith(manners: Parameters<typeof oddServer>[1] = {}) {
  const started = await startGateway({
    mcpServers: {
      odd: entry(oddServer('odd', manners), { maxCallsPerMinute: 1000 }),
      off: entry(oddServer('off'), { enabled: false }),
    },
  })
  const read = async () =>
    parseMetrics(await (await fetch(`${started.url}/metrics`, { headers: authorized })).text())
  return { ...started, read }
}

it('counts calls, errors, refusals, searches and tokens in /metrics', async () => {
  const tools = [
    describedTool('echo', {
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    }),
    ...Array.from({ length: 40 }, (_, index) =>
      describedTool(`spare_${index}`, { description: 'Does nothing useful. '.repeat(20) }),
    ),
  ]
  const { url, read, listed } = await startWith({ tools })
  await listed()
  const client = await openClient('v2 modern', `${url}/mcp`)
  await client.listAll()
  const before = await read()
  await client.text('find_tools', { query: 'echo' })
  for (const text of ['a', 'b']) await client.text('run_tool', { name: 'odd__echo', arguments: { text } })
  await client.text('run_tool', { name: 'odd__echo', arguments: {} })
  await client.text('run_tool', { name: 'odd__nothing', arguments: {} })
  const after = await read()
  const echo = 'server="odd",tool="echo"'
  expect(after.get(`toolwell_calls_total{${echo},outcome="ok"}`)).toBe(2)
  expect(after.get(`toolwell_calls_total{${echo},outcome="error"}`)).toBe(0)
  expect(after.get(`toolwell_calls_total{${echo},outcome="refused"}`)).toBe(1)
  expect(after.get('toolwell_refused_calls_total{reason="invalid"}')).toBe(1)
  expect(after.get('toolwell_refused_calls_total{reason="unknown"}')).toBe(1)
  expect(after.get('toolwell_searches_total')).toBe(1)
  expect(after.get('toolwell_servers{state="disabled"}')).toBe(1)
  expect(after.get(`toolwell_call_duration_seconds_bucket{${echo},le="+Inf"}`)).toBe(2)
  expect(after.get(`toolwell_call_duration_seconds_count{${echo}}`)).toBe(2)
  expect(after.get(`toolwell_call_tokens_total{${echo},direction="in"}`)).toBeGreaterThan(0)
  expect(after.get('process_start_time_seconds')).toBeLessThanOrEqual(Date.now() / 1000)
  // The list saved its definitions; the search and the two refusals cost something.
  const saved = before.get('toolwell_tokens_saved') ?? 0
  expect(saved).toBeGreaterThan(3000)
  expect(after.get('toolwell_tokens_saved')).toBeLessThan(saved)
  expect([...after.keys()].filter((each) => each.includes('nothing'))).toEqual([])
})

it('sums the tools after the first 200, and escapes names', async () => {
  const { gateway } = await startWith()
  const stats = memoryCallStats()
  for (let index = 0; index < 203; index++)
    stats.recordCall({
      time: 0,
      client: '',
      project: '',
      server: 'odd',
      tool: `say "${index}"\n\\`,
      outcome: 'ok',
      milliseconds: 30,
      tokensIn: 1,
      tokensOut: 2,
      bytesOut: 3,
    })
  const samples = parseMetrics(
    writeMetrics({
      report: await gateway.inspect(),
      tools: stats.tools(),
      refused: new Map(),
      tokensSaved: 0,
    }),
  )
  const counts = [...samples.keys()].filter((each) => each.startsWith('toolwell_call_duration_seconds_count'))
  expect(counts).toHaveLength(201)
  const others = 'server="others",tool="others"'
  expect(samples.get(`toolwell_calls_total{${others},outcome="ok"}`)).toBe(3)
  expect(samples.get(`toolwell_call_duration_seconds_bucket{${others},le="0.02"}`)).toBe(0)
  expect(samples.get(`toolwell_call_duration_seconds_bucket{${others},le="0.05"}`)).toBe(3)
  expect(samples.get(`toolwell_call_duration_seconds_sum{${others}}`)).toBeCloseTo(0.09)
  const first = 'server="odd",tool="say \\"0\\"\\n\\\\"'
  expect(samples.get(`toolwell_call_tokens_total{${first},direction="out"}`)).toBe(2)
})

it('gives metrics to tokens only, and health and readiness to everyone', async () => {
  const { url } = await startWith()
  expect((await fetch(`${url}/metrics`)).status).toBe(401)
  const metrics = await fetch(`${url}/metrics`, { headers: authorized })
  expect(metrics.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' })
  const ready = await fetch(`${url}/readyz`)
  expect(ready.status).toBe(200)
  expect(await ready.json()).toEqual({ status: 'ok', checks: { config: 'ok', servers: 'ok' } })
  const foreign = await fetch(`${url}/healthz`, { headers: { Origin: 'https://example.com' } })
  expect(foreign.status).toBe(403)
})

it('is alive and not ready while servers are listed for the first time', async () => {
  const listsOnce = join(temporary(), 'now')
  const { url, gateway, of } = await startWith({ tools: [describedTool('echo')], listsOnce })
  gateway.prepare()
  const isReady = async () => (await fetch(`${url}/readyz`)).status === 200
  const answer = await fetch(`${url}/readyz`)
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({
    status: 'not ready',
    checks: { config: 'ok', servers: 'are being listed for the first time' },
  })
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  writeFileSync(listsOnce, '')
  await expect.poll(isReady, { timeout: 20_000 }).toBe(true)
  expect(of('server').map(({ event }) => event.kind)).toContain('server-listed')
})

it('is not ready with a config that cannot be read, and names no file', async () => {
  const { gateway, url, write } = await startGateway({})
  write('{ "mcpServers": ')
  gateway.prepare()
  const answer = await fetch(`${url}/readyz`)
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({
    status: 'not ready',
    checks: { config: 'no server can be used: run toolwell doctor', servers: 'ok' },
  })
  write({ mcpServers: {} })
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 20_000 }).toBe(200)
})
