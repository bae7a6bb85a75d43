/** `serve --otlp`: spans go to the collector of the flag, and to no other. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { askDaemon, defaultGatewayFolder, findDaemon } from '@toolwell/gateway/bridge'
import { expect, it, onTestFinished } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { folderWith, toolwell } from './support/run.js'

interface Collected {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Record<string, unknown>[] }[]
  }[]
}

/** A collector that answers with a status and keeps what it got. */
async function startCollector(status = 200) {
  const got: { path: string; headers: object; body: Collected }[] = []
  const http = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    got.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(body) })
    response.writeHead(status).end('{}')
  })
  onTestFinished(() => new Promise<void>((resolve) => void http.close(() => resolve())))
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve))
  return { got, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` }
}

async function serveAndCall(words: readonly string[], other: string, meta: object = {}) {
  const { endpoint } = oddServer('odd', { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] })
  const { type: _, ...started } = endpoint
  const folder = folderWith({ 'toolwell.json': { mcpServers: { odd: started } } })
  const env = {
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_DATA_HOME: join(folder, 'data'),
    OTEL_EXPORTER_OTLP_ENDPOINT: other,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret',
    OTEL_RESOURCE_ATTRIBUTES: 'inherited=yes',
  }
  let printed = ''
  let isListening: () => void = () => undefined
  const listening = new Promise<void>((resolve) => {
    isListening = resolve
  })
  const serving = toolwell(['serve', '--config', 'toolwell.json', '--port', '0', '--json', ...words], {
    folder,
    env,
    onOutput: (text) => {
      printed += text
      isListening()
    },
  })
  await listening
  const { url } = JSON.parse(printed.split('\n')[0] ?? '')
  const { output: token } = await toolwell(['token'], { folder, env })
  const answer = await fetch(`${url}/mcp/all`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token.trim()}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'odd__echo',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'odd__echo',
        arguments: {},
        _meta: {
          traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
          ...meta,
        },
      },
    }),
  })
  expect(await answer.text()).not.toContain('"error"')
  // `toolwell stop` would wait for the end of this process.
  const daemon = await findDaemon(defaultGatewayFolder(env))
  if (daemon.kind !== 'running') throw new Error('The gateway is gone.')
  await askDaemon(daemon, 'POST', '/stop')
  await serving
  return printed
}

it('sends each span once, with its trace, and only to the given collector', async () => {
  const [collector, inherited] = [await startCollector(), await startCollector()]
  await serveAndCall(['--otlp', collector.url], inherited.url)
  expect(inherited.got).toEqual([])
  const [first] = collector.got
  expect(first?.path).toBe('/v1/traces')
  expect(JSON.stringify(collector.got)).not.toMatch(/secret|inherited/)
  const spans = collector.got.flatMap(({ body }) =>
    body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  )
  expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
    ['tools/call echo', 3],
    ['tools/call odd__echo', 2],
  ])
  const [inner, outer] = spans
  expect(outer).toMatchObject({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
    startTimeUnixNano: expect.stringMatching(/^\d{19}$/),
  })
  expect(inner).toMatchObject({ traceId: outer?.traceId, parentSpanId: outer?.spanId })
  expect(outer?.attributes).toContainEqual({
    key: 'gen_ai.tool.name',
    value: { stringValue: 'odd__echo' },
  })
})

it('sends nothing without --otlp, whatever is inherited', async () => {
  const inherited = await startCollector()
  await serveAndCall([], inherited.url)
  expect(inherited.got).toEqual([])
})

it('says once that a collector refuses, serves on, and keeps no long tracestate', async () => {
  const collector = await startCollector(503)
  const words = ['--otlp', `${collector.url}/v1/traces/`]
  const tracestate = `a=${'x'.repeat(600)}`
  const printed = await serveAndCall(words, 'http://127.0.0.1:9', { tracestate })
  expect(JSON.stringify(collector.got)).not.toContain('xxx')
  expect(collector.got.map(({ path }) => path)).toContain('/v1/traces')
  const lines = printed.split('\n').filter((line) => line.includes('spans-lost'))
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { kind: 'spans-lost', reason: 'it answered with status 503' },
  ])
})

it.each(['localhost:4318', 'file:///tmp/spans'])('refuses --otlp %j', async (url) => {
  const { code, errors } = await toolwell(['serve', '--otlp', url], { folder: folderWith({}), env: {} })
  expect(code).toBe(2)
  expect(errors).toContain('Give the HTTP address of a collector, for example http://localhost:4318.')
})

it('refuses --otlp with a password, and does not print it', async () => {
  const url = 'http://user:hunter2@localhost:4318'
  const { code, errors } = await toolwell(['serve', '--otlp', url], { folder: folderWith({}), env: {} })
  expect(code).toBe(2)
  expect(errors).toContain('--otlp takes no user name and no password.')
  expect(errors).not.toContain('hunter2')
})
