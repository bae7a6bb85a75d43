/** What the bench needs to know of each wire: the request, the reply, and a loop without Toolwell to compare with. */
import type { Conversation } from '@toolwell/core'
import { anthropic, readUsage as anthropicUsage } from '@toolwell/core/anthropic'
import { google, readUsage as googleUsage } from '@toolwell/core/google'
import { readUsage as chatUsage, openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses, readUsage as responsesUsage } from '@toolwell/core/openai-responses'

type Fields = Readonly<Record<string, unknown>>
export type History = Fields[]

export interface Call {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

export interface TokenUse {
  readonly input: number
  /** The parts of `input` that were read from the cache and written to it. */
  readonly cached: number
  readonly written: number
  readonly output: number
}

/** What Toolwell gives to send, and what it does with the reply. */
interface Turn {
  readonly parts: Fields
  readonly warnings: readonly { readonly code: string }[]
  run(reply: unknown): Promise<{
    readonly messages: readonly Fields[]
    readonly answers: readonly { readonly outcome: { readonly kind: string } }[]
  }>
}

export interface LiveWire {
  readonly key: string
  readonly baseUrl: string
  /** Price of writing to the cache, as a multiple of the input price. */
  readonly writing: number
  /** The deliveries that Toolwell has on this wire. */
  readonly deliveries: readonly ('bridge' | 'append' | 'native')[]
  path(model: string): string
  headers(key: string): Readonly<Record<string, string>>
  user(text: string): Fields
  /** Toolwell's adapter. */
  open(conversation: Conversation): { begin(history: History): Promise<Turn> }
  /** The body around the parts of a request. */
  body(model: string, parts: Fields): Fields
  /** The parts of a request without Toolwell. */
  parts(history: History, tools: readonly Fields[]): Fields
  /** Every tool deferred behind the provider's own search. Absent: the provider has none. */
  providerSearch?(tools: readonly Fields[]): Fields[]
  /** Number of searches that the provider ran. */
  providerSearches(reply: Fields): number
  /** The entries that the reply adds to the history. */
  entries(reply: Fields): Fields[]
  calls(reply: Fields): Call[]
  /** True if the same history with this reply must be sent again, without results. */
  isPaused(reply: Fields): boolean
  results(results: readonly { readonly call: Call; readonly text: string }[]): Fields[]
  text(reply: Fields): string
  usage(reply: Fields): TokenUse
}

export const SYSTEM =
  'You are an assistant with tools. Do what the user asks with your tools, then answer in one or two sentences.'

const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as Fields[]) : [])
const parse = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text))
  } catch {
    return text
  }
}
const tokens = (
  { inputTokens = 0, cachedTokens = 0, outputTokens = 0 }: ReturnType<typeof chatUsage>,
  written = 0,
): TokenUse => ({ input: inputTokens, cached: cachedTokens, written, output: outputTokens })
const bearer = (key: string) => ({ 'content-type': 'application/json', authorization: `Bearer ${key}` })

const mark = { cache_control: { type: 'ephemeral' } }

/** Marks the end of the history, as Toolwell's adapter does with `cache`. */
function markLast(history: History): History {
  const last = history.at(-1)
  if (!last) return history
  const blocks =
    typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : list(last.content)
  const content = blocks.map((block, index) => (index === blocks.length - 1 ? { ...block, ...mark } : block))
  return [...history.slice(0, -1), { ...last, content }]
}

const anthropicWire: LiveWire = {
  key: 'ANTHROPIC_API_KEY',
  baseUrl: 'https://api.anthropic.com',
  writing: 1.25,
  deliveries: ['bridge', 'append', 'native'],
  path: () => '/v1/messages',
  headers: (key) => ({
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    'x-api-key': key,
  }),
  user: (content) => ({ role: 'user', content }),
  open: (conversation) => {
    const adapter = anthropic(conversation, { cache: '5m' })
    return { begin: (history) => adapter.begin(history as never, { system: SYSTEM }) as never }
  },
  body: (model, parts) => ({ model, max_tokens: 4096, ...parts }),
  parts: (history, tools) => ({
    tools,
    system: [{ type: 'text', text: SYSTEM, ...mark }],
    messages: markLast(history),
  }),
  providerSearch: (tools) => [
    { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
    ...tools.map((tool) => ({ ...tool, defer_loading: true })),
  ],
  providerSearches: (reply) => list(reply.content).filter(({ type }) => type === 'server_tool_use').length,
  entries: ({ content }) => [{ role: 'assistant', content }],
  calls: (reply) =>
    list(reply.content)
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id: String(id), name: String(name), input })),
  isPaused: (reply) => reply.stop_reason === 'pause_turn',
  results: (results) => [
    {
      role: 'user',
      content: results.map(({ call, text }) => ({
        type: 'tool_result',
        tool_use_id: call.id,
        content: text,
      })),
    },
  ],
  text: (reply) =>
    list(reply.content)
      .map(({ text = '' }) => text)
      .join(''),
  usage: ({ usage }) =>
    tokens(anthropicUsage(usage), Number((usage as Fields | undefined)?.cache_creation_input_tokens ?? 0)),
}

