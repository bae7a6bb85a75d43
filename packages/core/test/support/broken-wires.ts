/** Each wire's way of writing a broken history down, with what only this wire can have wrong, and its strict rules. */

import type { Conversation } from '@toolwell/core'
import { type AnthropicMessage, anthropic } from '@toolwell/core/anthropic'
import { type GoogleContent, google } from '@toolwell/core/google'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses, type ResponsesItem } from '@toolwell/core/openai-responses'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  responsesProtocol,
  type Violation,
} from '@toolwell/testing'
import type { Warning } from '../../src/adapters/shared/wire.js'
import type { BrokenCall, Element } from './broken-histories.js'

export interface BrokenWire {
  readonly name: string
  /** True if a warning reports every repair, the form of a message too. */
  readonly tells: boolean
  /** The number of histories to try, if not the usual one. */
  readonly runs?: number
  /** The same elements give the same messages, each time new objects. */
  render(elements: readonly Element[]): readonly unknown[]
  /** A model message and the user's answer. */
  exchange(): readonly unknown[]
  begin(conversation: Conversation, history: readonly unknown[]): Promise<BrokenTurn>
  importHistory(conversation: Conversation, history: readonly unknown[]): ReturnType<Importer>
  violationOf(parts: object): Violation | undefined
}

export interface BrokenTurn {
  readonly parts: object
  readonly mode: 'on' | 'off'
  /** The history of the request, message by message. */
  readonly sent: readonly unknown[]
  readonly warnings: readonly Warning[]
}

type Importer = ReturnType<typeof openaiChat>['importHistory']

const textOf = (input: BrokenCall['input']) => (typeof input === 'string' ? input : JSON.stringify(input))
const pick = <T>(list: readonly (() => T)[], which: number): T => (list[which % list.length] as () => T)()

const JUNK = [null, 'words', 7, {}, { type: 'text' }, { type: 'text', text: 7 }, { text: 'untyped' }]

/** Of other libraries, of older ones, of crashed ones. */
const oddChat: readonly (() => unknown)[] = [
  () => null,
  () => 'words',
  () => ({}),
  () => ({ content: 'nobody said this' }),
  () => ({ role: 'ipython', content: '5' }),
  () => ({ role: 7, content: { a: 1 } }),
  () => ({ role: 'user' }),
  () => ({ role: 'user', content: 7 }),
  () => ({ role: 'user', content: [] }),
  () => ({ role: 'user', content: JUNK }),
  () => ({ role: 'system', content: null }),
  () => ({ role: 'developer', content: 'Be brief.' }),
  () => ({ role: 'tool', name: 'read_file', content: 'without an id' }),
  () => ({ role: 'tool', tool_call_id: 5, content: null }),
  () => ({ role: 'tool', tool_call_id: 'call_1', name: 'read_file', content: JUNK }),
  () => ({ role: 'function', name: 'read_file', content: 'of old' }),
  () => ({ role: 'assistant', content: null, function_call: { name: 'read_file', arguments: '{}' } }),
  () => ({ role: 'assistant' }),
  () => ({ role: 'assistant', content: [] }),
  () => ({ role: 'assistant', content: JUNK, refusal: null, tool_calls: null }),
  () => ({ role: 'assistant', content: null, tool_calls: [null, 7, {}, { id: 'call_2' }, { id: 5 }] }),
  () => ({ role: 'assistant', tool_calls: [{ function: { name: 'read_file', arguments: { value: 'x' } } }] }),
  () => ({ role: 'assistant', content: 7, tool_calls: [{ id: 'call_1', function: { name: 'read_file' } }] }),
  () => ({
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call_1', type: 'custom', custom: { name: 'gone', input: 'raw' } },
      { id: 'x'.repeat(50), type: 'custom', custom: { name: 'gone', input: 'raw' } },
    ],
  }),
]

