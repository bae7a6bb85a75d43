import { createToolwell, type Tool, type ToolwellEvent, type ToolwellOptions } from '@toolwell/core'
import { google } from '@toolwell/core/google'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { chatProtocol, googleProtocol } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { lastResult, startHost } from './support/host.js'
import { server, tool } from './support/tools.js'

const long = `${'Reads one thing. '.repeat(200)}The end.`
const many = Array.from({ length: 40 }, (_, index) => `list_number_${index}`)

it('keeps every description within what servers of this family accept, and loses nothing of it', async () => {
  const tools = [
    tool('own', { description: long }),
    ...server('docs', many),
    ...server('far', ['long_tool'], { description: long }),
  ]
  const host = await startHost(
    { tools, mode: 'on', delivery: 'append' },
    [{ calls: [{ name: 'tool_search', arguments: { query: 'select:long_tool' } }] }, { text: 'done' }],
    { endpoint: { maxDescription: 1024 } },
  )
  await host.ask('go')
  const sent = host.body().tools ?? []
  for (const { function: each } of sent) expect(each.description?.length).toBeLessThanOrEqual(1024)
  for (const name of ['own', 'far__long_tool']) {
    const { description, parameters } = sent.find((each) => each.function.name === name)?.function ?? {}
    expect(description).toMatch(/^Reads one thing\. .*continued in the description of the parameters\)$/s)
    const rest = (parameters as { description?: string }).description ?? ''
    const start = description?.replace(/ … \(continued in the description of the parameters\)$/, '')
    // Nothing of it is lost, and nothing is sent twice.
    expect(`${start} ${rest.replace(/^… /, '')}`).toBe(long)
  }
})

