/** Step 4 of the flow: what one request gets. The view is a projection of the ledger alone; `view` consumes nothing. */
import { deliveries } from './delivery/index.js'
import type { Insert, LedgerState } from './ledger.js'
import type { DeliveryName, WireTool } from './ledger-event.js'
import type { Prompts } from './prompts.js'
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
export function project(
  state: LedgerState,
  requestId: string,
  loaderName: string,
  bridgeName: string,
  prompts: Prompts,
): SurfaceView {
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
  const delivery = deliveries[latch.delivery]
  const tools: WireTool[] = []
  for (const { definition } of state.eager.values()) if (definition) tools.push(definition)
  tools.push(...latch.metaTools)
  if (delivery.declares)
    for (const { pin, live } of state.tail.values()) {
      if (!pin.definition) continue
      tools.push(live ? pin.definition : tombstone(pin.definition.name, loaderName, prompts))
    }
  return {
    requestId,
    mode: 'on',
    delivery: latch.delivery,
    tools,
    loader: delivery.metaTools.includes('loader') ? loaderName : undefined,
    bridge: delivery.metaTools.includes('bridge') ? bridgeName : undefined,
    section: latch.section,
    inserts: [...state.inserts],
  }
}

/** Keeps the name of an unloaded tool declared, for the calls of it that stand in the history. */
export function tombstone(name: string, loader: string, prompts: Prompts): WireTool {
  return { name, description: prompts.tombstone({ loader }), inputSchema: { type: 'object' } }
}
