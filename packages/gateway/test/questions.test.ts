/** Questions of servers through the gateway: from servers of both protocol generations to clients of both. */
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { fileStorage, hashToken } from '@toolwell/gateway/storage'
import { describe, expect, it, onTestFinished } from 'vitest'
import { authorized, startGateway, temporary } from './support/gateway.js'

const FIXTURE = fileURLToPath(new URL('support/conformance-server.mjs', import.meta.url))
const everything = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))
const suite = (era: 'legacy' | 'modern', more: object = {}) => ({
  command: process.execPath,
  args: [FIXTURE, era],
  cwd: fileURLToPath(new URL('.', import.meta.url)),
  ...more,
})

type Era = 'legacy' | 'modern'

interface Answers {
  readonly user?: string
  readonly model?: string
  readonly roots?: string
}

async function open(url: string, era: Era, { user, model, roots }: Answers): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: {
        ...(user === undefined ? {} : { elicitation: {} }),
        ...(model === undefined ? {} : { sampling: {} }),
        ...(roots === undefined ? {} : { roots: {} }),
      },
      ...(era === 'modern' ? { versionNegotiation: { mode: 'auto' as const } } : {}),
    },
  )
  if (user !== undefined)
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { username: user } }))
  if (model !== undefined)
    client.setRequestHandler('sampling/createMessage', () => ({
      role: 'assistant',
      model: 'test',
      content: { type: 'text', text: model },
    }))
  if (roots !== undefined) client.setRequestHandler('roots/list', () => ({ roots: [{ uri: roots }] }))
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: authorized } }),
  )
  onTestFinished(() => client.close())
  return client
}

async function textOf(client: Client, name: string, input: Record<string, unknown> = {}): Promise<string> {
  const { content } = await client.callTool({ name, arguments: input })
  return (content as { text?: string }[]).map(({ text = '' }) => text).join('\n')
}

const ANSWERS = { user: 'ada', model: 'Paris', roots: 'file:///projects/shop' }

describe.each(['legacy', 'modern'] as const)('a %s client', (era) => {
  it('answers a legacy server', async () => {
    const { url } = await startGateway({ mcpServers: { suite: suite('legacy', { share: 'client' }) } })
    const client = await open(`${url}/mcp/all`, era, ANSWERS)
    expect(await textOf(client, 'suite__test_elicitation', { message: 'Who?' })).toContain('"username":"ada"')
    expect(await textOf(client, 'suite__test_sampling', { prompt: 'Capital?' })).toBe('LLM response: Paris')
    expect(await textOf(client, 'suite__test_list_roots')).toContain('file:///projects/shop')
  })

  it('answers through run_tool', async () => {
    const { url } = await startGateway({ mcpServers: { suite: suite('legacy') } })
    const client = await open(`${url}/mcp`, era, ANSWERS)
    const call = { name: 'suite__test_sampling', arguments: { prompt: 'Capital?' } }
    expect(await textOf(client, 'run_tool', call)).toBe('LLM response: Paris')
  })

  it('answers a modern server', async () => {
    const { url } = await startGateway({ mcpServers: { suite: suite('modern') } })
    const client = await open(`${url}/mcp/all`, era, ANSWERS)
    const tool = 'suite__test_input_required_result'
    expect(await textOf(client, `${tool}_elicitation`)).toContain('"username":"ada"')
    expect(await textOf(client, `${tool}_sampling`)).toContain('Paris')
    expect(await textOf(client, `${tool}_request_state`)).toContain('state-ok')
    expect(await textOf(client, `${tool}_multi_round`)).toContain('ada')
    const { messages } = await client.getPrompt({ name: 'test_input_required_result_prompt' })
    expect(JSON.stringify(messages)).toContain('ada')
  })

  it('without an answer: the server gets an error, and the model reads what the server wanted', async () => {
    const { url } = await startGateway({ mcpServers: { suite: suite('legacy') } })
    const client = await open(`${url}/mcp/all`, era, {})
    const text = await textOf(client, 'suite__test_asks_anyway')
    expect(text).toContain('-32601')
    expect(text).toContain('Server "suite" wanted to ask the user (elicitation)')
  })

  it('lists and reads what the real server-everything has', async () => {
    const { url } = await startGateway({
      mcpServers: { everything: { command: process.execPath, args: [everything, 'stdio'] } },
    })
    const client = await open(`${url}/mcp/all`, era, ANSWERS)
    await client.listTools()
    const { prompts } = await client.listPrompts()
    expect(prompts.length).toBeGreaterThan(2)
    const { resources } = await client.listResources()
    const [read] = (await client.readResource({ uri: resources[0]?.uri ?? '' })).contents
    expect(read).toBeDefined()
  })
})

