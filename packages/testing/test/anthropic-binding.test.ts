/** Preserved thinking at the scripted endpoint: what a block is bound to, what frees it, and what the request may ask for. */
import { describe, expect, it } from 'vitest'
import { anthropicProtocol } from '../src/anthropic/protocol.js'
import type { AnthropicRequestBody } from '../src/anthropic/rules.js'

type Message = AnthropicRequestBody['messages'][number]
const MODEL = 'claude-fable-5-1'
const schema = { type: 'object', properties: {} }
const tool = (name: string, more: object = {}) => ({ name, input_schema: schema, ...more })
const tools = [tool('search'), tool('write', { defer_loading: true })]
const user = (content: unknown): Message => ({ role: 'user', content }) as Message
const request = (messages: readonly Message[], more: object = {}): AnthropicRequestBody => ({
  model: MODEL,
  max_tokens: 100,
  system: 'Be brief.',
  tools,
  messages,
  ...more,
})
const context = { index: 0, rendered: '', earlier: [], nextCallId: (prefix: string) => `${prefix}1` }

function answer(
  body: AnthropicRequestBody,
  said: object,
): Message & { readonly input_transformations?: readonly object[] } {
  return anthropicProtocol().answer({ thinking: 'Hm.', ...said }, body, context).object as never
}
const kept = ({ role, content }: Message): Message => ({ role, content }) as Message
const codeOf = (body: AnthropicRequestBody, options = {}) =>
  anthropicProtocol(options).violationOf(body)?.code
const bare = (message: Message): Message =>
  ({
    ...message,
    content: (message.content as { type: string }[]).filter(({ type }) => type !== 'thinking'),
  }) as Message

/** Three turns: a search that refers to `write`, then words, then words. */
function conversation(): Message[] {
  const messages = [user('Go.')]
  const search = { calls: [{ name: 'search', arguments: {}, id: 'a' }] }
  messages.push(kept(answer(request(messages), search)))
  const found = [{ type: 'tool_reference', tool_name: 'write' }]
  messages.push(user([{ type: 'tool_result', tool_use_id: 'a', content: found }]))
  messages.push(kept(answer(request(messages), { text: 'One.', thinking: 'First.' })), user('On.'))
  messages.push(kept(answer(request(messages), { text: 'Two.', thinking: 'Then.' })), user('And?'))
  return messages
}

describe('a thinking block', () => {
  const messages = conversation()
  const [go, searching, found, one, on, two, and] = messages as [
    Message,
    Message,
    Message,
    Message,
    Message,
    Message,
    Message,
  ]

  it('comes back where nothing before it has changed', () => {
    expect(codeOf(request(messages))).toBeUndefined()
    const marked = [{ ...tool('search'), cache_control: { type: 'ephemeral' } }, tools[1]]
    expect(codeOf(request(messages, { tools: marked, max_tokens: 7 }))).toBeUndefined()
  })

  it('comes back when a deferred tool joins that no reference brings in', () => {
    const more = [...tools, tool('read', { defer_loading: true })]
    expect(codeOf(request(messages, { tools: more }))).toBeUndefined()
  })

  it.each([
    ['the system prompt', request(messages, { system: 'Be kind.' })],
    ['a tool', request(messages, { tools: [...tools, tool('read')] })],
    [
      'the definition that a reference expands to',
      request(messages, {
        tools: [tool('search'), tool('write', { description: 'New.', defer_loading: true })],
      }),
    ],
    ['an earlier message', request([user('Went.'), ...messages.slice(1)])],
    ['thinking between others', request([go, searching, found, bare(one), on, two, and])],
  ])('is refused after a change of %s', (_, body) => {
    expect(codeOf(body)).toBe('prefix_binding_mismatch')
  })

  it('may be omitted from the oldest on', () => {
    expect(codeOf(request([go, bare(searching), found, one, on, two, and]))).toBeUndefined()
    expect(codeOf(request([go, bare(searching), found, bare(one), on, two, and]))).toBeUndefined()
    expect(codeOf(request(messages.map((m) => (m.role === 'assistant' ? bare(m) : m))))).toBeUndefined()
  })

  it('is dropped where the request asks for that, and what follows is bound to what was seen', () => {
    const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } }
    const body = request(messages, { system: 'Be kind.', thinking })
    expect(codeOf(body)).toBeUndefined()
    const reply = answer(body, { text: 'Three.', thinking: 'Anew.' })
    expect(reply.input_transformations).toHaveLength(3)
    const next = [...messages, kept(reply), user('Good.')]
    expect(answer(request(next, { system: 'Be kind.', thinking }), {}).input_transformations).toHaveLength(3)
    const stripped = next.map((m, index) => (m.role === 'assistant' && index < 7 ? bare(m) : m))
    expect(codeOf(request(stripped, { system: 'Be kind.' }))).toBeUndefined()
  })

  it('with a seal that is not the server’s own is refused whatever the request asks for', () => {
    const forged = {
      ...one,
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sealed' },
        { type: 'text', text: 'x' },
      ],
    }
    const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } }
    expect(codeOf(request([go, searching, found, forged as Message, and], { thinking }))).toBe(
      'invalid_signature',
    )
  })

  it('is bound by model, or by the option', () => {
    const changed = request(messages, { system: 'Be kind.' })
    expect(codeOf({ ...changed, model: 'claude-opus-5' })).toBeUndefined()
    expect(codeOf({ ...changed, model: 'scripted' }, { boundThinking: true })).toBe('prefix_binding_mismatch')
    expect(codeOf(changed, { boundThinking: false })).toBeUndefined()
  })
})

describe('the request', () => {
  it('has a known behaviour, together with thinking that can be bound', () => {
    const asking = (type: string, behaviour: unknown) =>
      codeOf(
        request([user('Go.')], {
          thinking: { type, block_binding: { prefix_mismatch_behavior: behaviour } },
        }),
      )
    expect(asking('adaptive', 'drop_block')).toBeUndefined()
    expect(asking('adaptive', 'keep')).toBe('invalid_value')
    expect(asking('disabled', 'error')).toBe('extra_forbidden')
  })

  it('with a fixed budget keeps the thinking of the tool loop it is in', () => {
    const [go, searching, found] = conversation() as [Message, Message, Message]
    const fixed = { model: 'claude-haiku-4-5', thinking: { type: 'enabled', budget_tokens: 1024 } }
    expect(codeOf(request([go, searching, found], fixed))).toBeUndefined()
    expect(codeOf(request([go, bare(searching), found], fixed))).toBe('loop_without_thinking')
    const over = [go, bare(searching), found, { role: 'assistant', content: 'Done.' } as Message, user('On.')]
    expect(codeOf(request(over, fixed))).toBeUndefined()
  })

  it('has no fixed budget if the model checks, and may omit the thinking of the current loop', () => {
    const [go, searching, found] = conversation() as [Message, Message, Message]
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    expect(codeOf(request([go, searching, found], { thinking }))).toBe('fixed_budget')
    expect(codeOf(request([go, bare(searching), found], { system: 'Be kind.' }))).toBeUndefined()
  })
})
