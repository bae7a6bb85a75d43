/** Gemini through the SDK, against its strict scripted endpoint. */
import { describe, expect, it } from 'vitest'
import { detectProtocol } from '../../src/adapters/ai-sdk/protocol.js'
import { mixed } from '../support/tools.js'
import { bridged, call, calls, majors, said, search, sentCalls, startHost } from './support.js'

const wire = 'google'
const eager = ['read_file', 'write_file', 'tool_search']
const name = 'tracker__create_issue'
const options = (delivery: 'append' | 'bridge') => ({ tools: mixed(), mode: 'on', delivery }) as const

it.each([
  ['google.generative-ai', 'google'],
  ['google.vertex.chat', 'google'],
  ['googleVertex.chat', 'google'],
  ['vertex.anthropic.messages', 'anthropic'],
  ['vertex.maas.chat', 'openai-chat'],
  ['openai.chat', 'openai-chat'],
  ['azure.responses', 'openai-responses'],
  ['somebody', 'ai-sdk'],
] as const)('maps the provider %s to the protocol %s', (provider, protocol) => {
  expect(detectProtocol(provider)).toBe(protocol)
})

describe.each(majors)('AI SDK $major', ({ major }) => {
  it('searches, calls and answers over the bridge', async () => {
    const script = [calls(search('create issue')), calls(bridged(name), call('read_file')), said(), said()]
    const host = await startHost({ major, wire, script, options: options('bridge') })
    const result = await host.ask('Make an issue.', { system: 'Be brief.' })
    await host.ask('Thanks.', { system: 'Be brief.' })
    expect(result.text).toBe('Done.')
    expect(host.statuses()).toEqual([200, 200, 200, 200])
    expect(host.names(0)).toEqual([...eager, 'tool_call'])
    for (const index of [1, 2, 3]) expect(host.toolsJson(index)).toBe(host.toolsJson(0))
    expect(sentCalls(host.body(3))).toEqual(['tool_search', 'tool_call', 'read_file'])
    expect(result.steps[1]?.toolCalls.map(({ toolName }) => toolName)).toEqual([name, 'read_file'])
    expect(host.raw(3)).toContain('create_issue ran with')
    expect(
      JSON.stringify((host.body(3) as unknown as { systemInstruction: unknown }).systemInstruction),
    ).toMatch(/Be brief\..*# More tools/)
  })

  it('appends what a search finds, and calls it by its name', async () => {
    const script = [calls(search(`select:${name}`)), calls(call(name)), said()]
    const host = await startHost({ major, wire, script, options: options('append') })
    await host.ask('Make an issue.')
    expect(host.statuses()).toEqual([200, 200, 200])
    expect(host.names(0)).toEqual(eager)
    expect(host.names(1)).toEqual([...eager, name])
    expect(host.toolsJson(2)).toBe(host.toolsJson(1))
    expect(sentCalls(host.body(2))).toEqual(['tool_search', name])
    expect(host.raw(2)).not.toContain('skip_thought_signature_validator')
    expect(host.raw(2)).toContain('create_issue ran with')
  })

  it('knows Gemini on Vertex by the name of its provider', async () => {
    const script = [calls(search(`select:${name}`)), calls(bridged(name, '{"value":"x"}')), said()]
    const provider = 'google.vertex.chat'
    const host = await startHost({ major, wire, provider, script, options: options('bridge') })
    await host.ask('Make an issue.')
    expect(host.statuses()).toEqual([200, 200, 200])
    expect(host.raw(2)).toContain('create_issue ran with')
  })

  it('takes the arguments of the bridge as text: a free object would be refused', async () => {
    const text = call('tool_call', { name, arguments: '{"value":"x"}' })
    const host = await startHost({ major, wire, script: [calls(text), said()], options: options('bridge') })
    const result = await host.ask('Make an issue.')
    expect(host.statuses()).toEqual([200, 200])
    expect(result.steps[0]?.toolCalls).toMatchObject([{ toolName: name, input: { value: 'x' } }])
    expect(host.toolsJson(0)).toContain(
      '"arguments":{"description":"The arguments, matching the schema of the tool',
    )
    expect(host.raw(1)).toContain('create_issue ran with')
  })

  it('declares a tool that takes any object with its arguments as text, and one without any without', async () => {
    const given = [
      {
        name: 'set_all',
        description: 'Sets',
        inputSchema: { type: 'object', additionalProperties: { type: 'string' } },
      },
      { name: 'ping', description: 'Pings', inputSchema: { type: 'object', additionalProperties: false } },
    ].map((tool) => ({ ...tool, execute: (input: unknown) => `got ${JSON.stringify(input)}` }))
    const script = [calls(call('set_all', { arguments_json: '{"a":"b"}' }), call('ping', {})), said()]
    const host = await startHost({ major, wire, script, options: { tools: given, mode: 'on' } })
    await host.ask('Set it.')
    expect(host.statuses()).toEqual([200, 200])
    expect(host.raw(1)).toContain('got {\\"a\\":\\"b\\"}')
    expect(host.raw(1)).toContain('got {}')
  })
})
