/** What the SDK gets for a call: the tool's own value, an answer of Toolwell's, or an error; and what the model reads of it. */

import { isRecord } from '../../base/guards.js'
import { isMedia, type ResultPart } from '../../result/part.js'
import { isTaken } from '../../result/taken.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Tool } from '../../tool/tool.js'
import { describe } from '../../turn/describe.js'
import type { CallAnswer } from '../../turn/run.js'
import { mediaOf } from '../shared/media.js'
import { sameItems } from '../shared/thread.js'
import type { Protocol } from './protocol.js'
import { importedOf } from './tools.js'
import { type AiMessage, type AiPart, type AiResultPart, isResult, partsOf } from './types.js'

/** At most so many texts are remembered: the SDK asks for one right after its call. */
const REMEMBERED = 256

export interface Results {
  /** The output of a tool. Throws where the call did not come to one: to the SDK that is a failed call. */
  output(answer: CallAnswer): unknown
  /** The `toModelOutput` of a tool, with what it was asked. Needs nothing but the output where a history comes from elsewhere. */
  modelOutput(tool: Tool | undefined, asked: unknown): unknown
}

export function createResults(noOutput: () => string): Results {
  /** Texts that cannot be told from the output alone. */
  const texts = new Map<string, string>()
  const textOf = (output: unknown) => plain(output) || noOutput()
  return {
    output({ callId, outcome, text, parts }) {
      if (outcome.kind !== 'result') throw new Error(text)
      texts.delete(callId)
      if (parts) return storedResult(parts)
      // What is too long to be sent once must not be sent when a stored history is read again; and what only looks like
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
      const own = tool && importedOf(tool)?.tool
      if (own?.toModelOutput) return own.toModelOutput(asked)
      const { output, toolCallId = '' } = askedOutput(asked)
      if (isStored(output)) return contentOutput(output.parts)
      const text = texts.get(toolCallId) ?? textOf(output)
      const isJson = typeof output !== 'string' && text === plain(output)
      return isJson ? { type: 'json', value: output } : { type: 'text', value: text }
    },
  }
}

/** What `toModelOutput` is asked about: the SDK gives a call with its output, and Mastra the output alone. */
export function askedOutput(asked: unknown): { readonly toolCallId?: string; readonly output: unknown } {
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

/** The last value of a tool that reports as it goes. */
export async function lastOf(value: unknown): Promise<unknown> {
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

// Images and files in results, as the SDK holds them: one form in the history, whatever provider it is sent to. Before a request, what the provider does not take becomes words: its package would drop it, or write all its base64 as text.

/** The output of a tool that gave more than text. It holds all that its history needs, however a host stores it. */
interface StoredResult {
  readonly type: 'toolwell-result'
  readonly parts: readonly ResultPart[]
}

function storedResult(parts: readonly ResultPart[]): StoredResult {
  return { type: 'toolwell-result', parts }
}

function isStored(output: unknown): output is StoredResult {
  return isRecord(output) && output.type === 'toolwell-result' && Array.isArray(output.parts)
}

/** The same as a result in a history. These kinds are known to versions 6 and 7. */
export function contentOutput(parts: readonly ResultPart[]): object {
  const value = parts.flatMap((part): object[] => {
    if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
    if (!isMedia(part)) return [{ type: 'text', text: JSON.stringify(part) }]
    const { data, mediaType, name } = part
    if (part.type === 'image') return [{ type: 'image-data', data, mediaType }]
    return [{ type: 'file-data', data, mediaType, ...(name === undefined ? {} : { filename: name }) }]
  })
  return { type: 'content', value }
}

/** The message itself where nothing in it changes. Of a provider that is not known here nothing is changed. */
export function withTakenMedia(message: AiMessage, protocol: Protocol, prompts: Prompts): AiMessage {
  if (message.role !== 'tool' || protocol === 'ai-sdk') return message
  const parts = partsOf(message)
  const made = parts.map((part) => (isResult(part) ? takenResult(part, protocol, prompts) : part))
  return sameItems(made, parts) ? message : { ...message, content: made }
}

function takenResult(part: AiResultPart, protocol: Protocol, prompts: Prompts): AiPart {
  const { output } = part
  if (!isRecord(output) || output.type !== 'content' || !Array.isArray(output.value)) return part
  const value: readonly unknown[] = output.value
  const made = value.map((item) => {
    const media = mediaOf(item)
    return media && !isTaken(protocol, media) ? { type: 'text', text: describe(media, prompts) } : item
  })
  if (sameItems(made, value)) return part
  const words = made.flatMap((item) => (isRecord(item) && item.type === 'text' ? [String(item.text)] : []))
  // Servers of the Chat family take one text; the SDK would write a list as JSON.
  const changed =
    words.length === made.length ? { type: 'text', value: words.join('\n') } : { ...output, value: made }
  return { ...part, output: changed } as AiResultPart
}
