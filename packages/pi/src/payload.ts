/** Reads and changes pi's requests: the wire of each API, history, call ids, and tool references. */
import type { FrameworkOptions } from '@toolwell/core/framework'
import { isRecord, providers } from '@toolwell/core/internal'
import type { SessionEntry } from './pi.js'

export type WireName = FrameworkOptions['wire']

/** Requests of other APIs are not changed. */
const WIRES: Readonly<Record<string, WireName>> = {
  'anthropic-messages': 'anthropic',
  'openai-completions': 'openai-chat',
  'openai-responses': 'openai-responses',
  'azure-openai-responses': 'openai-responses',
  'openai-codex-responses': 'openai-responses',
  'google-generative-ai': 'google',
  'google-vertex': 'google',
}

export const findWire = (api: string | undefined): WireName | undefined =>
  api !== undefined && Object.hasOwn(WIRES, api) ? WIRES[api] : undefined

/** Keys that Google's client keeps in `config` and that are at the top level on the wire. */
const IN_CONFIG = ['systemInstruction', 'tools', 'toolConfig'] as const

/** Converts a payload to a request of the wire and back. */
export function readBody(payload: unknown, wire: WireName) {
  if (!isRecord(payload)) return undefined
  if (wire !== 'google' || !isRecord(payload.config))
    return { body: payload, payloadOf: (body: Readonly<Record<string, unknown>>): unknown => body }
  const { config, ...rest } = payload
  const lifted = Object.fromEntries(
    IN_CONFIG.flatMap((key) => (config[key] === undefined ? [] : [[key, config[key]]])),
  )
  return {
    body: { ...rest, ...lifted },
    payloadOf(body: Readonly<Record<string, unknown>>): unknown {
      const top = Object.entries(body).filter(([key]) => !isInConfig(key))
      const inner = Object.entries(body).filter(([key]) => isInConfig(key))
      return { ...Object.fromEntries(top), config: { ...config, ...Object.fromEntries(inner) } }
    },
  }
}

const isInConfig = (key: string) => IN_CONFIG.some((each) => each === key)

export function replaceHistory(
  body: Readonly<Record<string, unknown>>,
  wire: WireName,
  change: (history: unknown) => unknown,
): Readonly<Record<string, unknown>> {
  const key = providers[wire].history
  return { ...body, [key]: change(body[key]) }
}

export function removeTools(
  body: Readonly<Record<string, unknown>>,
  isRemoved: (name: string) => boolean,
): Readonly<Record<string, unknown>> {
  return Array.isArray(body.tools) ? { ...body, tools: filterTools(body.tools, isRemoved) } : body
}

function filterTools(tools: readonly unknown[], isRemoved: (name: string) => boolean): readonly unknown[] {
  return tools.flatMap((tool) => {
    if (!isRecord(tool)) return [tool]
    if (Array.isArray(tool.functionDeclarations))
      return [{ ...tool, functionDeclarations: filterTools(tool.functionDeclarations, isRemoved) }]
    const { name } = isRecord(tool.function) ? tool.function : tool
    return typeof name === 'string' && isRemoved(name) ? [] : [tool]
  })
}

/** On the Responses API, pi writes `call|item`. */
export const readCallId = (id: string): string => id.split('|', 1)[0] ?? id

/** Spellings of an id in requests to other providers: allowed characters, at most 64 or 40 of them. */
const listSpellings = (id: string): string[] =>
  [id, readCallId(id)].flatMap((each) => {
    const plain = each.replace(/[^a-zA-Z0-9_-]/g, '_')
    return [each, plain.slice(0, 64), plain.slice(0, 40), each.slice(0, 40)]
  })

/** Maps an id in a request to the call id in the ledger. */
export function indexCallIds(branch: readonly SessionEntry[]): (id: string) => string {
  const known = new Map<string, string>()
  for (const { message } of branch) {
    if (!isRecord(message) || message.role !== 'assistant' || !Array.isArray(message.content)) continue
    for (const block of message.content) {
      if (!isRecord(block) || block.type !== 'toolCall' || typeof block.id !== 'string') continue
      for (const written of listSpellings(block.id)) known.set(written, readCallId(block.id))
    }
  }
  return (id) => known.get(id) ?? id
}

/** Keys with call ids, and keys to search for them. Other keys hold model output. */
const ID_KEYS = new Set(['tool_use_id', 'tool_call_id', 'call_id'])
const WITHIN = new Set(['content', 'tool_calls', 'parts', 'functionCall', 'functionResponse'])

/** Replaces the ids of a history with those of the ledger. */
export function restoreCallIds(history: unknown, idOf: (id: string) => string): unknown {
  if (Array.isArray(history)) return history.map((each) => restoreCallIds(each, idOf))
  if (!isRecord(history)) return history
  const isCall = history.type === 'tool_use' || history.type === 'function' || !('type' in history)
  return Object.fromEntries(
    Object.entries(history).map(([key, value]) => {
      if (typeof value === 'string' && (ID_KEYS.has(key) || (key === 'id' && isCall)))
        return [key, idOf(value)]
      return [key, WITHIN.has(key) ? restoreCallIds(value, idOf) : value]
    }),
  )
}

type Block = Readonly<Record<string, unknown>>

/**
 * The blocks of a search answer on Anthropic's wire, if one refers to a tool. pi keeps only text and images, so they are stored
 * with the result.
 */
export function findReferences(messages: readonly unknown[]): readonly Block[] | undefined {
  const blocks = messages.flatMap((message) =>
    isRecord(message) && Array.isArray(message.content) ? message.content.filter(isRecord) : [],
  )
  const refers = ({ content }: Block) =>
    Array.isArray(content) && content.some((each) => isRecord(each) && each.type === 'tool_reference')
  return blocks.some(refers) ? blocks : undefined
}

/** Stored blocks by call id. */
export function readReferences(branch: readonly SessionEntry[]): ReadonlyMap<string, readonly Block[]> {
  const found = new Map<string, readonly Block[]>()
  for (const { message } of branch) {
    if (!isRecord(message) || message.role !== 'toolResult' || typeof message.toolCallId !== 'string')
      continue
    const { details } = message
    if (isRecord(details) && Array.isArray(details.native))
      found.set(message.toolCallId, details.native.filter(isRecord))
  }
  return found
}

/** Puts the stored references back into a history. Other blocks of a search follow all results of its message. */
export function restoreReferences(history: unknown, native: ReadonlyMap<string, readonly Block[]>): unknown {
  if (native.size === 0 || !Array.isArray(history)) return history
  return history.map((message: unknown) => {
    if (!isRecord(message) || !Array.isArray(message.content)) return message
    const behind: Block[] = []
    const content = message.content.map((block: unknown) => {
      const kept =
        isRecord(block) && typeof block.tool_use_id === 'string' ? native.get(block.tool_use_id) : undefined
      const result = kept?.find(({ type }) => type === 'tool_result')
      if (!isRecord(block) || !kept || !result) return block
      behind.push(...kept.filter((each) => each !== result))
      return { ...block, content: result.content }
    })
    return { ...message, content: [...content, ...behind] }
  })
}
