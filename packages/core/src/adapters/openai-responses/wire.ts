/** The Responses API as a wire: items, functions, instructions. Used without state: the host keeps all items. */

import { isRecord } from '../../base/guards.js'
import { assertKnownKeys, invalid } from '../../base/options.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Wire } from '../shared/wire.js'
import { settleReasoning, withNamespaces } from './last-checks.js'
import { normaliseItem } from './normalise.js'
import { readCall, readItems } from './read.js'
import { readUsage } from './stream.js'
import { responsesTools } from './tools.js'
import { ID_RULES, type ResponsesItem, type ResponsesReply, type ResponsesTool, WIRE } from './types.js'
import { answerItem, withWords, writeItems } from './write.js'

export interface ResponsesParts {
  readonly input: readonly ResponsesItem[]
  /** Absent where there are none. */
  readonly tools?: readonly ResponsesTool[]
  /** The host's own, then what Toolwell has to say. */
  readonly instructions?: string
}

export interface ResponsesPrompt {
  /** The system prompt. It goes here and not into the request itself, because something may be added to it. */
  readonly instructions?: string
}

export interface ResponsesOptions {
  /** Whether the server has `tool_search` (OpenAI: GPT-5.4 and later). Default true; false for servers and models that have not. */
  readonly native?: boolean
}

/** `loader`: what a search of the API's own is called on every other wire. `prompts`: what has to be said in a history, in the host's words. */
export function responsesWire(
  loader: string,
  prompts: Prompts,
  options: ResponsesOptions = {},
): Wire<ResponsesItem, ResponsesReply, ResponsesParts, ResponsesPrompt> {
  assertKnownKeys(options, ['native'], 'openaiResponses')
  const { native = true } = options
  return {
    name: WIRE,
    traits: {
      form: WIRE,
      prompt: ['instructions'],
      native: native ? 'additions' : undefined,
      ids: ID_RULES,
      answersAnywhere: true,
      notesJoinAnswers: true,
      wordlessSearches: native,
    },
    normalise: normaliseItem,
    read: (items) => readItems(items, loader),
    restore: (units) => units.flatMap(({ native }) => native.value as ResponsesItem | ResponsesItem[]),
    write(units, view, warn = () => undefined) {
      const items = withNamespaces(writeItems(units, view, prompts, warn), view, warn)
      return uniqueIds(settleReasoning(items, warn))
    },
    parts(items, view, { instructions }) {
      const tools = responsesTools(view)
      const own = instructions ?? ''
      const said = own !== '' && view.section !== '' ? `${own}\n\n${view.section}` : own || view.section
      return {
        input: withWords(items, prompts),
        ...(tools.length > 0 ? { tools } : {}),
        ...(instructions === undefined && said === '' ? {} : { instructions: said }),
      }
    },
    // In the form in which the history will be read: a call without an id is answered too.
    usage: (reply) => (isRecord(reply) ? readUsage(reply.usage) : undefined),
    calls(reply) {
      if (!isRecord(reply) || !Array.isArray(reply.output))
        throw invalid(
          'reply',
          'run wants the response that the API gave, or any object with its output items.',
        )
      return reply.output
        .flatMap((item: unknown) => (isRecord(item) ? normaliseItem(item) : []))
        .flatMap((item) => readCall(item, loader) ?? [])
    },
    answer: (answers, view) => answers.map((answer) => answerItem(answer, view, prompts)),
  }
}

/** An item that stands twice in a history keeps its id once: the API refuses the second. */
function uniqueIds(items: readonly ResponsesItem[]): ResponsesItem[] {
  const seen = new Set<string>()
  return items.map((item) => {
    if (typeof item.id !== 'string') return item
    if (!seen.has(item.id)) {
      seen.add(item.id)
      return item
    }
    const { id: _, ...rest } = item
    return rest
  })
}
