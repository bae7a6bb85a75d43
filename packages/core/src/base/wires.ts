/** Describes every wire. A new wire needs an entry here and a folder in adapters/. */

import { isRecord } from './data.js'

type Fields = Readonly<Record<string, unknown>>

/** Rules for tool definitions. */
export interface Dialect {
  /** The longest description of a tool. Descriptions inside a schema are not limited. */
  readonly description?: number
  /** The longest description of the search tool. The rest of its list of hidden tools goes into its schema. */
  readonly searchTool?: number
  /** The most tools in one request. */
  readonly tools?: number
  /** Keywords that are refused only at the top level of a schema. */
  readonly notAtTop?: readonly string[]
  /** Legal names of parameters. */
  readonly keys?: RegExp
  /** Objects must have `properties`, even if empty, and arrays must have `items`. */
  readonly complete?: boolean
  /** `strict: true` needs a schema for which `isStrictSchema` holds. */
  readonly strict?: boolean
}

/** Effect of the prompt cache on the price of a request, as shares of the plain input price. Sources: docs/concepts/deliveries-and-cache.md. */
export interface CacheRule {
  /** Price of input that is read from the cache. */
  readonly read: number
  /** Price of input that is read for the first time and cached. */
  readonly write: number
  /** Price of output. */
  readonly output: number
  /** Tokens that a prefix needs to be cached. */
  readonly minimum: number
}

interface WireFacts {
  readonly dialect?: Dialect
  /** Absent: an automatic cache, as most servers have. */
  readonly cache?: CacheRule
  /**
   * Media in tool results. Absent: only text. Sources: the official types of each SDK (Anthropic `ToolResultBlockParam`,
   * OpenAI `ResponseFunctionCallOutputItem` and `ChatCompletionToolMessageParam`, Google `FunctionResponsePart`), and the
   * pages named in the table.
   */
  readonly media?: {
    readonly types: readonly string[]
    /** The longest edge of an image, in pixels. */
    readonly edge?: number
    /** Tokens of an image, by the provider's published rule. */
    tokens(size: { readonly width: number; readonly height: number }): number
  }
  /** How to get the usage of a streamed reply. */
  readonly usageHint?: string
}

/** A wire whose messages an adapter in this package reads. Only shapes that exist on one wire count: text alone looks the same on most. */
interface FormFacts extends WireFacts {
  readonly api: string
  /** The function of its adapter. */
  readonly adapter: string
  /** Another form that its adapter reads. */
  readonly alsoReads?: Form
  /** A message without parts is foreign. */
  readonly needsParts?: true
  isMessage?(message: Fields): boolean
  isPart?(part: Fields): boolean
  isReply?(reply: Fields): boolean
}

/** A wire with its own form of tools and requests. Its entry point has `importTools`. */
export interface ProviderFacts extends FormFacts {
  readonly label: string
  readonly owner: string
  /** The key of the history in a request. */
  readonly history: string
  /** The key of the system prompt, if it is not a message. */
  readonly prompt?: string
  isTool(tool: Fields): boolean
}

export type ProviderWire = 'anthropic' | 'openai-chat' | 'openai-responses' | 'google'

export type Form = ProviderWire | 'ai-sdk'

const PDF = 'application/pdf'

/** Servers of the Chat Completions family. */
const CHAT: Dialect = {
  description: 1024,
  notAtTop: ['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not'],
  complete: true,
}