it('never cuts a description within a character', async () => {
  const tools = [0, 1].map((shift) =>
    tool(`own_${shift}`, { description: 'x'.repeat(shift) + '😀'.repeat(600) }),
  )
  const host = await startHost({ tools, mode: 'on' }, [{ text: 'done' }], {
    endpoint: { maxDescription: 1024 },
  })
  await host.ask('go')
  const own = host.body().tools?.filter((each) => each.function.name.startsWith('own')) ?? []
  expect(own).toHaveLength(2)
  for (const { function: each } of own) expect(each.description).toMatch(/^x?😀+ … \(continued in the /u)
})

it('moves a long list of hidden tools into the description of the first parameter', async () => {
  const host = await startHost({ tools: server('docs', many), mode: 'on' }, [{ text: 'done' }], {
    endpoint: { maxDescription: 1024 },
  })
  await host.ask('go')
  const loader = host.body().tools?.find((each) => each.function.name === 'tool_search')?.function
  expect(loader?.description).not.toContain('docs__list_number_7')
  const { properties } = (loader?.parameters ?? {}) as { properties?: { query: { description: string } } }
  expect(properties?.query.description).toContain('- docs__list_number_7: ')
})

it('leaves a short list in the description itself', async () => {
  const host = await startHost({ tools: server('docs', many.slice(0, 3)), mode: 'on' }, [{ text: 'done' }])
  await host.ask('go')
  expect(host.body().tools?.[0]?.function.description).toContain('- docs__list_number_2: ')
})

it('is not blocked by a pattern that would never finish', async () => {
  const evil = {
    inputSchema: {
      type: 'object',
      properties: {
        value: { type: 'string', pattern: '^(a+)+$' },
        kind: { type: 'string', pattern: '^[a-z]+$' },
      },
    },
  }
  const call = (input: object) => ({
    calls: [{ name: 'tool_call', arguments: { name: 'far__slow', arguments: input } }],
  })
  const host = await startHost({ tools: server('far', ['slow'], evil), mode: 'on' }, [
    call({ value: `${'a'.repeat(40)}!` }),
    call({ kind: 'UPPER' }),
    { text: 'done' },
  ])
  await host.ask('go')
  const [first, second] = host.messages
    .filter((message) => message.role === 'tool')
    .map((message) => String(message.content))
  expect(first).toContain('slow ran with')
  expect(second).toContain('The arguments do not match the schema of far__slow')
})

it('keeps a group to its own server: another one cannot join it', async () => {
  const tools = [
    ...server('git', ['enter', 'leave'], { group: 'worktree' }),
    ...server('evil', ['spy'], { group: 'worktree' }),
  ]
  const host = await startHost({ tools, mode: 'on' }, [
    { calls: [{ name: 'tool_search', arguments: { query: 'select:git__enter' } }] },
    { calls: [{ name: 'tool_search', arguments: { query: 'select:worktree' } }] },
    { text: 'done' },
  ])
  await host.ask('go')
  expect(host.conversation.inspect().loadedLazyTools).toEqual(['git__enter', 'git__leave'])
  expect(String(host.messages.findLast((message) => message.role === 'tool')?.content)).toContain('could be')
})

describe.each([
  {
    name: 'openai-chat',
    limit: 128,
    violation: async (options: ToolwellOptions) => {
      const conversation = await createToolwell(options).open({ id: 'a' })
      const { parts, view } = await openaiChat(conversation).begin([{ role: 'user', content: 'go' }])
      const found = chatProtocol({ maxTools: 128 }).violationOf({ model: 'm', ...parts } as never)
      return [found, view.delivery, view.mode] as const
    },
  },
  {
    name: 'google',
    limit: 512,
    violation: async (options: ToolwellOptions) => {
      const conversation = await createToolwell(options).open({ id: 'a' })
      const { parts, view } = await google(conversation).begin([{ role: 'user', parts: [{ text: 'go' }] }])
      return [googleProtocol().violationOf(parts as never), view.delivery, view.mode] as const
    },
  },
])('$name declares at most $limit tools', ({ limit, violation }) => {
  const open = async (count: number, options: ToolwellOptions) => {
    const events: ToolwellEvent[] = []
    const names = Array.from({ length: count - 1 }, (_, index) => `list_${index}`)
    const tools = [tool('own'), ...server('docs', names)]
    const result = await violation({ tools, onEvent: (event) => events.push(event), ...options })
    const told = events.flatMap((event) => (event.kind === 'delivery-unavailable' ? [event] : []))
    return { result, told }
  }

  it.each([{ delivery: 'eager' as const, most: limit }])(
    'and goes over the bridge with a word where $delivery would be more',
    async ({ delivery, most }) => {
      const fits = await open(most, { mode: 'on', delivery })
      expect(fits).toEqual({ result: [undefined, delivery, 'on'], told: [] })
      const over = await open(most + 1, { mode: 'on', delivery })
      expect(over.result).toEqual([undefined, 'bridge', 'on'])
      expect(over.told).toMatchObject([
        { delivery, detail: `it declares ${limit + 1} tools, and a request on this wire takes ${limit}` },
      ])
    },
  )
})

it('says that own tools are more than a request takes, and what to do', async () => {
  const lines: string[] = []
  const names = Array.from({ length: 129 }, (_, index) => `own_${index}`)
  const begin = async (tools: Tool[]) => {
    const conversation = await createToolwell({ tools, debug: (line) => lines.push(line) }).open({ id: 'a' })
    return openaiChat(conversation).begin([{ role: 'user', content: 'go' }])
  }
  const { parts, warnings } = await begin(names.map((name) => tool(name)))
  expect(parts.tools).toHaveLength(129)
  const text =
    "this request declares 129 tools, but a request on this wire may have at most 128: defer some with defer: true, setSource or the option defer: 'all', so that search finds them"
  expect(warnings).toEqual([{ code: 'too-many-tools', text }])
  expect(lines).toContain(`"a" · warning (too-many-tools): ${text}`)
  const deferred = names.map((name) => tool(name, { defer: true }))
  for (const tools of [deferred, names.slice(1).map((name) => tool(name))])
    expect((await begin(tools)).warnings).toEqual([])
})

it('a list that grows by what is found stops at what the wire takes, and the search says so', async () => {
  const names = Array.from({ length: 200 }, (_, index) => `list_${index}`)
  const searches = Array.from({ length: 14 }, (_, turn) => ({
    calls: [
      {
        name: 'tool_search',
        arguments: {
          query: `select:${names.slice(turn * 10, turn * 10 + 10).map((name) => `docs__${name}`)}`,
        },
      },
    ],
  }))
  const host = await startHost(
    { tools: [tool('own'), ...server('docs', names)], mode: 'on', delivery: 'append' },
    [...searches, { text: 'done' }],
    { endpoint: { maxTools: 128 } },
  )
  expect(await host.ask('go')).toBe('done')
  expect(host.names()).toHaveLength(128)
  expect(lastResult(host)).toMatch(/docs__list_139\(.*\(no room: this request takes no more tools/)
})

it('turns deferral on when a late source would pass the limit, also with earlier calls in the history', async () => {
  const of = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, index) => `${prefix}_${index}`)
  const tools = [
    ...of(40, 'own').map((name) => tool(name)),
    ...server('docs', of(60, 'list'), { inputSchema: { type: 'object', properties: {} } }),
  ]
  const call = (name: string, input: object) => ({ calls: [{ name, arguments: input }] })
  const host = await startHost(
    { tools, costs: { threshold: 1e6 } },
    [
      call('list_7', {}),
      { text: 'done' },
      call('tool_search', { query: 'select:late__far_9' }),
      call('tool_call', { name: 'late__far_9', arguments: {} }),
      { text: 'found' },
    ],
    { endpoint: { maxTools: 128 } },
  )
  await host.ask('one')
  expect(host.names(0)).toHaveLength(100)
  host.well.catalogue.setSource('late', { tools: server('late', of(60, 'far')) })
  expect(await host.ask('two')).toBe('found')
  expect(host.names()).toEqual(expect.arrayContaining(['own_0', 'tool_search', 'tool_call']))
  expect(host.names()).toHaveLength(42)
  expect(host.requests.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(lastResult(host)).toBe('far_9 ran with {}')
})

describe("the provider's own tools count too", () => {
  const names = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, index) => `${prefix}_${index}`)
  const providerTools = names(5, '$own').map((name) => ({ type: 'builtin_function', function: { name } }))

  it('when deferral turns on', async () => {
    const well = createToolwell({
      tools: names(100, 'own').map((name) => tool(name)),
      costs: { threshold: 1e6 },
    })
    const chat = openaiChat(await well.open({ id: 'a' }), { providerTools })
    const history = [{ role: 'user' as const, content: 'One.' }]
    expect((await chat.begin(history)).parts.tools).toHaveLength(105)
    well.catalogue.setSource('late', { tools: server('late', names(25, 'far')) })
    const { parts, view, warnings } = await chat.begin([
      ...history,
      { role: 'assistant', content: 'Well.' },
      { role: 'user', content: 'Two.' },
    ])
    expect([view.mode, parts.tools?.length, warnings]).toEqual(['on', 107, []])
  })

  it('when found tools are appended', async () => {
    const tools = [...names(100, 'own').map((name) => tool(name)), ...server('docs', names(40, 'list'))]
    const well = createToolwell({ tools, mode: 'on', delivery: 'append' })
    const chat = openaiChat(await well.open({ id: 'a' }), { providerTools })
    const history: ChatMessage[] = [{ role: 'user', content: 'One.' }]
    for (let start = 0; start < 40; start += 5) {
      const turn = await chat.begin(history)
      const query = `select:${names(40, 'docs__list').slice(start, start + 5)}`
      const made = { name: 'tool_search', arguments: JSON.stringify({ query }) }
      const call = { id: `call_${start}`, type: 'function' as const, function: made }
      const reply: ChatMessage = { role: 'assistant', content: null, tool_calls: [call] }
      history.push(reply, ...(await turn.run(reply)).messages)
    }
    const { parts, warnings } = await chat.begin(history)
    expect(parts.tools?.length).toBe(128)
    expect(warnings).toEqual([])
  })
})
