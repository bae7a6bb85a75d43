/** Native delivery on the wire of its two providers, byte by byte. */
import { anthropic } from '@toolwell/core/anthropic'
import { openaiResponses, type ResponsesItem } from '@toolwell/core/openai-responses'
import { anthropicProtocol, type ScriptedCall, type ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { createToolwell } from '../src/index.js'
import { mixed, server, tool } from './support/tools.js'
import type { WireHost } from './support/wire-harness.js'
import { anthropicChangesHarness, anthropicHarness } from './support/wires/anthropic.js'
import { openaiChatHarness } from './support/wires/openai-chat.js'
import { openaiResponsesHarness, startResponsesHost } from './support/wires/openai-responses.js'

const find = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })
const call = (name: string, input: unknown = {}): ScriptedCall => ({ name, arguments: input })
const says = (...calls: ScriptedCall[]): ScriptedReply => ({ calls })
const done: ScriptedReply = { text: 'done' }
const options = { tools: mixed(), mode: 'on', delivery: 'native' } as const
const body = (host: WireHost, index = -1) => JSON.parse(host.requests.at(index)?.raw ?? '{}')

interface Declared {
  readonly name: string
  readonly type?: string
  readonly defer_loading?: boolean
}

describe('on Anthropic', () => {
  it('a search answer refers to what it found, and the request declares that, out of sight', async () => {
    const host = await anthropicHarness.open(options, [
      says(find('select:tracker__create_issue')),
      says(call('tracker__create_issue')),
      done,
    ])
    await host.ask('go')
    const { tools, messages } = body(host)
    expect(tools.map(({ name, defer_loading }: Declared) => [name, defer_loading ?? false])).toEqual([
      ['read_file', false],
      ['write_file', false],
      ['tool_search', false],
      ['toolwell_reserve', true],
      ['tracker__create_issue', true],
    ])
    expect(messages[2].content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: messages[1].content[0].id,
        content: [{ type: 'tool_reference', tool_name: 'tracker__create_issue' }],
      },
    ])
  })

  it("a search's other text follows all results of its turn, as a separate text block", async () => {
    const host = await anthropicHarness.open(options, [
      says(find('select:tracker__create_issue,no_such_tool'), call('read_file')),
      done,
    ])
    await host.ask('go')
    const types = body(host).messages[2].content.map((block: { type: string }) => block.type)
    expect(types).toEqual(['tool_result', 'tool_result', 'text'])
    expect(body(host).messages[2].content[2].text).toMatch(
      /^<tool-update>\nFound no tool named "no_such_tool"/,
    )
  })

  it('a search that finds nothing is answered in words', async () => {
    const host = await anthropicHarness.open(options, [says(find('bake a cake')), done])
    await host.ask('go')
    expect(body(host).messages[2].content[0].content).toContain('Found no tool for')
  })

  it('a guess that worked appears as the search that would have found it', async () => {
    const host = await anthropicHarness.open(options, [
      says(call('tracker__create_issue', { value: 'x' })),
      says(call('tracker__create_issue', { value: 'y' })),
      done,
    ])
    await host.ask('go')
    const { messages } = body(host)
    expect(messages[1].content[0]).toMatchObject({
      type: 'tool_use',
      name: 'tool_search',
      input: { query: 'select:tracker__create_issue' },
    })
    expect(messages[2].content[0].content).toEqual([
      { type: 'tool_reference', tool_name: 'tracker__create_issue' },
    ])
    expect(messages[2].content[1].text).toContain('create_issue ran with')
    // From then on it is called as itself.
    expect(messages[3].content[0]).toMatchObject({ name: 'tracker__create_issue', input: { value: 'y' } })
  })

  it('a reference outlives its tool: the definition stays declared, and the model gets a notice', async () => {
    const host = await anthropicHarness.open(options, [
      says(find('select:tracker__create_issue')),
      done,
      done,
      says(find('unload:calendar__find_slot')),
      done,
    ])
    await host.ask('one')
    host.well.catalogue.removeSource('tracker')
    await host.ask('two')
    expect(host.requests.at(-1)?.raw).toContain('No longer available')
    expect(body(host).tools.at(-1)).toMatchObject({ name: 'tracker__create_issue', defer_loading: true })
  })

  it('after a compaction, what is loaded is declared in sight, and old references are still legal', async () => {
    const host = await anthropicHarness.open(options, [
      says(find('select:tracker__create_issue,calendar__find_slot')),
      done,
      says(call('tracker__create_issue')),
      done,
    ])
    await host.ask('one')
    await host.conversation.unload(['calendar__find_slot'])
    await host.compact('We talked.', 3)
    await host.ask('two')
    expect(host.toolNames()).toEqual(['read_file', 'write_file', 'tool_search', 'tracker__create_issue'])
    // The other one is said in words: a reference to it would be refused.
    expect(JSON.stringify(body(host).messages)).not.toContain('"tool_name":"calendar__find_slot"')
  })

  it('a tool that the host loads is shown in words, or by a system message where tools may change', async () => {
    for (const harness of [anthropicHarness, anthropicChangesHarness]) {
      const host = await harness.open(options, [done, says(call('calendar__find_slot')), done])
      await host.ask('one')
      await host.conversation.load(['calendar__find_slot'])
      await host.ask('two')
      const system = body(host).messages.filter(({ role }: { role: string }) => role === 'system')
      if (harness === anthropicHarness) {
        expect(system).toEqual([])
        expect(host.requests.at(-1)?.raw).toContain('Loaded tools, with their schemas')
      } else {
        const added = { type: 'tool_reference', name: 'calendar__find_slot' }
        expect(system).toEqual([{ role: 'system', content: [{ type: 'tool_addition', tool: added }] }])
        expect(host.requests.at(-1)?.raw).not.toContain('Loaded tools, with their schemas')
      }
      expect(host.requests.at(-1)?.raw).toContain('find_slot ran with')
    }
  })

  it('a tool that is gone is taken away by a system message where tools may change, and given back', async () => {
    const host = await anthropicChangesHarness.open(options, [
      says(find('select:tracker__create_issue')),
      done,
      done,
      done,
    ])
    await host.ask('one')
    host.well.catalogue.setState('tracker', 'disabled')
    await host.ask('two')
    host.well.catalogue.setState('tracker', 'ready')
    await host.ask('three')
    const changes = body(host)
      .messages.filter(({ role }: { role: string }) => role === 'system')
      .flatMap(({ content }: { content: { type: string }[] }) => content.map(({ type }) => type))
    expect(changes).toEqual(['tool_removal', 'tool_addition'])
  })
})

