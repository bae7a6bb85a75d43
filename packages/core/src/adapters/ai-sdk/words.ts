/**
 * Words without a message of their own: they join the user's message they follow, or the output of the last result before
 * them. Where no result before them has words, they wait for the next one or for the user's next message.
 */

import { isRecord } from '../../base/data.js'
import { type AiMessage, type AiPart, type AiResultPart, isResult, outputText, partsOf } from './types.js'

export interface Words {
  /** The next message, and what has waited for it. */
  push(message: AiMessage): void
  /** Says something behind what was pushed. */
  say(text: string): void
}

export interface WordsOptions {
  /** The tool whose results hold no words. */
  readonly wordless?: string | undefined
  /** The provider itself makes one turn of results and a user's message behind them: words may stand there. */
  readonly besideResults?: boolean
}

/** Writes into `output`. */
export function createWords(
  output: AiMessage[],
  { wordless, besideResults = false }: WordsOptions = {},
): Words {
  let waiting = ''
  return {
    push(message) {
      const taken = waiting === '' ? undefined : withWords(message, waiting, wordless)
      if (taken) waiting = ''
      output.push(taken ?? message)
    },
    say(text) {
      if (text === '') return
      const start = besideResults ? output.length - 1 : output.findLastIndex(({ role }) => role !== 'tool')
      // The last of the messages that hold the results, or the message before.
      for (let index = output.length - 1; index >= Math.max(0, start); index--) {
        const made = withWords(output[index] as AiMessage, text, wordless, besideResults)
        if (!made) continue
        output[index] = made
        return
      }
      if (!besideResults && output.at(-1)?.role === 'tool') waiting = joined(waiting, text)
      else output.push({ role: 'user', content: [{ type: 'text', text }] })
    },
  }
}

/** The message with the words at its end; undefined where it takes none. */
function withWords(
  message: AiMessage,
  text: string,
  wordless: string | undefined,
  besideResults = false,
): AiMessage | undefined {
  const { role, content } = message
  if (role === 'user') {
    const before = typeof content === 'string' ? [{ type: 'text', text: content }] : partsOf(message)
    return { ...message, content: [...before, { type: 'text', text }] }
  }
  if (role !== 'tool' || besideResults) return undefined
  const parts = partsOf(message)
  const last = parts.findLastIndex((part) => isResult(part) && part.toolName !== wordless)
  const part = parts[last]
  if (!part || !isResult(part)) return undefined
  const made: AiPart[] = [...parts]
  made[last] = { ...part, output: extended(part.output, text) } as AiResultPart
  return { ...message, content: made }
}

/** As the providers write it: a text as it is, JSON as its text, a list of parts with one more. */
function extended(output: unknown, text: string): object {
  const { type, value, ...others } = isRecord(output) ? output : { type: 'text', value: output }
  if (type === 'content' && Array.isArray(value))
    return { ...others, type, value: [...value, { type: 'text', text }] }
  if (type === 'execution-denied') {
    const { reason } = others as { readonly reason?: unknown }
    return { ...others, type, reason: joined(String(reason ?? 'Tool execution denied.'), text) }
  }
  const isError = type === 'error-text' || type === 'error-json'
  return {
    ...others,
    type: isError ? 'error-text' : 'text',
    value: joined(outputText(output), text),
  }
}

function joined(before: string, text: string): string {
  return before === '' ? text : `${before}\n\n${text}`
}
