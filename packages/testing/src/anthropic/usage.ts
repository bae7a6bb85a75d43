/**
 * What a request on the Anthropic wire costs: its render order, its cache marks, and the usage the scripted endpoint
 * reports.
 */

import { type Fields, isObject } from '../shared/guards.js'
import { estimateTokens } from '../shared/usage.js'
import {
  type AnthropicBlock,
  type AnthropicRequestBody,
  type AnthropicTool,
  blocksOf,
  marksOn,
  referencesIn,
} from './request.js'

/** A place up to which the request asks for its prefix to be kept. */
export interface CacheMark {
  /** Characters of the rendering. */
  readonly end: number
  readonly ttl: '5m' | '1h'
}

export interface AnthropicRendering {
  readonly text: string
  /** In order. Two marks on one place are one. */
  readonly marks: readonly CacheMark[]
}

export interface AnthropicUsage {
  /** Without what was read from the cache or written to it: the three add up to the prompt. */
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number
    readonly ephemeral_1h_input_tokens: number
  }
  readonly output_tokens: number
  readonly output_tokens_details: null
  readonly server_tool_use: null
  readonly service_tier: 'standard'
  readonly inference_geo: null
  readonly speed: null
}

const BYTES_PER_TOKEN = 4
const CACHE_MINIMUM = 1024

/**
 * The request as Anthropic lays it before the model: tools, system prompt, messages, each piece as a line of JSON.
 * A deferred tool is absent until a reference or an addition brings its definition in, in the place of the reference.
 * Marks, flags of deferral and the borders between messages of one role are not rendered, and a string is rendered as
 * the block it stands for, so that none of them moves the prefix. Serialised anew from the parsed body, so the order
 * of keys counts. A cleared system message (`clear_at`) is rendered all the same.
 */
export function renderAnthropic(body: AnthropicRequestBody): AnthropicRendering {
  const marks: CacheMark[] = []
  let text = ''
  for (const piece of piecesOf(body)) {
    text += piece.text
    marks.push(...marksOn(piece.source).map((mark) => markAt(text.length, mark)))
  }
  // The mark on the request stands on its last block.
  if (isObject(body.cache_control)) marks.push(markAt(text.length, body.cache_control))
  return { text, marks: marks.filter((mark, index) => mark.end !== marks[index - 1]?.end) }
}

/** One line of the rendering, and what it was made of. `at` is the place of a message's block. */
export interface RenderedPiece {
  readonly text: string
  readonly source: Fields
  readonly at?: string
}

export function* piecesOf(body: AnthropicRequestBody): Generator<RenderedPiece> {
  const { tools = [], system, messages } = body
  const definitions = new Map(tools.map((tool) => [tool.name, tool]))
  const line = (piece: unknown) => `${JSON.stringify(piece)}\n`
  for (const tool of tools) if (!tool.defer_loading) yield { text: line(definitionOf(tool)), source: tool }
  for (const block of system === '' ? [] : blocksOf(system))
    yield { text: line(unmarked(block)), source: block }
  let speaker: string | undefined
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== speaker) yield { text: speakerLine(role), source: {} }
    speaker = role
    for (const [place, block] of blocksOf(content).entries()) {
      const { definition } = isObject(block.tool) ? block.tool : {}
      if (isObject(definition)) definitions.set(definition.name as string, definition as AnthropicTool)
      const at = `messages.${index}.content.${place}`
      yield { text: line(expanded(block, definitions)), source: block, at }
    }
  }
}

/** What stands before the blocks of a turn. */
export function speakerLine(role: string): string {
  return `${role}\n`
}

export function anthropicRenderOrder(body: AnthropicRequestBody): string {
  return renderAnthropic(body).text
}

/**
 * Anthropic's explicit rule: only a prefix that ends in a mark and has 1,024 tokens or more is kept, and a request reads
 * the longest kept prefix that it begins with, up to its own last mark. What lies between the two is written, what
 * follows the last mark is plain input. The cache is ideal: it forgets nothing after five minutes, and it looks back
 * further than twenty blocks. `kept` are the prefixes that earlier requests wrote; `keptBy` says which this one adds.
 */
export function anthropicUsage(
  rendering: AnthropicRendering,
  kept: readonly string[],
  completion: string,
): AnthropicUsage {
  const { text } = rendering
  const marks = rendering.marks.filter((mark) => isCacheable(text, mark))
  const last = marks.at(-1)?.end ?? 0
  const hits = kept.filter((prefix) => prefix.length <= last && text.startsWith(prefix))
  const read = tokensBefore(text, Math.max(0, ...hits.map((prefix) => prefix.length)))
  const written = { '5m': 0, '1h': 0 }
  let accounted = read
  for (const { end, ttl } of marks) {
    const tokens = tokensBefore(text, end)
    written[ttl] += Math.max(0, tokens - accounted)
    accounted = Math.max(accounted, tokens)
  }
  return {
    input_tokens: estimateTokens(text) - accounted,
    cache_creation_input_tokens: written['5m'] + written['1h'],
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: written['5m'], ephemeral_1h_input_tokens: written['1h'] },
    // Never 0 on this wire, not even for an empty answer.
    output_tokens: Math.max(1, estimateTokens(completion)),
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  }
}

/** The prefixes that a request leaves in the cache. */
export function keptBy({ text, marks }: AnthropicRendering): readonly string[] {
  return marks.filter((mark) => isCacheable(text, mark)).map(({ end }) => text.slice(0, end))
}

function isCacheable(text: string, { end }: CacheMark): boolean {
  return tokensBefore(text, end) >= CACHE_MINIMUM
}

function tokensBefore(text: string, end: number): number {
  return Math.floor(Buffer.byteLength(text.slice(0, end)) / BYTES_PER_TOKEN)
}

function markAt(end: number, mark: Fields): CacheMark {
  return { end, ttl: mark.ttl === '1h' ? '1h' : '5m' }
}

function expanded(block: AnthropicBlock, definitions: ReadonlyMap<unknown, AnthropicTool>): unknown {
  const plain = unmarked(block)
  if (isObject(block.tool)) {
    const { name, definition } = block.tool
    const tool = (definition ?? (block.type === 'tool_addition' && definitions.get(name))) as AnthropicTool
    return tool ? { ...plain, tool: definitionOf(tool) } : plain
  }
  if (referencesIn(block).length > 0) {
    const found = referencesIn(block).map((name) => definitionOf(definitions.get(name) ?? { name }))
    return { ...plain, content: found }
  }
  if (!Array.isArray(block.content)) return plain
  return { ...plain, content: block.content.map((part: Fields) => unmarked(part)) }
}

function definitionOf(tool: AnthropicTool): Fields {
  const { defer_loading: _flag, ...definition } = unmarked(tool)
  return definition
}

function unmarked(block: Fields): Fields {
  const { cache_control: _mark, ...rest } = block
  return rest
}