describe('on the Responses API', () => {
  it('the loader is its own search, and the output holds the definitions', async () => {
    const host = await openaiResponsesHarness.open(options, [
      says(find('select:tracker__create_issue')),
      says(call('tracker__create_issue')),
      done,
    ])
    await host.ask('go')
    const { tools, input } = body(host)
    expect(tools.map(({ type, name }: Declared) => name ?? type)).toEqual([
      'read_file',
      'write_file',
      'tool_search',
    ])
    expect(tools[2]).toMatchObject({ type: 'tool_search', execution: 'client' })
    const [, asked, output, used] = input
    expect(asked).toMatchObject({ type: 'tool_search_call', execution: 'client' })
    expect(output).toMatchObject({ type: 'tool_search_output', execution: 'client', call_id: asked.call_id })
    expect(output.tools).toMatchObject([
      {
        type: 'namespace',
        name: 'tracker',
        description: 'Tools of "tracker".',
        tools: [{ type: 'function', name: 'tracker__create_issue', strict: false, defer_loading: true }],
      },
    ])
    expect(output.tools[0].tools[0]).not.toHaveProperty('source')
    expect(used).toMatchObject({ type: 'function_call', namespace: 'tracker' })
  })

  it('a call loses its namespace when a latch declares its tool, and keeps it until then', async () => {
    const host = await openaiResponsesHarness.open(options, [
      says(find('select:tracker__create_issue')),
      says(call('tracker__create_issue')),
      done,
      done,
    ])
    await host.ask('one')
    // Keeps the call and its answer, drops the search that brought the tool.
    await host.compact('We talked.', 3)
    await host.ask('two')
    expect(host.toolNames()).toContain('tracker__create_issue')
    const used = body(host).input.find((item: { type: string }) => item.type === 'function_call')
    expect(used).toMatchObject({ name: 'tracker__create_issue' })
    expect(used).not.toHaveProperty('namespace')
  })

  it('a search that finds nothing gives an empty output, and the reason behind what the user says next', async () => {
    const host = await openaiResponsesHarness.open(options, [says(find('bake a cake')), done, done])
    await host.ask('go')
    expect(body(host).input).toHaveLength(3)
    expect(body(host).input[2]).toEqual({
      type: 'tool_search_output',
      execution: 'client',
      call_id: 'call_1',
      status: 'completed',
      tools: [],
    })
    await host.ask('and now?')
    const [, , , , said, note] = body(host).input
    expect(said).toEqual({ role: 'user', content: 'and now?' })
    expect(note).toMatchObject({ role: 'developer', content: expect.stringContaining('Found no tool for') })
  })

  it('a search in a batch with a call puts its other text into the result, in either order', async () => {
    const missing = find('select:tracker__create_issue,no_such_tool')
    const host = await openaiResponsesHarness.open(options, [
      says(missing, call('read_file')),
      says(call('read_file'), missing),
      done,
    ])
    await host.ask('go')
    const results = body(host).input.filter(
      (item: { type: string }) => item.type === 'function_call_output',
    ) as { output: string }[]
    expect(results).toHaveLength(2)
    for (const { output } of results) expect(output).toMatch(/^read_file ran with[\s\S]*Found no tool named/)
    expect(host.rendered(2).startsWith(host.rendered(1).slice(0, -1))).toBe(true)
  })

  it('words that had no place stand in the next result, and stay there', async () => {
    const host = await openaiResponsesHarness.open(options, [
      says(find('select:tracker__create_issue,no_such_tool')),
      says(call('tracker__create_issue')),
      says(call('read_file')),
      done,
    ])
    await host.ask('go')
    expect(host.requests[1]?.raw).not.toContain('Found no tool named')
    const outputOf = (index: number) =>
      body(host, index).input.find((item: { type: string }) => item.type === 'function_call_output')
    expect(outputOf(2).output).toContain('Found no tool named')
    expect(outputOf(3)).toEqual(outputOf(2))
    expect(host.requests[3]?.raw.split('Found no tool named')).toHaveLength(2)
  })

  it('a tool that the host loads, or that changed, is added where that happened', async () => {
    const host = await openaiResponsesHarness.open(options, [
      done,
      says(call('calendar__find_slot')),
      done,
      done,
    ])
    await host.ask('one')
    await host.conversation.load(['calendar__find_slot'])
    await host.ask('two')
    host.well.catalogue.setSource('calendar', {
      tools: server('calendar', ['find_slot'], { description: 'Finds with more care' }),
    })
    await host.ask('three')
    const added = body(host).input.filter((item: { type: string }) => item.type === 'additional_tools')
    const [first, second] = added.map(({ tools }: { tools: readonly object[] }) => tools[0])
    expect(first).toMatchObject({
      type: 'namespace',
      name: 'calendar',
      tools: [{ description: 'Does find slot' }],
    })
    expect(second).toMatchObject({ type: 'function', description: 'Finds with more care' })
  })

  it('a namespace is declared once: what comes later of its source comes by itself', async () => {
    const host = await openaiResponsesHarness.open(options, [
      says(find('select:tracker__create_issue'), find('select:tracker__close_issue')),
      says(call('tracker__create_issue'), call('tracker__close_issue')),
      done,
    ])
    await host.ask('go')
    const { input } = body(host)
    const tools = input.flatMap((item: { tools?: readonly Declared[] }) => item.tools ?? [])
    expect(tools.map(({ type, name }: Declared) => [type, name])).toEqual([
      ['namespace', 'tracker'],
      ['function', 'tracker__close_issue'],
    ])
    const used = input.filter((item: { type: string }) => item.type === 'function_call')
    expect(used.map(({ namespace }: { namespace: string }) => namespace)).toEqual([
      'tracker',
      'tracker__close_issue',
    ])
  })

  it('groups the tools of one source that a search loads, and declares tools without a source alone', async () => {
    const own = tool('read_mail', { defer: true })
    const host = await openaiResponsesHarness.open({ ...options, tools: [...mixed(), own] }, [
      says(find('select:tracker__create_issue,read_mail,tracker__close_issue')),
      says(call('read_mail'), call('tracker__close_issue')),
      done,
    ])
    await host.ask('go')
    const { input } = body(host)
    const [space, alone] = input[2].tools
    expect(space.tools.map(({ name }: Declared) => name)).toEqual([
      'tracker__create_issue',
      'tracker__close_issue',
    ])
    expect(alone).toMatchObject({ type: 'function', name: 'read_mail' })
    expect(input[3]).toMatchObject({ name: 'read_mail', namespace: 'read_mail' })
    expect(input[4]).toMatchObject({ name: 'tracker__close_issue', namespace: 'tracker' })
  })

  it.each([
    ['my server!', 'my_server_'],
    ['s'.repeat(80), 's'.repeat(64)],
    ['functions', undefined],
    ['日本', undefined],
  ])('the namespace of the source %s has a legal name, or there is none', async (source, expected) => {
    const tools = [tool('read_file'), ...server(source, ['one', 'two'])]
    const host = await openaiResponsesHarness.open({ ...options, tools }, [says(find('select:one')), done])
    await host.ask('go')
    const [found] = body(host).input[2].tools
    expect(found.type === 'namespace' ? found.name : undefined).toBe(expected)
    expect(host.requests.every(({ violation }) => violation === undefined)).toBe(true)
  })

  it('two sources whose names become one share no namespace', async () => {
    const tools = [tool('read_file'), ...server('a b', ['one']), ...server('a.b', ['two'])]
    const host = await openaiResponsesHarness.open({ ...options, tools }, [
      says(find('select:one,two')),
      done,
    ])
    await host.ask('go')
    expect(body(host).input[2].tools.map(({ type }: Declared) => type)).toEqual(['namespace', 'function'])
  })

  it('a history from before namespaces of sources is sent as it was', async () => {
    const name = 'tracker__create_issue'
    const parameters = { type: 'object', properties: {} }
    const found = { type: 'function', name, parameters, strict: false }
    const host = await startResponsesHost(options, [
      says(find(`select:${name}`)),
      says(call(name)),
      done,
      done,
    ])
    await host.ask('go')
    // As an older version has stored it.
    const stored = host.messages.map((item): ResponsesItem => {
      if (item.type === 'tool_search_output') return { ...item, tools: [{ ...found, defer_loading: true }] }
      return item.type === 'function_call' ? { ...item, namespace: name } : item
    })
    const older = host.with(host.conversation, stored)
    await older.ask('more')
    expect(body(older).input.slice(0, stored.length)).toEqual(
      stored.map(({ id: _, ...item }) => expect.objectContaining(item)),
    )
    expect(older.warnings).toEqual([])
  })

  it('a call gets the namespace that holds its function, when another provider has recorded it', async () => {
    const name = 'tracker__create_issue'
    const host = await startResponsesHost(options, [
      says(find(`select:${name}`)),
      says(call(name)),
      done,
      done,
    ])
    await host.ask('go')
    const bare = host.messages.map(
      ({ namespace: _, ...item }: ResponsesItem & { namespace?: unknown }) => item,
    )
    const other = host.with(host.conversation, bare as ResponsesItem[])
    await other.ask('more')
    const used = body(other).input.find((item: { type: string }) => item.type === 'function_call')
    expect(used).toMatchObject({ name, namespace: 'tracker' })
  })

  it("a host's own function cannot take the name of the search", async () => {
    const well = createToolwell({ tools: [tool('tool_search')] })
    expect([...well.catalogue.entries()][0]?.wireName).not.toBe('tool_search')
  })
})

