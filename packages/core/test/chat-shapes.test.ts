/** Messages of Chat Completions as other libraries, older servers and crashes leave them. */
import { createToolwell, type ToolwellOptions } from '@toolwell/core'
import { assemble, type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { describe, expect, it } from 'vitest'
import { findChatViolation } from '../../testing/src/openai-chat/rules.js'
import { mixed } from './support/tools.js'

const user = { role: 'user', content: 'go' }

async function begin(messages: readonly unknown[], options: ToolwellOptions = {}) {
  const well = createToolwell({ tools: mixed(), mode: 'off', ...options })
  const turn = await openaiChat(await well.open({ id: 'x' })).begin(messages as ChatMessage[])
  expect(findChatViolation({ model: 'm', ...turn.parts })).toBeUndefined()
  return turn
}

describe('a call', () => {
  const custom = { id: 'c', type: 'custom', custom: { name: 'apply_patch', input: '*** Begin Patch' } }
  const answer = { role: 'tool', tool_call_id: 'c', content: 'applied' }

  it.each(['off', 'on'] as const)(
    "of a custom tool is the host's: it stays with its answer, beside calls that are repaired (%s)",
    async (mode) => {
      const gone = { id: 'g', type: 'function', function: { name: 'gone', arguments: '{}' } }
      const reply = { role: 'assistant', content: null, tool_calls: [custom, gone] }
      const { parts } = await begin([user, reply, answer, { ...answer, tool_call_id: 'g' }, user], { mode })
      const sent = parts.messages.find(({ role }) => role === 'assistant')
      expect(sent?.tool_calls?.[0]).toBe(custom)
      // The result of the other call follows it, or is in its own answer.
      const given = parts.messages.find((message) => message.tool_call_id === 'c')
      expect(given?.content).toMatch(
        mode === 'off' ? /^applied\n\n<tool-update>\nAn earlier call of "gone"/ : /^applied$/,
      )
    },
  )

  it('of a custom tool alone leaves the history unchanged, and run() ignores it', async () => {
    const messages = [user, { role: 'assistant', content: null, tool_calls: [custom] }, answer]
    const turn = await begin(messages)
    expect(turn.parts.messages).toBe(messages)
    expect(turn.warnings).toEqual([])
    expect((await turn.run(messages[1] as ChatMessage)).answers).toEqual([])
  })

  it.each([
    ['no type', { id: 'a', function: { name: 'read_file', arguments: '{"value":"x"}' } }],
    [
      'an object for arguments',
      { id: 'a', type: 'function', function: { name: 'read_file', arguments: { value: 'x' } } },
    ],
  ])('with %s is written as servers want it', async (_, made) => {
    const reply = { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [made] }
    const { parts, warnings } = await begin([user, reply, { role: 'tool', tool_call_id: 'a', content: 'r' }])
    expect(parts.messages[1]).toEqual({
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'read_file', arguments: '{"value":"x"}' } },
      ],
    })
    expect(warnings).toHaveLength(1)
  })

  it('in the field of old, with its answer by name, becomes one of today', async () => {
    const reply = { role: 'assistant', content: null, function_call: { name: 'read_file', arguments: '{}' } }
    const { parts } = await begin([user, reply, { role: 'function', name: 'read_file', content: 'r' }])
    expect(parts.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call', type: 'function', function: { name: 'read_file', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call', name: 'read_file', content: 'r' },
    ])
  })

  it('without a name becomes text, together with its answer', async () => {
    const reply = { role: 'assistant', content: null, tool_calls: [{ id: 'a' }] }
    const { parts } = await begin([user, reply, { role: 'tool', tool_call_id: 'a', content: 'the answer' }])
    expect(JSON.stringify(parts.messages)).toContain('the answer')
  })
})

describe('content', () => {
  it.each([
    ['null', null, ''],
    ['missing', undefined, ''],
    ['a number', 7, '7'],
    ['an object', { a: 1 }, '{"a":1}'],
    ['an empty list', [], ''],
    [
      'a list of anything',
      [
        'words',
        { text: 'untyped' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        null,
        7,
      ],
      [
        { type: 'text', text: 'words' },
        { type: 'text', text: 'untyped' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        { type: 'text', text: '7' },
      ],
    ],
  ])('that is %s becomes text; nothing that was said is lost', async (_, content, expected) => {
    const { parts, warnings } = await begin([{ role: 'user', content }])
    expect(parts.messages).toEqual([{ role: 'user', content: expected }])
    expect(warnings).toHaveLength(1)
  })

  it('that is null in an answer becomes an empty text', async () => {
    const reply = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'read_file', arguments: '{}' } }],
    }
    const { parts } = await begin([user, reply, { role: 'tool', tool_call_id: 'a', content: null }])
    expect(parts.messages[1]).toBe(reply)
    expect(parts.messages[2]).toEqual({ role: 'tool', tool_call_id: 'a', content: '' })
  })
})