const chat: BrokenWire = {
  name: 'openai-chat',
  tells: true,
  render: (elements) =>
    elements.map((element): unknown => {
      if (element.kind === 'odd') return pick(oddChat, element.which)
      if (element.kind === 'user') return { role: 'user', content: element.text }
      if (element.kind === 'answer')
        return { role: 'tool', tool_call_id: element.id, name: element.name, content: element.text }
      const { text, calls } = element
      const made = calls.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: textOf(input) },
      }))
      return { role: 'assistant', content: text || null, ...(made.length > 0 ? { tool_calls: made } : {}) }
    }),
  exchange: () => [
    { role: 'assistant', content: 'Fine.' },
    { role: 'user', content: 'More.' },
  ],
  async begin(conversation, history) {
    const { parts, warnings, view } = await openaiChat(conversation).begin(history as ChatMessage[])
    return { parts, mode: view.mode, sent: parts.messages, warnings }
  },
  importHistory: (conversation, history) => openaiChat(conversation).importHistory(history as ChatMessage[]),
  violationOf: (parts) => chatProtocol().violationOf({ model: 'm', ...parts }),
}

const oddUse = (more: object = {}) => ({
  type: 'tool_use',
  id: 'call_1',
  name: 'read_file',
  input: {},
  ...more,
})
const oddResult = (more: object = {}) => ({ type: 'tool_result', tool_use_id: 'call_1', ...more })

const oddAnthropic: readonly (() => unknown)[] = [
  () => null,
  () => 7,
  () => ({}),
  () => ({ content: 'nobody said this' }),
  () => ({ role: 'tool', content: 'words' }),
  () => ({ role: 'user' }),
  () => ({ role: 'user', content: '' }),
  () => ({ role: 'user', content: 7 }),
  () => ({ role: 'user', content: [{ type: 'text', text: ' ' }] }),
  () => ({ role: 'user', content: JUNK }),
  () => ({ role: 'assistant', content: JUNK }),
  () => ({ role: 'assistant', content: null }),
  () => ({ role: 'assistant', content: [] }),
  () => ({ role: 'assistant', content: [{ type: 'text', text: '\n' }] }),
  () => ({
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      { type: 'text', text: 'So.' },
    ],
  }),
  () => ({ role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }] }),
  () => ({ role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.' }, oddUse()] }),
  () => ({ role: 'assistant', content: [{ type: 'redacted_thinking' }, { type: 'text', text: 'So.' }] }),
  () => ({
    role: 'assistant',
    content: [
      { type: 'text', text: 'So.' },
      { type: 'redacted_thinking', data: 'sealed' },
    ],
  }),
  () => ({
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'server_tool_use', id: 'srvtoolu_3', name: 'web_search', input: { query: 'x' } },
    ],
  }),
  () => ({
    role: 'assistant',
    content: [
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_4', content: [] },
      { type: 'text', text: 'So.' },
    ],
  }),
  () => ({
    role: 'assistant',
    content: [
      { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'find', server_name: 's', input: {} },
      oddUse(),
    ],
  }),
  () => ({ role: 'system', content: 'Be brief.' }),
  () => ({ role: 'system', content: [{ type: 'text', text: 'Be brief.' }] }),
  () => ({
    role: 'assistant',
    content: [
      { type: 'server_tool_use', id: 'srvtoolu_2', name: 'tool_search_tool_bm25', input: { query: 'x' } },
      {
        type: 'tool_search_tool_result',
        tool_use_id: 'srvtoolu_2',
        content: {
          type: 'tool_search_tool_search_result',
          tool_references: [
            { type: 'tool_reference', tool_name: 'gone' },
            { type: 'tool_reference', tool_name: 'read_file' },
          ],
        },
      },
    ],
  }),
  () => ({ role: 'user', content: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }] }),
  () => ({ role: 'user', content: [{ type: 'text', text: 'before the result' }, oddResult()] }),
  () => ({ role: 'user', content: [oddResult({ content: JUNK, is_error: null })] }),
  () => ({ role: 'user', content: [oddResult({ content: '', is_error: true })] }),
  () => ({ role: 'user', content: [oddResult({ tool_use_id: 5, content: null })] }),
  () => ({ role: 'user', content: [oddUse(), oddResult({ content: 'r' })] }),
  () => ({
    role: 'assistant',
    content: [oddUse(), oddResult({ content: [{ type: 'input_text', text: 'r' }] })],
  }),
  () => ({ role: 'assistant', content: [oddUse({ id: 5 }), oddUse({ id: undefined, name: undefined })] }),
  () => ({ role: 'assistant', content: [oddUse({ input: null }), oddUse({ name: 'gone', input: [1] })] }),
]

