/** Messages of Anthropic and items of Responses as other libraries and crashes leave them. */
import { createToolwell } from '@toolwell/core'
import { type AnthropicMessage, type AnthropicPrompt, anthropic } from '@toolwell/core/anthropic'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses, type ResponsesItem } from '@toolwell/core/openai-responses'
import { anthropicProtocol, responsesProtocol } from '@toolwell/testing'
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

describe('a value that is no JSON', () => {
  const circle: Record<string, unknown> = { type: 'image' }
  circle.self = circle

  it.each([
    ['a circle', circle],
    ['a big number', { type: 'image', size: 1n }],
  ])('does not stop a request from being measured: %s', async (_, part) => {
    const well = createToolwell({ tools: mixed() })
    const history = [{ role: 'user', content: [part] }, user]
    const unknown = { type: 'something_new', part }
    expect((await openaiChat(await well.open({ id: 'a' })).begin(history)).view.mode).toBe('off')
    expect((await openaiResponses(await well.open({ id: 'b' })).begin([unknown, user])).view.mode).toBe('off')
  })
})

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
      {
        role: 'user',
        content: [
          'words',
          null,
          {},
          { text: 'untyped' },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'words' },
          { type: 'text', text: 'untyped' },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        ],
      },
    ],
  ])('with %s keeps what it says', async (_, message, expected) => {
    const { sent, warnings } = await messagesOf(user, message)
    expect(sent).toEqual([user, expected])
    expect(warnings).toHaveLength(1)
  })

  it('that is empty is omitted', async () => {
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
  ])('with a result that is %s is repaired', async (_, given, expected) => {
    const { sent } = await messagesOf(user, reply, { role: 'user', content: [result(given)] })
    expect(sent[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 'a', ...expected }])
  })
})

describe('the system', () => {
  const later = { role: 'system', content: 'From now on: short.' }
  const begin = async (messages: AnthropicMessage[], prompt: AnthropicPrompt = {}, toolChanges = false) => {
    const turn = await anthropic(await open(), { toolChanges }).begin(messages, prompt)
    const rules = anthropicProtocol({ midConversationSystem: toolChanges })
    expect(rules.violationOf({ model: 'm', max_tokens: 9, ...turn.parts })).toBeUndefined()
    return turn
  }
  const block = (text: string) => ({ type: 'text' as const, text })

  it.each<[string, AnthropicPrompt, unknown, unknown]>([
    ['nothing', {}, 'Be brief.', 'Be brief.'],
    ['a text', { system: 'Be kind.' }, 'Be brief.', 'Be kind.\n\nBe brief.'],
    ['blocks', { system: [block('Be kind.')] }, 'Be brief.', [block('Be kind.'), block('Be brief.')]],
    ['a text', { system: 'Be kind.' }, [block('Be brief.')], [block('Be kind.'), block('Be brief.')]],
  ])('that comes first joins the system prompt, after %s', async (_, prompt, content, expected) => {
    for (const toolChanges of [false, true]) {
      const { parts, warnings } = await begin([{ role: 'system', content }, user], prompt, toolChanges)
      expect(parts).toMatchObject({ system: expected, messages: [user] })
      expect(warnings).toHaveLength(1)
    }
  })

  it("that comes first stays there when a message is inserted before the model's", async () => {
    const said = { role: 'assistant', content: 'As I said.' }
    const { parts } = await begin([{ role: 'system', content: 'Be brief.' }, said, user])
    expect(parts.system).toBe('Be brief.')
    expect(parts.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  it('between other messages is sent as a user message, unless tools may change', async () => {
    const history = [user, later, { role: 'assistant', content: 'Yes.' }, user]
    const { parts, warnings } = await begin(history)
    expect(parts.messages).toEqual([user, { ...later, role: 'user' }, ...history.slice(2)])
    expect(warnings).toEqual([expect.objectContaining({ text: expect.stringContaining('system message') })])
    const kept = await begin(history, {}, true)
    expect(kept.parts.messages).toBe(history)
    expect(kept.warnings).toEqual([])
  })
})

describe("a search of Anthropic's own", () => {
  const use = { type: 'server_tool_use', id: 's', name: 'tool_search_tool_bm25', input: { query: 'x' } }
  const found = (...names: string[]) => ({
    type: 'tool_search_tool_result',
    tool_use_id: 's',
    content: {
      type: 'tool_search_tool_search_result',
      tool_references: names.map((name) => ({ type: 'tool_reference', tool_name: name })),
    },
  })
  const thinking = { type: 'thinking', thinking: 'Hm.', signature: 's' }
  const text = (said: string) => ({ type: 'text', text: said })
  const history = (...content: object[]) => [user, { role: 'assistant', content }, user]

  it('refers only to what is declared', async () => {
    const { sent, warnings } = await messagesOf(...history(use, found('read_file', 'gone'), text('So.')))
    expect(sent[1]).toEqual({ role: 'assistant', content: [use, found('read_file'), text('So.')] })
    expect(warnings).toContainEqual(expect.objectContaining({ text: expect.stringContaining('"gone"') }))
  })

  it.each([
    ['words', [text('So.')], [user, { role: 'assistant', content: [thinking, text('So.')] }, user]],
    ['nothing', [], [user, user]],
  ])('goes as a whole where nothing of it is declared; behind it %s', async (_, rest, expected) => {
    const { sent } = await messagesOf(...history(thinking, use, found('gone'), ...rest))
    expect(sent).toEqual(expected)
  })

  it('that found nothing, or failed, stays unchanged', async () => {
    const failed = {
      ...found(),
      content: { type: 'tool_search_tool_result_error', error_code: 'unavailable' },
    }
    for (const result of [found(), failed]) {
      const messages = history(use, result, text('So.'))
      const { sent, warnings } = await messagesOf(...messages)
      expect(sent[1]).toBe(messages[1])
      expect(warnings).toEqual([])
    }
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
  ])('with %s is repaired', async (_, made, answered, ...expected) => {
    expect((await itemsOf(user, made, answered)).sent.slice(1)).toEqual(expected)
  })

  it('of the official client loses what that client parsed, the same way each time', async () => {
    const said = { type: 'output_text', text: 'So.', annotations: [] }
    const message = { type: 'message', id: 'msg_1', role: 'assistant' }
    const parsed = [
      { ...message, content: [{ ...said, parsed: { a: 1 } }] },
      { ...call, parsed_arguments: null },
    ]
    const history = [user, ...parsed, output] as ResponsesItem[]
    const adapter = openaiResponses(await open())
    const [first, second] = [await adapter.begin(history), await adapter.begin(history)]
    expect(first.parts.input).toEqual([user, { ...message, content: [said] }, call, output])
    expect(first.warnings).toEqual([])
    expect(second.parts.input).toEqual(first.parts.input)
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
