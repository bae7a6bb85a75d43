/** Prompts, resources, completions, logs and `_meta` through the gateway, in both protocol generations. */
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { writeRules } from '@toolwell/gateway/bridge'
import { describe, expect, it, onTestFinished } from 'vitest'
import { authorized, startGateway } from './support/gateway.js'
import { openWire } from './support/stdio-wire.js'

const FIXTURE = fileURLToPath(new URL('support/conformance-server.mjs', import.meta.url))
const suite = (more: object = {}) => ({
  command: process.execPath,
  args: [FIXTURE],
  cwd: fileURLToPath(new URL('.', import.meta.url)),
  ...more,
})

type Era = 'legacy' | 'modern'

async function open(url: string, era: Era, capabilities: object = {}): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, ...(era === 'modern' ? { versionNegotiation: { mode: 'auto' as const } } : {}) },
  )
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: authorized } }),
  )
  onTestFinished(() => client.close())
  return client
}

const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)

describe.each(['legacy', 'modern'] as const)('a %s client', (era) => {
  it.each(['/mcp', '/mcp/all'])('lists and reads resources and prompts on %s', async (path) => {
    const { url } = await startGateway({ mcpServers: { suite: suite() } })
    const client = await open(url + path, era)
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual([
      'test://static-binary',
      'test://static-text',
      'test://watched-resource',
    ])
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['test://template/{id}/data'])
    expect((await client.readResource({ uri: 'test://static-text' })).contents).toEqual([
      {
        uri: 'test://static-text',
        mimeType: 'text/plain',
        text: 'This is the content of the static text resource.',
      },
    ])
    const [binary] = (await client.readResource({ uri: 'test://static-binary' })).contents
    expect(binary).toMatchObject({ mimeType: 'image/png', blob: expect.stringMatching(/^iVBOR/) })
    const [data] = (await client.readResource({ uri: 'test://template/7/data' })).contents
    expect(data).toMatchObject({ text: expect.stringContaining('Data for ID: 7') })
    const { prompts } = await client.listPrompts()
    expect(names(prompts)).toContain('test_prompt_with_arguments')
    const { messages } = await client.getPrompt({
      name: 'test_prompt_with_arguments',
      arguments: { arg1: 'a', arg2: 'b' },
    })
    expect(messages[0]?.content).toEqual({
      type: 'text',
      text: "Prompt with arguments: arg1='a', arg2='b'",
    })
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
      argument: { name: 'arg1', value: 'part' },
    })
    expect(completion.values).toEqual(['party'])
  })

  it('gives colliding names the prefix of their server, and each leads to its server', async () => {
    const { url } = await startGateway({ mcpServers: { one: suite(), two: suite({ env: { LABEL: '2' } }) } })
    const client = await open(`${url}/mcp/all`, era)
    const { resources } = await client.listResources()
    const uri = 'toolwell:two:test://static-text'
    expect(resources.map((each) => each.uri)).toContain(uri)
    expect((await client.readResource({ uri })).contents).toMatchObject([
      { uri, text: 'This is the content of the static text resource.' },
    ])
    const { prompts } = await client.listPrompts()
    expect(names(prompts)).toContain('two__test_simple_prompt')
    expect((await client.getPrompt({ name: 'two__test_simple_prompt' })).messages).toHaveLength(1)
    await expect(client.getPrompt({ name: 'test_nothing' })).rejects.toMatchObject({ code: -32602 })
    await expect(client.readResource({ uri: 'test://nothing' })).rejects.toMatchObject({ code: -32602 })
  })

  it('reads a resource that only a link in a result has named', async () => {
    const { url } = await startGateway({ mcpServers: { suite: suite(), other: suite({ env: { A: '1' } }) } })
    const client = await open(`${url}/mcp/all`, era)
    const { content } = await client.callTool({ name: 'suite__test_resource_link', arguments: {} })
    const [link] = content as { uri: string }[]
    expect(link?.uri).toBe('test://only-linked')
    const [read] = (await client.readResource({ uri: link?.uri ?? '' })).contents
    expect(read).toMatchObject({ text: 'Linked.' })
    const again = await client.callTool({ name: 'other__test_resource_link', arguments: {} })
    expect(again.content).toMatchObject([{ uri: 'toolwell:other:test://only-linked' }])
  })

  it('announces only what the servers have', async () => {
    const thinking = fileURLToPath(
      import.meta.resolve('@modelcontextprotocol/server-sequential-thinking/dist/index.js'),
    )
    const { url } = await startGateway({
      mcpServers: { thinking: { command: process.execPath, args: [thinking] } },
    })
    const first = await open(`${url}/mcp/all`, era)
    await first.listTools()
    const client = await open(`${url}/mcp/all`, era)
    expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: true } })
  })

  it('passes `_meta` to the server, without the keys of the protocol', async () => {
    const { url } = await startGateway({ mcpServers: { suite: suite() } })
    const client = await open(`${url}/mcp/all`, era)
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const { content } = await client.callTool({
      name: 'suite__test_echo_meta',
      arguments: {},
      _meta: { traceparent, 'example.org/mine': 1 },
    })
    const [{ text = '' } = {}] = content as { text?: string }[]
    expect(JSON.parse(text)).toMatchObject({ traceparent, 'example.org/mine': 1 })
  })

  it('notifies of a changed resource until the subscription ends', async () => {
    const { url } = await startGateway({ mcpServers: { suite: suite() } })
    const [client, other] = [await open(`${url}/mcp/all`, era), await open(`${url}/mcp/all`, era)]
    await client.listTools()
    const seen: string[] = []
    let heard = () => {}
    const next = () =>
      new Promise<void>((resolve) => {
        heard = resolve
      })
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      seen.push(params.uri)
      heard()
    })
    other.setNotificationHandler('notifications/resources/updated', () => void seen.push('wrong'))
    const uri = 'test://watched-resource'
    if (era === 'legacy') await client.subscribeResource({ uri })
    else await client.listen({ resourceSubscriptions: [uri] })
    const update = (each: string) =>
      client.callTool({ name: 'suite__test_update_resource', arguments: { uri: each } })
    let waiting = next()
    await update('test://static-text')
    await update(uri)
    await waiting
    waiting = next()
    await update(uri)
    await waiting
    expect(seen).toEqual([uri, uri])
    if (era === 'modern') return
    await client.unsubscribeResource({ uri })
    await update(uri)
    await client.listTools()
    expect(seen).toEqual([uri, uri])
  })

  it('notifies of changed prompts', async () => {
    const { url } = await startGateway({ mcpServers: { suite: suite() } })
    const client = await open(`${url}/mcp/all`, era)
    await client.listTools()
    await client.listPrompts()
    const changed = new Promise<void>((resolve) =>
      client.setNotificationHandler('notifications/prompts/list_changed', () => resolve()),
    )
    if (era === 'modern') await client.listen({ promptsListChanged: true })
    await client.callTool({ name: 'suite__test_trigger_prompt_change', arguments: {} })
    await changed
    expect(names((await client.listPrompts({}, { cacheMode: 'refresh' })).prompts)).toContain(
      'test_comes_and_goes',
    )
  })
})