const anthropicMessages: BrokenWire = {
  name: 'anthropic',
  tells: true,
  render: (elements) =>
    elements.map((element): unknown => {
      if (element.kind === 'odd') return pick(oddAnthropic, element.which)
      if (element.kind === 'user') return { role: 'user', content: element.text }
      if (element.kind === 'answer') {
        const result = { type: 'tool_result', tool_use_id: element.id, content: element.text }
        return { role: 'user', content: [result] }
      }
      const { text, calls } = element
      const uses = calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))
      return { role: 'assistant', content: [...(text === '' ? [] : [{ type: 'text', text }]), ...uses] }
    }),
  exchange: () => [
    { role: 'assistant', content: 'Fine.' },
    { role: 'user', content: 'More.' },
  ],
  async begin(conversation, history) {
    const { parts, warnings, view } = await anthropic(conversation).begin(history as AnthropicMessage[])
    return { parts, mode: view.mode, sent: parts.messages, warnings }
  },
  importHistory: (conversation, history) =>
    anthropic(conversation).importHistory(history as AnthropicMessage[]),
  violationOf: (parts) => anthropicProtocol().violationOf({ model: 'm', max_tokens: 9, ...parts }),
}

const responses: BrokenWire = {
  name: 'openai-responses',
  tells: true,
  render(elements) {
    let count = 0
    const call = (more: object) => ({
      type: 'function_call',
      call_id: 'call_1',
      name: 'read_file',
      arguments: '{}',
      ...more,
    })
    const output = (more: object) => ({
      type: 'function_call_output',
      call_id: 'call_1',
      output: 'r',
      ...more,
    })
    const odd: readonly (() => unknown)[] = [
      () => null,
      () => 7,
      () => ({}),
      () => ({ content: 'nobody said this' }),
      () => ({ role: 'ipython', content: '5' }),
      () => ({ role: 'user' }),
      () => ({ role: 'user', content: JUNK }),
      () => ({ role: 'assistant', content: JUNK }),
      () => ({ role: 'developer', content: 'Be brief.' }),
      () => ({
        type: 'message',
        id: 'chatcmpl-1',
        role: 'assistant',
        content: [{ type: 'text', text: 'So.' }],
      }),
      () => ({
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'So.' }],
      }),
      () => ({
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_2', function: { name: 'read_file' } }, 7],
      }),
      () => ({ role: 'tool', tool_call_id: 'call_2', name: 'read_file', content: 'r' }),
      () => ({ type: 'reasoning', id: `rs_${++count}`, summary: [], encrypted_content: 'sealed' }),
      () => ({ type: 'reasoning', id: 'rs_same', summary: [] }),
      () => ({ type: 'reasoning', id: 'rs_sealed', summary: [], encrypted_content: 'sealed' }),
      () => ({ type: 'reasoning', summary: [] }),
      () => ({ type: 'compaction', encrypted_content: 'sealed' }),
      () => call({ call_id: undefined, name: undefined }),
      () => call({ call_id: 5, id: 'call_5', arguments: { value: 'x' } }),
      () => output({ call_id: 5, output: { a: 1 } }),
      () => output({ output: null }),
      () => call({ namespace: 'nowhere' }),
      () => call({ parsed_arguments: null, id: 'call_5' }),
      () => output({ id: 'fc_x', output: JUNK }),
      () => ({ type: 'tool_search_call', id: 'tsc_1', execution: 'server', arguments: {} }),
      () => ({ type: 'tool_search_call', call_id: 'call_1', execution: 'client', arguments: { query: 'x' } }),
      () => ({ type: 'tool_search_output', call_id: 'call_1', execution: 'client', tools: [] }),
    ]
    return elements.flatMap((element): unknown[] => {
      if (element.kind === 'odd') return [pick(odd, element.which)]
      if (element.kind === 'user') return [{ role: 'user', content: element.text }]
      if (element.kind === 'answer')
        return [{ type: 'function_call_output', call_id: element.id, output: element.text }]
      const { text, calls } = element
      return [
        ...(text === '' ? [] : [{ type: 'message', role: 'assistant', content: text }]),
        ...calls.map(({ id, name, input }) => ({
          type: 'function_call',
          id: `fc_${++count}`,
          call_id: id,
          name,
          arguments: textOf(input),
        })),
      ]
    })
  },
  exchange: () => [
    { type: 'message', role: 'assistant', content: 'Fine.' },
    { role: 'user', content: 'More.' },
  ],
  async begin(conversation, history) {
    const { parts, warnings, view } = await openaiResponses(conversation).begin(history as ResponsesItem[])
    return { parts, mode: view.mode, sent: parts.input, warnings }
  },
  importHistory: (conversation, history) =>
    openaiResponses(conversation).importHistory(history as ResponsesItem[]),
  violationOf: (parts) => responsesProtocol().violationOf({ model: 'm', ...parts }),
}