describe.each(['legacy', 'modern'] as const)('a %s client is asked to open a URL', (era) => {
  const openWith = async (url: string, elicitation: { form?: object; url?: object } | undefined) => {
    const client = new Client(
      { name: 'test', version: '1' },
      {
        capabilities: elicitation ? { elicitation: elicitation as { form?: Record<string, never> } } : {},
        ...(era === 'modern' ? { versionNegotiation: { mode: 'auto' as const } } : {}),
      },
    )
    const asked: object[] = []
    const completed: string[] = []
    if (elicitation)
      client.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params)
        return { action: 'accept' }
      })
    client.setNotificationHandler(
      'notifications/elicitation/complete',
      ({ params }) => void completed.push(params.elicitationId),
    )
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: authorized } }),
    )
    onTestFinished(() => client.close())
    return { client, asked, completed }
  }
  const QUESTION = { mode: 'url', message: 'Log in.', url: 'https://example.com/login' }
  const URLS = { form: {}, url: {} }

  it.each([
    ['legacy', 'test_elicitation_url'],
    ['modern', 'test_input_required_result_url'],
  ] as const)('by a %s server', async (server, tool) => {
    const { url } = await startGateway({ mcpServers: { suite: suite(server, { share: 'client' }) } })
    const { client, asked, completed } = await openWith(`${url}/mcp/all`, URLS)
    expect(await textOf(client, `suite__${tool}`)).toContain('accept')
    expect(asked).toMatchObject([QUESTION])
    if (era === 'legacy' && server === 'legacy') await expect.poll(() => completed).toEqual(['login-1'])
  })

  it.each(['/mcp', '/mcp/all'])(
    'by a legacy server that refuses the call until then, on %s',
    async (path) => {
      const { url } = await startGateway({ mcpServers: { suite: suite('legacy') } })
      const { client, asked, completed } = await openWith(url + path, URLS)
      const other = await openWith(url + path, URLS)
      const name = 'suite__test_url_required'
      const call = () =>
        path === '/mcp' ? textOf(client, 'run_tool', { name, arguments: {} }) : textOf(client, name)
      if (era === 'legacy')
        await expect(call()).rejects.toMatchObject({
          code: -32042,
          data: { elicitations: [{ ...QUESTION, elicitationId: 'login-2' }] },
        })
      expect(await call()).toBe('Logged in.')
      expect(asked).toEqual(era === 'legacy' ? [] : [QUESTION])
      // Only the older protocol knows this notification.
      if (era === 'legacy') await expect.poll(() => completed).toEqual(['login-2'])
      expect(other.completed).toEqual([])
    },
  )

  it.each([{}, undefined])('which it cannot do with %j, and the model reads so', async (elicitation) => {
    const { url } = await startGateway({ mcpServers: { suite: suite('legacy', { share: 'client' }) } })
    const { client } = await openWith(`${url}/mcp`, elicitation)
    for (const tool of ['test_asks_for_url_anyway', 'test_url_required'])
      expect([tool, await textOf(client, 'run_tool', { name: `suite__${tool}`, arguments: {} })]).toEqual([
        tool,
        expect.stringContaining('Server "suite" wanted to ask the user (elicitation)'),
      ])
  })
})

it('asks each client only about its own calls', async () => {
  const { url } = await startGateway({ mcpServers: { suite: suite('legacy', { share: 'client' }) } })
  const clients = await Promise.all(
    Array.from({ length: 6 }, (_, at) => open(`${url}/mcp/all`, 'legacy', { user: `user-${at}` })),
  )
  const rounds = Array.from({ length: 5 })
  await Promise.all(
    clients.map(async (client, at) => {
      for (const _ of rounds)
        expect(await textOf(client, 'suite__test_elicitation', { message: 'Who?' })).toContain(
          `"username":"user-${at}"`,
        )
    }),
  )
})

describe('a suspended call', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  }
  const call = async (url: string, message: string, more: object = {}, headers: object = authorized) => {
    const response = await fetch(`${url}/mcp/all`, {
      method: 'POST',
      headers: {
        ...headers,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'tools/call',
        'Mcp-Name': 'suite__test_elicitation',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'suite__test_elicitation', arguments: { message }, _meta: meta, ...more },
      }),
    })
    const text = await response.text()
    return JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}'))
  }

  it('resumes once, for the same call, with an unguessable handle', async () => {
    const storage = fileStorage(temporary())
    await storage.tokens.add({ name: 'all', hash: hashToken('tw_all'), createdAt: 0, rights: {} })
    const { url } = await startGateway({ mcpServers: { suite: suite('legacy') } }, { storage })
    const { result } = await call(url, 'Who?')
    expect(result).toMatchObject({ resultType: 'input_required' })
    const [id = ''] = Object.keys(result.inputRequests)
    expect(result.inputRequests[id]).toMatchObject({
      method: 'elicitation/create',
      params: { message: 'Who?' },
    })
    const { requestState } = result
    const inputResponses = { [id]: { action: 'accept', content: { username: 'ada' } } }
    const other = await call(url, 'Another call', { inputResponses, requestState })
    expect(other.error).toMatchObject({ code: -32602 })
    const forged = await call(url, 'Who?', { inputResponses, requestState: `${requestState}x` })
    expect(forged.error).toMatchObject({ code: -32602 })
    const token = { Authorization: 'Bearer tw_all' }
    const foreign = await call(url, 'Who?', { inputResponses, requestState }, token)
    expect(foreign.error).toMatchObject({ code: -32602 })
    const answered = await call(url, 'Who?', { inputResponses, requestState })
    expect(answered.result.content[0].text).toContain('"username":"ada"')
    const again = await call(url, 'Who?', { inputResponses, requestState })
    expect(again.error).toMatchObject({ code: -32602 })
  })

  it.each([
    ['a tool that is denied meanwhile', { deny: ['test_elicitation'] }],
    ['a server that is disabled meanwhile', { disabled: true }],
  ])('does not continue a call of %s', async (_, more) => {
    const { url, write } = await startGateway({ mcpServers: { suite: suite('legacy') } })
    const { result } = await call(url, 'Who?')
    const [id = ''] = Object.keys(result.inputRequests)
    write({ mcpServers: { suite: suite('legacy', more) } })
    const isThere = async () => {
      const client = await open(`${url}/mcp/all`, 'legacy', {})
      const { tools } = await client.listTools()
      return tools.some(({ name }) => name === 'suite__test_elicitation')
    }
    await expect.poll(isThere, { timeout: 30_000 }).toBe(false)
    const inputResponses = { [id]: { action: 'accept', content: { username: 'ada' } } }
    const { requestState } = result
    const answered = await call(url, 'Who?', { inputResponses, requestState })
    expect(JSON.stringify(answered)).not.toContain('ada')
  })
})
