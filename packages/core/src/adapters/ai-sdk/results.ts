/** Converts answers of calls to the output of a tool for the SDK, and to the text that the model reads. */

import { isRecord } from '../../base/data.js'
import { isMedia, type ResultPart } from '../../result/part.js'
import { acceptsMedia } from '../../result/wire-media.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Tool } from '../../tool/tool.js'
import { describePart } from '../../turn/describe-part.js'
import type { CallAnswer } from '../../turn/run.js'
import { readMedia } from '../shared/media.js'
import { hasSameItems } from '../shared/thread.js'
import type { Protocol } from './protocol.js'
import { findImported } from './tools.js'
import { type AiMessage, type AiPart, type AiResultPart, isResult, listParts } from './types.js'

/** The number of texts to remember: the SDK asks for one right after its call. */
const REMEMBERED = 256

export interface Results {
  /** The output of a tool. Throws if the call failed: the SDK treats that as a failed call. */
  output(answer: CallAnswer): unknown
  /** The `toModelOutput` of a tool. For a history from elsewhere, the output alone is enough. */
  modelOutput(tool: Tool | undefined, asked: unknown): unknown
}

export function createResults(noOutput: () => string): Results {
  /** Texts that differ from the output. */
  const texts = new Map<string, string>()
  const textOf = (output: unknown) => plain(output) || noOutput()
  return {
    output({ callId, outcome, text, parts }) {
      if (outcome.kind !== 'result') throw new Error(text)
      texts.delete(callId)
      if (parts) return createStoredResult(parts)
      // Text that is too long must not be sent when a stored history is read again. An output that only looks like
      // parts is data.
      if (outcome.kept || isStored(outcome.value)) return text
      if (text !== textOf(outcome.value)) {
        texts.set(callId, text)
        const [oldest] = texts.keys()
        if (texts.size > REMEMBERED && oldest !== undefined) texts.delete(oldest)
      }
      return outcome.value
    },
    modelOutput(tool, asked) {
      const own = tool && findImported(tool)?.tool
      if (own?.toModelOutput) return own.toModelOutput(asked)
      const { output, toolCallId = '' } = readAskedOutput(asked)
      if (isStored(output)) return writeContentOutput(output.parts)
      const text = texts.get(toolCallId) ?? textOf(output)
      const isJson = typeof output !== 'string' && text === plain(output)
      return isJson ? { type: 'json', value: output } : { type: 'text', value: text }
    },
  }
}

/** The argument of `toModelOutput`: the SDK passes a call with its output, Mastra only the output. */
export function readAskedOutput(asked: unknown): { readonly toolCallId?: string; readonly output: unknown } {
  return isRecord(asked) && typeof asked.toolCallId === 'string' && 'output' in asked
    ? { toolCallId: asked.toolCallId, output: asked.output }
    : { output: asked }
}

function plain(output: unknown): string {
  if (typeof output === 'string') return output
  try {
    return JSON.stringify(output) ?? ''
  } catch {
    return ''
  }
}

/** The last value of a tool that reports progress. */
export async function readLast(value: unknown): Promise<unknown> {
  const made = await value
  if (
    !isRecord(made) ||
    typeof (made as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] !== 'function'
  )
    return made
  let last: unknown
  for await (const each of made as unknown as AsyncIterable<unknown>) last = each
  return last
}

/** The output of a tool with more than text. It contains everything that a stored history needs. */
interface StoredResult {
  readonly type: 'toolwell-result'
  readonly parts: readonly ResultPart[]
}

function createStoredResult(parts: readonly ResultPart[]): StoredResult {
  return { type: 'toolwell-result', parts }
}

function isStored(output: unknown): output is StoredResult {
  return isRecord(output) && output.type === 'toolwell-result' && Array.isArray(output.parts)
}

/** Converts the output to a result in a history. Versions 6 and 7 of the SDK know these types. */
export function writeContentOutput(parts: readonly ResultPart[]): object {
  const value = parts.flatMap((part): object[] => {
    if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
    if (!isMedia(part)) return [{ type: 'text', text: JSON.stringify(part) }]
    const { data, mediaType, name } = part
    if (part.type === 'image') return [{ type: 'image-data', data, mediaType }]
    return [{ type: 'file-data', data, mediaType, ...(name === undefined ? {} : { filename: name }) }]
  })
  return { type: 'content', value }
}

/**
 * Replaces media that the provider does not accept by text: the provider's package would drop them, or send their
 * base64 as text. Returns the same message if nothing changed, also for an unknown provider.
 */
export function replaceMedia(message: AiMessage, protocol: Protocol, prompts: Prompts): AiMessage {
  if (message.role !== 'tool' || protocol === 'ai-sdk') return message
  const parts = listParts(message)
  const made = parts.map((part) => (isResult(part) ? replaceResultMedia(part, protocol, prompts) : part))
  return hasSameItems(made, parts) ? message : { ...message, content: made }
}

function replaceResultMedia(part: AiResultPart, protocol: Protocol, prompts: Prompts): AiPart {
  const { output } = part
  if (!isRecord(output) || output.type !== 'content' || !Array.isArray(output.value)) return part
  const value: readonly unknown[] = output.value
  const made = value.map((item) => {
    const media = readMedia(item)
    return media && !acceptsMedia(protocol, media)
      ? { type: 'text', text: describePart(media, prompts) }
      : item
  })
  if (hasSameItems(made, value)) return part
  const words = made.flatMap((item) => (isRecord(item) && item.type === 'text' ? [String(item.text)] : []))
  // Servers of the Chat family accept one text. The SDK would write a list as JSON.
  const changed =
    words.length === made.length ? { type: 'text', value: words.join('\n') } : { ...output, value: made }
  return { ...part, output: changed } as AiResultPart
}
