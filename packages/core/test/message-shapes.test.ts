/** Messages of Anthropic and items of Responses as other libraries and crashes leave them. */
import { createToolwell } from '@toolwell/core'
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { openaiResponses, type ResponsesItem } from '@toolwell/core/openai-responses'
import { anthropicProtocol, responsesProtocol } from '@toolwell/core/testing'
import { describe, expect, it } from 'vitest'
import { mixed } from './support/tools.js'

const user = { role: 'user', content: 'go' }
const open = () => createToolwell({ tools: mixed(), mode: 'off' }).open({ id: 'x' })

async function messagesOf(...messages: unknown[]) {
  const turn = await anthropic(await open()).begin(messages as AnthropicMessage[])
  const violation = anthropicProtocol().violationOf({ model: 'm', max_tokens: 9, ...turn.parts })
  expect(violation).toBeUndefined()
  return { sent: turn.parts.messages, warnings: turn.warnings }
}

async function itemsOf(...items: unknown[]) {
  const turn = await openaiResponses(await open()).begin(items as ResponsesItem[])
  expect(responsesProtocol().violationOf({ model: 'm', ...turn.parts })).toBeUndefined()
  return { sent: turn.parts.input, warnings: turn.warnings }
}

describe('a message of Anthropic', () => {
  const use = { type: 'tool_use', id: 'a', name: 'read_file', input: {} }
  const result = (more: object = {}) => ({ type: 'tool_result', tool_use_id: 'a', content: 'r', ...more })
  const reply = { role: 'assistant', content: [use] }

  it('that is sound is the very object', async () => {
    const history = [user, reply, { role: 'user', content: [result(), { type: 'text', text: 'and {}' }] }]
    const { sent, warnings } = await messagesOf(...history)
    expect(sent.every((message, index) => message === history[index])).toBe(true)
    expect(warnings).toEqual([])
  })

  it.each([
    [
      'a role that is not known',
      { role: 'tool', content: 'words' },
      { role: 'user', content: [{ type: 'text', text: 'words' }] },
    ],
    ['a number', { role: 'user', content: 7 }, { role: 'user', content: [{ type: 'text', text: '7' }] }],
    [
      'blocks of anything',
      { role: 'user', content: ['words', null, {}, { text: 'untyped' }, { type: 'image', source: {} }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'words' },
          { type: 'text', text: 'untyped' },
          { type: 'image', source: {} },
        ],
      },
    ],
  ])('with %s keeps what it says', async (_, message, expected) => {
    const { sent, warnings } = await messagesOf(user, message)
    expect(sent).toEqual([user, expected])
    expect(warnings).toHaveLength(1)
  })

  it('that says nothing is left out', async () => {
    const { sent, warnings } = await messagesOf({ role: 'user', content: ' ' }, user)
    expect(sent).toEqual([user])
    expect(warnings).toHaveLength(1)
  })

  it('with a call and its result becomes two', async () => {
    const { sent } = await messagesOf(user, { role: 'assistant', content: [use, result()] }, user)
    expect(sent).toEqual([user, reply, { role: 'user', content: [result()] }, user])
  })

  it.each([
    ['null', { content: null }, {}],
    ['a number', { content: 7 }, { content: '7' }],
    ['an empty list', { content: [] }, {}],
    ['blank', { content: [{ type: 'text', text: '' }] }, {}],
    [
      "another provider's text",
      { content: [{ type: 'input_text', text: 'x' }] },
      { content: [{ type: 'text', text: 'x' }] },
    ],
    ['empty, and an error', { content: '', is_error: true }, { content: '(no output)', is_error: true }],
  ])('with a result that is %s is mended', async (_, given, expected) => {
    const { sent } = await messagesOf(user, reply, { role: 'user', content: [result(given)] })
    expect(sent[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 'a', ...expected }])
  })
})

describe('an item of Responses', () => {
  const call = { type: 'function_call', call_id: 'a', name: 'read_file', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'a', output: 'r' }

  it('that is sound is the very object', async () => {
    const said = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: '{}' }],
    }
    const history = [user, { id: 'fc_1', ...call }, output, said, user]
    const { sent, warnings } = await itemsOf(...history)
    expect(sent.every((item, index) => item === history[index])).toBe(true)
    expect(warnings).toEqual([])
  })

  it('of Chat Completions becomes one of this API', async () => {
    const { sent, warnings } = await itemsOf(
      user,
      {
        role: 'assistant',
        content: 'So.',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'read_file', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'r' },
    )
    expect(sent).toEqual([user, { type: 'message', role: 'assistant', content: 'So.' }, call, output])
    expect(warnings).toHaveLength(2)
  })

  it.each([
    ['an id of another library', { ...call, id: 'call_x' }, output, call, output],
    [
      'a number for an id',
      { ...call, call_id: 5 },
      { ...output, call_id: 5 },
      { ...call, call_id: '5' },
      { ...output, call_id: '5' },
    ],
    [
      'an object for an output',
      call,
      { ...output, output: { a: 1 } },
      call,
      { ...output, output: '{"a":1}' },
    ],
  ])('with %s is mended', async (_, made, answered, ...expected) => {
    expect((await itemsOf(user, made, answered)).sent.slice(1)).toEqual(expected)
  })

  it('with parts under other names keeps what they say', async () => {
    const { sent } = await itemsOf({
      role: 'user',
      content: ['words', { type: 'text', text: 'x' }, null, {}],
    })
    expect(sent).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'words' },
          { type: 'input_text', text: 'x' },
        ],
      },
    ])
  })
})
