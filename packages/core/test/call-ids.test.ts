/** Ids of calls that servers refuse: a call and its answer get another one together, everything else stays. */
import { type Conversation, createToolwell, type ToolwellOptions } from '@toolwell/core'
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { type GoogleContent, google } from '@toolwell/core/google'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses, type ResponsesItem } from '@toolwell/core/openai-responses'
import { describe, expect, it } from 'vitest'
import type { Adapter } from '../src/adapters/shared/adapter.js'
import { mixed } from './support/tools.js'

const open = (options: ToolwellOptions = {}) =>
  createToolwell({ tools: mixed(), mode: 'off', ...options }).open({ id: 'x' })

/** A reply with a call for each id, and the answers to them in their order. */
const chatRound = (...ids: string[]): ChatMessage[] => [
  {
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'read_file', arguments: '{}' } })),
  },
  ...ids.map((id, index) => ({ role: 'tool', tool_call_id: id, content: `answer ${index}` })),
]
const anthropicRound = (...ids: string[]): AnthropicMessage[] => [
  { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'read_file', input: {} })) },
  {
    role: 'user',
    content: ids.map((id, index) => ({ type: 'tool_result', tool_use_id: id, content: `answer ${index}` })),
  },
]
const responsesRound = (...ids: string[]): ResponsesItem[] => [
  ...ids.map((id) => ({ type: 'function_call', call_id: id, name: 'read_file', arguments: '{}' })),
  ...ids.map((id, index) => ({ type: 'function_call_output', call_id: id, output: `answer ${index}` })),
]

const user = { role: 'user', content: 'go' }
const chat = async (messages: ChatMessage[]) => openaiChat(await open()).begin(messages)
const chatIds = (messages: readonly ChatMessage[]) =>
  messages.flatMap((message) =>
    message.role === 'tool'
      ? [`${message.content}: ${message.tool_call_id}`]
      : (message.tool_calls ?? []).map(({ id }) => id),
  )
const anthropicIds = (messages: readonly AnthropicMessage[]): string[] =>
  messages.flatMap(({ content }) =>
    (Array.isArray(content) ? content : []).flatMap(({ id, tool_use_id: of, content: text }) =>
      id !== undefined ? [id] : of === undefined ? [] : [`${text}: ${of}`],
    ),
  )
const responsesIds = (items: readonly ResponsesItem[]) =>
  items.flatMap(({ call_id: id, output }) => (id ? [output === undefined ? id : `${output}: ${id}`] : []))

