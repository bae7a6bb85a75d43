/** Anthropic's tool changes through the SDK: a system message between the others brings declared tools, or takes them. */
import type { Unit } from '../shared/thread.js'
import type { Known } from './references.js'
import { WIRE } from './types.js'

/** `known`: the names that are declared. A system message stands right before the model's next turn, or last. */
export function withToolChanges(units: readonly Unit[], known: Known): Unit[] {
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
