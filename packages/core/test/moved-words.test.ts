/**
 * On Anthropic's wire, the text of a search besides its references comes after the results, in the same turn. If a
 * server takes no message between a result and the next reply, a thread that comes from there has it in the result.
 */
import { createToolwell } from '@toolwell/core'
import { aiSdk } from '@toolwell/core/ai-sdk'
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses } from '@toolwell/core/openai-responses'
import { chatProtocol, responsesProtocol } from '@toolwell/testing'
import { expect, it } from 'vitest'
import { majors, said, startHost } from './ai-sdk/support.js'
import { mixed } from './support/tools.js'

const LEFT = 'May fit; not loaded'

/** A thread in the middle of a tool loop: a search was answered, and the model is next. */
async function searched() {
  const well = createToolwell({ tools: mixed(), mode: 'on', search: { autoLoad: { tokens: 0 } } })
  const conversation = await well.open({ id: 'a' })
  const first = anthropic(conversation)
  const messages: AnthropicMessage[] = [{ role: 'user', content: 'Make an issue.' }]
  const turn = await first.begin(messages)
  expect(turn.view.delivery).toBe('native')
  const input = { query: 'create issue' }
  const content = [{ type: 'tool_use', id: 'toolu_1', name: 'tool_search', input }]
  const { messages: results } = await turn.run({ role: 'assistant', content })
  messages.push({ role: 'assistant', content }, ...results)
  expect(JSON.stringify(results)).toContain(LEFT)
  return { conversation, thread: first.thread(messages) }
}

it('to Chat Completions, as Mistral has it', async () => {
  const { conversation, thread } = await searched()
  const chat = openaiChat(conversation)
  const messages = chat.adopt(thread)
  const protocol = chatProtocol({ family: 'mistral' })
  const { parts } = await chat.begin(messages)
  expect(protocol.violationOf({ model: 'x', ...parts })).toBeUndefined()
  expect(parts.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining(LEFT) })
  messages.push({ role: 'assistant', content: 'Well.' }, { role: 'user', content: 'Go on.' })
  const later = await chat.begin(messages)
  expect(protocol.violationOf({ model: 'x', ...later.parts })).toBeUndefined()
  expect(later.parts.messages.slice(0, parts.messages.length)).toEqual(parts.messages)
})

it.each([true, false])('to Responses (native: %s)', async (native) => {
  const { conversation, thread } = await searched()
  const responses = openaiResponses(conversation, { native })
  const items = responses.adopt(thread)
  const protocol = responsesProtocol({ strictOrder: true })
  const { parts } = await responses.begin(items)
  expect(protocol.violationOf({ model: 'x', ...parts })).toBeUndefined()
  // The API's own search has no text: the notice waits for the next place that has.
  expect(JSON.stringify(parts.input).includes(LEFT)).toBe(!native)
  items.push({ type: 'message', role: 'assistant', content: 'Well.' }, { role: 'user', content: 'Go on.' })
  const later = await responses.begin(items)
  expect(protocol.violationOf({ model: 'x', ...later.parts })).toBeUndefined()
  expect(JSON.stringify(later.parts.input)).toContain(LEFT)
})

it.each(majors)('to Chat Completions through the AI SDK $major', async ({ major }) => {
  const { conversation, thread } = await searched()
  const host = await startHost({ major, wire: 'chat', script: [said()], conversation })
  const { settings, sdk } = host
  const messages = aiSdk<{ role: string; content: unknown }>(conversation).adopt(thread)
  await sdk.generateText({ ...settings, messages })
  expect(host.statuses()).toEqual([200])
  expect(host.body(0).messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining(LEFT) })
})