describe('where the wire has no native way', () => {
  it('the next best delivery is used, and a notice says so', async () => {
    const host = await openaiChatHarness.open(options, [done])
    await host.ask('go')
    expect(host.toolNames()).toContain('tool_call')
    expect(host.events).toContainEqual(
      expect.objectContaining({ kind: 'delivery-unavailable', delivery: 'native' }),
    )
  })

  it('a host that switches it off gets the bridge from the next request on', async () => {
    const well = createToolwell({ ...options })
    const conversation = await well.open({ id: 'a' })
    const messages = [{ role: 'user', content: 'Hello' }]
    const native = await anthropic(conversation).begin(messages)
    expect(native.view.delivery).toBe('native')
    const next = [...messages, { role: 'assistant', content: 'Hi' }, { role: 'user', content: 'Go on' }]
    const plain = await anthropic(conversation, { native: false }).begin(next)
    expect(plain.view.delivery).toBe('bridge')
    expect(JSON.stringify(plain.parts)).not.toContain('defer_loading')
  })
})

describe('cache marks of ours', () => {
  const begin = async (messages: object[], system: unknown, cache: '5m' | '1h' = '5m') => {
    const conversation = await createToolwell(options).open({ id: 'a' })
    return anthropic(conversation, { cache }).begin(messages as never, { system: system as never })
  }

  it('stand behind the last tool in sight, the system prompt and the last message', async () => {
    const { parts } = await begin([{ role: 'user', content: 'Hello' }], 'Be brief.')
    const marks = (parts.tools ?? []).filter((each) => each.cache_control).map(({ name }) => name)
    expect(marks).toEqual(['tool_search'])
    expect(JSON.stringify(parts.system)).toContain('"cache_control"')
    expect(JSON.stringify(parts.messages)).toContain('"cache_control"')
  })

  it("leave the host's own alone, and never exceed four together", async () => {
    const mark = { cache_control: { type: 'ephemeral' } }
    const text = (said: string) => ({ role: 'user', content: [{ type: 'text', text: said, ...mark }] })
    const { parts } = await begin(
      [text('one'), text('two'), { role: 'user', content: 'three' }],
      [{ type: 'text', text: 'Be brief.', ...mark }],
      '1h',
    )
    const json = JSON.stringify(parts)
    expect(json.split('"cache_control"')).toHaveLength(5)
  })

  /** The marks of a request in the order in which the API reads them. */
  const lives = (value: unknown): string[] => {
    if (Array.isArray(value)) return value.flatMap(lives)
    if (typeof value !== 'object' || value === null) return []
    const { content, cache_control: mark } = value as { content?: unknown; cache_control?: { ttl?: string } }
    return [...lives(content), ...(mark ? [mark.ttl ?? '5m'] : [])]
  }

  it.each([
    ['5m', undefined, undefined, ['5m', '5m', '5m']],
    ['1h', undefined, undefined, ['1h', '1h', '1h']],
    ['5m', '1h', undefined, ['1h', '1h', '5m', '5m']],
    ['1h', '5m', undefined, ['1h', '5m', '5m', '5m']],
    ['1h', '1h', undefined, ['1h', '1h', '1h', '1h']],
    ['5m', undefined, '1h', ['1h', '1h', '1h', '5m']],
    ['1h', undefined, '5m', ['1h', '1h', '5m', '5m']],
    ['1h', '1h', '5m', ['1h', '1h', '5m', '5m']],
    ['5m', '1h', '1h', ['1h', '1h', '1h', '5m']],
  ] as const)(
    'live %s, and keep the order with a host mark in the system prompt (%s) and in a message (%s)',
    async (cache, inSystem, inMessage, expected) => {
      const mark = (ttl: string | undefined) => (ttl ? { cache_control: { type: 'ephemeral', ttl } } : {})
      const { parts } = await begin(
        [
          { role: 'user', content: [{ type: 'text', text: 'Hello', ...mark(inMessage) }] },
          { role: 'assistant', content: 'Hi' },
          { role: 'user', content: 'Go on' },
        ],
        [{ type: 'text', text: 'Be brief.', ...mark(inSystem) }],
        cache,
      )
      expect([...lives(parts.tools), ...lives(parts.system), ...lives(parts.messages)]).toEqual(expected)
      const request = { model: 'm', max_tokens: 9, ...parts } as never
      expect(anthropicProtocol().violationOf(request)).toBeUndefined()
    },
  )
})

