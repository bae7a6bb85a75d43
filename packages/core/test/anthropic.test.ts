import {
  type Conversation,
  createToolwell,
  memoryStore,
  type RunOptions,
  type Toolwell,
  type ToolwellOptions,
} from '@toolwell/core'
import {
  type AnthropicMessage,
  type AnthropicOptions,
  type AnthropicPrompt,
  type AnthropicReply,
  type AnthropicTool,
  type AnthropicToolResult,
  type AnthropicTurn,
  anthropic,
  assemble,
  importTools,
  readEvents,
} from '@toolwell/core/anthropic'
import type { ScriptedCall, ScriptedReply } from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { anthropicProtocol } from '../../testing/src/anthropic/protocol.js'
import type {
  AnthropicBlock,
  AnthropicRequestBody,
  AnthropicRuleOptions,
} from '../../testing/src/anthropic/rules.js'
import { anthropicRenderOrder } from '../../testing/src/anthropic/usage.js'
import { startScriptedEndpoint } from '../../testing/src/scripted-endpoint.js'
import { commonPrefix } from '../../testing/src/shared/usage.js'
import { mixed, server, tool } from './support/tools.js'

interface Host {
  readonly well: Toolwell
  readonly conversation: Conversation
  readonly messages: AnthropicMessage[]
  readonly url: string
  bodies(): AnthropicRequestBody[]
  raws(): string[]
  body(index?: number): AnthropicRequestBody
  names(index?: number): string[]
  step(requestId?: string): Promise<{ turn: AnthropicTurn; status: number; texts: string[] }>
  /** Says something, then steps until the model calls nothing more. */
  ask(text: string): Promise<void>
  with(conversation: Conversation, messages?: readonly AnthropicMessage[]): Host
}

const SYSTEM = 'You are careful.'

async function open(
  script: readonly ScriptedReply[],
  options: ToolwellOptions = {},
  setup: {
    rules?: AnthropicRuleOptions
    prompt?: AnthropicPrompt
    run?: RunOptions
    toolChanges?: boolean
  } = {},
): Promise<Host> {
  const more = Array.from({ length: 12 }, (_, index) => ({ text: `Answer ${index}.` }))
  const endpoint = await startScriptedEndpoint(anthropicProtocol(setup.rules), {
    model: [...script, ...more],
  })
  onTestFinished(() => endpoint.close())
  const well = createToolwell({ tools: mixed(), mode: 'on', delivery: 'bridge', ...options })
  let count = 0
  const create = (conversation: Conversation, messages: AnthropicMessage[]): Host => {
    const adapter = anthropic(conversation, { toolChanges: setup.toolChanges ?? false })
    const host: Host = {
      well,
      conversation,
      messages,
      url: endpoint.url,
      bodies: () => endpoint.requests.map(({ body }) => body),
      raws: () => endpoint.requests.map(({ raw }) => raw),
      body: (index = -1) => host.bodies().at(index) as AnthropicRequestBody,
      names: (index) => (host.body(index).tools ?? []).map((declared) => declared.name ?? ''),
      async step(requestId = `request-${++count}`) {
        const turn = await adapter.begin(messages, { requestId, ...(setup.prompt ?? { system: SYSTEM }) })
        const response = await post(endpoint.url, turn.parts)
        const reply = (await response.json()) as AnthropicReply & { error?: { message: string } }
        if (response.status === 400) throw new Error(`The endpoint refused: ${reply.error?.message}`)
        if (response.status !== 200) return { turn, status: response.status, texts: [] }
        // The whole answer, as a host that does not look would push it.
        const { messages: results } = await turn.run(reply, setup.run)
        messages.push(reply, ...results)
        const texts = results.flatMap(({ content }) =>
          (content as AnthropicToolResult[]).map((block) => String(block.content)),
        )
        return { turn, status: 200, texts }
      },
      async ask(text) {
        messages.push({ role: 'user', content: text })
        while ((await host.step()).texts.length > 0);
      },
      with: (other, history = messages) => create(other, [...history]),
    }
    return host
  }
  return create(await well.open({ id: 'test' }), [])
}

