/** Assembles the chunks of a streamed reply into one assistant message. */
import type { Usage } from '../../accounting/measurement.js'
import { isRecord } from '../../base/data.js'
import { addFigures, checkEvents, readFigure, type StreamedReply } from '../shared/stream.js'

export { readEvents } from '../shared/stream.js'

/**
 * Also contains fields that only some servers send (`reasoning_content`, `reasoning_details` …), because some require
 * them in the history.
 */
export interface StreamedMessage {
  readonly role: 'assistant'
  /** Typed as clients expect. Mistral's reasoning models stream lists: then it is a list of parts. */
  readonly content: string | null
  readonly refusal?: string
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
}

export interface StreamedChoice {
  readonly message: StreamedMessage
  readonly finish_reason: string | null
}

/** Converts `usage` of a completion for `recordRequest`. DeepSeek reports cached tokens in different fields. */
export function readUsage(usage: unknown): Usage {
  const hit = readFigure(usage, 'prompt_cache_hit_tokens')
  return {
    inputTokens:
      readFigure(usage, 'prompt_tokens') ?? addFigures(hit, readFigure(usage, 'prompt_cache_miss_tokens')),
    cachedTokens: readFigure(usage, 'prompt_tokens_details', 'cached_tokens') ?? hit,
    outputTokens: readFigure(usage, 'completion_tokens'),
  }
}

type Fields = Readonly<Record<string, unknown>>

interface CallPart {
  readonly index?: number
  readonly id?: string | null
  readonly type?: string | null
  readonly function?: { readonly name?: string; readonly arguments?: string }
  readonly [field: string]: unknown
}

interface Chunk {
  readonly choices?: readonly {
    readonly index?: number
    readonly delta?: {
      readonly role?: string
      readonly content?: string | readonly unknown[] | null
      readonly refusal?: string | null
      readonly tool_calls?: readonly CallPart[] | null
      readonly [field: string]: unknown
    }
    readonly finish_reason?: string | null
  }[]
  readonly usage?: unknown
  readonly error?: unknown
}

/**
 * Assembles chunks that were parsed here or by an SDK. If the source fails, returns an incomplete reply instead of
 * throwing.
 */
export async function assemble(
  chunks: AsyncIterable<unknown>,
): Promise<StreamedReply<StreamedChoice, StreamedMessage>> {
  let content: string | readonly unknown[] = ''
  let refusal = ''
  let others: Fields = {}
  let finish: string | undefined
  let rawUsage: unknown
  let error: unknown
  const calls = collectCalls()
  try {
    for await (const chunk of checkEvents(chunks)) {
      const { choices, usage: figures, error: failure } = (chunk ?? {}) as Chunk
      if (failure !== undefined && failure !== null) throw failure
      rawUsage = figures ?? rawUsage
      const choice = Array.isArray(choices) ? choices.find((each) => (each?.index ?? 0) === 0) : undefined
      if (!choice) continue
      const { role: _, content: said, refusal: refused, tool_calls: parts, ...more } = choice.delta ?? {}
      content = joinContent(content, said ?? '')
      refusal += refused ?? ''
      others = joinFields(others, more)
      for (const part of parts ?? []) if (isRecord(part)) calls.add(part)
      finish = choice.finish_reason ?? finish
    }
  } catch (cause) {
    error = cause ?? 'the stream broke off'
  }
  const made = calls.all.map(({ id, name, text, others: fields }) => ({
    id,
    // A custom tool has the field `custom` instead of `function`.
    ...(isRecord(fields.custom)
      ? { type: 'custom' }
      : { type: 'function', function: { name, arguments: text } }),
    ...fields,
  })) as NonNullable<StreamedMessage['tool_calls']>
  const message: StreamedMessage = {
    role: 'assistant',
    content: content === '' ? null : (content as string),
    ...(refusal === '' ? {} : { refusal }),
    ...(made.length > 0 ? { tool_calls: made } : {}),
    ...others,
  }
  return {
    reply: { message, finish_reason: finish ?? null },
    messages: saysNothing(message) ? [] : [message],
    finish,
    usage: readUsage(rawUsage),
    rawUsage,
    error,
    // Some servers report an error as the finish reason.
    complete: error === undefined && finish !== undefined && finish !== 'error',
  }
}

