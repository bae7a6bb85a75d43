/** OpenAI's own search through the SDK: the loader as the tool that the provider knows, and its calls as the loader's. */

import { defined, isRecord } from '../../base/guards.js'
import { shortHash } from '../../base/hash.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { bySource, declaredOnce, isNamespace, namespaceOf } from '../shared/namespace.js'
import { argumentsObject, readArguments, referencesText, sameItems, type Unit } from '../shared/thread.js'
import { fitted, objectSchema } from '../shared/tools.js'
import { type FoundFunction, foundFunction, foundIn, references } from './found.js'
import type { AnswerSource } from './read.js'
import {
  type AiCallPart,
  type AiFunction,
  type AiMessage,
  type AiPart,
  type AiReplyCall,
  type AiResultPart,
  isCall,
  isResult,
  openaiOptions,
  outputText,
  partsOf,
  WIRE,
  withOpenaiOptions,
} from './types.js'
import { createWords } from './write.js'

/** The loader as the SDK declares a search that the client runs. */
export function searchTool(loader: WireTool | Tool): AiFunction {
  const { name, description } = loader
  const args = {
    execution: 'client',
    description,
    parameters: objectSchema(fitted(loader, 'openai-responses')),
  }
  return { type: 'provider', id: 'openai.tool_search', name, args } as AiFunction
}

/** Whether a request holds the search. Versions of the provider that do not know it leave it out without a word. */
export function holdsSearch(body: unknown): boolean {
  if (!isRecord(body)) return true
  return Array.isArray(body.tools) && body.tools.some((tool) => isRecord(tool) && tool.type === 'tool_search')
}

/** A call in a reply, with its arguments where every other tool has them: the provider wraps those of a search. */
export function unwrapped(part: AiReplyCall): AiReplyCall {
  const given = readArguments(part.input)
  const value = 'value' in given && isRecord(given.value) ? given.value : {}
  const { arguments: asked = {} } = value
  return { ...part, input: typeof asked === 'string' ? asked : JSON.stringify(asked) }
}

/**
 * Tools that come without a search, as the search that would have led to them: the provider has no other way to bring a
 * function between the messages.
 */
export function withSearches(units: readonly Unit[], view: SurfaceView): Unit[] {
  let count = 0
  return units.flatMap((unit): readonly Unit[] => {
    if (unit.kind !== 'note' || !unit.adds || view.loader === undefined) return [unit]
    const { adds, ...note } = unit
    count++
    return [note, ...searchUnits(`tsc_added_${count}`, adds, view.loader, view)]
  })
}

function searchUnits(id: string, tools: readonly WireTool[], loader: string, view: SurfaceView): Unit[] {
  const loaded = tools.map(({ name }) => name)
  const part: AiResultPart = {
    type: 'tool-result',
    toolCallId: id,
    toolName: loader,
    output: references(tools.map((tool) => [tool.name, foundFunction(tool)])),
  }
  const source: AnswerSource = { part, message: { role: 'tool', content: [part] }, siblings: 1 }
  return [
    { kind: 'assistant', text: '', calls: [{ id, name: loader, input: { value: asking(loaded, view) } }] },
    {
      kind: 'answer',
      callId: id,
      text: referencesText(loaded),
      loaded,
      native: { wire: WIRE, value: source },
    },
  ]
}

/** Arguments by which the loader finds exactly these. */
function asking(names: readonly string[], view: SurfaceView): Readonly<Record<string, unknown>> {
  const schema = view.tools.find(({ name }) => name === view.loader)?.inputSchema ?? {}
  const [parameter = 'query'] = (Array.isArray(schema.required) ? schema.required : []) as string[]
  return { [parameter]: parameter === 'name' ? names.join(',') : `select:${names.join(',')}` }
}

// A history for OpenAI's own search, as the provider of the SDK wants it: calls of the loader with wrapped arguments and an id of their kind, results that hold definitions and no word, and calls in the namespace where their function lives.

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
      const source = defined({ source: view.sources.get(name) })
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

/**
 * The namespace of every call, for OpenAI: a function that a search brought lives in that of its source, or in one of
 * its own name, and a call of it without is refused; one that is declared has none. Where a function stands may
 * change between two requests, so what a call was recorded with does not tell.
 */
export interface Namespaces {
  /** A search has brought these. */
  load(tools: readonly unknown[]): void
  /** The call as it has to stand here. */
  place(part: AiCallPart): AiCallPart
}

function createNamespaces({ tools, sources }: Pick<SurfaceView, 'tools' | 'sources'>): Namespaces {
  const plain = new Set(tools.map(({ name }) => name))
  /** By function, the namespaces that hold it. */
  const holders = new Map<string, Set<string>>()
  const add = (tool: unknown, space?: string) => {
    if (!isRecord(tool) || typeof tool.name !== 'string') return
    holders.set(tool.name, (holders.get(tool.name) ?? new Set()).add(space ?? tool.name))
  }
  return {
    load(brought) {
      for (const tool of brought)
        if (isNamespace(tool)) for (const member of tool.tools) add(member, tool.name)
        else add(tool)
    },
    place(part) {
      const { namespace, ...others } = openaiOptions(part)
      const { toolName } = part
      const spaces = holders.get(toolName)
      if (typeof namespace === 'string' && spaces?.has(namespace)) return part
      const [holder] = spaces ?? []
      if (holder !== undefined && !plain.has(toolName))
        return withOpenaiOptions(part, { ...others, namespace: holder })
      // A namespace of the host's own stays.
      const isOwn = namespace === toolName || namespace === namespaceOf(sources.get(toolName) ?? '')
      return namespace !== undefined && isOwn ? withOpenaiOptions(part, others) : part
    },
  }
}

// What OpenAI's provider keeps with a call: the id of its item, and its namespace. On Azure it goes by that name.

/**
 * A message that stands twice in a history keeps the ids of its items once: the API refuses the second. Reasoning may have
 * one id in several parts of its message.
 */
export function withUniqueItems(messages: readonly AiMessage[]): AiMessage[] {
  const seen = new Set<unknown>()
  return messages.map((message) => {
    if (message.role !== 'assistant') return message
    const parts = partsOf(message)
    const ids = parts.map((part) => openaiOptions(part).itemId)
    const made = parts.map((part, index) => (seen.has(ids[index]) ? withoutItem(part) : part))
    for (const id of ids) if (id !== undefined) seen.add(id)
    return sameItems(made, parts) ? message : { ...message, content: made }
  })
}

function withoutItem(part: AiPart): AiPart {
  const { itemId: _, ...others } = openaiOptions(part)
  return withOpenaiOptions(part, others)
}
