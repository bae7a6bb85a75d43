/** OpenAI's own search through the SDK: the loader as the tool that the provider knows, and its calls as the loader's. */

import { isRecord } from '../../base/data.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { readArguments, referencesText, type Unit } from '../shared/thread.js'
import { fitted, objectSchema } from '../shared/tools.js'
import { foundFunction, references } from './found.js'
import type { AnswerSource } from './read.js'
import { type AiFunction, type AiReplyCall, type AiResultPart, WIRE } from './types.js'

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
