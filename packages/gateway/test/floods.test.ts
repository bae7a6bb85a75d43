/** Requests that are made to be expensive: they are refused before the gateway spends time on them. */
import { deflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { describeExcess, readMessage } from '../src/bridge/messages.js'
import { openClient } from './support/clients.js'
import { authorized, entry, startGateway } from './support/gateway.js'
import { openWire } from './support/stdio-wire.js'

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

async function begin() {
  const started = await startGateway({ mcpServers: { odd: entry(oddServer('odd')) } })
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${started.url}/mcp`, {
      method: 'POST',
      headers: {
        ...authorized,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
      },
      body,
    })
  const begun = await post(JSON.stringify(initialize))
  const legacy = { 'Mcp-Session-Id': begun.headers.get('mcp-session-id') ?? '' }
  const modern = {
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'run_tool',
  }
  return { started, post, eras: { legacy, modern } }
}

const BATCH = JSON.stringify(
  Array.from({ length: 300_000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'x' })),
)
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0]))
const call = (input: unknown, name = 'odd__echo') => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'run_tool', arguments: { name, arguments: input }, _meta: MODERN },
})
const DEEP = `${'['.repeat(4_000_000)}${']'.repeat(4_000_000)}`

describe.each(['legacy', 'modern'] as const)('%s', (era) => {
  it.each([
    ['a batch of 300,000 entries', BATCH],
    ['900,000 argument keys', JSON.stringify(call(keys(900_000)))],
    [
      '900,000 argument keys next to the tool',
      JSON.stringify({ ...call({}), params: { ...call({}).params, arguments: keys(900_000) } }),
    ],
    ['8 MB of [', '['.repeat(8_000_000)],
    ['8 MB of [ and ]', DEEP],
    ['8 MB of [ and ] as arguments', JSON.stringify(call('@')).replace('"@"', DEEP)],
    ['8 MB of [ and ] as an unknown key', JSON.stringify({ ...call({}), x: '@' }).replace('"@"', DEEP)],
  ])('refuses %s and goes on', async (_, body) => {
    const { started, post, eras } = await begin()
    const response = await post(body, eras[era])
    const { error } = (await response.json()) as { error: { code: number; message: string } }
    expect([response.status, error.code]).toEqual([400, -32600])
    expect(error.message).toMatch(/at most 100 messages|more than 100000 keys|deeper than 1100 levels/)
    const client = await openClient('v2 modern', `${started.url}/mcp`)
    expect(await client.text('run_tool', { name: 'odd__echo', arguments: {} })).toBe('{}')
  })
})

describe('rules of a project', () => {
  const header = (count: number, pattern: (at: number) => string) => {
    const layers = [Array.from({ length: count }, (_, at) => ['deny', pattern(at)])]
    const rules = { prefix: 'mcp__', separator: '__', layers, own: {} }
    return { 'X-Toolwell-Rules': deflateRawSync(JSON.stringify(rules)).toString('base64url') }
  }
  const many = Array.from({ length: 150 }, (_, at) => describedTool(`read_${at}_${'a'.repeat(50)}`))

  it.each([
    ['45,000 rules', header(45_000, () => 'mcp__*a*e')],
    ['100,000 wildcards', header(1000, () => '*a'.repeat(100))],
    ['a rule of 500,000 characters', header(1, () => `mcp__${'*a'.repeat(250_000)}*q`)],
  ])('refuses %s', async (_, headers) => {
    const { started } = await begin()
    await expect(openWire(started, '/mcp', headers)).rejects.toThrow('400')
  })

  it.each([
    ['5,000 rules', header(4999, (at) => `mcp__*${at % 100}a`)],
    ['a rule with many wildcards', header(10, (at) => `mcp__${'*a'.repeat(490)}${at}a`)],
  ])('answers others while it applies %s', async (_, headers) => {
    const started = await startGateway({ mcpServers: { odd: entry(oddServer('odd', { tools: many })) } })
    const slow = await openWire(started, '/mcp', headers)
    const other = await openWire(started, '/mcp')
    for (const wire of [slow, other]) await wire.ask(initialize)
    const begun = performance.now()
    const search = slow.ask({
      id: 2,
      method: 'tools/call',
      params: { name: 'find_tools', arguments: { query: 'read' } },
    })
    await other.ask({ id: 2, method: 'ping' })
    await search
    // A busy machine takes several times as long as an idle one.
    expect(performance.now() - begun).toBeLessThan(15_000)
  })
})

describe('searches of one client', () => {
  const search = (id: number, query: string) => ({
    id,
    method: 'tools/call',
    params: { name: 'find_tools', arguments: { query } },
  })
  const open = async () => {
    const tools = Array.from({ length: 40 }, (_, at) => describedTool(`read_${at}`))
    const started = await startGateway({ mcpServers: { odd: entry(oddServer('odd', { tools })) } })
    const [busy, other] = [await openWire(started, '/mcp'), await openWire(started, '/mcp')]
    for (const wire of [busy, other]) await wire.ask(initialize)
    return { busy, other }
  }

  it('let others in between', async () => {
    const { busy, other } = await open()
    await busy.ask(search(2, 'read'))
    const answers = Array.from({ length: 2000 }, (_, at) => busy.ask(search(3 + at, `read file ${at}`)))
    const begun = performance.now()
    await busy.ask({ id: 5000, method: 'ping' })
    await other.ask({ id: 2, method: 'ping' })
    expect(performance.now() - begun).toBeLessThan(1500)
    await Promise.all(answers)
  }, 60_000)

  it('may not have a query of megabytes', async () => {
    const { busy } = await open()
    const { result } = await busy.ask(search(2, 'read file '.repeat(100_000)))
    expect(JSON.stringify(result)).toContain('the query has more than 20,000 characters')
  })
})

it('counts neither brackets, colons nor commas inside strings', () => {
  const text = JSON.stringify([{ text: `${'[{:,'.repeat(200_000)}\\"` }, '"[[', '\\'])
  expect(describeExcess(text)).toBeUndefined()
})

it('limits messages of stdio clients too', () => {
  expect(readMessage(DEEP)).toMatchObject({ refusal: { error: { code: -32600 } } })
})