const read = { name: 'read_file', args: { value: 'x' } }
const oddContents: readonly (() => unknown)[] = [
  () => null,
  () => 7,
  () => ({}),
  () => ({ role: 'user', parts: [] }),
  () => ({ role: 'user', parts: 'words' }),
  () => ({ role: 'user', parts: [null, 'words', 7, {}, { text: 7 }, { functionCall: 'x' }] }),
  () => ({ role: 'system', parts: [{ text: 'Be brief.' }] }),
  () => ({ parts: [{ text: 'without a role' }] }),
  () => ({
    role: 'function',
    parts: [{ functionResponse: { name: 'read_file', response: { result: 'r' } } }],
  }),
  () => ({ role: 'function', parts: [{ functionResponse: { name: 'read_file' } }] }),
  () => ({ role: 'user', parts: [{ functionResponse: { id: 5, response: 'text' } }] }),
  () => ({ role: 'user', parts: [{ text: 'a call' }, { functionCall: read }] }),
  () => ({
    role: 'model',
    parts: [{ functionCall: read }, { functionResponse: { name: 'read_file', response: {} } }],
  }),
  () => ({ role: 'model', parts: [{ text: 'and', functionCall: { ...read, id: 'call_1' } }] }),
  () => ({
    role: 'model',
    parts: [{ functionCall: { ...read, id: 'a' } }, { functionCall: { ...read, id: 'a' } }],
  }),
  () => ({
    role: 'user',
    parts: [1, 2].map(() => ({ functionResponse: { id: 'a', name: 'read_file', response: {} } })),
  }),
  () => ({ role: 'model', parts: [{ functionCall: { name: 'read_file', args: [1] } }] }),
  () => ({ role: 'model', parts: [{ functionCall: {} }] }),
  () => ({ role: 'model', parts: [{ thoughtSignature: 'sealed' }] }),
  () => ({ role: 'model', parts: [{ text: 'Hm.', thought: true }] }),
]

const gemini: BrokenWire = {
  name: 'google',
  // Ids that responses lack are given to them without a word: not every host sends them.
  tells: false,
  render: (elements) =>
    elements.map((element): unknown => {
      if (element.kind === 'odd') return pick(oddContents, element.which)
      if (element.kind === 'user') return { role: 'user', parts: [{ text: element.text }] }
      const named = (id: string, name: string) => (id === '' ? { name } : { id, name })
      if (element.kind === 'answer') {
        const { id, name, text } = element
        return {
          role: 'user',
          parts: [{ functionResponse: { ...named(id, name), response: { result: text } } }],
        }
      }
      const { text, calls } = element
      const made = calls.map(({ id, name, input }) => ({ functionCall: { ...named(id, name), args: input } }))
      return { role: 'model', parts: [...(text === '' ? [] : [{ text }]), ...made] }
    }),
  exchange: () => [
    { role: 'model', parts: [{ text: 'Fine.' }] },
    { role: 'user', parts: [{ text: 'More.' }] },
  ],
  async begin(conversation, history) {
    const { parts, warnings, view } = await google(conversation).begin(history as GoogleContent[])
    return { parts, mode: view.mode, sent: parts.contents, warnings }
  },
  importHistory: (conversation, history) => google(conversation).importHistory(history as GoogleContent[]),
  violationOf: (parts) => googleProtocol().violationOf(parts),
}

export const brokenWires: readonly BrokenWire[] = [chat, anthropicMessages, responses, gemini]
