/** A thread that was stored as JSON is adopted by its own wire as it was, and by any other as the live one would be. */
import { createToolwell } from '@toolwell/core'
import { aiSdk } from '@toolwell/core/ai-sdk'
import { anthropic } from '@toolwell/core/anthropic'
import { google } from '@toolwell/core/google'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses } from '@toolwell/core/openai-responses'
import { describe, expect, it } from 'vitest'
import { mixed } from './support/tools.js'

const open = () => createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })

interface Loose {
  thread(messages: readonly object[]): unknown
  adopt(thread: unknown): object[]
}

const result = (id: string, content: unknown = 'r') => ({ type: 'tool_result', tool_use_id: id, content })
const use = (id: string) => ({ type: 'tool_use', id, name: 'read_file', input: { value: id } })
const toolResult = (toolCallId: string) => ({
  type: 'tool-result',
  toolCallId,
  toolName: 'read_file',
  output: { type: 'text', value: 'r' },
})
const toolCall = (toolCallId: string) => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'read_file',
  input: { value: 'x' },
})

const wires: readonly { name: string; create(): Promise<Loose>; history: readonly object[] }[] = [
  {
    name: 'anthropic',
    create: async () => anthropic(await open()) as unknown as Loose,
    history: [
      { role: 'user', content: 'go' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }, use('a'), use('b')],
      },
      {
        role: 'user',
        content: [result('a'), result('b', [{ type: 'text', text: 'r' }]), { type: 'text', text: 'And?' }],
      },
      { role: 'assistant', content: 'Well.' },
      { role: 'user', content: [{ type: 'text', text: 'go', cache_control: { type: 'ephemeral' } }] },
      { role: 'assistant', content: [{ type: 'text', text: 'So.' }, use('c'), use('d')] },
      { role: 'user', content: [result('c')] },
      { role: 'user', content: [result('d')] },
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
    ],
  },
  {
    name: 'openai-responses',
    create: async () => openaiResponses(await open()) as unknown as Loose,
    history: [
      { role: 'user', content: 'go' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: null },
      { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'read_file', arguments: '{"value": 1}' },
      { type: 'function_call', id: 'fc_2', call_id: 'b', name: 'read_file', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'r' },
      { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'r' }] },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'sealed' },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] },
      { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      { role: 'user', content: [{ type: 'input_text', text: 'go' }] },
    ],
  },
  {
    name: 'openai-chat',
    create: async () => openaiChat(await open()) as unknown as Loose,
    history: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'Hm.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'read_file', arguments: '{"value": 1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'r' }] },
      { role: 'user', content: 'go' },
      { role: 'user', content: 'go' },
    ],
  },
  {
    name: 'google',
    create: async () => google(await open()) as unknown as Loose,
    history: [
      { role: 'user', parts: [{ text: 'go' }] },
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true },
          { functionCall: { name: 'read_file', args: {} }, thoughtSignature: 's' },
          { functionCall: { name: 'read_file', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'read_file', response: { result: 'r' } } },
          { functionResponse: { name: 'read_file', response: { result: 'r' } } },
          { text: 'And?' },
        ],
      },
      { role: 'model', parts: [{ text: 'Well.', thoughtSignature: 't' }] },
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'user', parts: [{ text: 'go' }] },
    ],
  },
  {
    name: 'ai-sdk',
    create: async () => aiSdk(await open()) as unknown as Loose,
    history: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 's' } } },
          toolCall('a'),
          toolCall('b'),
        ],
      },
      { role: 'tool', content: [toolResult('a'), toolResult('b')] },
      { role: 'assistant', content: [toolCall('c'), toolCall('d')] },
      { role: 'tool', content: [toolResult('c')] },
      { role: 'tool', content: [toolResult('d')] },
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
    ],
  },
]

describe.each(wires)('a stored thread of $name', ({ create, history }) => {
  it('is adopted by its own wire with every byte', async () => {
    const wire = await create()
    const stored = JSON.parse(JSON.stringify(wire.thread(history)))
    expect(JSON.stringify(wire.adopt(stored))).toBe(JSON.stringify(history))
    expect(JSON.stringify(wire.adopt(wire.thread(history)))).toBe(JSON.stringify(history))
  })

  it.each(wires)('is adopted by $name as the live one', async (other) => {
    const wire = await create()
    const there = await other.create()
    const stored = JSON.parse(JSON.stringify(wire.thread(history)))
    expect(JSON.stringify(there.adopt(stored))).toBe(JSON.stringify(there.adopt(wire.thread(history))))
  })
})