export const providers: Readonly<Record<ProviderWire, ProviderFacts>> = {
  anthropic: {
    label: 'Anthropic',
    owner: 'Anthropic',
    dialect: { notAtTop: ['oneOf', 'allOf', 'anyOf'], keys: /^[a-zA-Z0-9_.-]{1,64}$/ },
    cache: { read: 0.1, write: 1.25, output: 5, minimum: 1024 },
    // platform.claude.com, build-with-claude/vision: larger images are rejected. Tokens: width × height ÷ 750, scaled down
    // to 1,568 pixels on the long edge and some 1,600 tokens.
    media: {
      types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', PDF],
      edge: 8000,
      tokens({ width, height }) {
        const scale = Math.min(1, 1568 / Math.max(width, height))
        return Math.min(1600, Math.ceil((width * scale * (height * scale)) / 750))
      },
    },
    api: 'Anthropic Messages',
    adapter: 'anthropic',
    // Some servers of the Chat family send thinking without a signature.
    isPart: ({ type, source, signature }) =>
      type === 'tool_use' ||
      type === 'tool_result' ||
      (type === 'image' && isRecord(source)) ||
      (type === 'thinking' && typeof signature === 'string'),
    isReply: (reply) => reply.role === 'assistant' && Array.isArray(reply.content) && 'stop_reason' in reply,
    history: 'messages',
    prompt: 'system',
    isTool: (tool) => 'input_schema' in tool,
  },
  'openai-chat': {
    label: 'Chat Completions',
    owner: 'OpenAI',
    dialect: { ...CHAT, tools: 128, strict: true },
    api: 'Chat Completions',
    adapter: 'openaiChat',
    isMessage: ({ role, tool_calls: calls, tool_call_id: answered }) =>
      (role === 'tool' && typeof answered === 'string') ||
      (role === 'assistant' && Array.isArray(calls) && calls.length > 0),
    isPart: ({ type }) => type === 'image_url' || type === 'input_audio',
    isReply: ({ choices }) => Array.isArray(choices),
    usageHint: 'a stream has usage with stream_options: { include_usage: true }',
    history: 'messages',
    isTool: (tool) => isRecord(tool.function),
  },
  'openai-responses': {
    label: 'OpenAI Responses',
    owner: 'OpenAI',
    dialect: { notAtTop: ['oneOf', 'anyOf', 'allOf', 'enum', 'not'], complete: true, strict: true },
    // GPT-5.6 and later: `cache_write_tokens` cost 1.25, and the cache is kept for 30 minutes. Hosts that set a `ttl` of 12 hours
    // set `costs.prices.write` too.
    cache: { read: 0.1, write: 1.25, output: 5, minimum: 1024 },
    // platform.openai.com/docs/guides/images-vision, high detail: within 2,048 pixels, then 768 on the short edge, 170 for
    // each tile of 512 and 85 besides. Some models count patches of 32 pixels instead.
    media: {
      types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', PDF],
      tokens({ width, height }) {
        const fit = Math.min(1, 2048 / Math.max(width, height))
        const scale = fit * Math.min(1, 768 / (Math.min(width, height) * fit))
        return 85 + 170 * Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512)
      },
    },
    api: 'the Responses API',
    adapter: 'openaiResponses',
    alsoReads: 'openai-chat',
    isMessage: ({ role, type, call_id: id }) =>
      (type === 'function_call' || type === 'function_call_output') &&
      role === undefined &&
      typeof id === 'string',
    isPart: ({ type }) => type === 'input_text' || type === 'output_text' || type === 'input_image',
    isReply: ({ output }) => Array.isArray(output),
    history: 'input',
    prompt: 'instructions',
    isTool: (tool) => 'parameters' in tool && 'type' in tool,
  },
  google: {
    label: 'Gemini',
    owner: 'Gemini',
    dialect: { tools: 512 },
    cache: { read: 0.1, write: 1, output: 5, minimum: 4096 },
    // ai.google.dev/gemini-api/docs/function-calling, "Multimodal function responses": from Gemini 3 on. Tokens,
    // …/image-understanding: 258 up to 384 pixels, above that 258 for each tile.
    media: {
      types: ['image/png', 'image/jpeg', 'image/webp', PDF],
      tokens({ width, height }) {
        if (Math.max(width, height) <= 384) return 258
        const tile = Math.max(1, Math.floor(Math.min(width, height) / 1.5))
        return 258 * Math.ceil(width / tile) * Math.ceil(height / tile)
      },
    },
    api: 'the Gemini API',
    adapter: 'google',
    needsParts: true,
    // A part of Gemini has a field for its kind, and no `type`.
    isMessage: ({ parts, content }) =>
      Array.isArray(parts) &&
      content === undefined &&
      !parts.some((part: unknown) => isRecord(part) && typeof part.type === 'string'),
    isReply: ({ candidates }) => Array.isArray(candidates),
    history: 'contents',
    prompt: 'systemInstruction',
    isTool: (tool) => 'functionDeclarations' in tool || 'parametersJsonSchema' in tool,
  },
}

/** The most common wire. */
export const USUAL_WIRE: ProviderWire = 'openai-chat'

export const wires: Readonly<Record<Form, FormFacts> & Record<'mcp', WireFacts>> = {
  ...providers,
  'ai-sdk': {
    // For an unknown provider of the AI SDK: most use a server of the Chat Completions family.
    dialect: CHAT,
    api: 'the AI SDK',
    adapter: 'aiSdk',
    isPart: ({ type }) => type === 'tool-call' || type === 'tool-result',
  },
  // The tool list of an MCP server. Claude Code cuts the description of an MCP tool at 2 kB, but not its schema.
  mcp: { dialect: { searchTool: 1900 } },
}

/** Empty for a host's own wire. */
export function getWireFacts(wire: string): WireFacts {
  return (wires as Readonly<Record<string, WireFacts>>)[wire] ?? {}
}
