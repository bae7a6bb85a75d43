import { type Conversation, createToolwell, type Tool } from '@toolwell/core'
import { type ChatTool, importTools, openaiChat } from '@toolwell/core/openai-chat'
import { describe, expect, it } from 'vitest'
import { everyByte, startHost } from './support/host.js'
import { mixed, server, tool } from './support/tools.js'

const wireTools: readonly ChatTool[] = [
  {
    type: 'function',
    function: {
      name: 'zebra',
      description: 'Z',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      strict: true,
    },
  },
  {
    type: 'function',
    function: { name: 'apple', description: 'A', parameters: { type: 'object', properties: {} } },
  },
]

const begin = (conversation: Conversation, requestId: string) =>
  conversation.begin({ requestId, anchor: requestId, wire: 'test' })

const long = (name: string, tokens: number, more: Partial<Tool> = {}) =>
  tool(name, { description: `${name} ${'x'.repeat(4 * tokens)}`, ...more })

describe('off', () => {
  it.each([
    ['mode off', { mode: 'off' }],
    ['below the threshold', { mode: 'auto' }],
  ] as const)("sends the host's very array in its order (%s)", async (_, options) => {
    const tools = mixed()
    const conversation = await createToolwell({ tools, ...options }).open({ id: 'a' })
    const view = await begin(conversation, 'r1')
    expect(view.tools).toBe(tools)
    expect(view).toMatchObject({ mode: 'off', section: '', inserts: [] })
    expect([view.loader, view.bridge]).toEqual([undefined, undefined])
    expect((await begin(conversation, 'r2')).tools).toBe(tools)
  })

  it('sends the very wire array and the very messages that a Chat Completions host passed', async () => {
    const tools = importTools(wireTools, () => ({ defer: true }))
    const wire = openaiChat(await createToolwell({ tools }).open({ id: 'a' }))
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ]
    const { parts } = await wire.begin(messages, { requestId: 'r1' })
    expect(parts.tools).toBe(wireTools)
    expect(parts.messages).toBe(messages)
    expect(messages).toHaveLength(2)
  })

  it('puts no meta-tool and no prompt section into the request, and runs calls by their own names', async () => {
    const tools = importTools(wireTools, ({ function: { name } }) => ({ execute: () => `${name} ran` }))
    const host = await startHost({ tools, mode: 'off' }, [
      { calls: [{ name: 'zebra', arguments: {} }] },
      { text: 'ok' },
    ])
    await host.ask('hi')
    expect(host.raw(0)).toBe(
      JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: 'hi' }], tools: wireTools }),
    )
    expect(host.body(1)).toMatchObject({ messages: [{}, {}, { role: 'tool', content: 'zebra ran' }] })
    expect(everyByte(host)).not.toMatch(/tool_search|tool_call"|More tools/)
  })

  it('answers a call of the loader like a call of a tool that does not exist', async () => {
    const host = await startHost({ tools: [tool('read_file')], mode: 'off' }, [{ text: 'ok' }])
    await host.ask('hi')
    const answers = await host.conversation.run([
      { callId: 'c1', anchor: 'c1', name: 'tool_search', input: { value: { query: 'x' } } },
      { callId: 'c2', anchor: 'c2', name: 'no_such_thing', input: { value: {} } },
    ])
    expect(answers.map((answer) => answer.outcome.kind)).toEqual(['unknown', 'unknown'])
    expect(answers[0]?.text).toBe('Found no tool named "tool_search".')
  })

  it("keeps the host's array when a denied tool leaves it: same order, same objects, same instance each time", async () => {
    const tools = mixed()
    const policy = ({ name }: { name: string }) => name !== 'write_file'
    const conversation = await createToolwell({ tools, mode: 'off', policy }).open({ id: 'a' })
    const first = await begin(conversation, 'r1')
    expect(first.tools).toEqual(tools.filter(({ name }) => name !== 'write_file'))
    expect(first.tools[0]).toBe(tools[0])
    expect((await begin(conversation, 'r2')).tools).toBe(first.tools)
  })
})

