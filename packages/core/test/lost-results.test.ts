/** A host that did not keep the messages of `run`: the ledger knows how the calls ended, and both the model and the host learn it. */
import { createToolwell, type ToolwellOptions } from '@toolwell/core'
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { anthropicProtocol, chatProtocol } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { server, tool } from './support/tools.js'

const fails = () => {
  throw new Error('db down')
}
const tools = [tool('own'), tool('broken', { execute: fails }), ...server('git', ['log'])]
const open = (options: ToolwellOptions = {}) => createToolwell({ tools, ...options }).open({ id: 'a' })
const user: ChatMessage = { role: 'user', content: 'Go.' }
const called = (id: string, name: string, given: object): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(given) } }],
})

describe.each(['off', 'on'] as const)('mode %s', (mode) => {
  const cases = [
    ['own', { value: 'x' }, 'succeeded'],
    ['broken', { value: 'x' }, 'failed'],
    ...(mode === 'on'
      ? [['tool_call', { name: 'git__log', arguments: { value: 'x' } }, 'succeeded'] as const]
      : []),
  ] as const

  it.each(cases)('a call of %s with %j: model and host learn that it %s', async (name, given, ended) => {
    const chat = openaiChat(await open({ mode }))
    const reply = called('c1', name, given)
    await (await chat.begin([user])).run(reply as never)
    const { parts, warnings } = await chat.begin([user, reply])
    expect(chatProtocol().violationOf({ model: 'm', ...parts } as never)).toBeUndefined()
    expect(parts.messages.at(-1)).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      content: expect.stringMatching(`^This call was run and ${ended}; its result is no longer available\\.`),
    })
    expect(warnings).toEqual([
      {
        code: 'answer-missing',
        text: `the result of "c1", which ${ended}, is missing from this history: push the messages that run returns`,
      },
    ])
    const again = await chat.begin([user, reply, { role: 'assistant', content: 'Hm.' }, user])
    expect(again.parts.messages.slice(0, parts.messages.length)).toEqual(parts.messages)
  })
})

it('claims nothing about another call with the same id, or about a call that never ran', async () => {
  const chat = openaiChat(await open())
  await (await chat.begin([user])).run(called('c1', 'own', { value: 'x' }) as never)
  for (const reply of [called('c1', 'own', { value: 'y' }), called('c2', 'own', { value: 'x' })]) {
    const { parts, warnings } = await chat.begin([user, reply])
    expect(JSON.stringify(parts.messages)).toContain('it is unknown whether it ran')
    expect(warnings.map(({ code }) => code)).toEqual(['call-interrupted'])
  }
})

it('works on another wire, too', async () => {
  const conversation = await open()
  const history: AnthropicMessage[] = [{ role: 'user', content: 'Go.' }]
  const reply = {
    role: 'assistant' as const,
    content: [{ type: 'tool_use' as const, id: 't1', name: 'own', input: { value: 'x' } }],
  }
  await (await anthropic(conversation).begin(history)).run(reply as never)
  const { parts, warnings } = await anthropic(conversation).begin([...history, reply, ...history])
  expect(anthropicProtocol().violationOf({ model: 'm', max_tokens: 9, ...parts } as never)).toBeUndefined()
  expect(JSON.stringify(parts.messages)).toContain('This call was run and succeeded')
  expect(warnings.map(({ code }) => code)).toEqual(['answer-missing'])
})

it('an answer without its call becomes text, with the call id', async () => {
  const answer: ChatMessage = { role: 'tool', tool_call_id: 'c42', content: 'ran' }
  const { parts, warnings } = await openaiChat(await open()).begin([user, answer, user])
  expect(warnings.map(({ code }) => code)).toEqual(['answer-orphaned'])
  const sent = JSON.stringify(parts.messages)
  expect(sent).not.toContain('An earlier call of')
  expect(sent).toContain('An earlier call that is no longer in this conversation (id')
})