it('acknowledges only resources that can be subscribed, and no slow server delays the answer', async () => {
  const heavy = suite({
    args: [fileURLToPath(new URL('support/heavy-server.mjs', import.meta.url))],
    timeout: '10m',
  })
  const { url, listed } = await startGateway({ mcpServers: { heavy, suite: suite() } })
  await listed()
  const client = await open(`${url}/mcp/all`, 'modern')
  await client.listTools()
  const [uri, slow] = ['test://watched-resource', 'big://one']
  const { honoredFilter } = await client.listen({
    toolsListChanged: true,
    resourceSubscriptions: [uri, uri, 'nothing://here', slow],
  })
  expect(honoredFilter).toEqual({ toolsListChanged: true, resourceSubscriptions: [uri, slow] })
})

it('ends the subscriptions of a request that is refused or cancelled', async () => {
  const started = await startGateway({ mcpServers: { suite: suite({ args: [FIXTURE, 'legacy'] }) } })
  const uri = 'test://watched-resource'
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const wire = await openWire(started, '/mcp/all')
  let last = 100
  const count = async () => {
    const params = { name: 'suite__test_count_subscribed', arguments: {}, _meta: meta }
    const answer = await wire.ask({ id: ++last, method: 'tools/call', params })
    return (answer as { result?: { content: { text: string }[] } }).result?.content[0]?.text
  }
  const listen = (id: number, toolsListChanged: unknown) => ({
    id,
    method: 'subscriptions/listen',
    params: { notifications: { toolsListChanged, resourceSubscriptions: [uri] }, _meta: meta },
  })
  await expect.poll(count).toBe('0')
  expect(await wire.ask(listen(2, 'no'))).toMatchObject({ error: { code: -32602 } })
  await expect.poll(count).toBe('0')
  wire.say(listen(3, true))
  await expect.poll(count).toBe('1')
  wire.say({ method: 'notifications/cancelled', params: { requestId: 3 } })
  await expect.poll(count).toBe('0')
})

it('notifies each of two clients once', async () => {
  const { url } = await startGateway({ mcpServers: { suite: suite() } })
  const uri = 'test://watched-resource'
  const seen: number[] = []
  for (const each of [0, 1]) {
    const client = await open(`${url}/mcp/all`, 'modern')
    client.setNotificationHandler('notifications/resources/updated', () => void seen.push(each))
    await client.listen({ resourceSubscriptions: [uri] })
  }
  const other = await open(`${url}/mcp/all`, 'modern')
  await other.callTool({ name: 'suite__test_update_resource', arguments: { uri } })
  await expect.poll(() => seen.length).toBe(2)
  await other.callTool({ name: 'suite__test_update_resource', arguments: { uri } })
  await expect.poll(() => seen.length).toBe(4)
  expect(seen.toSorted()).toEqual([0, 0, 1, 1])
})

