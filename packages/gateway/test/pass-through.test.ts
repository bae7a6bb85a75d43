/** Prompts, resources, completions, logs and `_meta` through the gateway, in both protocol generations. */
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { authorized, startGateway } from './support/gateway.js'

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
