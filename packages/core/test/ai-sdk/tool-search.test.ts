/** OpenAI's own search through the SDK: declared as the provider's tool, answered with definitions, called in namespaces. */
import { createToolwell, memoryStore, searchTools, type ToolwellEvent } from '@toolwell/core'
import { openaiResponses, type ResponsesItem } from '@toolwell/core/openai-responses'
import { responsesProtocol } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { mixed, server } from '../support/tools.js'
import {
  bridged,
  call,
  calls,
  type Host,
  type Message,
  majors,
  said,
  search,
  sentCalls,
  startHost,
} from './support.js'

const options = { tools: mixed(), mode: 'on', delivery: 'native' } as const
const wire = 'responses'
const select = search('select:tracker__create_issue')
const name = 'tracker__create_issue'

type Item = Readonly<Record<string, unknown>> & { readonly tools?: readonly Item[] }
const items = (host: Host, index: number) => (host.body(index) as unknown as { input: Item[] }).input
const ofType = (host: Host, index: number, type: string) =>
  items(host, index).filter((item) => item.type === type)

describe.each(majors)('AI SDK $major', ({ major }) => {
  it('declares the loader as the search of the API, and answers it with definitions', async () => {
    const script = [calls(select), calls(call(name)), said()]
    const host = await startHost({ major, wire, script, options })
    const result = await host.ask('Make an issue.')
    expect(result.text).toBe('Done.')
    expect(host.statuses()).toEqual([200, 200, 200])
    const tools = host.body(0).tools ?? []
    expect(tools.map((tool) => tool.name ?? tool.type)).toEqual(['read_file', 'write_file', 'tool_search'])
    expect(tools[2]).toMatchObject({
      type: 'tool_search',
      execution: 'client',
      description: expect.stringContaining('tracker'),
      parameters: { type: 'object', required: ['query'] },
    })
    for (const index of [1, 2]) expect(host.toolsJson(index)).toBe(host.toolsJson(0))
    const [asked] = ofType(host, 2, 'tool_search_call')
    expect(asked).toMatchObject({
      id: 'tsc_1_1',
      execution: 'client',
      arguments: { query: 'select:tracker__create_issue' },
    })
    const [output] = ofType(host, 2, 'tool_search_output')
    expect(output).toMatchObject({ execution: 'client', call_id: asked?.call_id })
    const found = {
      type: 'function',
      name,
      strict: false,
      defer_loading: true,
      parameters: { type: 'object' },
    }
    expect(output?.tools).toMatchObject([{ type: 'namespace', name: 'tracker', tools: [found] }])
    expect(output?.tools?.[0]?.tools?.[0]).not.toHaveProperty('source')
    // The trap: without its namespace the call would be refused.
    expect(ofType(host, 2, 'function_call')).toMatchObject([{ name, namespace: 'tracker' }])
    // The SDK sees the loader with its own arguments.
    expect(result.steps[0]?.toolCalls).toMatchObject([
      { toolName: 'tool_search', input: { query: 'select:tracker__create_issue' } },
    ])
    expect(host.raw(2)).not.toContain('tool-update')
  })

  it('has every request as the beginning of the next one', async () => {
    const script = [calls(select), calls(call(name), search('create event')), said(), said()]
    const host = await startHost({ major, wire, script, options })
    await host.ask('Go.')
    await host.ask('Thanks.')
    for (const index of [1, 2, 3]) {
      const before = items(host, index - 1)
      expect(items(host, index).slice(0, before.length)).toEqual(before)
    }
  })

  it('streams, with the same requests as without a stream', async () => {
    const script = [calls(select, call('read_file')), calls(call(name)), said()]
    const host = await startHost({ major, wire, script, options })
    const plain = await startHost({ major, wire, script, options })
    const { parts, text } = await host.askStreaming('Go.')
    await plain.ask('Go.')
    expect(text).toBe('Done.')
    expect(items(host, 2)).toEqual(items(plain, 2))
    expect(parts.filter(({ type }) => type === 'tool-call').map(({ toolName }) => toolName)).toEqual([
      'tool_search',
      'read_file',
      name,
    ])
  })

  it('says what else a search found, and why it found nothing, where the next words stand', async () => {
    const script = [
      calls(search('select:tracker__create_issue,no_such_tool'), call('read_file')),
      calls(search('bake')),
      said(),
      said(),
    ]
    const host = await startHost({ major, wire, script, options })
    await host.ask('Go.')
    await host.ask('And now?')
    expect(host.statuses()).toEqual([200, 200, 200, 200])
    const [first, second] = ofType(host, 2, 'tool_search_output')
    expect(first?.tools).toHaveLength(1)
    expect(second?.tools).toEqual([])
    // In the next result of the same batch; if there is none, after the next user message.
    expect(ofType(host, 1, 'function_call_output')[0]?.output).toMatch(/ran with[\s\S]*Found no tool named/)
    expect(host.raw(2)).not.toContain('Found no tool for')
    expect(JSON.stringify(items(host, 3).at(-1))).toMatch(/And now\?[\s\S]*Found no tool for/)
    for (const index of [1, 2, 3])
      expect(items(host, index).slice(0, items(host, index - 1).length)).toEqual(items(host, index - 1))
  })

  it('resumes a stored conversation in another process, also without its ledger', async () => {
    const store = memoryStore()
    const well = createToolwell({ ...options, store })
    const script = [calls(select), calls(call(name)), said(), said()]
    const host = await startHost({ major, wire, script, well, conversation: await well.open({ id: 'a' }) })
    await host.ask('Make it.')
    const stored: Message[] = JSON.parse(JSON.stringify(host.messages))
    await host.ask('Thanks.')
    const again = createToolwell({ ...options, store })
    const conversation = await again.open({ id: 'a' })
    const resumed = await startHost({ major, wire, script: [said()], well: again, conversation })
    resumed.messages.push(...stored)
    await resumed.ask('Thanks.')
    expect(resumed.raw(0)).toBe(host.raw(3))
    const fresh = await startHost({ major, wire, script: [calls(call(name)), said()], options })
    expect((await fresh.lazy.importHistory(stored)).recovered).toEqual(['tracker/create_issue'])
    fresh.messages.push(...stored)
    await fresh.ask('Once more.')
    expect(fresh.statuses()).toEqual([200, 200])
    expect(JSON.stringify(fresh.messages.at(-2))).toContain('create_issue ran with')
  })

  it('declares a namespace once: what comes later of its source comes by itself', async () => {
    const later = 'tracker__close_issue'
    const script = [calls(select, search(`select:${later}`)), calls(call(name), call(later)), said()]
    const host = await startHost({ major, wire, script, options })
    await host.ask('Go.')
    expect(host.statuses()).toEqual([200, 200, 200])
    const brought = ofType(host, 2, 'tool_search_output').flatMap(({ tools = [] }) => tools)
    expect(brought).toMatchObject([
      { type: 'namespace', name: 'tracker' },
      { type: 'function', name: later },
    ])
    expect(ofType(host, 2, 'function_call')).toMatchObject([{ namespace: 'tracker' }, { namespace: later }])
  })

  it('runs a guess, behind the search that would have led to it', async () => {
    const script = [calls(call(name, { value: 'x' })), calls(call(name, { value: 'y' })), said()]
    const host = await startHost({ major, wire, script, options })
    await host.ask('Go.')
    expect(host.statuses()).toEqual([200, 200, 200])
    const [asked] = ofType(host, 2, 'tool_search_call')
    expect(asked).toMatchObject({ arguments: { query: 'select:tracker__create_issue' } })
    expect(String(asked?.id)).toMatch(/^tsc_/)
    const called = { name, namespace: 'tracker' }
    expect(ofType(host, 2, 'function_call')).toMatchObject([called, called])
    expect(ofType(host, 2, 'function_call_output')[0]?.output).toContain('create_issue ran with')
  })

  it('brings a tool that the host loads, or that changed, where that happened', async () => {
    const well = createToolwell(options)
    const conversation = await well.open({ id: 'a' })
    const script = [said(), calls(call('calendar__find_slot')), said(), said()]
    const host = await startHost({ major, wire, script, well, conversation })
    await host.ask('One.')
    await conversation.load(['calendar__find_slot'])
    await host.ask('Two.')
    well.catalogue.setSource('calendar', {
      tools: server('calendar', ['find_slot'], { description: 'Finds with more care' }),
    })
    await host.ask('Three.')
    expect(host.statuses()).toEqual([200, 200, 200, 200])
    const brought = ofType(host, 3, 'tool_search_output').flatMap(({ tools = [] }) => tools)
    expect(brought).toMatchObject([
      { type: 'namespace', name: 'calendar', tools: [{ description: 'Does find slot' }] },
      { type: 'function', description: 'Finds with more care' },
    ])
    expect(ofType(host, 3, 'function_call')).toMatchObject([{ namespace: 'calendar' }])
    expect(host.toolsJson(3)).toBe(host.toolsJson(0))
    const before = items(host, 2)
    expect(items(host, 3).slice(0, before.length)).toEqual(before)
  })

  it('drops the namespace of a call when a latch declares its tool', async () => {
    const script = [calls(select), calls(call(name)), said(), said()]
    const host = await startHost({ major, wire, script, options })
    await host.ask('Go.')
    const after: Message[] = [{ role: 'user', content: 'We talked.' }, ...host.messages.slice(3)]
    await host.lazy.compact(host.messages, after)
    host.messages.splice(0, host.messages.length, ...after)
    await host.ask('And now?')
    expect(host.statuses()).toEqual([200, 200, 200, 200])
    expect(host.names(3)).toContain(name)
    const [used] = ofType(host, 3, 'function_call')
    expect(used).toMatchObject({ name })
    expect(used).not.toHaveProperty('namespace')
  })

  it.each(['chat', 'anthropic'] as const)('moves to %s and back', async (other) => {
    const well = createToolwell({ ...options, delivery: 'auto' })
    const conversation = await well.open({ id: 'a' })
    const script = [calls(select), calls(call(name)), said()]
    const host = await startHost({ major, wire, script, well, conversation })
    await host.ask('Make it.')
    const away = await startHost({
      major,
      wire: other,
      script: [calls(search('select:calendar__find_slot')), said()],
      well,
      conversation,
    })
    away.messages.push(...host.messages)
    await away.ask('Find a slot.')
    expect(away.statuses()).toEqual([200, 200])
    const back = await startHost({
      major,
      wire,
      script: [calls(call('calendar__find_slot'), call(name)), said()],
      well,
      conversation,
    })
    back.messages.push(...away.messages)
    await back.ask('And now?')
    expect(back.statuses()).toEqual([200, 200])
    expect(JSON.stringify(back.messages.at(-2))).toContain('find_slot ran with')
    expect(ofType(back, 1, 'tool_search_output')).toHaveLength(2)
  })

  it('begins where other deliveries left their searches', async () => {
    const bridge = createToolwell({ ...options, delivery: 'bridge' })
    const before = await startHost({ major, wire, script: [calls(select), said()], well: bridge })
    await before.ask('Find it.')
    const host = await startHost({ major, wire, script: [calls(call(name)), said()], options })
    await host.lazy.importHistory(before.messages)
    host.messages.push(...before.messages)
    await host.ask('Use it.')
    expect(host.statuses()).toEqual([200, 200])
    expect(String(ofType(host, 0, 'tool_search_call')[0]?.id)).toMatch(/^tsc_/)
  })

  it('is given up within a conversation: its calls go through the bridge, without their namespaces', async () => {
    const conversation = await createToolwell(options).open({ id: 'a' })
    const script = [calls(select), calls(call(name)), said()]
    const host = await startHost({ major, wire, script, conversation })
    await host.ask('Make it.')
    const adapter = { native: false }
    const plain = await startHost({ major, wire, script: [said()], conversation, adapter })
    plain.messages.push(...host.messages)
    await plain.ask('And now?')
    expect(plain.statuses()).toEqual([200])
    expect(sentCalls(plain.body(0))).toEqual(['tool_search', 'tool_call'])
    expect(plain.raw(0)).not.toContain('namespace')
  })

  it('is not used where the host says that the server cannot', async () => {
    const adapter = { native: false }
    const host = await startHost({ major, wire, script: [said()], options, adapter })
    await host.ask('Go.')
    expect(host.names(0)).toEqual(['read_file', 'write_file', 'tool_search', 'tool_call'])
  })

  it.each(['gpt-4.1', 'gpt-5-mini', 'gpt-5.1-codex', 'o4-mini'])('is not used with %s', async (named) => {
    const host = await startHost({ major, wire, named, script: [said()], options })
    await host.ask('Go.')
    expect(host.names(0)).toContain('tool_call')
  })

  it.each(['gpt-5.4', 'gpt-5.4-mini', 'gpt-6'])('is used with %s', async (named) => {
    const host = await startHost({ major, wire, named, script: [said()], options })
    await host.ask('Go.')
    expect(host.body(0).tools?.at(-1)).toMatchObject({ type: 'tool_search' })
  })

  it('has the name and the form that the host gave the loader', async () => {
    const searchTool = searchTools.byName
    // The endpoint knows a search by the name of the API.
    const script = [calls(call('tool_search', { name })), calls(call(name)), said()]
    const host = await startHost({
      major,
      wire,
      script,
      options: { ...options, search: { tool: searchTool } },
    })
    const result = await host.ask('Go.')
    expect(host.statuses()).toEqual([200, 200, 200])
    expect(result.steps[0]?.toolCalls).toMatchObject([{ toolName: 'tool_info', input: { name } }])
    expect(ofType(host, 2, 'tool_search_call')).toMatchObject([{ arguments: { name } }])
    expect(ofType(host, 2, 'function_call')).toMatchObject([{ name, namespace: 'tracker' }])
  })

  it('takes over a history of the plain wire', async () => {
    const conversation = await createToolwell(options).open({ id: 'a' })
    const plain = openaiResponses(conversation)
    const history: ResponsesItem[] = [{ role: 'user', content: 'Make it.' }]
    const turn = await plain.begin(history)
    const asked = {
      type: 'tool_search_call',
      id: 'tsc_1',
      call_id: 'call_1',
      execution: 'client',
      status: 'completed',
    }
    const reply = [{ ...asked, arguments: { query: `select:${name}` } }]
    const { messages } = await turn.run({ output: reply })
    history.push(...reply, ...messages)
    const script = [calls(call(name)), said()]
    const host = await startHost({ major, wire, script, conversation, strictOrder: false })
    host.messages.push(...host.lazy.adopt(plain.thread(history)))
    await host.ask('Go on.')
    expect(host.statuses()).toEqual([200, 200])
    expect(ofType(host, 1, 'tool_search_output')[0]?.tools).toMatchObject([
      { name: 'tracker', tools: [{ name }] },
    ])
    expect(ofType(host, 1, 'function_call')).toMatchObject([{ name, namespace: 'tracker' }])
  })

  it('hands its history over to the plain wire, where the model still has the definitions', async () => {
    const script = [calls(select), calls(call(name)), said()]
    const host = await startHost({ major, wire, script, options })
    await host.ask('Make it.')
    const plain = openaiResponses(host.conversation)
    const history = plain.adopt(host.lazy.thread(host.messages))
    const next = await plain.begin([...history, { role: 'user', content: 'And one more.' }])
    expect(next.view.delivery).toBe('native')
    expect(responsesProtocol().violationOf({ model: 'gpt-scripted', ...next.parts })).toBeUndefined()
    expect(JSON.stringify(next.parts.input)).toContain('The value for create_issue')
    const asked = { type: 'function_call', call_id: 'next', name, arguments: '{"value":"y"}' }
    const { answers } = await next.run({ output: [asked] })
    expect(answers).toMatchObject([{ outcome: { kind: 'result' } }])
  })

  it.each(['generate', 'stream'])(
    'gives way to the bridge where the server refuses the search (%s)',
    async (way) => {
      const script = [calls(bridged(name)), said()]
      const host = await startHost({ major, wire, script, options, deferral: false })
      if (way === 'generate') await host.ask('Go.')
      else await host.askStreaming('Go.')
      // The refused request, and what went on.
      expect(host.statuses()).toEqual([400, 200, 200])
      expect(host.names(1)).toEqual(['read_file', 'write_file', 'tool_search', 'tool_call'])
      expect(host.raw(2)).toContain('create_issue ran with')
      expect(host.conversation.inspect().delivery).toBe('bridge')
    },
  )

  it.each(['generate', 'stream'])(
    'gives way to the bridge if the server ignores the search (%s)',
    async (way) => {
      const script = [said(), calls(bridged(name)), said()]
      const events: ToolwellEvent[] = []
      const heard = { ...options, onEvent: (event: ToolwellEvent) => void events.push(event) }
      const host = await startHost({ major, wire, script, options: heard, deferral: 'ignored' })
      if (way === 'generate') {
        const result = await host.ask('Hello.')
        expect(result.steps[0]?.warnings?.map(({ message }) => message).join()).toContain(
          'the server dropped the tool search',
        )
      } else {
        const { parts } = await host.askStreaming('Hello.')
        expect(parts.map(({ type }) => type)).not.toContain('raw')
      }
      expect(events).toContainEqual(
        expect.objectContaining({ kind: 'delivery-unavailable', delivery: 'native' }),
      )
      await host.ask('Make it.')
      expect(host.names(1)).toEqual(['read_file', 'write_file', 'tool_search', 'tool_call'])
      expect(JSON.stringify(host.messages)).toContain('create_issue ran with')
      expect(host.conversation.events.filter(({ kind }) => kind === 'downgraded')).toHaveLength(1)
    },
  )

  it('shows the chunks of the provider if you ask for them', async () => {
    const host = await startHost({ major, wire, script: [said()], options })
    const { parts } = await host.askStreaming('Hello.', { includeRawChunks: true })
    expect(parts.map(({ type }) => type)).toContain('raw')
    expect(host.conversation.inspect().delivery).toBe('native')
  })

  it('gives way to the bridge, with a warning, where the provider does not know the search', async () => {
    const script = [said(), calls(bridged(name)), said()]
    const host = await startHost({ major, wire, script, options })
    const ask = (text: string) => host.ask(text, { model: older(host.model as Model) })
    const result = await ask('Hello.')
    expect(host.names(0)).toEqual(['read_file', 'write_file'])
    expect(result.steps[0]?.warnings?.map(({ message }) => message).join()).toContain(
      'dropped the tool search',
    )
    await ask('Make it.')
    expect(host.names(1)).toEqual(['read_file', 'write_file', 'tool_search', 'tool_call'])
    expect(JSON.stringify(host.messages)).toContain('create_issue ran with')
  })
})

interface Model {
  doGenerate(options: { readonly tools: readonly { readonly type: string }[] }): unknown
}

/** A version of the provider from before the search. */
function older(model: Model): object {
  const doGenerate: Model['doGenerate'] = (options) =>
    model.doGenerate({ ...options, tools: options.tools.filter(({ type }) => type !== 'provider') })
  return new Proxy(model, {
    get: (target, key) => (key === 'doGenerate' ? doGenerate : Reflect.get(target, key, target)),
  })
}