const responsesWire: LiveWire = {
  key: 'OPENAI_API_KEY',
  baseUrl: 'https://api.openai.com/v1',
  writing: 1.25,
  deliveries: ['bridge', 'append', 'native'],
  path: () => '/responses',
  headers: bearer,
  user: (content) => ({ role: 'user', content }),
  open: (conversation) => {
    const adapter = openaiResponses(conversation)
    return { begin: (history) => adapter.begin(history as never, { instructions: SYSTEM }) as never }
  },
  body: (model, parts) => ({ model, store: false, include: ['reasoning.encrypted_content'], ...parts }),
  parts: (input, tools) => ({ instructions: SYSTEM, tools, input }),
  providerSearch: (tools) => [
    { type: 'tool_search' },
    ...tools.map((tool) => ({ ...tool, defer_loading: true })),
  ],
  providerSearches: (reply) =>
    list(reply.output).filter(({ type, execution }) => type === 'tool_search_call' && execution !== 'client')
      .length,
  entries: ({ output }) => [...list(output)],
  calls: (reply) =>
    list(reply.output)
      .filter(({ type }) => type === 'function_call')
      .map((item) => ({ id: String(item.call_id), name: String(item.name), input: parse(item.arguments) })),
  isPaused: () => false,
  results: (results) =>
    results.map(({ call, text }) => ({ type: 'function_call_output', call_id: call.id, output: text })),
  text: (reply) =>
    list(reply.output)
      .flatMap(({ content }) => list(content))
      .map(({ text = '' }) => text)
      .join(''),
  usage: ({ usage }) => {
    const details = (usage as Fields | undefined)?.input_tokens_details as Fields | undefined
    return tokens(responsesUsage(usage), Number(details?.cache_write_tokens ?? 0))
  },
}

const chatWire: LiveWire = {
  key: 'OPENAI_API_KEY',
  baseUrl: '',
  writing: 1,
  deliveries: ['bridge', 'append'],
  path: () => '/chat/completions',
  headers: bearer,
  user: (content) => ({ role: 'user', content }),
  open: (conversation) => {
    const adapter = openaiChat(conversation)
    const system = { role: 'system', content: SYSTEM }
    return { begin: (history) => adapter.begin([system, ...history] as never) as never }
  },
  body: (model, parts) => ({ model, ...parts }),
  parts: (history, tools) => ({ tools, messages: [{ role: 'system', content: SYSTEM }, ...history] }),
  providerSearches: () => 0,
  entries: (reply) => [(list(reply.choices)[0]?.message ?? {}) as Fields],
  calls: (reply) =>
    list((list(reply.choices)[0]?.message as Fields | undefined)?.tool_calls).map((call) => {
      const { name, arguments: input } = call.function as Fields
      return { id: String(call.id), name: String(name), input: parse(input) }
    }),
  isPaused: () => false,
  results: (results) =>
    results.map(({ call, text }) => ({ role: 'tool', tool_call_id: call.id, content: text })),
  text: (reply) => String((list(reply.choices)[0]?.message as Fields | undefined)?.content ?? ''),
  usage: ({ usage }) => tokens(chatUsage(usage)),
}

const googleContent = (reply: Fields) => (list(reply.candidates)[0]?.content ?? {}) as Fields

const googleWire: LiveWire = {
  key: 'GEMINI_API_KEY',
  baseUrl: 'https://generativelanguage.googleapis.com',
  writing: 1,
  deliveries: ['bridge', 'append'],
  path: (model) => `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
  headers: (key) => ({ 'content-type': 'application/json', 'x-goog-api-key': key }),
  user: (text) => ({ role: 'user', parts: [{ text }] }),
  open: (conversation) => {
    const adapter = google(conversation)
    return { begin: (history) => adapter.begin(history as never, { systemInstruction: SYSTEM }) as never }
  },
  body: (_model, parts) => parts,
  parts: (contents, tools) => ({ systemInstruction: { parts: [{ text: SYSTEM }] }, tools, contents }),
  providerSearches: () => 0,
  entries: (reply) => [googleContent(reply)],
  calls: (reply) =>
    list(googleContent(reply).parts).flatMap(({ functionCall }) => {
      const { id, name, args } = (functionCall ?? {}) as Fields
      return name === undefined ? [] : [{ id: String(id ?? ''), name: String(name), input: args ?? {} }]
    }),
  isPaused: () => false,
  results: (results) => [
    {
      role: 'user',
      parts: results.map(({ call: { id, name }, text }) => ({
        functionResponse: { ...(id ? { id } : {}), name, response: { result: text } },
      })),
    },
  ],
  text: (reply) =>
    list(googleContent(reply).parts)
      .map(({ text = '' }) => text)
      .join(''),
  usage: ({ usageMetadata }) => tokens(googleUsage(usageMetadata)),
}

export const WIRES = {
  anthropic: anthropicWire,
  openai: responsesWire,
  google: googleWire,
  'openai-compatible': chatWire,
} as const

export type ProviderName = keyof typeof WIRES
