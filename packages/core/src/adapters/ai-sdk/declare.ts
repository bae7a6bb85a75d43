/** The tools of one request: those of the view, in its order, with what the SDK would send besides a definition. */

import { dropUndefined } from '../../base/data.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { fitted, objectSchema } from '../shared/tools.js'
import type { NativeWay } from './native-way.js'
import type { Protocol } from './protocol.js'
import { deferred, RESERVE } from './references.js'
import { withTextArguments } from './text-arguments.js'
import { searchTool } from './tool-search.js'
import { importedOf } from './tools.js'
import type { AiFunction } from './types.js'

export interface Declared {
  readonly tools: readonly AiFunction[]
  /** Tools of the view that the SDK was not given: it could not run them. */
  readonly missing: readonly string[]
  /** Tools whose arguments the model writes as a text. */
  readonly inText: ReadonlySet<string>
}

type Schema = Readonly<Record<string, unknown>>

/** `given`: what the SDK would send. `ours`: which of it is Toolwell's; the rest stands first, as it is. */
export function declare(
  given: readonly AiFunction[],
  ours: (name: string) => boolean,
  view: SurfaceView,
  protocol: Protocol,
  prompts: Prompts,
  way?: NativeWay,
): Declared {
  const byName = new Map(given.map((tool) => [tool.name, tool]))
  const missing: string[] = []
  const inText = new Set<string>()
  const schemaOf = (tool: WireTool | Tool): Schema => {
    const text = protocol === 'google' ? withTextArguments(tool, prompts.bridgeArguments()) : undefined
    if (text) inText.add(tool.name)
    return text ?? objectSchema(fitted(tool, protocol))
  }
  const found = (tool: WireTool | Tool): AiFunction[] => {
    const own = byName.get(tool.name)
    if (!own) missing.push(tool.name)
    if (!own) return []
    // Off: what was written for the SDK is sent as the SDK writes it.
    if (view.mode === 'off' && importedOf(tool)) return [own]
    return [written(own, tool, schemaOf(tool))]
  }
  const others = given.filter((tool) => !ours(tool.name))
  const tools = [...others, ...view.tools.flatMap(found)]
  if (view.delivery !== 'native') return { tools, missing, inText }
  if (way === 'tool-search') {
    view.declaredHidden.forEach(found)
    const loader = view.tools.find(({ name }) => name === view.loader)
    const searching = tools.map((tool) => (tool.name === loader?.name ? searchTool(loader) : tool))
    return { tools: searching, missing, inText }
  }
  const reserve = written({ type: 'function', name: RESERVE.name }, RESERVE, objectSchema(RESERVE))
  return {
    tools: [...tools, ...[reserve, ...view.declaredHidden.flatMap(found)].map(deferred)],
    missing,
    inText,
  }
}

/** The definition is that of the view, all of it: what was sent of it stays until the next latch. The rest is the SDK's. */
function written(given: AiFunction, tool: WireTool | Tool, inputSchema: Schema): AiFunction {
  const { strict: _, inputExamples: __, ...own } = given
  const { strict, inputExamples } = tool
  // A description that changes while the program runs is the SDK's to make; such a tool is never deferred.
  const changing = tool.description === '' && own.description !== undefined
  return {
    ...own,
    ...(changing ? {} : { description: tool.description }),
    inputSchema,
    ...dropUndefined({ strict, inputExamples: inputExamples?.map((input) => ({ input })) }),
  }
}
