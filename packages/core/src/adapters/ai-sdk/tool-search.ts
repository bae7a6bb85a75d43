/**
 * OpenAI's tool search through the SDK: the loader is the provider's search tool, and calls of the search are calls
 * of the loader.
 */

import { dropUndefined, isRecord } from '../../base/data.js'
import { shortHash } from '../../base/hash.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { chooseNamespace, groupBySource, isNamespace, removeDeclared } from '../shared/namespace.js'
import {
  argumentsObject,
  describeReferences,
  hasSameItems,
  readArguments,
  type Unit,
} from '../shared/thread.js'
import { fitTool, objectSchema } from '../shared/tools.js'
import { type FoundFunction, readFound, writeFunction, writeReferences } from './found.js'
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
  listParts,
  readOpenaiOptions,
  readOutputText,
  setOpenaiOptions,
  WIRE,
} from './types.js'
import { createWords } from './write.js'

/** The loader as a search that the client runs, in the SDK's form. */
export function createSearchTool(loader: WireTool | Tool): AiFunction {
  const { name, description } = loader
  const args = {
    execution: 'client',
    description,
    parameters: objectSchema(fitTool(loader, 'openai-responses')),
  }
  return { type: 'provider', id: 'openai.tool_search', name, args } as AiFunction
}

/** Whether a request contains the search. Older versions of the provider drop it silently. */
export function hasSearch(body: unknown): boolean {
  if (!isRecord(body)) return true
  return Array.isArray(body.tools) && body.tools.some((tool) => isRecord(tool) && tool.type === 'tool_search')
}

/** Moves the arguments of a search to the usual place: the provider wraps them. */
export function unwrapSearch(part: AiReplyCall): AiReplyCall {
  const given = readArguments(part.input)
  const value = 'value' in given && isRecord(given.value) ? given.value : {}
  const { arguments: asked = {} } = value
  return { ...part, input: typeof asked === 'string' ? asked : JSON.stringify(asked) }
}

/**
 * Writes tools that were added without a search as a search that finds them. The provider has no other way to add a
 * function between messages.
 */
export function addSearches(units: readonly Unit[], view: SurfaceView): Unit[] {
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
    output: writeReferences(tools.map((tool) => [tool.name, writeFunction(tool)])),
  }
  const source: AnswerSource = { part, message: { role: 'tool', content: [part] }, siblings: 1 }
  return [
    {
      kind: 'assistant',
      text: '',
      calls: [{ id, name: loader, input: { value: createArguments(loaded, view) } }],
    },
    {
      kind: 'answer',
      callId: id,
      text: describeReferences(loaded),
      loaded,
      native: { wire: WIRE, value: source },
    },
  ]
}

/** The arguments with which the loader finds exactly these tools. */
function createArguments(names: readonly string[], view: SurfaceView): Readonly<Record<string, unknown>> {
  const schema = view.tools.find(({ name }) => name === view.loader)?.inputSchema ?? {}
  const [parameter = 'query'] = (Array.isArray(schema.required) ? schema.required : []) as string[]
  return { [parameter]: parameter === 'name' ? names.join(',') : `select:${names.join(',')}` }
}

/** The prefix of the provider's search ids. If a call has none, the provider makes one from the call id. */
const PREFIX = 'tsc'

/**
 * Prepares a history for OpenAI's search: calls of the loader have wrapped arguments and an id with the right prefix,
 * results hold only definitions, and calls have the namespace of their function.
 */
export function writeSearchItems(
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
  /** New ids of open searches, by their old ids. */
  const ids = new Map<string, string>()

  const asked = (part: AiCallPart): AiCallPart => {
    const { itemId, ...others } = readOpenaiOptions(part)
    const own = typeof itemId === 'string' && itemId.startsWith(PREFIX) && !items.has(itemId)
    if (own) items.add(itemId)
    const id = own || part.toolCallId.startsWith(PREFIX) ? part.toolCallId : searchId(part.toolCallId)
    ids.set(part.toolCallId, id)
    const input = { arguments: argumentsObject({ value: part.input ?? {} }), call_id: id }
    return { ...(own ? part : setOpenaiOptions(part, others)), toolCallId: id, input }
  }
  const found = (part: AiResultPart): { readonly part: AiResultPart; readonly text: string } => {
    const functions = readFound(part.output).flatMap(([name, shown]): FoundFunction[] => {
      const tool = known.get(name)
      const source = dropUndefined({ source: view.sources.get(name) })
      return shown ? [shown] : tool ? [writeFunction({ ...tool, ...source })] : []
    })
    const tools = removeDeclared(groupBySource(functions.map(groupFound), prompts), declared)
    namespaces.load(tools)
    const toolCallId = ids.get(part.toolCallId) ?? part.toolCallId
    const text = readOutputText(part.output)
    return { part: { ...part, toolCallId, output: { type: 'json', value: { tools } } }, text }
  }

  const output: AiMessage[] = []
  const words = createWords(output, { wordless: search })
  for (const message of messages) {
    const notes: string[] = []
    const parts = listParts(message)
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

function groupFound({ source, ...member }: FoundFunction): { source?: string; member: object } {
  return typeof source === 'string' ? { source, member } : { member }
}

function searchId(id: string): string {
  return `${PREFIX}_${shortHash(id)}`
}

export interface Namespaces {
  /** Adds the tools of a search result. */
  load(tools: readonly unknown[]): void
  /** Sets the namespace of a call. */
  place(part: AiCallPart): AiCallPart
}

/**
 * Sets the namespaces of calls for OpenAI. A function that a search found is in the namespace of its source, or in one
 * with its own name, and the API refuses a call without it. A declared function has none. This may change between two
 * requests, so the recorded namespace of a call may be wrong.
 */
function createNamespaces({ tools, sources }: Pick<SurfaceView, 'tools' | 'sources'>): Namespaces {
  const plain = new Set(tools.map(({ name }) => name))
  /** The namespaces of each function. */
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
      const { namespace, ...others } = readOpenaiOptions(part)
      const { toolName } = part
      const spaces = holders.get(toolName)
      if (typeof namespace === 'string' && spaces?.has(namespace)) return part
      const [holder] = spaces ?? []
      if (holder !== undefined && !plain.has(toolName))
        return setOpenaiOptions(part, { ...others, namespace: holder })
      // Keep the host's own namespaces.
      const isOwn = namespace === toolName || namespace === chooseNamespace(sources.get(toolName) ?? '')
      return namespace !== undefined && isOwn ? setOpenaiOptions(part, others) : part
    },
  }
}

/**
 * Removes repeated item ids of a message that is in the history twice: the API refuses the second. Reasoning may
 * repeat an id within its message.
 */
export function removeRepeatedItems(messages: readonly AiMessage[]): AiMessage[] {
  const seen = new Set<unknown>()
  return messages.map((message) => {
    if (message.role !== 'assistant') return message
    const parts = listParts(message)
    const ids = parts.map((part) => readOpenaiOptions(part).itemId)
    const made = parts.map((part, index) => (seen.has(ids[index]) ? removeItemId(part) : part))
    for (const id of ids) if (id !== undefined) seen.add(id)
    return hasSameItems(made, parts) ? message : { ...message, content: made }
  })
}

function removeItemId(part: AiPart): AiPart {
  const { itemId: _, ...others } = readOpenaiOptions(part)
  return setOpenaiOptions(part, others)
}
