/**
 * A history for OpenAI's own search, as the provider of the SDK wants it: calls of the loader with wrapped arguments and
 * an id of their kind, results that hold definitions and no word, and calls in the namespace where their function lives.
 */
import { dropUndefined } from '../../base/data.js'
import { shortHash } from '../../base/hash.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { bySource, declaredOnce } from '../shared/namespace.js'
import { argumentsObject } from '../shared/thread.js'
import { type FoundFunction, foundFunction, foundIn } from './found.js'
import { createNamespaces } from './namespaces.js'
import { openaiOptions, withOpenaiOptions } from './openai-options.js'
import {
  type AiCallPart,
  type AiMessage,
  type AiPart,
  type AiResultPart,
  isCall,
  isResult,
  outputText,
  partsOf,
} from './types.js'
import { createWords } from './words.js'

/** What the provider's ids of searches begin with. It makes one of the call's id where there is none. */
const PREFIX = 'tsc'

export function withSearchItems(
  messages: readonly AiMessage[],
  view: SurfaceView,
  prompts: Prompts,
): AiMessage[] {
  if (view.mode === 'off') return [...messages]
  const search = view.delivery === 'native' ? view.loader : undefined
  const known = new Map([...view.tools, ...view.declaredHidden].map((tool) => [tool.name, tool as WireTool]))
  const namespaces = createNamespaces(view)
  const declared = new Set<string>()
  const items = new Set<string>()
  /** New ids of searches, by their own; only those that stand open can meet a result. */
  const ids = new Map<string, string>()

  const asked = (part: AiCallPart): AiCallPart => {
    const { itemId, ...others } = openaiOptions(part)
    const own = typeof itemId === 'string' && itemId.startsWith(PREFIX) && !items.has(itemId)
    if (own) items.add(itemId)
    const id = own || part.toolCallId.startsWith(PREFIX) ? part.toolCallId : searchId(part.toolCallId)
    ids.set(part.toolCallId, id)
    const input = { arguments: argumentsObject({ value: part.input ?? {} }), call_id: id }
    return { ...(own ? part : withOpenaiOptions(part, others)), toolCallId: id, input }
  }
  const found = (part: AiResultPart): { readonly part: AiResultPart; readonly text: string } => {
    const functions = foundIn(part.output).flatMap(([name, shown]): FoundFunction[] => {
      const tool = known.get(name)
      const source = dropUndefined({ source: view.sources.get(name) })
      return shown ? [shown] : tool ? [foundFunction({ ...tool, ...source })] : []
    })
    const tools = declaredOnce(bySource(functions.map(sourced), prompts), declared)
    namespaces.load(tools)
    const toolCallId = ids.get(part.toolCallId) ?? part.toolCallId
    const text = outputText(part.output)
    return { part: { ...part, toolCallId, output: { type: 'json', value: { tools } } }, text }
  }

  const output: AiMessage[] = []
  const words = createWords(output, { wordless: search })
  for (const message of messages) {
    const notes: string[] = []
    const parts = partsOf(message)
    const made = parts.map((part): AiPart => {
      if (isCall(part) && part.toolName === search) return asked(part)
      if (isCall(part)) return namespaces.place(part)
      if (!isResult(part) || message.role !== 'tool' || part.toolName !== search) return part
      const answer = found(part)
      if (answer.text !== '') notes.push(prompts.frame({ body: answer.text }))
      return answer.part
    })
    const same = made.every((part, index) => part === parts[index])
    words.push(same ? message : { ...message, content: made })
    for (const text of notes) words.say(text)
  }
  return output
}

function sourced({ source, ...member }: FoundFunction): { source?: string; member: object } {
  return typeof source === 'string' ? { source, member } : { member }
}

function searchId(id: string): string {
  return `${PREFIX}_${shortHash(id)}`
}