it('sends logs to the client whose call caused them, from the level that it set', async () => {
  const { url } = await startGateway({ mcpServers: { suite: suite() } })
  const lines = (client: Client) => {
    const heard: unknown[] = []
    client.setNotificationHandler('notifications/message', ({ params }) => void heard.push(params.data))
    return heard
  }
  const [one, two] = [await open(`${url}/mcp/all`, 'legacy'), await open(`${url}/mcp/all`, 'legacy')]
  const [heard, other] = [lines(one), lines(two)]
  await one.setLoggingLevel('info')
  await one.callTool({ name: 'suite__test_tool_with_logging', arguments: {} })
  expect(heard).toEqual(['Tool execution started', 'Tool processing data', 'Tool execution completed'])
  expect(other).toEqual([])
  await one.setLoggingLevel('error')
  await one.callTool({ name: 'suite__test_tool_with_logging', arguments: {} })
  expect(heard).toHaveLength(3)
})

it('shows nothing of servers that are disabled, outside the profile, or denied', async () => {
  const { url } = await startGateway({
    mcpServers: { one: suite(), two: suite({ disabled: true }) },
    profiles: { none: { servers: ['nobody'] } },
  })
  const all = await open(`${url}/mcp/all`, 'legacy')
  expect(names((await all.listPrompts()).prompts)).toContain('test_simple_prompt')
  await expect(all.getPrompt({ name: 'two__test_simple_prompt' })).rejects.toMatchObject({ code: -32602 })
  await expect(all.readResource({ uri: 'toolwell:two:test://static-text' })).rejects.toThrow()
  const none = await open(`${url}/mcp/none`, 'legacy')
  expect(none.getServerCapabilities()).toEqual({ tools: { listChanged: true } })
  await expect(none.readResource({ uri: 'test://static-text' })).rejects.toThrow()
})

it('skips prompts and resources whose definition looks harmful, and everything of a quarantined server', async () => {
  const { url } = await startGateway({
    mcpServers: { suite: suite({ args: [FIXTURE, 'both', 'hostile'] }) },
  })
  const client = await open(`${url}/mcp/all`, 'legacy')
  const { prompts } = await client.listPrompts()
  expect(names(prompts)).toContain('test_simple_prompt')
  expect(names(prompts)).not.toContain('test_hostile')
  await expect(client.getPrompt({ name: 'test_hostile' })).rejects.toMatchObject({ code: -32602 })
  const { resources } = await client.listResources()
  expect(resources.map(({ uri }) => uri)).not.toContain('test://hostile')
  const review = () => ({ server: 'not today', quarantined: new Map(), findings: [] })
  const { url: other } = await startGateway({ mcpServers: { suite: suite() } }, { connect: { review } })
  const none = await open(`${other}/mcp/all`, 'legacy')
  expect((await none.listPrompts()).prompts).toEqual([])
  expect((await none.listResources()).resources).toEqual([])
  await expect(none.readResource({ uri: 'test://static-text' })).rejects.toThrow()
  await expect(none.readResource({ uri: 'toolwell:suite:test://static-text' })).rejects.toThrow()
})

it('shows nothing of a server that the rules of the client deny', async () => {
  const started = await startGateway({
    mcpServers: { one: suite(), two: suite({ args: [FIXTURE, 'both'] }) },
  })
  const rules = writeRules({ prefix: '', separator: '__', layers: [[['deny', 'two']]], own: {} })
  const wire = await openWire(started, '/mcp/all', { 'X-Toolwell-Rules': rules })
  const initialize = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
  }
  await wire.ask({ id: 1, method: 'initialize', params: initialize })
  wire.say({ method: 'notifications/initialized' })
  const listed = JSON.stringify(await wire.ask({ id: 2, method: 'resources/list', params: {} }))
  expect(listed).toContain('"uri":"test://static-text"')
  expect(listed).not.toContain('two')
  const prompts = JSON.stringify(await wire.ask({ id: 3, method: 'prompts/list', params: {} }))
  expect(prompts).toContain('"name":"test_simple_prompt"')
  const ask = async (id: number, method: string, params: object) =>
    (await wire.ask({ id, method, params })) as { readonly error?: { readonly code: number } }
  const read = await ask(4, 'resources/read', { uri: 'toolwell:two:test://static-text' })
  const get = await ask(5, 'prompts/get', { name: 'two__test_simple_prompt' })
  const complete = await ask(6, 'completion/complete', {
    ref: { type: 'ref/prompt', name: 'two__test_simple_prompt' },
    argument: { name: 'arg1', value: '' },
  })
  const subscribe = await ask(7, 'resources/subscribe', { uri: 'toolwell:two:test://static-text' })
  expect([read, get, complete, subscribe].map(({ error }) => error?.code)).toEqual([
    -32602, -32602, -32602, -32602,
  ])
})
