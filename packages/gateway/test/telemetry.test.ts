/** Spans of the library and of the gateway, in a real OpenTelemetry tracer with an exporter in memory. */
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { createToolwell } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openTelemetry } from '@toolwell/core/telemetry'
import { connectServers, defineServer, memoryCache, memoryFirstUse } from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { authorized, startGateway } from './support/gateway.js'

const FIXTURE = fileURLToPath(new URL('support/conformance-server.mjs', import.meta.url))
const suite = {
  command: process.execPath,
  args: [FIXTURE],
  cwd: fileURLToPath(new URL('.', import.meta.url)),
}
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${TRACE}-b7ad6b7169203331-01`

function record() {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  onTestFinished(() => provider.shutdown())
  return { telemetry: openTelemetry(provider.getTracer('test')), spans: () => exporter.getFinishedSpans() }
}

const describeSpan = ({ name, kind, attributes, status }: ReadableSpan) => ({
  name,
  kind: SpanKind[kind],
  error: attributes['error.type'],
  failed: status.code === SpanStatusCode.ERROR,
})

async function open(url: string, era: 'legacy' | 'modern'): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    era === 'modern' ? { versionNegotiation: { mode: 'auto' as const } } : {},
  )
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: authorized } }),
  )
  onTestFinished(() => client.close())
  return client
}

const read = ({ content }: { readonly content?: unknown }) =>
  JSON.parse((content as { text?: string }[])[0]?.text ?? '')

describe.each(['legacy', 'modern'] as const)('spans of a gateway with a %s client', (era) => {
  it('join the trace of the client, and the server joins theirs', async () => {
    const { telemetry, spans } = record()
    const { url, listed } = await startGateway({ mcpServers: { suite } }, { telemetry })
    await listed()
    const client = await open(`${url}/mcp/all`, era)
    const result = await client.callTool({
      name: 'suite__test_echo_meta',
      arguments: {},
      _meta: { traceparent, tracestate: 'a=1', 'example.org/mine': 1 },
    })
    const [inner, outer] = spans()
    if (!inner || !outer) throw new Error('There are no spans.')
    expect(describeSpan(outer)).toEqual({
      name: 'tools/call suite__test_echo_meta',
      kind: 'SERVER',
      error: undefined,
      failed: false,
    })
    expect(outer.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'suite__test_echo_meta',
      'jsonrpc.request.id': expect.any(String),
    })
    expect(inner.attributes).toMatchObject({
      'gen_ai.tool.name': 'test_echo_meta',
      'network.transport': 'pipe',
      'toolwell.server': 'suite',
    })
    expect(describeSpan(inner)).toMatchObject({ name: 'tools/call test_echo_meta', kind: 'CLIENT' })
    expect(outer.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: 'b7ad6b7169203331' })
    expect(inner.parentSpanContext?.spanId).toBe(outer.spanContext().spanId)
    expect(read(result)).toMatchObject({
      traceparent: `00-${TRACE}-${inner.spanContext().spanId}-01`,
      tracestate: 'a=1',
      'example.org/mine': 1,
    })
  })

  it('have the error type tool_error for a failed tool, and the code of a protocol error', async () => {
    const { telemetry, spans } = record()
    const { url, listed } = await startGateway({ mcpServers: { suite } }, { telemetry })
    await listed()
    const client = await open(`${url}/mcp/all`, era)
    await client.callTool({ name: 'suite__test_error_handling', arguments: {} })
    await client.getPrompt({ name: 'no_such_prompt' }).catch(() => undefined)
    await client.getPrompt({ name: 'test_simple_prompt' })
    await client.readResource({ uri: 'test://static-text' })
    await client.callTool({ name: 'suite__no_such_tool', arguments: {} }).catch(() => undefined)
    expect(spans().map(describeSpan)).toMatchObject([
      { name: 'tools/call test_error_handling', kind: 'CLIENT', error: 'tool_error', failed: true },
      { name: 'tools/call suite__test_error_handling', kind: 'SERVER', error: 'tool_error', failed: true },
      { name: 'prompts/get test_simple_prompt', kind: 'CLIENT', failed: false },
      { name: 'prompts/get test_simple_prompt', kind: 'SERVER', failed: false },
      { name: 'resources/read', kind: 'CLIENT', failed: false },
      { name: 'resources/read', kind: 'SERVER', failed: false },
      { name: 'tools/call suite__no_such_tool', kind: 'SERVER', error: '-32602', failed: true },
    ])
    const [, , prompt, , resource] = spans()
    expect(prompt?.attributes).toMatchObject({ 'gen_ai.prompt.name': 'test_simple_prompt' })
    expect(prompt?.attributes).not.toHaveProperty('gen_ai.operation.name')
    expect(resource?.attributes).toMatchObject({ 'mcp.resource.uri': 'test://static-text' })
  })
})

it('a span of the gateway without a parent begins a trace, also with a broken traceparent', async () => {
  const { telemetry, spans } = record()
  const { url, listed } = await startGateway({ mcpServers: { suite } }, { telemetry })
  await listed()
  const client = await open(`${url}/mcp/all`, 'modern')
  for (const broken of ['', 'x'.repeat(10_000), `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, 7])
    await client.callTool({
      name: 'suite__test_simple_text',
      arguments: {},
      _meta: { traceparent: broken },
    })
  const outer = spans().filter(({ kind }) => kind === SpanKind.SERVER)
  expect(outer.map(({ parentSpanContext }) => parentSpanContext)).toEqual(Array(4).fill(undefined))
  expect(new Set(outer.map((span) => span.spanContext().traceId)).size).toBe(4)
})