describe('off, over a history', () => {
  it.each(['denied', 'gone'] as const)(
    'is accepted by a strict endpoint when a tool that was called is %s',
    async (fate) => {
      const denied = new Set<string>()
      const host = await startHost(
        { tools: [tool('read_file')], mode: 'off', policy: ({ name }) => !denied.has(name) },
        (_, index) =>
          index === 0 ? { calls: [{ name: 'ops__deploy', arguments: { value: 'x' } }] } : { text: 'ok' },
        { prepare: (well) => well.catalogue.setSource('ops', { tools: [tool('deploy')] }) },
      )
      await host.ask('hi')
      if (fate === 'denied') denied.add('deploy')
      else host.well.catalogue.removeSource('ops')
      await host.ask('again')
      expect(host.names()).toEqual(['read_file'])
      expect(JSON.stringify(host.body().messages)).toContain('deploy ran with')
    },
  )
})

describe('off, with two servers that have a tool of the same name', () => {
  it('declares each under a unique name, and runs the called tool', async () => {
    const tools = ['tracker', 'forge'].map((source) =>
      tool('create_issue', { source, execute: () => `${source} ran` }),
    )
    const host = await startHost({ tools, mode: 'off' }, ({ tools: declared = [] }, index) =>
      index === 0 ? { calls: [{ name: declared[1]?.function.name ?? '', arguments: {} }] } : { text: 'ok' },
    )
    await host.ask('hi')
    expect(host.names()).toEqual(['tracker__create_issue', 'forge__create_issue'])
    expect(host.body().messages.at(-1)).toMatchObject({ content: 'forge ran' })
  })
})

describe('the threshold', () => {
  it('QW-14: counts the deferred tools only, not the eager ones', async () => {
    const eager = [long('big_one', 5000), long('big_two', 5000, { source: 'tracker', alwaysLoad: true })]
    const well = createToolwell({
      tools: [...eager, ...server('tracker', ['create_issue'])],
      costs: { threshold: 4000 },
    })
    expect((await begin(await well.open({ id: 'a' }), 'r1')).mode).toBe('off')
  })

  it('QW-14: does not count what policy hides', async () => {
    const tools = [tool('read_file'), long('secret', 9000, { source: 'vault' })]
    const policy = ({ source }: { source: string }) => source !== 'vault'
    const well = createToolwell({ tools, policy, costs: { threshold: 4000 } })
    expect((await begin(await well.open({ id: 'a' }), 'r1')).mode).toBe('off')
  })

  it('is reached by the deferred definitions together', async () => {
    const tools = [1, 2, 3].map((index) => long(`part_${index}`, 1500, { source: 'tracker' }))
    const mode = async (threshold: number) =>
      (await begin(await createToolwell({ tools, costs: { threshold } }).open({ id: 'a' }), 'r1')).mode
    expect(await mode(4000)).toBe('on')
    expect(await mode(6000)).toBe('off')
    expect(await mode(0)).toBe('on')
  })

  it('QW-14: is not ratcheted by opening again and again', async () => {
    const well = createToolwell({
      tools: [long('part', 3000, { source: 'tracker' })],
      costs: { threshold: 4000 },
    })
    const modes: string[] = []
    for (const id of ['a', 'b', 'c']) modes.push((await begin(await well.open({ id }), 'r1')).mode)
    expect(modes).toEqual(['off', 'off', 'off'])
  })
})

describe('the mode', () => {
  const late = () => [long('deploy_service', 6000), long('roll_back', 6000)]

  it.each(['clear', 'compact'] as const)(
    'is latched at opening: a large server that comes later is sent eagerly until %s',
    async (frozen) => {
      const tools = importTools(wireTools)
      const host = await startHost({ tools, costs: { threshold: 4000 } }, () => ({ text: 'ok' }))
      await host.ask('hi')
      expect(host.body().tools).toEqual(wireTools)
      host.well.catalogue.setSource('ops', { tools: late() })
      await host.ask('again')
      expect(host.names()).toEqual(['zebra', 'apple', 'ops__deploy_service', 'ops__roll_back'])
      expect(host.conversation.inspect().mode).toBe('off')

      if (frozen === 'clear') await host.conversation.clear()
      else await host.conversation.compact({ kept: {} })
      await host.ask('once more')
      expect(host.names()).toEqual(['apple', 'zebra', 'tool_search', 'tool_call'])
    },
  )

  it('stays on when the tools that switched it on have gone', async () => {
    const host = await startHost(
      { tools: [tool('read_file')], costs: { threshold: 4000 } },
      () => ({ text: 'ok' }),
      {
        prepare: (well) => well.catalogue.setSource('ops', { tools: late() }),
      },
    )
    await host.ask('hi')
    const before = host.names()
    host.well.catalogue.removeSource('ops')
    await host.ask('again')
    expect(host.names()).toEqual(before)
    expect(before).toContain('tool_search')
  })
})
