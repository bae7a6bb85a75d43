/** SDK features that keep working: streams, agents, SDK tools, approvals, and no change in mode off. */
import { createToolwell, type Tool } from '@toolwell/core'
import { importTools } from '@toolwell/core/ai-sdk'
import { describe, expect, it, onTestFinished } from 'vitest'
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
  type WireName,
} from './support.js'

const bridge = { tools: mixed(), mode: 'on', delivery: 'bridge' } as const
const wires: readonly WireName[] = ['chat', 'anthropic', 'responses', 'google']
const properties = { city: { type: 'string' } }
const schema = { type: 'object', properties, required: ['city'], additionalProperties: false }

/** Tools as a host has them before it knows of Toolwell. */
function hostTools(sdk: Host['sdk'], seen: unknown[] = []) {
  const inputSchema = sdk.jsonSchema(schema, {
    validate: (value: { city?: unknown }) =>
      typeof value.city === 'string'
        ? { success: true, value: { city: value.city.toUpperCase() } }
        : { success: false, error: new Error('city is missing') },
  })
  return {
    weather: sdk.tool({
      description: 'Tells the weather',
      inputSchema,
      execute: (input: unknown, more: { toolCallId: string }) => {
        seen.push([input, more.toolCallId])
        return { sunny: true }
      },
    }),
    picture: sdk.tool({
      description: 'Draws',
      inputSchema,
      strict: true,
      execute: async function* () {
        yield 'half'
        yield 'whole'
      },
      toModelOutput: ({ output }: { output: string }) => ({
        type: 'content',
        value: [{ type: 'text', text: `drawn: ${output}` }],
      }),
    }),
  }
}

