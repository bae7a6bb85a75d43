/** What is sent when deferral is off: the host's own array, the same instance, unless policy or a source forbids that. */
import type { Context } from './context.js'
import type { WireTool } from './ledger-event.js'
import type { Tool } from './tool.js'

/** Gives the same array for as long as nothing in it changes. */
export function hostArray(): (context: Context) => readonly (WireTool | Tool)[] {
  let last: readonly (WireTool | Tool)[] = []
  return (context) => {
    const { catalogue, gate } = context
    const own = new Map(catalogue.hostTools.map((tool) => [tool, tool]))
    let untouched = true
    const allowed = new Set<Tool>()
    const others: WireTool[] = []
    for (const entry of catalogue.entries()) {
      const ready = gate.standing(entry, 'see') === 'ready'
      if (own.has(entry.tool)) {
        if (ready) allowed.add(entry.tool)
        else untouched = false
      } else if (ready) others.push(context.definition(entry))
    }
    if (untouched && others.length === 0) return catalogue.hostTools
    const next = [...catalogue.hostTools.filter((tool) => allowed.has(tool)), ...others]
    if (next.length !== last.length || next.some((tool, index) => tool !== last[index])) last = next
    return last
  }
}
