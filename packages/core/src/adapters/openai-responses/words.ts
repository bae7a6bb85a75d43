/**
 * Words without a message of their own. Between the outputs of a batch and the model's next item stands no message, so
 * they join the text of an output of that batch. Where it has none (the output of a search holds definitions and nothing
 * else) they wait for the next output or the user's next message, and stand there from then on.
 */

import { isRecord } from '../../base/guards.js'
import type { Prompts } from '../../surface/prompts.js'
import { isMessage, isSearchOutput, type ResponsesItem } from './types.js'

/** An output of a search with what else there is to say. The API does not know the field: it is in histories, never sent. */
export interface WordedOutput extends ResponsesItem {
  readonly toolwell?: { readonly text: string }
}

export interface Words {
  /** The next item, and what has waited for it. */
  push(item: ResponsesItem): void
  /** Says something behind what was pushed. */
  say(text: string): void
  /** The user speaks next: what was pushed before stays as it is. */
  startTurn(): void
}

/** Writes into `output`. */
export function createWords(output: ResponsesItem[]): Words {
  let waiting = ''
  let turn = 0
  return {
    startTurn() {
      turn = output.length
    },
    push(item) {
      const text = waiting
      const takes = text !== '' && (isOutput(item) || (isMessage(item) && item.role === 'user'))
      if (takes) waiting = ''
      output.push(takes && isOutput(item) ? extended(item, text) : item)
      if (takes && !isOutput(item)) output.push(note(text))
    },
    say(text) {
      if (text === '') return
      const start = Math.max(turn, output.findLastIndex((item) => !isBehindCalls(item)) + 1)
      const last = output.findLastIndex(isOutput)
      const found = output[last]
      if (last >= start && found) output[last] = extended(found, text)
      else if (output.slice(start).some(isSearchOutput)) waiting = joined(waiting, text)
      else output.push(note(text))
    },
  }
}

/** What a search says besides its definitions, put where it can be read. */
export function withWords(items: readonly ResponsesItem[], prompts: Prompts): readonly ResponsesItem[] {
  if (!items.some((item) => 'toolwell' in item)) return items
  const output: ResponsesItem[] = []
  const words = createWords(output)
  for (const item of items) {
    const { toolwell: _, ...sent } = item as WordedOutput
    words.push('toolwell' in item ? sent : item)
    const text = textBeside(item)
    if (text !== '') words.say(prompts.frame({ body: text }))
  }
  return output
}

/** What else the search had to say. */
export function textBeside(item: ResponsesItem): string {
  const { toolwell } = item as { readonly toolwell?: unknown }
  return isRecord(toolwell) && typeof toolwell.text === 'string' ? toolwell.text : ''
}

function isOutput(item: ResponsesItem): boolean {
  return item.type === 'function_call_output'
}

function isBehindCalls(item: ResponsesItem): boolean {
  return isOutput(item) || isSearchOutput(item) || item.type === 'additional_tools'
}

function extended(item: ResponsesItem, text: string): ResponsesItem {
  const { output } = item
  if (Array.isArray(output)) return { ...item, output: [...output, { type: 'input_text', text }] }
  return { ...item, output: joined(typeof output === 'string' ? output : '', text) }
}

function joined(before: string, text: string): string {
  return before === '' ? text : `${before}\n\n${text}`
}

function note(text: string): ResponsesItem {
  return { type: 'message', role: 'developer', content: text }
}