describe('a tool that was away at a latch', () => {
  it.each([anthropicHarness, anthropicChangesHarness, openaiResponsesHarness])(
    'is shown again when it is back ($name)',
    async (harness) => {
      const host = await harness.open(options, [
        says(find('select:tracker__create_issue')),
        done,
        done,
        says(call('tracker__create_issue')),
        done,
      ])
      await host.ask('one')
      await host.compact('We talked.', 0)
      host.well.catalogue.setState('tracker', 'disabled')
      await host.ask('two')
      expect(host.requests.at(-1)?.raw).not.toContain('The value for create_issue')
      host.well.catalogue.setState('tracker', 'ready')
      await host.ask('three')
      expect(host.requests.at(-1)?.raw).toContain('The value for create_issue')
      expect(host.requests.at(-1)?.raw).toContain('create_issue ran with')
    },
  )
})

it('a host that may not change tools any more gets a latch without such messages', async () => {
  const well = createToolwell(options)
  const conversation = await well.open({ id: 'a' })
  const messages = [{ role: 'user', content: 'Hello' }]
  await anthropic(conversation, { toolChanges: true }).begin(messages)
  await conversation.load(['calendar__find_slot'])
  const next = [...messages, { role: 'assistant', content: 'Hi' }, { role: 'user', content: 'Go on' }]
  const { parts, view } = await anthropic(conversation).begin(next)
  expect(view.delivery).toBe('native')
  expect(parts.messages.every(({ role }) => role !== 'system')).toBe(true)
  expect(parts.tools?.find(({ name }) => name === 'calendar__find_slot')?.defer_loading).toBeUndefined()
})

