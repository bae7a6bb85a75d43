/** The tools of one request: those of the view, in its order, with what the SDK would send besides a definition. */
import type { WireTool } from '../../ledger-event.js'
import { BRIDGE_NAME } from '../../meta-tools.js'
import type { SurfaceView } from '../../surface.js'
import type { Tool } from '../../tool.js'
import { objectSchema } from '../shared/tools.js'
import type { NativeWay } from './native-way.js'
import type { Protocol } from './protocol.js'
import { deferred, RESERVE } from './references.js'
import { searchTool } from './tool-search.js'
import type { AiFunction } from './wire.js'

export interface Declared {
  readonly tools: readonly AiFunction[]
  /** Tools of the view that the SDK was not given: it could not run them. */
  readonly missing: readonly string[]
}

/** `given`: what the SDK would send. `ours`: which of it is Toolwell's; the rest stands first, as it is. */
export function declare(
  given: readonly AiFunction[],
  ours: (name: string) => boolean,
  view: SurfaceView,
  protocol: Protocol,
  way?: NativeWay,
): Declared {
  const byName = new Map(given.map((tool) => [tool.name, tool]))
  const missing: string[] = []
  const found = (tool: WireTool | Tool): AiFunction[] => {
    const own = byName.get(tool.name)
    if (!own) missing.push(tool.name)
    if (!own || view.mode === 'off') return own ? [own] : []
    return [defined(own, tool, protocol)]
  }
  const others = given.filter((tool) => !ours(tool.name))
  const tools = [...others, ...view.tools.flatMap(found)]
  if (view.delivery !== 'native') return { tools, missing }
  if (way === 'tool-search') {
    view.aside.forEach(found)
    const loader = view.tools.find(({ name }) => name === view.loader)
    return { tools: tools.map((tool) => (tool.name === loader?.name ? searchTool(loader) : tool)), missing }
  }
  const reserve = defined({ type: 'function', name: RESERVE.name }, RESERVE, protocol)
  return { tools: [...tools, ...[reserve, ...view.aside.flatMap(found)].map(deferred)], missing }
}

function defined(own: AiFunction, tool: WireTool | Tool, protocol: Protocol): AiFunction {
  // A description that changes while the program runs is the SDK's to make; such a tool is never deferred.
  const changing = tool.description === '' && own.description !== undefined
  return {
    ...own,
    ...(changing ? {} : { description: tool.description }),
    inputSchema: isOpenBridge(tool, protocol) ? withTextArguments(tool) : objectSchema(tool),
  }
}

/** Google's provider makes a free object one without properties, which servers refuse. */
function isOpenBridge({ name }: WireTool | Tool, protocol: Protocol): boolean {
  return name === BRIDGE_NAME && protocol === 'google'
}

/** The bridge with its arguments as JSON in a text; what a model writes there is read in either form. */
function withTextArguments({ inputSchema }: WireTool | Tool): Readonly<Record<string, unknown>> {
  const properties = inputSchema.properties as Readonly<Record<string, { readonly description?: string }>>
  const description = `${properties.arguments?.description ?? ''} (JSON)`
  return { ...inputSchema, properties: { ...properties, arguments: { type: 'string', description } } }
}
