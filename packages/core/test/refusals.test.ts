/** A model that refuses, or says nothing at all: nothing runs, and the history continues. */
import { type Conversation, createToolwell } from '@toolwell/core'
import { anthropic } from '@toolwell/core/anthropic'
import { google } from '@toolwell/core/google'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses } from '@toolwell/core/openai-responses'
import { describe, expect, it } from 'vitest'
import { findAnthropicViolation } from '../../testing/src/anthropic/rules.js'
import { findGoogleViolation } from '../../testing/src/google/rules.js'
import { findChatViolation } from '../../testing/src/openai-chat/rules.js'
import { findResponsesViolation } from '../../testing/src/openai-responses/rules.js'
import { mixed } from './support/tools.js'

const open = (): Promise<Conversation> => createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })
const user = (content: string) => ({ role: 'user', content })

describe('a refusal', () => {
  it.each([
    { role: 'assistant', content: [], stop_reason: 'refusal' },
    { role: 'assistant', content: [{ type: 'text', text: 'I will not.' }], stop_reason: 'refusal' },
    { role: 'assistant', content: [{ type: 'text', text: '' }], stop_reason: 'refusal' },
  ])('on Anthropic goes back as it may: %j', async (reply) => {
    const wire = anthropic(await open())
    const history = [user('Do it')]
    const turn = await wire.begin(history)
    expect(await turn.run(reply)).toEqual({ messages: [], answers: [], providerCalls: [] })
    const { parts } = await wire.begin([...history, reply, user('Then something else')])
    expect(findAnthropicViolation({ model: 'm', max_tokens: 9, ...parts })).toBeUndefined()
  })

  it.each([
    { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
  ])('on the Responses API goes back as it came: %j', async (item) => {
    const wire = openaiResponses(await open())
    const history = [user('Do it')]
    const turn = await wire.begin(history)
    expect(await turn.run({ output: [item] })).toEqual({ messages: [], answers: [], providerCalls: [] })
    const { parts } = await wire.begin([...history, item, user('Then something else')])
    expect(parts.input[1]).toBe(item)
    expect(findResponsesViolation({ model: 'm', ...parts })).toBeUndefined()
  })

  it.each([
    { role: 'assistant', content: null, refusal: 'No.' },
    { role: 'assistant', content: '' },
  ])('on Chat Completions goes back as it came: %j', async (reply) => {
    const wire = openaiChat(await open())
    const history = [user('Do it')]
    const turn = await wire.begin(history)
    expect(await turn.run(reply)).toEqual({ messages: [], answers: [], providerCalls: [] })
    const { parts } = await wire.begin([...history, reply, user('Then something else')])
    expect(findChatViolation({ model: 'm', ...parts })).toBeUndefined()
  })

  it.each([
    { candidates: [{ finishReason: 'SAFETY' }] },
    { candidates: [{ finishReason: 'SAFETY', content: { role: 'model' } }] },
    { promptFeedback: { blockReason: 'SAFETY' } },
  ])('on Gemini has nothing to go back: %j', async (reply) => {
    const wire = google(await open())
    const history = [{ role: 'user', parts: [{ text: 'Do it' }] }]
    const turn = await wire.begin(history)
    expect(await turn.run(reply as never)).toEqual({ messages: [], answers: [], providerCalls: [] })
    const { candidates = [] } = reply as { candidates?: { content?: { role: string } }[] }
    const said = candidates.flatMap(({ content }) => content ?? [])
    const next = [...history, ...said, { role: 'user', parts: [{ text: 'Then something else' }] }]
    const { parts } = await wire.begin(next)
    expect(findGoogleViolation({ ...parts } as never)).toBeUndefined()
  })
})
