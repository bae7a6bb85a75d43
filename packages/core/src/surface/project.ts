/** Step 4 of the flow: what one request gets. The view is a projection of the ledger alone; `view` consumes nothing. */
import { sourceOfId } from '../base/names.js'
import type { Insert, LedgerState } from '../ledger/fold.js'
import type { DeliveryName } from '../tool/reasons.js'
import type { Tool } from '../tool/tool.js'
import type { Pin, WireTool } from '../tool/wire-tool.js'

export interface SurfaceView {
  readonly requestId: string
  readonly mode: 'off' | 'on'
  readonly delivery: DeliveryName
  /** In the order in which they are sent. When off: the very array the host passed. */
  readonly tools: readonly (WireTool | Tool)[]
  /** Native: declared besides `tools`, for the references in the history. The model does not see them by themselves. */
  readonly declaredHidden: readonly WireTool[]
  /** The source of each of these that has one, by wire name. */
  readonly sources: ReadonlyMap<string, string>
  /** The tools that calls of other names were for, by anchor. `guessed` (native): the call reads as a search for it. */
  readonly resolvedCalls: ReadonlyMap<string, { readonly wireName: string; readonly guessed: boolean }>
  /**
   * References in the history that the provider can follow: those of answers given under this latch, by anchor, and to
   * tools that it declared when it was made. Others stay words until the next one, or old bytes would change.
   */
  readonly references: { readonly anchors: ReadonlySet<string>; readonly names: ReadonlySet<string> }
  /** Declared, and not to be called now: unloaded, or gone for the time being. A wire that can mask them does. */
  readonly masked: readonly string[]
  /** The loader's name; undefined when off or eager. */
  readonly loader: string | undefined
  readonly bridge: string | undefined
  /** Text for the system prompt, or empty. */
  readonly section: string
  /** Messages, by anchor, whose thinking is not sent any more. */
  readonly stripped: ReadonlySet<string>
  /** Text to place after the message or call named by the anchor, in this order. */
  readonly inserts: readonly Insert[]
}

/** O(eager + loaded + inserts), whatever the size of the catalogue. */
export function project(state: LedgerState, requestId: string): SurfaceView {
  const { latch } = state
  if (!latch || latch.mode === 'off')
    return {
      requestId,
      mode: 'off',
      delivery: 'eager',
      tools: [],
      declaredHidden: [],
      sources: new Map(),
      resolvedCalls: new Map(),
      references: { anchors: new Set(), names: new Set() },
      masked: [],
      loader: undefined,
      bridge: undefined,
      section: '',
      stripped: new Set(state.history.thinking.stripped),
      inserts: [],
    }
  // By name: one that has passed from a tool that is gone to another is declared once, as what it means now.
  const tools = new Map<string, WireTool>()
  const hidden = new Map<string, WireTool>()
  const sources = new Map<string, string>()
  const masked = new Set<string>()
  const pins = [...state.tools.eager.values(), ...[...state.tools.loaded.values()].map(({ pin }) => pin)]
  for (const { id, wireName } of pins) if (sourceOfId(id) !== '') sources.set(wireName, sourceOfId(id))
  const declare = (into: Map<string, WireTool>, { definition, id }: Pin, sent = definition) => {
    if (!definition || !sent) return
    into.set(definition.name, sent)
    if (state.tools.suspended.has(id)) masked.add(definition.name)
    else masked.delete(definition.name)
  }
  for (const pin of state.tools.eager.values()) declare(tools, pin)
  for (const meta of latch.metaTools) tools.set(meta.name, meta)
  for (const { pin, live, kept } of state.tools.loaded.values()) {
    if (!pin.definition) continue
    const { name } = pin.definition
    if (live) declare(pin.declaredHidden ? hidden : tools, pin)
    else if (pin.declaredHidden) hidden.set(name, pin.definition)
    else if (!tools.has(name)) {
      declare(tools, pin, kept ? pin.definition : tombstone(name, latch.tombstone))
      masked.add(name)
    }
  }
  for (const name of tools.keys()) hidden.delete(name)
  const [loader, bridge] = latch.metaTools
  return {
    requestId,
    mode: 'on',
    delivery: latch.delivery,
    tools: [...tools.values()],
    declaredHidden: [...hidden.values()],
    sources,
    resolvedCalls: new Map(
      [...state.calls.resolvedCalls].map(([anchor, { wireName, guessedIn }]) => [
        anchor,
        { wireName, guessed: guessedIn === state.latching.count },
      ]),
    ),
    references: {
      anchors: new Set(
        [...state.native.referredIn].flatMap(([anchor, latch]) =>
          latch === state.latching.count ? [anchor] : [],
        ),
      ),
      names: new Set([...latch.eager, ...latch.loaded].map(({ wireName }) => wireName)),
    },
    masked: [...masked],
    loader: loader?.name,
    bridge: bridge?.name,
    section: latch.section,
    stripped: new Set(state.history.thinking.stripped),
    inserts: [...state.history.inserts],
  }
}

/** Keeps the name of an unloaded tool declared, for the calls of it that stand in the history. */
export function tombstone(name: string, text = ''): WireTool {
  return { name, description: text, inputSchema: { type: 'object' } }
}
