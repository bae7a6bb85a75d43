/** What is sent when deferral is off: the host's own array, the same instance, unless policy or a source forbids that. */
import type { Entry } from '../catalogue/catalogue.js'
import type { Tool } from '../tool/tool.js'
import type { WireTool } from '../tool/wire-tool.js'
import type { Context } from './context.js'

export type ToolLister = (context: Context) => readonly (WireTool | Tool)[]

/** Gives the same array for as long as nothing in it changes. */
export function hostArray(): ToolLister {
  let last: readonly (WireTool | Tool)[] = []
  return (context) => {
    const { catalogue, gate } = context
    const own = new Set(catalogue.hostTools)
    const allowed = new Map<Tool, Entry>()
    const others: WireTool[] = []
    const uses = new Map<string, number>()
    for (const entry of catalogue.entries()) {
      const hosts = own.has(entry.tool)
      if (!gate.visible(entry)) continue
      if (hosts) allowed.set(entry.tool, entry)
      else others.push(context.definition(entry))
      const name = hosts ? entry.tool.name : entry.wireName
      uses.set(name, (uses.get(name) ?? 0) + 1)
    }
    const shared = [...uses.values()].some((count) => count > 1)
    const whole = catalogue.hostTools.every((tool) => allowed.has(tool) || tool.canonicalName !== undefined)
    if (whole && !shared && others.length === 0) return catalogue.hostTools
    // A name that two tools share is no name: those two go by their wire names.
    const next = catalogue.hostTools.flatMap((tool): (WireTool | Tool)[] => {
      const entry = allowed.get(tool)
      if (!entry) return []
      return [(uses.get(tool.name) ?? 0) > 1 ? context.definition(entry) : tool]
    })
    next.push(...others)
    if (next.length !== last.length || next.some((tool, index) => tool !== last[index])) last = next
    return last
  }
}