describe('a message', () => {
  it('that the host changed in place is read again', async () => {
    const conversation = await createToolwell({ tools: mixed(), mode: 'off' }).open({ id: 'x' })
    const adapter = openaiChat(conversation)
    const made = { id: 'a', type: 'function', function: { name: 'read_file', arguments: '{}' } }
    const reply: Record<string, unknown> = { role: 'assistant', content: 'Hm.' }
    const messages = [user, reply, user] as ChatMessage[]
    expect((await adapter.begin(messages)).warnings).toEqual([])
    reply.tool_calls = [made]
    expect((await adapter.begin(messages)).warnings).toEqual([
      { code: 'call-interrupted', text: 'answered the interrupted call "a"' },
    ])
    made.function.name = 'gone'
    expect((await adapter.begin(messages)).warnings).toContainEqual(
      expect.objectContaining({ text: expect.stringContaining('"gone"') }),
    )
  })

  it('of a role that is not known is sent as the user’s', async () => {
    const { parts, warnings } = await begin([user, { role: 'ipython', content: '5' }])
    expect(parts.messages[1]).toEqual({ role: 'user', content: '5' })
    expect(warnings).toEqual([expect.objectContaining({ text: expect.stringContaining('"ipython"') })])
  })
})

describe('a stream', () => {
  async function* of(...deltas: readonly object[]) {
    for (const delta of deltas) yield { choices: [{ delta }] }
    yield { choices: [{ delta: {}, finish_reason: 'tool_calls' }] }
  }

  it('keeps what only some servers send, for those that want it back', async () => {
    const { reply } = await assemble(
      of(
        { role: 'assistant', reasoning_content: 'Let me ', reasoning_details: [{ index: 0 }], extra: null },
        { reasoning_content: 'think.', reasoning_details: [{ index: 1 }], signed: true },
        {
          tool_calls: [
            { index: 0, id: 'a', type: 'function', function: { name: 'read_file', arguments: '{' } },
          ],
        },
        {
          tool_calls: [
            { index: 0, function: { arguments: '}' }, extra_content: { google: { thought_signature: 's' } } },
          ],
        },
      ),
    )
    expect(reply.message).toEqual({
      role: 'assistant',
      content: null,
      reasoning_content: 'Let me think.',
      reasoning_details: [{ index: 0 }, { index: 1 }],
      signed: true,
      tool_calls: [
        {
          id: 'a',
          type: 'function',
          function: { name: 'read_file', arguments: '{}' },
          extra_content: { google: { thought_signature: 's' } },
        },
      ],
    })
  })

  const piece = (fields: object, name: string, text: string) => ({
    tool_calls: [{ ...fields, type: 'function', function: { ...(name && { name }), arguments: text } }],
  })
  it.each<[string, readonly object[]]>([
    [
      'one id for every call',
      [
        piece({ index: 0, id: 'a' }, 'one', '{"v"'),
        piece({ index: 1, id: 'a' }, 'two', '{"w"'),
        piece({ index: 0, id: 'a' }, '', ':1}'),
        piece({ index: 1 }, '', ':2}'),
      ],
    ],
    [
      'one index for every call',
      [
        piece({ index: 0, id: 'a' }, 'one', '{"v"'),
        piece({ index: 0, id: 'b' }, 'two', '{"w":2}'),
        piece({ index: 0, id: 'a' }, '', ':1}'),
      ],
    ],
    [
      'no index',
      [
        piece({ id: 'a' }, 'one', '{"v"'),
        piece({}, '', ':'),
        piece({ id: 'b' }, 'two', '{"w":2}'),
        piece({ id: 'a' }, 'one', '1}'),
      ],
    ],
    [
      'no id',
      [
        piece({ index: 0 }, 'one', '{"v"'),
        piece({ index: 1, id: '' }, 'two', '{"w":2}'),
        piece({ index: 0, id: null }, '', ':1}'),
        { tool_calls: [null, 7] },
      ],
    ],
    [
      'a place far away',
      [piece({ index: 0, id: 'a' }, 'one', '{"v":1}'), piece({ index: 1e9, id: 'b' }, 'two', '{"w":2}')],
    ],
  ])('keeps calls apart if there is %s', async (_what, deltas) => {
    const { reply } = await assemble(of(...deltas))
    expect(reply.message.tool_calls?.map((call) => call.function)).toEqual([
      { name: 'one', arguments: '{"v":1}' },
      { name: 'two', arguments: '{"w":2}' },
    ])
  })

  it('puts a call of a custom tool together', async () => {
    const { reply } = await assemble(
      of(
        {
          tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'apply_patch', input: '***' } }],
        },
        { tool_calls: [{ index: 0, custom: { input: ' End' } }] },
      ),
    )
    expect(reply.message.tool_calls).toEqual([
      { id: 'a', type: 'custom', custom: { name: 'apply_patch', input: '*** End' } },
    ])
  })
})