const post = (url: string, parts: object) =>
  fetch(`${url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: 'scripted', max_tokens: 1024, ...parts }),
  })
const call = (name: string, input: unknown = { value: 'x' }): ScriptedCall => ({ name, arguments: input })
const search = (query: string) => call('tool_search', { query })
const bridged = (name: string, input: unknown = { value: 'x' }) =>
  call('tool_call', { name, arguments: input })
const says = (...calls: ScriptedCall[]): ScriptedReply => ({ calls })
const loaded = (host: Host) => host.conversation.inspect().loadedLazyTools
const blocks = (message: { content?: unknown } | undefined) => message?.content as AnthropicBlock[]
const types = (message: { content?: unknown } | undefined) => blocks(message).map(({ type }) => type)
const user = (text: string): AnthropicMessage => ({ role: 'user', content: text })

/** A turn on a history, without a model. */
async function begin(
  messages: readonly AnthropicMessage[],
  options: ToolwellOptions = {},
  prompt: AnthropicPrompt = {},
  wire: AnthropicOptions = {},
): Promise<AnthropicTurn> {
  const well = createToolwell({ tools: mixed(), mode: 'on', ...options })
  return anthropic(await well.open({ id: 'one' }), wire).begin(messages, { requestId: 'r', ...prompt })
}

/** Whether a strict endpoint takes these parts. */
async function accept(parts: object, rules: AnthropicRuleOptions = {}): Promise<void> {
  const endpoint = await startScriptedEndpoint(anthropicProtocol(rules), { model: [{ text: 'ok' }] })
  onTestFinished(() => endpoint.close())
  const response = await post(endpoint.url, parts)
  expect([response.status, await response.text()]).toEqual([200, expect.anything()])
}

describe('a conversation over the bridge', () => {
  it('goes from a search to a call to an answer', async () => {
    const host = await open([says(search('create an issue')), says(bridged('tracker__create_issue'))])
    await host.ask('file it')
    expect(host.names()).toEqual(['read_file', 'write_file', 'tool_search', 'tool_call'])
    const { messages, system, tools } = host.body()
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
    expect(blocks(messages[2])[0]).toMatchObject({
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      content: expect.stringMatching(/^toolwell\/1 .*tracker__create_issue/s),
    })
    expect(blocks(messages[4])).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'toolu_2',
        content: 'create_issue ran with {"value":"x"}',
      },
    ])
    expect(system).toMatch(/^You are careful\.\n\n# More tools\n/)
    expect(tools?.[0]).toEqual({
      name: 'read_file',
      description: 'Does read file',
      input_schema: tool('read_file').inputSchema,
    })
  })

  it('sends of an answer of the API only what a message may have', async () => {
    const host = await open([says(search('create an issue'))])
    await host.ask('file it')
    expect(host.messages[1]).toHaveProperty('usage')
    expect(Object.keys(host.body().messages[1] ?? {})).toEqual(['role', 'content'])
  })

  it('loads by select, and calls in the wrong case', async () => {
    const host = await open([says(search('select:tracker__create_issue')), says(bridged('CreateIssue'))])
    await host.ask('file it')
    expect(loaded(host)).toEqual(['tracker__create_issue'])
    expect(JSON.stringify(host.body().messages)).toContain('create_issue ran with')
  })

  it('tells what failed: a tool that throws, and nothing else, is an error', async () => {
    const failing = tool('explode', {
      execute: () => {
        throw new Error('boom')
      },
    })
    const host = await open(
      [says(call('explode'), call('read_file'), call('no_such_tool'), bridged('create_issue', { value: 7 }))],
      { tools: [...mixed(), failing] },
    )
    await host.ask('go')
    const results = blocks(host.messages[2])
    expect(results.map(({ tool_use_id: id, is_error: failed }) => [id, failed])).toEqual([
      ['toolu_1', true],
      ['toolu_2', undefined],
      ['toolu_3', undefined],
      ['toolu_4', undefined],
    ])
    expect(results[0]?.content).toBe('explode failed: boom')
  })

  it('calls that could not be written down are errors', async () => {
    const store = memoryStore()
    const host = await open([says(call('read_file'))], { store })
    host.messages.push(user('go'))
    const turn = await anthropic(host.conversation).begin(host.messages, { requestId: 'r' })
    store.append = () => Promise.reject(new Error('the disk is full'))
    const { messages } = await turn.run({
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'a', name: 'read_file', input: {} }],
    })
    expect(blocks(messages[0])).toMatchObject([{ tool_use_id: 'a', is_error: true }])
  })
})

describe('a conversation over append', () => {
  it('declares what was found, and calls it by its name', async () => {
    const host = await open(
      [says(search('select:tracker__create_issue')), says(call('tracker__create_issue'))],
      {
        delivery: 'append',
      },
    )
    await host.ask('file it')
    expect(host.names(0)).toEqual(['read_file', 'write_file', 'tool_search'])
    expect(host.names()).toEqual(['read_file', 'write_file', 'tool_search', 'tracker__create_issue'])
    expect(JSON.stringify(host.body().messages)).toContain('create_issue ran with')
  })

  it('runs and declares a hidden tool that is called directly, in the wrong case too', async () => {
    const host = await open([says(call('tracker__close_issue')), says(call('FindSlot'))], {
      delivery: 'append',
    })
    await host.ask('go')
    expect(loaded(host)).toEqual(['tracker__close_issue', 'calendar__find_slot'])
    expect(host.names().slice(-2)).toEqual(['tracker__close_issue', 'calendar__find_slot'])
    expect(host.bodies()).toHaveLength(3)
  })

  it('keeps an unloaded tool declared', async () => {
    const host = await open(
      [
        says(search('select:tracker__create_issue')),
        says(call('tracker__create_issue')),
        says(search('unload:tracker__create_issue')),
      ],
      { delivery: 'append' },
    )
    await host.ask('go')
    expect(loaded(host)).toEqual([])
    expect(host.body().tools?.at(-1)).toMatchObject({ name: 'tracker__create_issue' })
  })
})

describe.each(['bridge', 'append'] as const)('over %s', (delivery) => {
  const through = (name: string, input?: unknown) =>
    delivery === 'bridge' ? bridged(name, input) : call(name, input)

  it('a search and a call in one reply are answered in one message, in their order', async () => {
    const host = await open([says(search('select:worktree'), call('read_file'), call('write_file'))], {
      delivery,
    })
    await host.ask('go')
    const turn = host.body().messages[2]
    expect(types(turn)).toEqual(['tool_result', 'tool_result', 'tool_result', 'text'])
    expect(blocks(turn).map(({ tool_use_id: id }) => id)).toEqual([
      'toolu_1',
      'toolu_2',
      'toolu_3',
      undefined,
    ])
    expect(blocks(turn)[3]?.text).toContain('use this, not git worktree in a shell')
    await host.ask('more')
    expect(JSON.stringify(host.body().messages[2])).toBe(JSON.stringify(turn))
  })

  it('announces a late server, a removed server and a changed definition in the user turn', async () => {
    const host = await open([says(search('select:tracker__create_issue,calendar__find_slot'))], { delivery })
    await host.ask('first')
    const { catalogue } = host.well
    const told = (at = -1) => String(blocks(host.body().messages.at(at)).at(-1)?.text)
    catalogue.setSource('mail', { tools: [tool('send_mail')] })
    await host.ask('second')
    expect(types(host.body().messages.at(-1))).toEqual(['text', 'text'])
    expect(blocks(host.body().messages.at(-1))[0]?.text).toBe('second')
    expect(told()).toMatch(/<tool-update>.*Server "?mail"? is now available/s)
    catalogue.removeSource('calendar')
    await host.ask('third')
    expect(told()).toContain('No longer available: every tool of')
    catalogue.setSource('tracker', { tools: [tool('create_issue', { description: 'New words' })] })
    await host.ask('fourth')
    expect(told()).toMatch(/Changed by its owner: tracker__create_issue/)
    await host.ask('fifth')
    expect(host.body().messages.at(-1)).toEqual(user('fifth'))
  })

  it('a retry has the same bytes, also in another process, and when a server has come in between', async () => {
    const store = memoryStore()
    const options = { delivery, store }
    const host = await open([says(search('create an issue')), { status: 529, error: 'Overloaded' }], options)
    host.messages.push(user('file it'))
    await host.step()
    expect((await host.step('again')).status).toBe(529)
    host.well.catalogue.setSource('mail', { tools: [tool('send_mail')] })
    const resumed = createToolwell({ tools: mixed(), mode: 'on', ...options })
    await host.with(await resumed.open({ id: 'test' }), structuredClone(host.messages)).step('again')
    expect(host.raws()[2]).toBe(host.raws()[1])
  })

  it('a fork knows what its part of the history has loaded, and no more', async () => {
    const host = await open([says(search('select:create_issue')), says(search('select:find_slot'))], {
      delivery,
    })
    await host.ask('go')
    const part = host.messages.slice(0, 3)
    const fork = host.with(await anthropic(host.conversation).fork(part, { id: 'fork' }), part)
    await fork.step()
    expect(loaded(fork)).toEqual(['tracker__create_issue'])
    expect(host.body()).toEqual(host.body(1))
  })

  it('a compaction keeps what was loaded, and says it again', async () => {
    const host = await open(
      [says(search('select:create_issue')), { text: 'found' }, says(through('create_issue'))],
      {
        delivery,
      },
    )
    await host.ask('go')
    const after = [user('Summary: an issue is to be filed.')]
    await anthropic(host.conversation).compact(host.messages, after)
    host.messages.splice(0, host.messages.length, ...after)
    await host.step()
    expect(JSON.stringify(host.body())).toContain('tracker__create_issue')
    await host.step()
    expect(JSON.stringify(host.body().messages)).toContain('create_issue ran with')
  })

  it('a compaction may cut a call from its result', async () => {
    const host = await open([says(search('select:create_issue')), says(through('create_issue'))], {
      delivery,
    })
    await host.ask('go')
    const after = [user('Summary.'), ...host.messages.slice(2)]
    await anthropic(host.conversation).compact(host.messages, after)
    host.messages.splice(0, host.messages.length, ...after)
    const { turn } = await host.step()
    expect(turn.warnings.map(({ text }) => text)).toEqual([
      'rewrote an answer without a call as text ("toolu_1")',
    ])
    expect(blocks(host.body().messages[1])[0]?.text).toMatch(/"toolu_1".* was answered: .*create_issue/s)
  })

  it('gives a sub-agent a separate ledger', async () => {
    const host = await open([says(search('select:create_issue'))], { delivery })
    await host.ask('go')
    const child = host.with(await host.conversation.child({ id: 'child', inherit: 'none' }), [])
    await child.ask('help')
    expect(loaded(child)).toEqual([])
    expect(loaded(host)).toEqual(['tracker__create_issue'])
  })

  it('a denied loader leaves every tool eager, and no section', async () => {
    const host = await open([says(call('tracker__create_issue'))], {
      delivery,
      policy: ({ id }) => id !== 'toolwell/tool_search',
    })
    await host.ask('go')
    expect(host.names()).toHaveLength(mixed().length)
    expect(host.body().system).toBe(SYSTEM)
    expect(JSON.stringify(host.body().messages)).toContain('create_issue ran with')
  })

  it('an imported history loads what its searches had loaded', async () => {
    const host = await open([says(search('select:create_issue'))], { delivery })
    await host.ask('go')
    const lost = await createToolwell({ tools: mixed(), mode: 'on', delivery }).open({ id: 'lost' })
    await anthropic(lost).importHistory(structuredClone(host.messages))
    expect(lost.inspect().loadedLazyTools).toEqual(['tracker__create_issue'])
    const again = host.with(lost)
    await again.ask('and now?')
    expect(again.names()).toEqual(host.names(1))
  })
})

describe('off', () => {
  const wireTools: AnthropicTool[] = [
    {
      name: 'zebra',
      description: 'Z',
      input_schema: { type: 'object' },
      cache_control: { type: 'ephemeral' },
    },
    { name: 'apple', input_schema: { type: 'object', properties: {} } },
  ]

  it('sends the very tools, messages and system that the host passed', async () => {
    const messages = [user('hi')]
    const system = [
      { type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const } },
    ]
    const tools = importTools(wireTools, ({ name }) => ({ execute: () => `${name} ran` }))
    const { parts } = await begin(messages, { tools, mode: 'off' }, { system })
    expect(parts.tools).toBe(wireTools)
    expect(parts.messages).toBe(messages)
    expect(parts.system).toBe(system)
    await accept(parts)
  })

  it('sends no tools and no system if the host has none', async () => {
    expect((await begin([user('hi')], { tools: [], mode: 'off' })).parts).toEqual({ messages: [user('hi')] })
  })

  it('reads a host’s tools, and refuses those that Anthropic defines', () => {
    expect(importTools(wireTools, () => ({ defer: true }))[1]).toEqual({
      name: 'apple',
      description: '',
      inputSchema: { type: 'object', properties: {} },
      defer: true,
    })
    const bash = { type: 'bash_20250124', name: 'bash' } as unknown as AnthropicTool
    expect(() => importTools([bash])).toThrow(/"bash" cannot be imported.*"bash_20250124"/)
  })
})

describe('schemas', () => {
  it.each([
    ['no type', { properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
    [
      'a choice at the top',
      { type: 'object', description: 'One of two.', anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      {
        type: 'object',
        description:
          'One of two.\n\nThe input also has to match {"anyOf":[{"required":["a"]},{"required":["b"]}]}',
      },
    ],
  ])('with %s are made fit', async (_, inputSchema, sent) => {
    const { parts } = await begin([user('hi')], { tools: [tool('odd', { inputSchema })], mode: 'off' })
    expect(parts.tools?.[0]?.input_schema).toEqual(sent)
    await accept(parts)
  })
})

describe('the system prompt', () => {
  const section = expect.stringMatching(/^# More tools\n/)
  const marked = { type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const } }

  it.each<[string, AnthropicPrompt, unknown]>([
    ['none', {}, section],
    ['an empty text', { system: '' }, section],
    ['a text', { system: 'Be brief.' }, expect.stringMatching(/^Be brief\.\n\n# More tools\n/)],
    ['blocks', { system: [marked] }, [marked, { type: 'text', text: section }]],
    ['no blocks', { system: [] }, [{ type: 'text', text: section }]],
  ])('may be %s', async (_, prompt, expected) => {
    const { parts } = await begin([user('hi')], {}, prompt)
    expect(parts.system).toEqual(expected)
    if (Array.isArray(parts.system) && parts.system.length > 1) expect(parts.system[0]).toBe(marked)
    await accept(parts)
  })
})

describe('messages of the host', () => {
  const ephemeral = { type: 'ephemeral' }

  it('stay the same objects unless they are repaired or get a note', async () => {
    const host = await open([says(search('select:worktree')), says(bridged('enter_worktree'))])
    await host.ask('go')
    const clean = host.messages.map(({ role, content }): AnthropicMessage => ({ role, content }))
    const { parts } = await anthropic(host.conversation).begin(clean, { requestId: 'last' })
    // The third has the rules of use of what was loaded.
    expect(parts.messages.map((message, index) => message === clean[index])).toEqual([
      true,
      true,
      false,
      true,
      true,
      true,
    ])
  })

  it('keep their cache marks, also when a host moves them from request to request', async () => {
    const host = await open([says(search('select:worktree')), says(call('read_file'))])
    host.messages.push({
      role: 'user',
      content: [
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        { type: 'text', text: 'go', cache_control: ephemeral },
      ],
    })
    await host.step()
    expect(blocks(host.body().messages[0])[1]).toHaveProperty('cache_control', ephemeral)
    // One mark by a new array in the same message, one within its block.
    const [result] = blocks(host.messages[2])
    Object.assign(host.messages[2] ?? {}, { content: [{ ...result, cache_control: ephemeral }] })
    delete (blocks(host.messages[0])[1] as { cache_control?: unknown }).cache_control
    await host.step()
    expect(JSON.stringify(host.body().messages[0])).not.toContain('cache_control')
    expect(blocks(host.body().messages[2])).toEqual([
      { ...result, cache_control: ephemeral },
      { type: 'text', text: expect.stringContaining('<tool-update>') },
    ])
    const [before, after] = host.bodies().map(anthropicRenderOrder) as [string, string]
    expect(commonPrefix(before, after)).toBe(before.length)
  })

  it('keep thinking and server blocks, in a repaired message too', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 's1' }
    const redacted = { type: 'redacted_thinking', data: 'xyz' }
    const use = {
      type: 'tool_use',
      id: 'a',
      name: 'ops__gone',
      input: { deep: [1] },
      caller: { type: 'direct' },
    }
    const serverUse = { type: 'server_tool_use', id: 'srv', name: 'web_search', input: { query: 'x' } }
    const serverResult = { type: 'web_search_tool_result', tool_use_id: 'srv', content: [] }
    const messages: AnthropicMessage[] = [
      user('go'),
      {
        role: 'assistant',
        content: [thinking, redacted, serverUse, serverResult, { type: 'text', text: 'So.' }, use],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'done' }] },
      { role: 'assistant', content: [thinking, { ...use, id: 'b', name: 'read_file' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'b', content: 'read' }] },
    ]
    const { parts } = await begin(messages, { delivery: 'bridge' }, {}, { thinking: 'keep' })
    expect(parts.messages[1]?.content).toEqual([
      thinking,
      redacted,
      serverUse,
      serverResult,
      { type: 'text', text: 'So.' },
      { ...use, name: 'tool_call', input: { name: 'ops__gone', arguments: { deep: [1] } } },
    ])
    expect(parts.messages.slice(2)).toEqual(messages.slice(2))
    expect(parts.messages[3]).toBe(messages[3])
    await accept(parts)
  })

  it('keep a call as text if its name can no longer be declared; thinking never comes last', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 's1' }
    const messages: AnthropicMessage[] = [
      user('go'),
      {
        role: 'assistant',
        content: [
          thinking,
          { type: 'tool_use', id: 'a', name: 'gone', input: {} },
          { type: 'tool_use', id: 'b', name: 'read_file', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'done' },
          { type: 'tool_result', tool_use_id: 'b', content: 'read' },
          { type: 'text', text: 'and?' },
        ],
      },
      { role: 'assistant', content: [thinking, { type: 'tool_use', id: 'c', name: 'gone', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'd' }] }],
      },
    ]
    const { parts, warnings } = await begin(messages, { mode: 'off' })
    expect(warnings).toHaveLength(2)
    expect(types(parts.messages[1])).toEqual(['thinking', 'tool_use'])
    expect(types(parts.messages[2])).toEqual(['tool_result', 'text', 'text'])
    expect(blocks(parts.messages[2])[1]?.text).toContain('An earlier call of "gone"')
    // Of a reply that did nothing else, nothing is left: words about a call would be said again instead of a call.
    expect(parts.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'user'])
    expect(types(parts.messages[3])).toEqual(['text'])
    await accept(parts)

    // If there is a search tool, it carries the call as text, so the tool loop continues.
    const searched = await begin(messages, { delivery: 'append' }, {}, { thinking: 'keep' })
    expect(types(searched.parts.messages[1])).toEqual(['thinking', 'tool_use', 'tool_use'])
    const search = {
      type: 'tool_use',
      id: 'c',
      name: 'tool_search',
      input: { query: 'not a search: a call of gone with {}' },
    }
    expect(searched.parts.messages[3]?.content).toEqual([thinking, search])
    expect(JSON.stringify(searched.parts.messages[4])).toContain('An earlier call of \\"gone\\"')
    await accept(searched.parts)
  })

  it('get an answer to a call that was interrupted, within the turn of the others', async () => {
    const uses = ['a', 'b', 'c'].map((id) => ({ type: 'tool_use', id, name: 'read_file', input: {} }))
    const messages: AnthropicMessage[] = [
      user('go'),
      { role: 'assistant', content: uses },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'stop!' },
          { type: 'tool_result', tool_use_id: 'b', content: 'read' },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'd', name: 'read_file', input: {} }] },
      user('never mind'),
    ]
    for (const mode of ['on', 'off'] as const) {
      const { parts, warnings } = await begin(messages, { mode })
      expect(warnings.filter(({ code }) => code === 'call-interrupted')).toHaveLength(3)
      expect(parts.messages.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'user',
        'assistant',
        'user',
        'user',
      ])
      expect(blocks(parts.messages[2]).map(({ tool_use_id: id, text }) => id ?? text)).toEqual([
        'a',
        'b',
        'c',
        'stop!',
      ])
      expect(parts.messages.slice(-2)).toMatchObject([
        { content: [{ tool_use_id: 'd' }] },
        user('never mind'),
      ])
      await accept(parts)
    }
  })

  it('have their results put first', async () => {
    const result = { type: 'tool_result', tool_use_id: 'a', content: 'read' }
    const text = { type: 'text', text: 'here it is' }
    const messages: AnthropicMessage[] = [
      user('go'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read_file', input: {} }] },
      { role: 'user', content: [text, result] },
    ]
    for (const mode of ['on', 'off'] as const) {
      const { parts, warnings } = await begin(messages, { mode })
      expect(parts.messages[2]?.content).toEqual([result, text])
      expect(warnings).toEqual([
        expect.objectContaining({ text: expect.stringContaining('the role "user"') }),
      ])
      await accept(parts)
    }
  })

  it('stay apart where the host wrote them apart', async () => {
    const messages: AnthropicMessage[] = [
      user('one'),
      user('two'),
      {
        role: 'assistant',
        content: ['a', 'b'].map((id) => ({ type: 'tool_use', id, name: 'read_file', input: {} })),
      },
      ...['a', 'b'].map((id) => ({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content: id }],
      })),
      user('three'),
    ]
    const { parts } = await begin(messages)
    expect(parts.messages).toEqual(messages)
    await accept(parts)
  })

  it('with the role system keep their place within the conversation; a note goes before them', async () => {
    const rules = { midConversationSystem: true }
    const host = await open([], {}, { rules, toolChanges: true })
    await host.ask('one')
    host.messages.push(user('two'), { role: 'system', content: 'From now on: short.' })
    host.well.catalogue.setSource('mail', { tools: [tool('send_mail')] })
    await host.step()
    expect(host.body().messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'system'])
    expect(types(host.body().messages[2])).toEqual(['text', 'text'])
    expect(host.body().messages[3]).toEqual({ role: 'system', content: 'From now on: short.' })
    await host.ask('three')
    expect(host.body().messages.slice(0, 4)).toEqual(host.body(-2).messages)
  })

  it('of a model that said nothing, said blanks, or was cut short are made fit', async () => {
    const broken = { type: 'tool_use', id: 'a', name: 'read_file', input: '{"value":"x' }
    const messages: AnthropicMessage[] = [
      user('one'),
      { role: 'assistant', content: [] },
      user('two'),
      { role: 'assistant', content: [{ type: 'text', text: '\n' }, broken] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'no' }] },
    ]
    for (const mode of ['on', 'off'] as const) {
      const { parts, warnings } = await begin(messages, { mode })
      expect(warnings).toHaveLength(2)
      expect(parts.messages).toEqual([
        messages[0],
        messages[2],
        { role: 'assistant', content: [{ ...broken, input: { unparsable: '{"value":"x' } }] },
        messages[4],
      ])
      await accept(parts)
    }
  })
})

describe('a reply', () => {
  it.each([
    ['an object', { value: 'x' }, 'read_file ran with {"value":"x"}'],
    ['nothing', undefined, 'read_file ran with {}'],
    ['null', null, 'read_file ran with {}'],
    ['JSON text', '{"value":"x"}', 'read_file ran with {"value":"x"}'],
    ['text that is no JSON', '{"value":', expect.stringMatching(/are not a JSON object/)],
    ['a number', 7, expect.stringMatching(/are not a JSON object/)],
    ['a list', [1], expect.stringMatching(/are not a JSON object/)],
  ])('may have a call whose input is %s', async (_, input, answer) => {
    const turn = await begin([user('hi')])
    const { messages } = await turn.run({
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'a', name: 'read_file', input }],
    })
    expect(blocks(messages[0])[0]?.content).toEqual(answer)
  })

  it.each(['max_tokens', 'model_context_window_exceeded'])(
    'that was cut short (%s) does not run its last call, though the input is an object',
    async (reason) => {
      const turn = await begin([user('hi')])
      const use = (id: string) => ({ type: 'tool_use', id, name: 'write_file', input: { value: 'ha' } })
      const reply = { role: 'assistant', content: [use('a'), use('b')], stop_reason: reason }
      const { messages } = await turn.run(reply)
      expect(blocks(messages[0]).map(({ content }) => content)).toEqual([
        'write_file ran with {"value":"ha"}',
        expect.stringContaining('the reply was cut off'),
      ])
      const text = { type: 'text', text: 'And' }
      const said = await turn.run({ ...reply, content: [use('c'), text] })
      expect(blocks(said.messages[0])[0]?.content).toBe('write_file ran with {"value":"ha"}')
      const { parts } = await begin([user('hi'), reply, ...messages])
      expect(parts.messages[1]).toEqual({ role: 'assistant', content: reply.content })
      await accept(parts)
    },
  )

  it.each([['only text'], [[{ type: 'text', text: 'hi' }]], [[null, 7, { type: 'tool_use' }]], [undefined]])(
    'without a call gives no message (%j)',
    async (content) => {
      const turn = await begin([user('hi')])
      expect(await turn.run({ role: 'assistant', content })).toEqual({
        messages: [],
        answers: [],
        providerCalls: [],
      })
    },
  )
})

describe('the prefix', () => {
  const rendered = (host: Host) => host.bodies().map(anthropicRenderOrder)

  it('bridge: nothing before the last message changes', async () => {
    const host = await open([
      says(search('create an issue')),
      says(bridged('tracker__create_issue')),
      says(search('select:find_slot,worktree'), call('read_file')),
      says(bridged('enterWorktree')),
      says(call('tracker__close_issue')),
      says(call('no_such_tool')),
      says(search('unload:tracker__create_issue')),
      says(call('tool_call', '{"name":')),
    ])
    await host.ask('do it all')
    const { catalogue } = host.well
    for (const change of [
      () =>
        catalogue.setSource('mail', { tools: [tool('send_mail'), tool('read_mail', { alwaysLoad: true })] }),
      () => catalogue.removeSource('calendar'),
      () => catalogue.setSource('calendar', { tools: server('calendar', ['find_slot']) }),
      () => catalogue.setSource('tracker', { tools: [tool('create_issue', { description: 'New words' })] }),
    ]) {
      change()
      await host.ask('and now?')
    }
    const texts = rendered(host)
    expect(texts).toHaveLength(13)
    texts.slice(1).forEach((text, index) => {
      const { messages, ...before } = host.body(index)
      const settled = anthropicRenderOrder({ ...before, messages: messages.slice(0, -1) })
      expect(commonPrefix(settled, text), `request ${index + 1}`).toBe(settled.length)
      // And of the last message only the note at its end may have grown.
      const [whole = ''] = texts.slice(index)
      expect(commonPrefix(whole, text), `request ${index + 1}`).toBeGreaterThanOrEqual(whole.length - 4)
    })
  })

  it('append: the first byte that changes is the end of the tools array', async () => {
    const host = await open(
      [
        says(search('select:tracker__create_issue')),
        says(call('tracker__create_issue')),
        says(search('select:worktree,calendar__find_slot')),
        says(call('tracker__close_issue')),
      ],
      { delivery: 'append' },
    )
    await host.ask('do it')
    host.well.catalogue.setSource('mail', { tools: [tool('read_mail', { alwaysLoad: true })] })
    await host.ask('and that')
    const texts = rendered(host)
    const changed: number[] = []
    texts.slice(1).forEach((text, index) => {
      const [before = ''] = texts.slice(index)
      const tools = (host.body(index).tools ?? []).map((each) => `${JSON.stringify(each)}\n`).join('').length
      const same = commonPrefix(before, text)
      expect(same).toBeGreaterThanOrEqual(tools)
      if (same < before.length) changed.push(index + 1)
      if (same < before.length) expect(text.slice(tools)).toMatch(/^\{"name":/)
    })
    expect(changed).toEqual([1, 3, 4, 5])
  })
})

describe('a streamed reply', () => {
  async function stream(reply: ScriptedReply) {
    const endpoint = await startScriptedEndpoint(anthropicProtocol(), { model: [reply] })
    onTestFinished(() => endpoint.close())
    const turn = await begin([user('hi')])
    const response = await post(endpoint.url, { ...turn.parts, stream: true })
    return {
      turn,
      streamed: await assemble(readEvents(response.body as unknown as AsyncIterable<Uint8Array>)),
    }
  }

  it('is the message it adds up to, and runs', async () => {
    const { turn, streamed } = await stream({
      text: 'Let me see: ☃.',
      calls: [call('read_file', { value: 'é🎉' }), call('write_file', '')],
    })
    expect(streamed).toMatchObject({ complete: true, finish: 'tool_use', usage: { outputTokens: 14 } })
    expect(streamed.reply).toMatchObject({
      role: 'assistant',
      content: [
        { type: 'text', text: 'Let me see: ☃.' },
        { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { value: 'é🎉' } },
        { type: 'tool_use', id: 'toolu_2', name: 'write_file', input: {} },
      ],
    })
    const { messages } = await turn.run(streamed.reply)
    expect(blocks(messages[0]).map(({ content }) => content)).toEqual([
      'read_file ran with {"value":"é🎉"}',
      'write_file ran with {}',
    ])
  })

  it('may end within the input of a call: the model gets an error', async () => {
    const { turn, streamed } = await stream(says(call('read_file', '{"value":"x')))
    expect(streamed).toMatchObject({ complete: true, finish: 'max_tokens' })
    const { messages } = await turn.run(streamed.reply)
    expect(blocks(messages[0])[0]?.content).toMatch(/are not a JSON object: "the reply was cut off"/)
    expect(streamed.reply).toHaveProperty('stop_reason', 'max_tokens')
    expect(streamed.messages[0]).not.toHaveProperty('stop_reason')
    const next = await begin([user('hi'), ...streamed.messages, ...messages])
    await accept(next.parts)
  })

  it('is incomplete where the connection breaks', async () => {
    const { streamed } = await stream({ cutAfter: 5, text: 'Hello there' })
    expect(streamed).toMatchObject({ complete: false, reply: { content: [{ text: 'Hello' }] } })
    expect(streamed.error).toBeInstanceOf(Error)
  })

  async function* events(...list: unknown[]) {
    yield* list
  }
  const start = { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } }
  const end = [
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
  const begun = (index: number, block: object) => ({
    type: 'content_block_start',
    index,
    content_block: block,
  })
  const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields })

  it('has thinking, signatures and citations, and no blank text', async () => {
    const { reply, usage, rawUsage } = await assemble(
      events(
        start,
        { type: 'ping' },
        begun(0, { type: 'thinking', thinking: '', signature: '' }),
        delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
        delta(0, { type: 'thinking_delta', thinking: 'm.' }),
        delta(0, { type: 'signature_delta', signature: 'abc' }),
        begun(1, { type: 'text', text: '' }),
        begun(2, { type: 'text', text: '', citations: null }),
        delta(2, { type: 'text_delta', text: 'So.' }),
        delta(2, { type: 'citations_delta', citation: { type: 'page_location' } }),
        ...end,
      ),
    )
    expect(reply.content).toEqual([
      { type: 'thinking', thinking: 'Hmm.', signature: 'abc' },
      { type: 'text', text: 'So.', citations: [{ type: 'page_location' }] },
    ])
    expect(rawUsage).toEqual({ input_tokens: 3, output_tokens: 9 })
    expect(usage).toEqual({ inputTokens: 3, cachedTokens: undefined, outputTokens: 9 })
  })

  it('takes blocks at any place, in the order of their places', async () => {
    const said = (text: string) => ({ type: 'text', text })
    const places = [1e8, 2 ** 40, 1.5, 0].map((index) => begun(index, said(String(index))))
    const { reply, complete } = await assemble(events(start, ...places, ...end))
    expect(reply.content).toEqual(['0', '1.5', '100000000', '1099511627776'].map(said))
    expect(complete).toBe(true)
  })

  it.each<[string, unknown[]]>([
    ['nothing', []],
    ['an error event', [start, { type: 'error', error: { type: 'overloaded_error' } }]],
    ['no stop', [start, end[0]]],
    ['a stop without a reason', [start, end[1]]],
    ['values that are not events', [null, 7, 'x', {}, delta(5, { text: 'x' }), begun(-1, {})]],
  ])('is incomplete after %s', async (_, list) => {
    expect(await assemble(events(...list))).toMatchObject({
      complete: false,
      reply: { content: [] },
      messages: [],
    })
  })

  it('is incomplete where the source throws after its end', async () => {
    async function* failing() {
      yield* [start, ...end]
      throw new Error('gone')
    }
    expect((await assemble(failing())).complete).toBe(false)
  })
})
