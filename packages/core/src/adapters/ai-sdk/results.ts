/** What the SDK gets for a call: the tool's own value, an answer of Toolwell's, or an error; and what the model reads of it. */

import { isRecord } from '../../base/data.js'
import type { Tool } from '../../tool/tool.js'
import type { CallAnswer } from '../../turn/run.js'
import { contentOutput, isStored, storedResult } from './media.js'
import { importedOf } from './tools.js'

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