describe('an id', () => {
  it('that is too long for Chat Completions is shortened, the same in the call and in its answer', async () => {
    const long = 'x'.repeat(41)
    const { parts, warnings } = await chat([user, ...chatRound('x'.repeat(40), long)])
    const [first, second] = chatIds(parts.messages)
    expect(first).toBe('x'.repeat(40))
    expect(second).toMatch(/^call_[0-9a-f]{16}$/)
    expect(chatIds(parts.messages).slice(2)).toEqual([`answer 0: ${first}`, `answer 1: ${second}`])
    expect(warnings).toEqual([expect.objectContaining({ text: expect.stringContaining(second ?? '') })])
  })

  it('may repeat in a later reply on Chat Completions, and stays unchanged', async () => {
    const messages = [user, ...chatRound('call_0'), ...chatRound('call_0'), user]
    expect((await chat(messages)).parts.messages).toBe(messages)
  })

  it.each([
    ['twice', 'a', 'a'],
    ['missing', '', ''],
  ])('that is %s in one reply gives each answer to its own call, in their order', async (_, ...ids) => {
    const { parts } = await chat([user, ...chatRound(...ids)])
    const [one, two, ...answers] = chatIds(parts.messages)
    expect(one).not.toBe(two)
    expect(answers).toEqual([`answer 0: ${one}`, `answer 1: ${two}`])
    const messages = await anthropic(await open()).begin([user, ...anthropicRound(...ids)])
    const [first, second, ...results] = anthropicIds(messages.parts.messages)
    expect(first).not.toBe(second)
    expect(results).toEqual([`answer 0: ${first}`, `answer 1: ${second}`])
    const { parts: sent } = await openaiResponses(await open()).begin([user, ...responsesRound(...ids)])
    const [before, after, ...outputs] = responsesIds(sent.input)
    expect(before).not.toBe(after)
    expect(outputs).toEqual([`answer 0: ${before}`, `answer 1: ${after}`])
  })

  it('that Anthropic rejects, or that was used before, changes; the first use keeps it', async () => {
    const history = [
      user,
      ...anthropicRound('a'),
      ...anthropicRound('a', 'with.dots'),
      ...anthropicRound('a_2'),
    ]
    const { parts } = await anthropic(await open()).begin([...history, user])
    expect(anthropicIds(parts.messages)).toEqual([
      'a',
      'answer 0: a',
      'a_2',
      expect.stringMatching(/^call_[0-9a-f]{16}$/),
      'answer 0: a_2',
      expect.stringMatching(/^answer 1: call_[0-9a-f]{16}$/),
      'a_2_2',
      'answer 0: a_2_2',
    ])
    expect(parts.messages[1]).toBe(history[1])
  })

  it('that was used before or has 65 characters changes on Responses', async () => {
    const history = [user, ...responsesRound('a'), ...responsesRound('a', 'x'.repeat(65))]
    const { parts } = await openaiResponses(await open()).begin(history)
    expect(responsesIds(parts.input).slice(2)).toEqual([
      'a_2',
      expect.stringMatching(/^call_[0-9a-f]{16}$/),
      'answer 0: a_2',
      expect.stringMatching(/^answer 1: call_[0-9a-f]{16}$/),
    ])
  })

  it('that was given to a call here is not taken by an answer that happens to have it', async () => {
    const [reply] = anthropicRound('a')
    const stray = { type: 'tool_result', tool_use_id: 'a_2', content: 'of something else' }
    const history = [
      user,
      ...anthropicRound('a'),
      reply as AnthropicMessage,
      { role: 'user', content: [stray] },
      user,
    ]
    const { parts } = await anthropic(await open()).begin(history)
    expect(JSON.stringify(parts.messages)).toContain('interrupted')
    expect(anthropicIds(parts.messages)).not.toContain('of something else: a_2')
  })

  it('twice in one content of Gemini gets a number; responses follow it, with ids or without', async () => {
    const call = { functionCall: { id: 'a', name: 'read_file', args: {} } }
    const response = (result: string) => ({
      functionResponse: { id: 'a', name: 'read_file', response: { result } },
    })
    const history: GoogleContent[] = [
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'model', parts: [call, { ...call }] },
      { role: 'user', parts: [response('one'), response('two')] },
    ]
    const { parts, warnings } = await google(await open()).begin(history)
    expect(parts.contents[1]?.parts?.map((part) => part.functionCall?.id)).toEqual(['a', 'a:2'])
    expect(parts.contents[2]?.parts?.map(({ functionResponse: made }) => [made?.id, made?.response])).toEqual(
      [
        ['a', { result: 'one' }],
        ['a:2', { result: 'two' }],
      ],
    )
    expect(warnings).toHaveLength(1)
  })

  describe.each([
    ['twice', ['a', 'a']],
    ['empty', ['', '']],
    ['missing', [undefined, undefined]],
  ])('that is %s in a live reply', (_, ids) => {
    const targets = ['tracker__create_issue', 'calendar__find_slot']
    const inputs = targets.map((name) => ({ query: `select:${name}` }))
    const text = (query: object | undefined) => JSON.stringify(query)
    const start = async (wire: (conversation: Conversation) => object) => {
      const conversation = await open({ mode: 'on', delivery: 'bridge' })
      return { conversation, adapter: wire(conversation) as Adapter<unknown, unknown, object> }
    }
    const uses = ids.map((id, index) => ({ type: 'tool_use', id, name: 'tool_search', input: inputs[index] }))
    const items = ids.map((id, index) => ({
      type: 'function_call',
      call_id: id,
      name: 'tool_search',
      arguments: text(inputs[index]),
    }))
    const calls = ids.map((id, index) => ({
      id,
      type: 'function',
      function: { name: 'tool_search', arguments: text(inputs[index]) },
    }))
    const parts = ids.map((id, index) => ({ functionCall: { id, name: 'tool_search', args: inputs[index] } }))
    const message = { role: 'assistant', content: uses }
    const completion = { role: 'assistant', content: null, tool_calls: calls }
    const content = { role: 'model', parts }

    it.each<[string, (conversation: Conversation) => object, unknown, unknown, readonly unknown[]]>([
      ['anthropic', anthropic, user, message, [message]],
      ['responses', openaiResponses, user, { output: items }, items],
      ['chat', openaiChat, user, completion, [completion]],
      ['google', google, { role: 'user', parts: [{ text: 'go' }] }, content, [content]],
    ])('gives each call its own answer and its own step (%s)', async (_, wire, first, reply, kept) => {
      const { conversation, adapter } = await start(wire)
      const turn = await adapter.begin([first])
      const { messages, answers } = await turn.run(reply)
      expect(answers.map((answer) => answer.text.includes(targets[0] ?? ''))).toEqual([true, false])
      expect(conversation.inspect().loadedLazyTools).toEqual(targets)
      const history = [first, ...kept, ...messages]
      const { parts: sent, warnings } = await adapter.begin(history)
      expect(warnings.filter(({ code }) => code !== 'call-id-changed' && code !== 'form-repaired')).toEqual(
        [],
      )
      // Each schema is in its own answer, and is not shown again.
      for (const name of ['create_issue', 'find_slot'])
        expect(JSON.stringify(sent).split(`The value for ${name}`)).toHaveLength(2)
      const other = await start(wire)
      expect((await other.adapter.importHistory(history)).recovered).toHaveLength(2)
    })
  })

  it('names a step in the ledger as it came: a search that was renamed is found again', async () => {
    const conversation = await open({ mode: 'on', delivery: 'bridge' })
    const adapter = anthropic(conversation)
    const messages: AnthropicMessage[] = [user]
    for (const query of ['select:tracker__create_issue', 'select:calendar__find_slot']) {
      const reply = {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call.0', name: 'tool_search', input: { query } }],
      }
      const { messages: results } = await (await adapter.begin(messages)).run(reply)
      messages.push(reply, ...results)
    }
    expect(anthropicIds(messages).at(-1)).toMatch(/: call\.0$/)
    const { parts } = await adapter.begin(messages)
    const ids = anthropicIds(parts.messages).map((each) => each.split(' ').at(-1))
    expect(new Set(ids).size).toBe(2)
    // Both schemas stand in the answers, so none is shown again.
    expect(JSON.stringify(parts.messages).split('The value for find_slot')).toHaveLength(2)
    const again = await createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'y' })
    expect((await anthropic(again).importHistory(messages)).recovered).toHaveLength(2)
  })
})
