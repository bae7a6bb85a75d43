/** The tools of one request: those of the view, in its order, with what the SDK would send besides a definition. */
import type { WireTool } from '../../ledger-event.js'
import type { SurfaceView } from '../../surface.js'
import type { Tool } from '../../tool.js'
import { objectSchema } from '../shared/tools.js'
import { type Protocol, rules } from './protocol.js'
import { deferred, RESERVE } from './references.js'
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
  const reserve = defined({ type: 'function', name: RESERVE.name }, RESERVE, protocol)
  return { tools: [...tools, ...[reserve, ...view.aside.flatMap(found)].map(deferred)], missing }
}

function defined(own: AiFunction, tool: WireTool | Tool, protocol: Protocol): AiFunction {
  // A description that changes while the program runs is the SDK's to make; such a tool is never deferred.
  const changing = tool.description === '' && own.description !== undefined
  return {
    ...own,
    ...(changing ? {} : { description: tool.description }),
    inputSchema: objectSchema(tool, rules[protocol].notAtTop),
  }
}