describe('spans of the library', () => {
  it('cover each call of a tool, and their context reaches its server', async () => {
    const { telemetry, spans } = record()
    const well = createToolwell({ telemetry, mode: 'off' })
    const servers = connectServers(well.catalogue, [defineServer('suite', suite)], {
      cache: memoryCache(),
      firstUse: memoryFirstUse(),
      logs: false,
    })
    onTestFinished(() => servers.close())
    await servers.settled(60_000)
    const chat = openaiChat(await well.open({ id: 'one' }))
    const turn = await chat.begin([{ role: 'user', content: 'Go.' }])
    const { messages } = await turn.run({
      role: 'assistant',
      content: null,
      tool_calls: ['suite__test_echo_meta', 'suite__test_error_handling'].map((name, index) => ({
        id: `call_${index}`,
        type: 'function',
        function: { name, arguments: '{}' },
      })),
    })
    const found = (name: string) => spans().find((span) => span.name === `execute_tool ${name}`)
    const [echoed, failed] = [found('suite__test_echo_meta'), found('suite__test_error_handling')]
    expect(echoed && describeSpan(echoed)).toMatchObject({ kind: 'INTERNAL', failed: false })
    expect(failed && describeSpan(failed)).toMatchObject({ error: 'tool_error', failed: true })
    expect(echoed?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'suite__test_echo_meta',
      'gen_ai.tool.call.id': 'call_0',
      'gen_ai.conversation.id': 'one',
      'mcp.method.name': 'tools/call',
    })
    expect(JSON.stringify(messages)).toContain(`-${echoed?.spanContext().spanId}-01`)
  })
})

it('without telemetry, nothing is recorded, also in the global tracer', async () => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  trace.setGlobalTracerProvider(provider)
  onTestFinished(() => trace.disable())
  const { url, listed } = await startGateway({ mcpServers: { suite } })
  await listed()
  const client = await open(`${url}/mcp/all`, 'modern')
  const result = await client.callTool({ name: 'suite__test_echo_meta', arguments: {} })
  expect(read(result)).not.toHaveProperty('traceparent')
  expect(exporter.getFinishedSpans()).toEqual([])
})