it('a tool that was shown in words is called as itself, once its first call has read as a search', async () => {
  const host = await anthropicHarness.open(options, [
    done,
    says(call('calendar__find_slot', { value: 'one' })),
    says(call('calendar__find_slot', { value: 'two' })),
    says(call('calendar__find_slot', { value: 'three' })),
    done,
  ])
  await host.ask('one')
  await host.conversation.load(['calendar__find_slot'])
  await host.ask('two')
  const calls = body(host)
    .messages.flatMap(({ content }: { content: unknown }) => (Array.isArray(content) ? content : []))
    .filter(({ type }: { type: string }) => type === 'tool_use')
    .map(({ name }: { name: string }) => name)
  expect(calls).toEqual(['tool_search', 'calendar__find_slot', 'calendar__find_slot'])
})

it('a tool that the model, a cap or the host unloads is taken away where tools may change', async () => {
  const host = await anthropicChangesHarness.open({ ...options, limits: { maxLoaded: 2 } }, [
    says(find('select:tracker__create_issue,calendar__find_slot')),
    says(find('unload:tracker__create_issue')),
    says(find('select:tracker__close_issue')),
    says(find('select:tracker__list_issues')),
    done,
    says(call('calendar__find_slot')),
    done,
  ])
  await host.ask('one')
  await host.conversation.unload(['tracker__close_issue'])
  await host.ask('two')
  const removed = body(host)
    .messages.filter(({ role }: { role: string }) => role === 'system')
    .flatMap(({ content }: { content: { type: string; tool: { name: string } }[] }) => content)
    .map(({ type, tool }: { type: string; tool: { name: string } }) => `${type} ${tool.name}`)
  expect(removed).toEqual([
    'tool_removal tracker__create_issue',
    'tool_removal calendar__find_slot',
    'tool_removal tracker__close_issue',
  ])
  // Called after it was taken away: found again, as by a search.
  expect(host.requests.at(-1)?.raw).toContain('find_slot ran with')
})

