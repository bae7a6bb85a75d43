/** Histories that Mistral's servers take: ids of nine characters, and the model's word before the user's behind a result. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createToolwell } from '@toolwell/core'
import { aiSdk } from '@toolwell/core/ai-sdk'
import { anthropic } from '@toolwell/core/anthropic'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { chatProtocol, startScriptedEndpoint } from '@toolwell/testing'
import { generateText, type ModelMessage, stepCountIs } from 'ai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mixed, server } from './support/tools.js'

const protocol = chatProtocol({ family: 'mistral', nineCharacterIds: true })
const refusal = (parts: object) => protocol.violationOf({ model: 'x', ...parts })?.message
const open = () => createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })
const called = (id: string): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'read_file', arguments: '{"value":"x"}' } }],
})
const user = (content: string): ChatMessage => ({ role: 'user', content })

describe('as Mistral has it', () => {
  it('an interrupted call does not block the thread', async () => {
    const messages = [user('Read.'), called('abc123DEF')]
    const chat = openaiChat(await open(), { family: 'mistral' })
    const first = await chat.begin(messages)
    expect(refusal(first.parts)).toBeUndefined()
    messages.push(user('Well?'))
    const second = await chat.begin(messages)
    expect(refusal(second.parts)).toBeUndefined()
    expect(second.parts.messages.slice(-3).map(({ role }) => role)).toEqual(['tool', 'assistant', 'user'])
    expect(second.parts.messages.slice(0, first.parts.messages.length)).toEqual(first.parts.messages)
    // A server of another family would not want it.
    const plain = await openaiChat(await open()).begin(messages)
    expect(plain.parts.messages.slice(-2).map(({ role }) => role)).toEqual(['tool', 'user'])
    expect(refusal(plain.parts)).toContain("Unexpected role 'user' after role 'tool'")
  })

  it('a notice behind a result stays in it when the user speaks', async () => {
    const well = createToolwell({ tools: mixed(), mode: 'on' })
    const chat = openaiChat(await well.open({ id: 'a' }), { family: 'mistral' })
    const messages = [user('Read.')]
    const turn = await chat.begin(messages)
    messages.push(called('abc123DEF'), ...(await turn.run(called('abc123DEF') as never)).messages)
    well.catalogue.setSource('mail', { tools: server('mail', ['send_mail']) })
    const first = await chat.begin(messages)
    expect(first.parts.messages.at(-1)?.content).toContain('mail__send_mail')
    messages.push(user('Stop.'))
    const second = await chat.begin(messages)
    expect(refusal(second.parts)).toBeUndefined()
    expect(second.parts.messages.slice(0, first.parts.messages.length)).toEqual(first.parts.messages)
  })

  it('a thread of another provider has ids of nine characters, and its own stay', async () => {
    const conversation = await open()
    const input = { value: 'x' }
    const thread = anthropic(conversation).thread([
      { role: 'user', content: 'Read.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_01ABC', name: 'read_file', input }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01ABC', content: 'It says x.' }] },
      { role: 'assistant', content: 'It says x.' },
    ])
    const chat = openaiChat(conversation, { family: 'mistral' })
    const messages = [...chat.adopt(thread), user('Again.'), called('abc123DEF')]
    messages.push({ role: 'tool', tool_call_id: 'abc123DEF', content: 'x' })
    const { parts } = await chat.begin(messages)
    expect(refusal(parts)).toBeUndefined()
    const ids = parts.messages.flatMap(({ tool_calls: calls }) => calls?.map(({ id }) => id) ?? [])
    expect(ids).toEqual([expect.stringMatching(/^[a-z0-9]{9}$/), 'abc123DEF'])
    expect((await chat.begin(messages)).parts).toEqual(parts)
  })

  it('refuses a family that is not known', async () => {
    const conversation = await open()
    expect(() => openaiChat(conversation, { family: 'qwen' as never })).toThrow(/family/)
  })

  it('the AI SDK door knows it by the name of the provider', async () => {
    const finish = 'length'
    const cut = { calls: [{ name: 'read_file', arguments: '{"value":"se' }], finish }
    const endpoint = await startScriptedEndpoint(protocol, { model: [cut, { text: 'Well.' }] })
    onTestFinished(() => endpoint.close())
    const model = createOpenAICompatible({ name: 'mistral', baseURL: endpoint.url, apiKey: 'none' })('x')
    const lazy = aiSdk<ModelMessage>(await open())
    const messages: ModelMessage[] = []
    for (const content of ['Read.', 'Go on.']) {
      messages.push({ role: 'user', content })
      const settings = { model, messages, stopWhen: stepCountIs(5), maxRetries: 0, ...lazy.settings }
      messages.push(...(await generateText(settings)).response.messages)
    }
    expect(endpoint.requests.map(({ status }) => status)).toEqual([200, 200])
  })
})
