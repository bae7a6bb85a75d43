/** Everything that a server sends during a call, from servers of both protocol generations to clients of both, over HTTP and stdio. */
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SCRIPT } from './support/clients.js'
import { authorized, startGateway } from './support/gateway.js'
import { home } from './support/home.js'

const ERAS = ['legacy', 'modern'] as const
type Era = (typeof ERAS)[number]
const PAIRS = ERAS.flatMap((client) => ERAS.map((server) => [client, server] as const))

const config = (era: Era) => ({
  mcpServers: {
    suite: {
      command: process.execPath,
      args: [fileURLToPath(new URL('support/conformance-server.mjs', import.meta.url)), era],
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      share: 'client',
    },
  },
})

async function connect(era: Era, transport: Parameters<Client['connect']>[0]): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
      ...(era === 'modern' ? { versionNegotiation: { mode: 'auto' as const } } : {}),
    },
  )
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { username: 'ada' } }))
  client.setRequestHandler('sampling/createMessage', () => ({
    role: 'assistant',
    model: 'test',
    content: { type: 'text', text: 'Paris' },
  }))
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///projects/shop' }] }))
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

type CallOptions = NonNullable<Parameters<Client['callTool']>[1]>

async function call(client: Client, tool: string, input = {}, options: CallOptions = {}, meta?: object) {
  const params = { name: `suite__${tool}`, arguments: input, ...(meta ? { _meta: meta as never } : {}) }
  const { content } = await client.callTool(params, options)
  return (content as { text?: string }[]).map(({ text = '' }) => text).join('\n')
}

async function checkCalls(client: Client, era: Era, server: Era): Promise<void> {
  const isOlder = server === 'legacy'
  const asked = (older: string, newer: string, input = {}) =>
    isOlder ? call(client, older, input) : call(client, `test_input_required_result_${newer}`)
  expect(await asked('test_elicitation', 'elicitation', { message: 'Who?' })).toContain('ada')
  expect(await asked('test_sampling', 'sampling', { prompt: 'Capital?' })).toContain('Paris')
  expect(await asked('test_list_roots', 'list_roots')).toContain('file:///projects/shop')

  const steps: number[] = []
  const onprogress = ({ progress }: { progress: number }) => void steps.push(progress)
  await call(client, 'test_tool_with_progress', {}, { onprogress })
  // The SDK drops updates that arrive together with the result.
  expect(steps).toEqual([0, 50, 100].slice(0, Math.max(1, steps.length)))

  const stop = new AbortController()
  const waiting = call(client, 'test_wait_for_cancel', {}, { signal: stop.signal })
  const cancelled = expect(waiting).rejects.toThrow()
  await call(client, 'test_simple_text')
  stop.abort()
  await cancelled
  // The server may hear of it a little later.
  while ((await call(client, 'test_count_cancelled')) !== '1');

  const lines: unknown[] = []
  client.setNotificationHandler('notifications/message', ({ params }) => void lines.push(params.data))
  if (era === 'legacy') await client.setLoggingLevel('info')
  const meta = era === 'modern' ? { 'io.modelcontextprotocol/logLevel': 'info' } : undefined
  await call(client, 'test_tool_with_logging', {}, {}, meta)
  expect(lines).toHaveLength(3)
}

async function checkUpdates(client: Client, era: Era): Promise<void> {
  const uri = 'test://watched-resource'
  const updated = new Promise<string>((resolve) =>
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri)),
  )
  if (era === 'legacy') await client.subscribeResource({ uri })
  else await client.listen({ resourceSubscriptions: [uri] })
  await call(client, 'test_update_resource', { uri })
  expect(await updated).toBe(uri)
}

describe.each(PAIRS)('a %s client and a %s server', (era, server) => {
  it('pass questions, progress, cancellation, logs and updates over HTTP', async () => {
    const { url } = await startGateway(config(server))
    const at = new URL(`${url}/mcp/all`)
    const client = await connect(
      era,
      new StreamableHTTPClientTransport(at, { requestInit: { headers: authorized } }),
    )
    await client.listTools()
    await checkCalls(client, era, server)
    await checkUpdates(client, era)
  })

  it('pass questions, progress, cancellation, logs and updates over stdio', async () => {
    const { words, env, cwd } = home(config(server)).way('--all')
    const args = [SCRIPT, 'serve', '--stdio', ...words]
    const client = await connect(era, new StdioClientTransport({ command: process.execPath, args, env, cwd }))
    await client.listTools()
    await checkCalls(client, era, server)
    await checkUpdates(client, era)
  })
})
