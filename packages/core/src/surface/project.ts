/** Projects the ledger to what one request contains. Reads only the ledger and changes nothing. */

import { shortHash } from '../base/hash.js'
import { sourceOfId } from '../base/names.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { Insert, LedgerState } from '../ledger/fold.js'
import type { DeliveryName } from '../tool/notice.js'
import type { Tool } from '../tool/tool.js'
import type { Pin, WireTool } from '../tool/wire-tool.js'
import { type Context, pickOptions } from './context.js'

export interface SurfaceView {
  readonly requestId: string
  readonly mode: 'off' | 'on'
  readonly delivery: DeliveryName
  /** In the order in which they are sent. If deferral is off: the host's own array. */
  readonly tools: readonly (WireTool | Tool)[]
  /** Native: declared in addition to `tools`, for references in the history. The model does not see them otherwise. */
  readonly declaredHidden: readonly WireTool[]
  /** The source of each of these tools, by wire name. */
  readonly sources: ReadonlyMap<string, string>
  /**
   * Targets of calls that used other names, by anchor. `guessed` (native): the call is written as a search for the
   * tool.
   */
  readonly resolvedCalls: ReadonlyMap<string, { readonly wireName: string; readonly guessed: boolean }>
  /**
   * References in the history that the provider can follow: those in answers since the last freeze, by anchor, to
   * tools declared at that freeze. Other references stay text until the next freeze; otherwise old bytes would change.
   */
  readonly references: { readonly anchors: ReadonlySet<string>; readonly names: ReadonlySet<string> }
  /** Declared but not callable now: unloaded, or temporarily unavailable. A wire that can mask them does. */
  readonly masked: readonly string[]
  /** The loader's name; undefined if deferral is off or the delivery is eager. */
  readonly loader: string | undefined
  readonly bridge: string | undefined
  /** Text for the system prompt, or empty. */
  readonly section: string
  /** Anchors of messages whose thinking is no longer sent. */
  readonly stripped: ReadonlySet<string>
  /** Text to place after the message or call with this anchor, in this order. */
  readonly inserts: readonly Insert[]
  /** First request only: tokens of own tools that are eager only by default, if deferring them would pay. */
  readonly ownTokens?: number
}

/** O(eager + loaded + inserts), independent of the size of the catalogue. */
export function project(state: LedgerState, requestId: string): SurfaceView {
  const { frozen } = state
  const isFirst = state.requests.byId.size === 1
  const own = isFirst && frozen?.ownTokens !== undefined ? { ownTokens: frozen.ownTokens } : {}
  if (!frozen || frozen.mode === 'off')
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
      ...own,
    }
  // Keyed by name: a name that passed from a removed tool to another one is declared once, with its current meaning.
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
  for (const meta of frozen.metaTools) tools.set(meta.name, meta)
  for (const { pin, live, kept } of state.tools.loaded.values()) {
    if (!pin.definition) continue
    const { name } = pin.definition
    if (live) declare(pin.declaredHidden ? hidden : tools, pin)
    else if (pin.declaredHidden) hidden.set(name, pin.definition)
    else if (!tools.has(name)) {
      declare(tools, pin, kept ? pin.definition : tombstone(name, frozen.tombstone))
      masked.add(name)
    }
  }
  for (const name of tools.keys()) hidden.delete(name)
  const [loader, bridge] = frozen.metaTools
  return {
    requestId,
    mode: 'on',
    delivery: frozen.delivery,
    tools: [...tools.values()],
    declaredHidden: [...hidden.values()],
    sources,
    resolvedCalls: new Map(
      [...state.calls.resolvedCalls].map(([anchor, { wireName, guessedIn }]) => [
        anchor,
        { wireName, guessed: guessedIn === state.freezing.count },
      ]),
    ),
    references: {
      anchors: new Set(
        [...state.native.referredIn].flatMap(([anchor, frozen]) =>
          frozen === state.freezing.count ? [anchor] : [],
        ),
      ),
      names: new Set([...frozen.eager, ...frozen.loaded].map(({ wireName }) => wireName)),
    },
    masked: [...masked],
    loader: loader?.name,
    bridge: bridge?.name,
    section: frozen.section,
    stripped: new Set(state.history.thinking.stripped),
    inserts: [...state.history.inserts],
    ...own,
  }
}

/** Keeps the name of an unloaded tool declared, because the history contains calls of it. */
export function tombstone(name: string, text = ''): WireTool {
  return { name, description: text, inputSchema: { type: 'object' } }
}

/** The tools to send if deferral is off. */
export interface ToolLister {
  /** Lists them as they are now. Returns the same array until something in it changes. */
  list(context: Context): readonly (WireTool | Tool)[]
  /** Names this list. Same name, same definitions. */
  name(context: Context): string
  /** Finds a list by its name, if it was named in this process. */
  find(name: string | undefined): readonly (WireTool | Tool)[] | undefined
}

/** Lists that one conversation remembers. A list waits at most for the end of a tool loop. */
const REMEMBERED = 4

/** The list is the host's own array, the same instance, unless policy or a source requires another one. */
export function createToolLister(): ToolLister {
  let last: readonly (WireTool | Tool)[] = []
  const named = new Map<string, readonly (WireTool | Tool)[]>()
  const list = (context: Context) => {
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
    // Two tools that share a name are sent under their wire names.
    const next = catalogue.hostTools.flatMap((tool): (WireTool | Tool)[] => {
      const entry = allowed.get(tool)
      if (!entry) return []
      return [(uses.get(tool.name) ?? 0) > 1 ? context.definition(entry) : tool]
    })
    next.push(...others)
    if (next.length !== last.length || next.some((tool, index) => tool !== last[index])) last = next
    return last
  }
  return {
    list,
    name(context) {
      const tools = list(context)
      const known = [...named].find(([, each]) => each === tools)
      if (known) return known[0]
      const name = shortHash(JSON.stringify(tools.map(describeSent)))
      named.delete(name)
      named.set(name, tools)
      for (const [oldest] of named) if (named.size > REMEMBERED) named.delete(oldest)
      return name
    },
    find: (name) => (name === undefined ? undefined : named.get(name)),
  }
}

/** The fields of a definition that requests contain. */
function describeSent(tool: WireTool | Tool): unknown[] {
  return [tool.name, tool.description, tool.inputSchema, pickOptions(tool)]
}
