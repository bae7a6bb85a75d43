/** Replies and tools that some servers of the Chat family send or refuse. The strict endpoint names the source of each rule. */
import { createToolwell, type Tool } from '@toolwell/core'
import { assemble, type ChatMessage, importTools, openaiChat } from '@toolwell/core/openai-chat'
import { importTools as importResponsesTools, openaiResponses } from '@toolwell/core/openai-responses'
import { chatProtocol, responsesProtocol } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { mixed, tool } from './support/tools.js'

const open = (tools: readonly Tool[] = mixed(), mode: 'on' | 'off' = 'on') =>
  createToolwell({ tools, mode }).open({ id: 'a' })
const user = (content: string): ChatMessage => ({ role: 'user', content })
const refusal = (parts: object, family: 'openai' | 'mistral' = 'openai') =>
  chatProtocol({ family }).violationOf({ model: 'x', ...parts })?.message

async function* stream(...deltas: object[]) {
  for (const delta of deltas) yield { choices: [{ index: 0, delta, finish_reason: null }] }
  yield { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
}

describe('Mistral', () => {
  it.each([
    ['empty text', ''],
    ['null', null],
    ['an empty list', []],
  ])('gets a reply with %s as words', async (_, content) => {
    const history = [user('Hello.'), { role: 'assistant', content }, user('Again.')] as ChatMessage[]
    const { parts } = await openaiChat(await open(), { family: 'mistral' }).begin(history)
    expect(refusal(parts, 'mistral')).toBeUndefined()
    expect(parts.messages.at(-2)).toEqual({ role: 'assistant', content: '(no reply)' })
    // Other servers accept it.
    const plain = await openaiChat(await open()).begin([
      user('Hello.'),
      { role: 'assistant', content: '' },
      user('Again.'),
    ])
    expect(plain.parts.messages.at(-2)).toEqual({ role: 'assistant', content: '' })
  })

  it('streams reasoning in lists, which become one list of parts', async () => {
    const thinking = (text: string) => [{ type: 'thinking', thinking: [{ type: 'text', text }] }]
    const { messages } = await assemble(
      stream(
        { role: 'assistant', content: '' },
        { content: thinking('Let me ') },
        { content: thinking('see.') },
        { content: [{ type: 'text', text: 'It is ' }] },
        { content: '42.' },
      ),
    )
    expect(messages).toEqual([
      { role: 'assistant', content: [...thinking('Let me see.'), { type: 'text', text: 'It is 42.' }] },
    ])
    const history = [user('Well?'), ...messages, user('Again.')]
    const { parts } = await openaiChat(await open(), { family: 'mistral' }).begin(history)
    expect(refusal(parts, 'mistral')).toBeUndefined()
    expect(parts.messages.at(-2)).toBe(messages[0])
  })
})

it('joins the pieces of each block of reasoning that OpenRouter streams, and keeps its signature', async () => {
  const piece = (index: number, fields: object) => ({
    reasoning_details: [{ type: 'reasoning.text', format: 'anthropic-claude-v1', index, ...fields }],
  })
  const encrypted = { type: 'reasoning.encrypted', data: 'x', id: 'call_1', index: 0 }
  const { messages } = await assemble(
    stream(
      piece(0, { text: 'Let me ' }),
      piece(0, { text: 'see.', signature: null }),
      piece(0, { signature: 'c2ln' }),
      piece(1, { text: 'So.', signature: 'Mg==' }),
      { reasoning_details: [encrypted, { ...encrypted, id: 'call_2' }] },
      { content: 'Yes.' },
    ),
  )
  const block = { type: 'reasoning.text', format: 'anthropic-claude-v1' }
  expect(messages).toEqual([
    {
      role: 'assistant',
      content: 'Yes.',
      reasoning_details: [
        { ...block, index: 0, text: 'Let me see.', signature: 'c2ln' },
        { ...block, index: 1, text: 'So.', signature: 'Mg==' },
        encrypted,
        { ...encrypted, id: 'call_2' },
      ],
    },
  ])
  const history = [user('Well?'), ...messages, user('Again.')]
  const { parts } = await openaiChat(await open()).begin(history)
  expect(refusal(parts)).toBeUndefined()
  expect(parts.messages.at(-2)).toBe(messages[0])
})

it.each(['', ' '])('sends the arguments %j of a call as an object', async (text) => {
  const call = { id: 'a', type: 'function', function: { name: 'read_file', arguments: text } }
  const history: ChatMessage[] = [
    user('Read.'),
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: 'x' },
  ]
  const { parts } = await openaiChat(await open()).begin(history)
  expect(refusal(parts)).toBeUndefined()
  expect(parts.messages.flatMap(({ tool_calls: calls }) => calls ?? [])).toEqual([
    { ...call, function: { ...call.function, arguments: '{}' } },
  ])
})

describe('strict mode', () => {
  const inner = { type: 'object', properties: { a: { type: 'string' } } } as const
  const closed = { ...inner, required: ['a'], additionalProperties: false }
  const schemas = {
    'an optional property': inner,
    'an open object inside': { ...closed, properties: { a: inner } },
    'an open object in a list': { ...closed, properties: { a: { type: 'array', items: inner } } },
    'a keyword that it lacks': { ...closed, properties: { a: { allOf: [{ type: 'string' }] } } },
  }
  const asResponses = (parts: object) => responsesProtocol().violationOf({ model: 'x', ...parts })?.message

  it.each(Object.entries(schemas))('is not asked for with %s', async (_, inputSchema) => {
    for (const mode of ['on', 'off'] as const) {
      const tools = [tool('book', { inputSchema, strict: true })]
      const { parts } = await openaiChat(await open(tools, mode)).begin([user('Book.')])
      expect(refusal(parts)).toBeUndefined()
      expect(parts.tools?.find(({ function: { name } }) => name === 'book')?.function.strict).toBe(false)
      const responses = await openaiResponses(await open(tools, mode)).begin([
        { role: 'user', content: 'Book.' },
      ])
      expect(asResponses(responses.parts)).toBeUndefined()
    }
    const definition = { name: 'book', description: 'Book', parameters: inputSchema, strict: true }
    const chat = await open(importTools([{ type: 'function', function: definition }]), 'off')
    expect(refusal((await openaiChat(chat).begin([user('Book.')])).parts)).toBeUndefined()
    const responses = await open(importResponsesTools([{ type: 'function', ...definition }]), 'off')
    const { parts } = await openaiResponses(responses).begin([{ role: 'user', content: 'Book.' }])
    expect(asResponses(parts)).toBeUndefined()
  })

  it('stays for a schema that allows it', async () => {
    const tools = [tool('book', { inputSchema: closed, strict: true })]
    const { parts } = await openaiChat(await open(tools, 'off')).begin([user('Book.')])
    expect(refusal(parts)).toBeUndefined()
    expect(parts.tools?.[0]?.function.strict).toBe(true)
  })
})
