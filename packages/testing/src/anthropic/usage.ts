/** Costs of a request on the Anthropic wire: render order, cache marks, and the reported usage. */
import { type Fields, isObject } from '../shared/guards.js'
import { estimateTokens } from '../shared/usage.js'
import {
  type AnthropicBlock,
  type AnthropicRequestBody,
  type AnthropicTool,
  isCompaction,
  listMarks,
  listReferences,
  readBlocks,
} from './request.js'

/** A place up to which the prefix is to be cached. */
export interface CacheMark {
  /** Number of characters of the rendering. */
  readonly end: number
  readonly ttl: '5m' | '1h'
}

export interface AnthropicRendering {
  readonly text: string
  /** In order. Two marks at one place are joined. */
  readonly marks: readonly CacheMark[]
}

export interface AnthropicUsage {
  /** Without cache reads and writes; the three add up to the prompt. */
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
 * The request in the order in which Anthropic shows it to the model: tools, system prompt, messages, one line of JSON each. A
 * deferred tool appears at the reference or addition that brings it in. Cache marks, deferral flags and borders between messages
 * of one role are not rendered, and a string is rendered as a block, so that none of them changes the prefix. Serialised from the
 * parsed body, so the order of keys counts. A cleared system message (`clear_at`) is rendered too.
 */
export function renderAnthropic(body: AnthropicRequestBody): AnthropicRendering {
  const marks: CacheMark[] = []
  let text = ''
  for (const piece of renderPieces(body)) {
    text += piece.text
    marks.push(...listMarks(piece.source).map((mark) => markAt(text.length, mark)))
  }
  // The mark on the request applies to its last block.
  if (isObject(body.cache_control)) marks.push(markAt(text.length, body.cache_control))
  return { text, marks: marks.filter((mark, index) => mark.end !== marks[index - 1]?.end) }
}

/** One line of the rendering and its source. `at` is the place of a message's block. */
export interface RenderedPiece {
  readonly text: string
  readonly source: Fields
  readonly at?: string
}

export function* renderPieces(body: AnthropicRequestBody): Generator<RenderedPiece> {
  const { tools = [], system, messages } = body
  const definitions = new Map(tools.map((tool) => [tool.name, tool]))
  const line = (piece: unknown) => `${JSON.stringify(piece)}\n`
  for (const tool of tools) if (!tool.defer_loading) yield { text: line(definitionOf(tool)), source: tool }
  for (const block of system === '' ? [] : readBlocks(system))
    yield { text: line(unmarked(block)), source: block }
  let speaker: string | undefined
  // The API drops everything before the last compaction.
  const start = messages.findLastIndex(({ content }) => readBlocks(content).some(isCompaction))
  for (const [index, { role, content }] of messages.entries()) {
    if (index < start) continue
    if (role !== speaker) yield { text: speakerLine(role), source: {} }
    speaker = role
    const first = index === start ? readBlocks(content).findLastIndex(isCompaction) : 0
    for (const [place, block] of readBlocks(content).entries()) {
      if (place < first) continue
      const { definition } = isObject(block.tool) ? block.tool : {}
      if (isObject(definition)) definitions.set(definition.name as string, definition as AnthropicTool)
      const at = `messages.${index}.content.${place}`
      yield { text: line(expanded(block, definitions)), source: block, at }
    }
  }
}

/** Line before the blocks of a turn. */
export function speakerLine(role: string): string {
  return `${role}\n`
}

export function anthropicRenderOrder(body: AnthropicRequestBody): string {
  return renderAnthropic(body).text
}

/**
 * Applies Anthropic's explicit caching: only prefixes that end at a mark and have at least 1,024 tokens are kept, and a request
 * reads the longest kept prefix up to its last mark. Tokens between the two are written; tokens after the last mark are plain
 * input. The cache is ideal: it does not expire and looks back further than twenty blocks. `kept` are prefixes written by earlier
 * requests; `keptBy` gives those of this one.
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
    // Never 0 on this wire, even for an empty answer.
    output_tokens: Math.max(1, estimateTokens(completion)),
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  }
}

/** Prefixes that a request leaves in the cache. */
export function listKeptPrefixes({ text, marks }: AnthropicRendering): readonly string[] {
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
  if (listReferences(block).length > 0) {
    const found = listReferences(block).map((name) => definitionOf(definitions.get(name) ?? { name }))
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
