/** Random requests over HTTP and over stdio connections, in both protocols: no crash, no hang, no answer to another client. */
import { expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { readMessage } from '../src/bridge/messages.js'
import { authorized, entry, startGateway } from './support/gateway.js'
import { openWire } from './support/stdio-wire.js'

const REQUESTS = Number(process.env.REQUESTS ?? 100_000)
const CLIENTS = 10
/** Milliseconds after which a request counts as hanging. */
const PATIENCE = 60_000
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)

/** mulberry32 */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const METHODS = [
  'tools/call',
  'tools/call',
  'tools/call',
  'tools/list',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'completion/complete',
  'ping',
  'server/discover',
  'logging/setLevel',
  'resources/subscribe',
  'initialize',
  'no/such',
  '',
  '__proto__',
  'notifications/cancelled',
  'tasks/get',
]
const NAMES = [
  'odd__echo',
  'echo',
  'find_tools',
  'run_tool',
  'run_read_only_tool',
  'read_result',
  'mcp__toolwell__run_tool',
  'toString',
  '__proto__',
  '',
  'odd/echo',
  'x'.repeat(2000),
  '\u0000',
  '../..',
]

function createFuzzer(random: () => number) {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const value = (depth = 0): unknown => {
    const kind = Math.floor(random() * (depth > 3 ? 7 : 10))
    if (kind === 7) return Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1))
    if (kind > 7) return object(depth + 1)
    return [
      null,
      true,
      random() * 1e9,
      -1,
      '',
      pick(NAMES),
      '\ud800 ünï 🧰'.repeat(Math.floor(random() * 5)),
    ][kind]
  }
  const object = (depth = 0): Record<string, unknown> =>
    Object.fromEntries(
      Array.from({ length: Math.floor(random() * 4) }, () => [
        pick([
          'name',
          'arguments',
          'query',
          'uri',
          'cursor',
          'ref',
          'argument',
          '_meta',
          'x',
          'handle',
          'inputResponses',
          'requestState',
        ]),
        value(depth),
      ]),
    )
  return (isModern: boolean): { method: unknown; params: unknown } => {
    const meta = isModern
      ? {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': random() < 0.95 ? '2026-07-28' : value(),
            'io.modelcontextprotocol/clientCapabilities': random() < 0.95 ? {} : value(),
            ...(random() < 0.1 ? object() : {}),
          },
        }
      : {}
    const named =
      random() < 0.7 ? { name: pick(NAMES), arguments: random() < 0.8 ? object() : value() } : object()
    return {
      method: random() < 0.98 ? pick(METHODS) : value(),
      params: random() < 0.97 ? { ...named, ...meta } : value(),
    }
  }
}

it('gives each of 40 clients the answers to its own random requests', { timeout: 3_600_000 }, async () => {
  console.log(`SEED=${SEED}`)
  const echo = describedTool('echo', { inputSchema: { type: 'object' } })
  const { url, port, gateway, listed } = await startGateway({
    mcpServers: { odd: entry(oddServer('odd', { tools: [echo], more: true })) },
  })
  await listed()
  const counts = { results: 0, errors: 0, refused: 0 }
  const count = (answer: Record<string, unknown>, id: unknown) => {
    if (answer.id !== id && answer.id !== null)
      throw new Error(`The answer to ${String(id)} is ${JSON.stringify(answer).slice(0, 500)}`)
    if ('result' in answer) counts.results++
    else counts.errors++
  }
  const overHttp = async (client: number, isModern: boolean, times: number) => {
    const random = createRandom(SEED + client)
    const next = createFuzzer(random)
    const headers: Record<string, string> = {
      ...authorized,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(isModern ? { 'MCP-Protocol-Version': '2026-07-28' } : {}),
    }
    const path = client % 2 === 0 ? '/mcp' : '/mcp/all'
    if (!isModern) {
      const begun = await fetch(url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 'begin',
          method: 'initialize',
          params: {
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: `c${client}`, version: '1' },
          },
        }),
      })
      headers['mcp-session-id'] = begun.headers.get('mcp-session-id') ?? ''
      await begun.text()
    }
    for (let at = 0; at < times; at++) {
      const id = `${client}-${at}`
      const { method, params } = next(isModern)
      const named = params as { readonly name?: unknown }
      const isHeader = (text: unknown): text is string =>
        typeof text === 'string' && /^[\x21-\x7e]{1,100}$/.test(text)
      const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
      const answer = await fetch(url + path, {
        method: 'POST',
        headers: {
          ...headers,
          ...(isModern && isHeader(method) ? { 'Mcp-Method': method } : {}),
          ...(isModern && isHeader(named?.name) ? { 'Mcp-Name': named.name } : {}),
        },
        body: random() < 0.01 ? body.slice(0, Math.floor(random() * body.length)) : body,
      })
      const text = await answer.text()
      if (answer.status >= 500) throw new Error(`${answer.status} for ${body}: ${text}`)
      const data = /^data: (\{.*"(?:result|error)".*)$/m.exec(text)?.[1] ?? text
      if (data.startsWith('{')) count(JSON.parse(data), id)
      else counts.refused++
    }
  }
  const overStdio = async (client: number, isModern: boolean, times: number) => {
    const next = createFuzzer(createRandom(SEED + 100 + client))
    const wire = await openWire({ port }, client % 2 === 0 ? '/mcp' : '/mcp/all')
    if (!isModern) {
      const clientInfo = { name: `s${client}`, version: '1' }
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
      await wire.ask({ id: 'begin', method: 'initialize', params })
    }
    for (let at = 0; at < times; ) {
      const { method, params } = next(isModern)
      const id = `${client}-${at}`
      // The forwarder of stdio clients answers invalid messages itself. Notifications have no answer.
      const line = JSON.stringify({ jsonrpc: '2.0', id, method, params })
      if (!('message' in readMessage(line)) || String(method).startsWith('notifications/')) continue
      at++
      const answer = await Promise.race([
        wire.ask({ id, method, params }),
        new Promise<never>((_, reject) =>
          setTimeout(
            () =>
              reject(new Error(`No answer to ${JSON.stringify({ isModern, method, params }).slice(0, 500)}`)),
            PATIENCE,
          ).unref(),
        ),
      ])
      count(answer, id)
    }
  }
  const each = REQUESTS / (CLIENTS * 4)
  await Promise.all(
    Array.from({ length: CLIENTS }, (_, client) => [
      overHttp(client, true, each),
      overHttp(client, false, each),
      overStdio(client, true, each),
      overStdio(client, false, each),
    ]).flat(),
  )
  console.log(JSON.stringify(counts))
  expect(counts.results + counts.errors + counts.refused).toBe(REQUESTS)
  expect(counts.results).toBeGreaterThan(REQUESTS / 20)
  expect(gateway.activity.busy).toBe(0)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})