describe.each(majors)('AI SDK $major', ({ major, sdk }) => {
  describe.each(wires)('off, over %s', (wire) => {
    it('sends the bytes that the SDK sends without Toolwell', async () => {
      const script = [calls(call('weather', { city: 'Oslo' }), call('picture', { city: 'Oslo' })), said()]
      const tools = hostTools(sdk)
      const well = createToolwell({ tools: await importTools(tools, sdk.asSchema), mode: 'off' })
      const host = await startHost({ major, wire, script, well })
      const plain = await startHost({ major, wire, script })
      const more = { system: 'Be brief.' }
      await host.ask('Go.', more)
      await plain.ask('Go.', {
        ...more,
        tools,
        prepareStep: undefined,
        experimental_repairToolCall: undefined,
      })
      expect(host.statuses()).toEqual([200, 200])
      expect([host.raw(0), host.raw(1)]).toEqual([plain.raw(0), plain.raw(1)])
      expect(host.messages).toEqual(plain.messages)
    })
  })

  it('sends no tools field if there are no tools', async () => {
    const host = await startHost({ major, script: [said()], options: { tools: [], mode: 'off' } })
    await host.ask('Go.')
    expect(host.body(0).tools).toBeUndefined()
    expect(host.raw(0)).not.toContain('tool_choice')
  })

  it.each(wires)('streams over %s, with the same requests as without a stream', async (wire) => {
    const script = [
      calls(search('create issue'), call('read_file')),
      calls(bridged('tracker__create_issue')),
      said(),
    ]
    const host = await startHost({ major, wire, script, options: bridge })
    const plain = await startHost({ major, wire, script, options: bridge })
    const { parts, text } = await host.askStreaming('Make an issue.')
    await plain.ask('Make an issue.')
    expect(text).toBe('Done.')
    expect(host.names(2)).toEqual(plain.names(2))
    expect(host.toolsJson(2)).toBe(host.toolsJson(0))
    expect(sentCalls(host.body(2))).toEqual(['tool_search', 'read_file', 'tool_call'])
    const named = parts.filter(({ type }) => type === 'tool-call').map(({ toolName }) => toolName)
    expect(named).toEqual(['tool_search', 'read_file', 'tracker__create_issue'])
    // No interface sees the start of a call under one name and its end under another.
    const begun = parts.filter(({ type }) => type === 'tool-input-start').map(({ toolName }) => toolName)
    expect(begun).not.toContain('tool_call')
    expect(parts.filter(({ type }) => type === 'tool-result')).toHaveLength(3)
  })

  it('runs nothing of a stream that breaks off, and begins again with the same bytes', async () => {
    const script = [{ cutAfter: 3, text: 'Half of it' }, said('All of it.')]
    const host = await startHost({ major, script, options: bridge })
    await host.askStreaming('Go.', { onError: () => undefined }).catch(() => undefined)
    const begun = () => host.conversation.events.filter(({ kind }) => kind !== 'measured')
    const events = begun().length
    host.messages.splice(0)
    const { text } = await host.askStreaming('Go.')
    expect(text).toBe('All of it.')
    expect(host.raw(1)).toBe(host.raw(0))
    expect(begun()).toHaveLength(events)
  })

  it('retries a request that a server refuses without writing anything twice', async () => {
    const script = [{ status: 503, error: 'busy', headers: { 'retry-after-ms': '1' } }, said()]
    const host = await startHost({ major, script, options: bridge })
    await host.ask('Go.', { maxRetries: 1 })
    expect(host.raw(1)).toBe(host.raw(0))
    expect(host.conversation.events.filter(({ kind }) => kind === 'requested')).toHaveLength(1)
  })

  it('passes on a refusal and a reply that says nothing', async () => {
    const script = [{ text: '', finish: 'content_filter' }, said()]
    const host = await startHost({ major, script, options: bridge })
    await host.ask('Go.')
    const result = await host.ask('And now?')
    expect(result.text).toBe('Done.')
    expect(host.statuses()).toEqual([200, 200])
  })

  it('does not run calls of a reply that was cut short', async () => {
    const script = [{ calls: [call('read_file')], finish: 'length' }, said()]
    const host = await startHost({ major, script, options: bridge, strictOrder: false })
    await host.ask('Go.')
    expect(host.conversation.events.map(({ kind }) => kind)).not.toContain('call-started')
    await host.ask('Go on.')
    expect(host.statuses()).toEqual([200, 200])
  })

  it('works in an agent, streaming and not', async () => {
    const script = [calls(search('create issue')), calls(bridged('tracker__create_issue')), said()]
    const host = await startHost({ major, script: [...script, said('Again.')], options: bridge })
    const agent = new sdk.ToolLoopAgent({ ...host.settings, instructions: 'Be brief.' })
    const prompt = 'Make an issue.'
    const result = await agent.generate({ prompt })
    expect(result.text).toBe('Done.')
    const messages = [
      { role: 'user', content: prompt },
      ...(result.responseMessages ?? result.response.messages),
      { role: 'user', content: 'Thanks.' },
    ]
    expect(await (await agent.stream({ messages })).text).toBe('Again.')
    for (const index of [1, 2, 3]) expect(host.toolsJson(index)).toBe(host.toolsJson(0))
    expect(host.raw(3)).toContain('Be brief.')
  })

  it("runs a host's own tools as the SDK would: checked and converted input, options, last value", async () => {
    const seen: unknown[] = []
    const tools = await importTools(hostTools(sdk, seen), sdk.asSchema, () => ({ source: 'studio' }))
    const script = [
      calls(bridged('studio__weather', { city: 'Oslo' }), bridged('studio__picture', { city: 'Oslo' })),
      said(),
    ]
    const host = await startHost({ major, script, options: { ...bridge, tools: [...mixed(), ...tools] } })
    const result = await host.ask('Go.')
    expect(seen).toEqual([[{ city: 'OSLO' }, 'call_1']])
    expect(result.steps[0]?.toolResults.map(({ output }) => output)).toEqual([{ sunny: true }, 'whole'])
    const told = host.body(1).messages.filter(({ role }) => role === 'tool')
    expect(told[0]?.content).toBe('{"sunny":true}')
    expect(JSON.stringify(told[1]?.content)).toContain('drawn: whole')
  })

  it('asks for the approval of the target, never of the wrapper, and runs it when that is given', async () => {
    const ran: unknown[] = []
    const asked: unknown[] = []
    const pay = sdk.tool({
      description: 'Pays',
      inputSchema: sdk.jsonSchema({ type: 'object', properties: { sum: { type: 'number' } } }),
      needsApproval: (input: { sum: number }) => {
        asked.push(input)
        return input.sum > 10
      },
      execute: (input: unknown) => ran.push(input),
    })
    const tools = [...mixed(), ...(await importTools({ pay }, sdk.asSchema, () => ({ source: 'bank' })))]
    const script = [calls(bridged('bank__pay', { sum: 50 }), call('read_file')), said()]
    const host = await startHost({ major, script, options: { ...bridge, tools } })
    const result = await host.ask('Pay.')
    expect(result.steps[0]?.toolResults.map(({ toolName }) => toolName)).toEqual(['read_file'])
    expect({ asked, ran }).toEqual({ asked: [{ sum: 50 }], ran: [] })
    const request = result.steps[0]?.content.find(({ type }) => type === 'tool-approval-request')
    const { approvalId } = request as unknown as { approvalId: string }
    host.messages.push({
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId, approved: true }],
    })
    const after = await sdk.generateText({ ...host.settings, messages: host.messages })
    expect(after.text).toBe('Done.')
    expect(ran).toEqual([{ sum: 50 }])
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['bank__pay'])
    expect(sentCalls(host.body(1))).toEqual(['tool_call', 'read_file'])
    expect(host.statuses()).toEqual([200, 200])
  })

  it('sends tools that Toolwell does not run first, and leaves their calls alone', async () => {
    const seen: unknown[] = []
    const clock = sdk.tool({
      description: 'Tells the time',
      inputSchema: sdk.jsonSchema({ type: 'object', properties: {} }),
      execute: () => seen.push('clock') && 'noon',
    })
    const script = [calls(call('clock', {}), call('read_file')), said()]
    const host = await startHost({ major, script, options: bridge, adapter: { providerTools: { clock } } })
    await host.ask('What time is it?')
    expect(host.names(1)).toEqual(['clock', 'read_file', 'write_file', 'tool_search', 'tool_call'])
    expect(sentCalls(host.body(1))).toEqual(['clock', 'read_file'])
    expect(seen).toEqual(['clock'])
    expect(host.statuses()).toEqual([200, 200])
  })

  it('keeps to the tools that a host has masked, through the bridge too', async () => {
    const script = [calls(bridged('tracker__create_issue')), calls(call('calendar__find_slot')), said()]
    const host = await startHost({ major, script, options: bridge })
    const activeTools = ['read_file', 'tool_search', 'tool_call', 'calendar__find_slot']
    await host.ask('Go.', { activeTools })
    expect(host.names(0)).toEqual(['read_file', 'tool_search', 'tool_call'])
    const [failed] = host.conversation.events.filter(({ kind }) => kind === 'call-failed')
    expect(failed).toMatchObject({ tool: 'tracker/create_issue' })
    expect(host.conversation.inspect().loadedLazyTools).toEqual(['calendar__find_slot'])
    expect(host.statuses()).toEqual([200, 200, 200])
  })

  it('runs calls that the SDK starts one after the other', async () => {
    const script = [calls(call('read_file'), bridged('tracker__create_issue'), call('write_file')), said()]
    const host = await startHost({ major, script, options: bridge })
    const result = await host.ask('Go.', { toolCallConcurrency: 1, experimental_toolCallConcurrency: 1 })
    expect(result.steps[0]?.toolResults).toHaveLength(3)
  })

  it('wraps a model given as a string', async () => {
    const host = await startHost({ major, script: [said()], options: bridge })
    const provider = { specificationVersion: 'v3', languageModel: () => host.model }
    Object.assign(globalThis, { AI_SDK_DEFAULT_PROVIDER: provider })
    onTestFinished(() => void Reflect.deleteProperty(globalThis, 'AI_SDK_DEFAULT_PROVIDER'))
    await host.ask('Go.', { model: 'scripted/model' })
    expect(host.names(0)).toEqual(['read_file', 'write_file', 'tool_search', 'tool_call'])
  })

  it('gives the host the target where it runs tools itself', async () => {
    const ran: unknown[] = []
    const tools: Tool[] = server('far', ['one', 'two']).map(({ execute: _, ...rest }) => rest)
    const script = [calls(bridged('far__two')), said()]
    const execute = ({ id, input }: { readonly id: string; readonly input: unknown }) => ran.push([id, input])
    const host = await startHost({ major, script, options: { ...bridge, tools }, adapter: { execute } })
    await host.ask('Go.')
    expect(ran).toEqual([['far/two', { value: 'x' }]])
  })

  it('stops a tool when the host does', async () => {
    const stop = new AbortController()
    const tools = [
      ...mixed()
        .slice(0, 1)
        .map((each) => ({ ...each, execute: () => new Promise(() => stop.abort()) })),
    ]
    const host = await startHost({ major, script: [calls(call('read_file'))], options: { ...bridge, tools } })
    await expect(host.ask('Go.', { abortSignal: stop.signal })).rejects.toThrow()
    expect(host.conversation.inspect().pendingCalls).toEqual([])
  })

  it('refuses to import a tool that a provider defines, and says where it goes', async () => {
    const bash = { type: 'provider', id: 'anthropic.bash', args: {} }
    await expect(importTools({ bash }, sdk.asSchema)).rejects.toThrow('pass it to aiSdk as "providerTools"')
  })

  it('writes messages that the SDK takes again', async () => {
    const host = await startHost({ major, script: [said()], options: bridge })
    const thread = host.lazy.thread([
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: 'Hi.' },
    ])
    const messages: Message[] = host.lazy.adopt(
      thread.map(({ kind, ...unit }) => ({ kind, ...unit }) as never),
    )
    host.messages.push(...messages)
    await host.ask('Go.')
    expect(host.body(0).messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
  })
})

it('sends a description that version 7 computes for each step', async () => {
  const { major, sdk } = majors[1]
  let count = 0
  const description = () => `Call ${++count}`
  const inputSchema = sdk.jsonSchema({ type: 'object', properties: {} })
  const skills = sdk.tool({ description, inputSchema, execute: () => 'ok' })
  const tools = await importTools({ skills }, sdk.asSchema)
  const script = [calls(call('skills', {})), said()]
  const host = await startHost({ major, script, options: { ...bridge, tools: [...mixed(), ...tools] } })
  await host.ask('Go.')
  expect([host.toolsJson(0).includes('Call 1'), host.toolsJson(1).includes('Call 2')]).toEqual([true, true])
})