function saysNothing({ role: _, content, ...others }: StreamedMessage): boolean {
  return content === null && Object.keys(others).length === 0
}

/** Joins fragments of calls. Servers differ: some omit the index, some repeat id and name in every fragment. */
function collectCalls() {
  const all: { id: string; name: string; text: string; others: Fields }[] = []
  const byIndex = new Map<number | undefined, (typeof all)[number]>()
  return {
    all,
    add({ index, id, type: _, function: part, ...more }: CallPart) {
      const placed = byIndex.get(index)
      // The index identifies a call if present: some servers give every call the same id, or all the same index.
      const isOther = id && placed && placed.id !== '' && placed.id !== id
      const known = id && (index === undefined || isOther) ? all.find((call) => call.id === id) : undefined
      // A new id at a used index starts a new call. A fragment without id and index continues the last call.
      const goesOn =
        known ?? (isOther ? undefined : placed) ?? (id || index !== undefined ? undefined : all.at(-1))
      const call = goesOn ?? { id: '', name: '', text: '', others: {} }
      if (!goesOn) all.push(call)
      if (index !== undefined) byIndex.set(index, call)
      if (id) call.id = id
      const name = part?.name ?? ''
      if (name !== call.name) call.name += name
      call.text += part?.arguments ?? ''
      call.others = joinFields(call.others, more)
    },
  }
}

/** Joins two fragments of an object: concatenates text and lists, merges objects, otherwise takes the later value. */
function joinFields(before: Fields, more: Fields): Fields {
  const entries = Object.entries(more)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([field, value]): [string, unknown] => {
      const old = Object.hasOwn(before, field) ? before[field] : undefined
      if (typeof old === 'string' && typeof value === 'string') return [field, old + value]
      if (field === 'reasoning_details' && Array.isArray(value))
        return [field, joinReasoning(Array.isArray(old) ? old : [], value)]
      if (Array.isArray(old) && Array.isArray(value)) return [field, [...old, ...value]]
      return [field, isRecord(old) && isRecord(value) ? joinFields(old, value) : value]
    })
  return entries.length === 0 ? before : { ...before, ...Object.fromEntries(entries) }
}

type Content = string | readonly unknown[]

/** Mistral's reasoning models stream lists of parts, then text (docs.mistral.ai, capabilities/reasoning). */
function joinContent(before: Content, said: Content): Content {
  if (typeof before === 'string' && typeof said === 'string') return before + said
  return joinParts(listParts(before), listParts(said))
}

function listParts(content: Content): readonly unknown[] {
  if (typeof content !== 'string') return content
  return content === '' ? [] : [{ type: 'text', text: content }]
}

/** Joins a part with the part before it if both are text or both are thinking. */
function joinParts(before: readonly unknown[], more: readonly unknown[]): readonly unknown[] {
  const parts = [...before]
  for (const part of more) {
    const last = parts.at(-1)
    if (!isRecord(last) || !isRecord(part) || last.type !== part.type) parts.push(part)
    else if (typeof last.text === 'string' && typeof part.text === 'string')
      parts[parts.length - 1] = { ...last, ...part, text: last.text + part.text }
    else if (Array.isArray(last.thinking) && Array.isArray(part.thinking))
      parts[parts.length - 1] = { ...last, ...part, thinking: joinParts(last.thinking, part.thinking) }
    else parts.push(part)
  }
  return parts
}

/**
 * Joins the pieces of a block of reasoning, which have its index. The signature comes last. OpenRouter needs the blocks
 * as the model made them (openrouter.ai/docs/guides/best-practices/reasoning-tokens). Encrypted blocks come whole.
 */
function joinReasoning(before: readonly unknown[], more: readonly unknown[]): readonly unknown[] {
  const blocks = [...before]
  for (const piece of more) {
    const at = isRecord(piece)
      ? blocks.findLastIndex((block) => isRecord(block) && continues(block, piece))
      : -1
    if (at < 0) {
      blocks.push(piece)
      continue
    }
    const { text, summary, ...rest } = piece as Fields
    blocks[at] = { ...joinFields(blocks[at] as Fields, { text, summary }), ...joinFields({}, rest) }
  }
  return blocks
}

function continues(block: Fields, { type, index }: Fields): boolean {
  const isText = type === 'reasoning.text' || type === 'reasoning.summary'
  return isText && index !== undefined && block.type === type && block.index === index && !block.signature
}
