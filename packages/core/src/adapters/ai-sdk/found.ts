/**
 * What a search found, as a history of the SDK holds it: a reference for each tool, with the definition beside it where
 * the model was shown that. One form for all providers, so that a thread can move.
 */

import { isRecord } from '../../base/data.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { listRevealed } from '../../turn/load-found-tools.js'
import type { CallAnswer } from '../../turn/run.js'
import { fitted, objectSchema } from '../shared/tools.js'
import type { NativeWay } from './native-way.js'

/** A function as OpenAI's search brings it. `source`: of which it is, which is not sent with it. */
export type FoundFunction = Readonly<Record<string, unknown>> & { readonly name: string }

/** What the loader gives the SDK where the provider reveals tools. */
interface Found {
  readonly loaded: readonly string[]
  readonly tools?: readonly FoundFunction[]
  /** What else the search has to say. */
  readonly text: string
}

/** The output of the loader. It holds all that its history needs, however a host stores it. */
export function loaderOutput({ outcome, text }: CallAnswer, way: NativeWay | undefined): string | Found {
  const found = way && outcome.kind === 'search' ? listRevealed(outcome.result) : []
  if (found.length === 0) return text
  const tools = way === 'tool-search' ? { tools: found.map(foundFunction) } : {}
  return { loaded: found.map(({ name }) => name), ...tools, text }
}

/** The same as a result in a history. */
export function loaderResult(output: unknown): object {
  if (!isRecord(output) || !Array.isArray(output.loaded)) return { type: 'text', value: String(output) }
  const { loaded, tools, text } = output
  const shown = new Map(
    (Array.isArray(tools) ? tools.filter(isFunction) : []).map((each) => [each.name, each]),
  )
  const said = typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []
  return references(
    loaded.map((name: unknown) => [String(name), shown.get(String(name))]),
    said,
  )
}

/** A result that refers to these tools. */
export function references(
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

/** The tools that a result refers to, with what was shown of them. */
export function foundIn(output: unknown): readonly (readonly [string, FoundFunction | undefined])[] {
  if (!isRecord(output) || !Array.isArray(output.value)) return []
  return output.value.flatMap((part: unknown) => {
    const options = isRecord(part) && isRecord(part.providerOptions) ? part.providerOptions : {}
    const { anthropic, toolwell } = options
    if (!isRecord(anthropic) || anthropic.type !== 'tool-reference') return []
    const shown = isRecord(toolwell) && isFunction(toolwell.shown) ? toolwell.shown : undefined
    return [[String(anthropic.toolName), shown] as const]
  })
}

/** Not strict unless its owner asks for it, and said outright: without that the provider tries strict mode, and changes schemas that happen to allow it. */
export function foundFunction(tool: WireTool): FoundFunction {
  const { name, description } = tool
  const parameters = objectSchema(fitted(tool, 'openai-responses'))
  const strict = tool.strict === true
  const source = tool.source === undefined ? {} : { source: tool.source }
  return { type: 'function', name, description, parameters, strict, defer_loading: true, ...source }
}

function isFunction(value: unknown): value is FoundFunction {
  return isRecord(value) && typeof value.name === 'string'
}
