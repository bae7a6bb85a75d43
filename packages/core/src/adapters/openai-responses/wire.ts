/** The wire of the Responses API. It is used without server state: the host keeps all items. */

import { isRecord } from '../../base/data.js'
import { assertKnownKeys, invalid } from '../../base/options.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Unit } from '../shared/thread.js'
import { addOwnTools, ignoresSearch, type ProviderForm, readProviderTools } from '../shared/tools.js'
import type { Wire } from '../shared/wire.js'
import { removeLostReasoning, removeRepeatedIds, setNamespaces } from './last-checks.js'
import { normaliseItem } from './normalise.js'
import { readCall, readItems } from './read.js'
import { readUsage } from './stream.js'
import { writeTools } from './tools.js'
import { ID_RULES, type ResponsesItem, type ResponsesReply, type ResponsesTool, WIRE } from './types.js'
import { placeAddedText, writeAnswer, writeItems } from './write.js'

export interface ResponsesParts {
  readonly input: readonly ResponsesItem[]
  /** Absent if there are none. */
  readonly tools?: readonly ResponsesTool[]
  /** Your instructions, followed by the section. */
  readonly instructions?: string
}

export interface ResponsesPrompt {
  /** The system prompt. Pass it here, not in the request, because the section may be added to it. */
  readonly instructions?: string
}

export interface ResponsesOptions {
  /**
   * Whether the server has `tool_search` (OpenAI: GPT-5.4 and later). Default true. Set it to false for servers and
   * models without it.
   */
  readonly native?: boolean
  /**
   * Tools that the provider defines or runs: web search, code interpreter, MCP, shell, programmatic tool calling. They come
   * first in every request. Their items stay in the history as they are. With OpenAI's own `tool_search` among them,
   * Toolwell uses the bridge.
   */
  readonly providerTools?: readonly ResponsesProviderTool[]
}

/** A tool of the provider, for example `{ type: 'web_search' }`. Its other fields pass unchanged. */
export interface ResponsesProviderTool {
  readonly type: string
}

const PROVIDER_FORM: ProviderForm = {
  names: () => [],
  isFunction: ({ type }) => type === 'function' || type === 'namespace' || typeof type !== 'string',
}

/** `loader`: the name of the API's search on every other wire. `prompts`: the texts that Toolwell adds to a history. */
export function responsesWire(
  loader: string,
  prompts: Prompts,
  options: ResponsesOptions = {},
): Wire<ResponsesItem, ResponsesReply, ResponsesParts, ResponsesPrompt> {
  assertKnownKeys(options, ['native', 'providerTools'], 'openaiResponses')
  const provider = readProviderTools(options.providerTools, PROVIDER_FORM)
  const hasCode = provider?.tools.some(({ type }) => type === 'programmatic_tool_calling') ?? false
  const native = (options.native ?? true) && !provider?.tools.some(({ type }) => type === 'tool_search')
  return {
    name: WIRE,
    provider,
    traits: {
      form: WIRE,
      prompt: ['instructions'],
      native: native ? 'additions' : undefined,
      ids: ID_RULES,
      answersAnywhere: true,
      notesJoinAnswers: true,
      wordlessSearches: native,
      findSummary,
      runsCode: hasCode,
    },
    normalise: normaliseItem,
    read: (items) => readItems(items, loader),
    restore: (units) => units.flatMap(({ native }) => native.value as ResponsesItem | ResponsesItem[]),
    write(units, view, warn = () => undefined) {
      const items = setNamespaces(writeItems(units, view, prompts, warn), view, warn)
      return removeRepeatedIds(removeLostReasoning(items, warn), warn)
    },
    parts(items, view, { instructions }) {
      const tools = addOwnTools(provider, writeTools(view))
      const own = instructions ?? ''
      const said = own !== '' && view.section !== '' ? `${own}\n\n${view.section}` : own || view.section
      return {
        input: placeAddedText(items, prompts),
        ...(tools.length > 0 ? { tools } : {}),
        ...(instructions === undefined && said === '' ? {} : { instructions: said }),
      }
    },
    // Reads the calls in the same form as the history: a call without an id gets an answer too.
    usage: (reply) => (isRecord(reply) ? readUsage(reply.usage) : undefined),
    ignoresNative: (reply, { tools }) => ignoresSearch(reply, tools),
    calls(reply) {
      if (!isRecord(reply) || !Array.isArray(reply.output))
        throw invalid('reply', 'run takes the response of the API, or any object with its output items.')
      // A reply that reached its limit ends with a cut item, which some servers do not mark.
      const cut = reply.status === 'incomplete' ? reply.output.length - 1 : -1
      return reply.output
        .flatMap((item: unknown, at) =>
          isRecord(item) ? normaliseItem(at === cut ? { status: 'incomplete', ...item } : item) : [],
        )
        .flatMap((item) => readCall(item, loader) ?? [])
    },
    answer: (answers, view, calls) =>
      answers.map((answer, index) => writeAnswer(answer, view, prompts, calls[index])),
  }
}

function findSummary(unit: Unit): 'plain' | undefined {
  if (unit.kind === 'note' || unit.native?.wire !== WIRE) return undefined
  const items = [unit.native.value as ResponsesItem | readonly ResponsesItem[]].flat()
  return items.some(({ type }) => type === 'compaction') ? 'plain' : undefined
}
