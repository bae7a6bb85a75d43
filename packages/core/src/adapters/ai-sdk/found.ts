/**
 * The tools that a search found, as a history of the SDK holds them: a reference for each tool, with its definition
 * if the model was shown it. The form is the same for all providers, so that a thread can move.
 */

import { isRecord } from '../../base/data.js'
import { RESERVE_NAME } from '../../base/names.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { listRevealed } from '../../turn/load-found-tools.js'
import type { CallAnswer } from '../../turn/run.js'
import { describeReferences, type Unit } from '../shared/thread.js'
import { fitTool, objectSchema } from '../shared/tools.js'
import type { NativeWay } from './protocol.js'
import { type AiFunction, WIRE } from './types.js'

/** A function as OpenAI's search returns it. `source` is not sent. */
export type FoundFunction = Readonly<Record<string, unknown>> & { readonly name: string }

/** The output of the loader if the provider reveals tools. */
interface Found {
  readonly loaded: readonly string[]
  readonly tools?: readonly FoundFunction[]
  /** Additional text of the search. */
  readonly text: string
}

/** The output of the loader. It contains everything that a stored history needs. */
export function writeLoaderOutput({ outcome, text }: CallAnswer, way: NativeWay | undefined): string | Found {
  const found = way && outcome.kind === 'search' ? listRevealed(outcome.result) : []
  if (found.length === 0) return text
  const tools = way === 'tool-search' ? { tools: found.map(writeFunction) } : {}
  return { loaded: found.map(({ name }) => name), ...tools, text }
}

/** Converts the output to a result in a history. */
export function writeLoaderResult(output: unknown): object {
  if (!isRecord(output) || !Array.isArray(output.loaded)) return { type: 'text', value: String(output) }
  const { loaded, tools, text } = output
  const shown = new Map(
    (Array.isArray(tools) ? tools.filter(isFunction) : []).map((each) => [each.name, each]),
  )
  const said = typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []
  return writeReferences(
    loaded.map((name: unknown) => [String(name), shown.get(String(name))]),
    said,
  )
}

/** A result that refers to these tools. */
export function writeReferences(
  some: readonly (readonly [name: string, shown?: FoundFunction | undefined])[],
  more: readonly object[] = [],
): object {
  const parts = some.map(([toolName, shown]) => ({
    type: 'custom',
    providerOptions: {
      anthropic: { type: 'tool-reference', toolName },
      ...(shown ? { toolwell: { shown } } : {}),
    },
  }))
  return { type: 'content', value: [...parts, ...more] }
}

/** The tools that a result refers to, with their shown definitions. */
export function readFound(output: unknown): readonly (readonly [string, FoundFunction | undefined])[] {
  if (!isRecord(output) || !Array.isArray(output.value)) return []
  return output.value.flatMap((part: unknown) => {
    const options = isRecord(part) && isRecord(part.providerOptions) ? part.providerOptions : {}
    const { anthropic, toolwell } = options
    if (!isRecord(anthropic) || anthropic.type !== 'tool-reference') return []
    const shown = isRecord(toolwell) && isFunction(toolwell.shown) ? toolwell.shown : undefined
    return [[String(anthropic.toolName), shown] as const]
  })
}

/**
 * Sets `strict: false` unless the tool asks for strict mode. Without the field, the provider tries strict mode and
 * changes the schemas that allow it.
 */
export function writeFunction(tool: WireTool): FoundFunction {
  const { name, description } = tool
  const parameters = objectSchema(fitTool(tool, 'openai-responses'))
  const strict = tool.strict === true
  const source = tool.source === undefined ? {} : { source: tool.source }
  return { type: 'function', name, description, parameters, strict, defer_loading: true, ...source }
}

function isFunction(value: unknown): value is FoundFunction {
  return isRecord(value) && typeof value.name === 'string'
}

/** The names that a request declares. */
export interface Known {
  has(name: string): boolean
}

/** A result with the references to declared tools, without text: Anthropic's API accepts none. */
export function writeKnownReferences(names: readonly string[], known: Known): object {
  const some = names.filter((name) => known.has(name))
  return some.length > 0
    ? writeReferences(some.map((name) => [name]))
    : { type: 'text', value: describeReferences(names) }
}

/**
 * Defers a tool for Anthropic's API: declared, but hidden from the model. `RESERVE` is declared from the first
 * request on, because the first deferred tool makes the API add a note before the messages.
 */
export function deferTool(tool: AiFunction): AiFunction {
  return addOptions(tool, 'anthropic', { deferLoading: true })
}

export function addOptions(tool: AiFunction, provider: string, options: object): AiFunction {
  const { providerOptions } = tool as { providerOptions?: Readonly<Record<string, object>> }
  const own = { ...providerOptions?.[provider], ...options }
  return { ...tool, providerOptions: { ...providerOptions, [provider]: own } } as AiFunction
}

export const RESERVE: WireTool = {
  name: RESERVE_NAME,
  description: 'Holds a place. It does nothing.',
  inputSchema: { type: 'object', properties: {} },
}

/**
 * Writes Anthropic's tool changes: system messages that reveal and hide declared tools. Such a message must come
 * right before the model's next turn, or last. `known`: the declared names.
 */
export function addToolChanges(units: readonly Unit[], known: Known): Unit[] {
  const output: Unit[] = []
  let changes: object[] = []
  const flush = () => {
    if (changes.length > 0) output.push(systemUnit(changes))
    changes = []
  }
  for (const unit of units) {
    if (unit.kind === 'assistant') flush()
    if (unit.kind === 'note') {
      const added = (unit.adds ?? []).map(({ name }) => ({ type: 'tool_addition', toolName: name }))
      const removed = (unit.removes ?? []).map((name) => ({ type: 'tool_removal', toolName: name }))
      changes.push(...[...added, ...removed].filter(({ toolName }) => known.has(toolName)))
    }
    output.push(unit)
  }
  flush()
  return output
}

function systemUnit(toolChanges: readonly object[]): Unit {
  const value = { role: 'system', content: '', providerOptions: { anthropic: { toolChanges } } }
  return { kind: 'system', text: '', native: { wire: WIRE, value } }
}