it('a history of the Responses API tells importHistory what was loaded, unloaded and not found', async () => {
  const host = await startResponsesHost(options, [
    says(find('select:tracker__create_issue,calendar__find_slot')),
    says(find('bake a cake')),
    says(find('unload:calendar__find_slot')),
    done,
  ])
  await host.ask('go')
  const other = await createToolwell(options).open({ id: 'b' })
  const report = await openaiResponses(other).importHistory(host.items)
  expect(report).toEqual({ recovered: ['tracker/create_issue'], unrecovered: [] })
})

describe('a frame of the host', () => {
  const prompts = { frame: ({ body }: { body: string }) => `[news]\n${body}\n[/news]` }
  const script = [says(find('select:tracker__create_issue,no_such_tool')), done]
  it.each([anthropicHarness, openaiResponsesHarness])(
    '$name: wraps the text after a search answer',
    async (wire) => {
      const host = await wire.open({ ...options, surface: { prompts } }, [...script, done])
      await host.ask('go')
      await host.ask('on')
      const raw = host.requests.at(-1)?.raw ?? ''
      expect(raw).toContain('[news]\\nFound no tool named \\"no_such_tool\\"')
      expect(raw).not.toContain('tool-update')
    },
  )

  it('is known again when a history is imported', async () => {
    const history: ResponsesItem[] = [{ role: 'user', content: 'go' }]
    const open = async (id: string) =>
      openaiResponses(await createToolwell({ tools: mixed(), mode: 'on', surface: { prompts } }).open({ id }))
    const first = await open('a')
    const turn = await first.begin(history)
    const search = { type: 'tool_search_call', execution: 'client', status: 'completed', call_id: 'c' }
    // Nothing found: the machine line is in the text of the empty answer.
    const reply = [{ ...search, arguments: { query: 'unload:tracker__create_issue' } }]
    history.push(...reply, ...(await turn.run({ output: reply })).messages)
    expect(history).toHaveLength(3)
    expect(JSON.stringify(history)).toContain('toolwell/1')
    const report = await (await open('b')).importHistory(history)
    expect(report.unrecovered).toEqual([])
  })
})
