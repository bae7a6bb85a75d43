/** Step 4 of the flow: what one request gets. The view is a projection of the ledger alone; `view` consumes nothing. */
import { deliveries } from './delivery/index.js'
import type { Insert, LedgerState } from './ledger.js'
import type { DeliveryName, WireTool } from './ledger-event.js'
import type { Tool } from './tool.js'

export interface SurfaceView {
  readonly requestId: string
  readonly mode: 'off' | 'on'
  readonly delivery: DeliveryName
  /** In the order in which they are sent. When off: the very array the host passed. */
  readonly tools: readonly (WireTool | Tool)[]
  /** The loader's name; undefined when off or eager. */
  readonly loader: string | undefined
  readonly bridge: string | undefined
  /** Text for the system prompt, or empty. */
  readonly section: string
  /** Text to place after the message or call named by the anchor, in this order. */
  readonly inserts: readonly Insert[]
}

/** O(eager + raised + inserts), whatever the size of the catalogue. */
export function project(state: LedgerState, requestId: string): SurfaceView {
  const { latch } = state
  if (!latch || latch.mode === 'off')
    return {
      requestId,
      mode: 'off',
      delivery: 'eager',
      tools: [],
      loader: undefined,
      bridge: undefined,
      section: '',
      inserts: [],
    }
  const { declares } = deliveries[latch.delivery]
  // By name: one that has passed from a tool that is gone to another is declared once, as what it means now.
  const tools = new Map<string, WireTool>()
  for (const { definition } of state.eager.values()) if (definition) tools.set(definition.name, definition)
  for (const meta of latch.metaTools) tools.set(meta.name, meta)
  if (declares)
    for (const { pin, live } of state.tail.values()) {
      if (!pin.definition) continue
      if (live) tools.set(pin.definition.name, pin.definition)
      else if (!tools.has(pin.definition.name))
        tools.set(pin.definition.name, tombstone(pin.definition.name, latch.tombstone))
    }
  const [loader, bridge] = latch.metaTools
  return {
    requestId,
    mode: 'on',
    delivery: latch.delivery,
    tools: [...tools.values()],
    loader: loader?.name,
    bridge: bridge?.name,
    section: latch.section,
    inserts: [...state.inserts],
  }
}

/** Keeps the name of an unloaded tool declared, for the calls of it that stand in the history. */
export function tombstone(name: string, text = ''): WireTool {
  return { name, description: text, inputSchema: { type: 'object' } }
}
