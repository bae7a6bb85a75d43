/** Answers questions of hosts about a conversation from its state. Stores nothing. */

import { isOnSurface, type LedgerState } from '../ledger/fold.js'
import type { Context } from '../surface/context.js'
import type { ToolLister } from '../surface/project.js'
import type { DeliveryName } from '../tool/notice.js'
import type { Tool } from '../tool/tool.js'
import { type Accounting, computeAccounting } from './accounting.js'
import { formatTokens, sumToolTokens } from './measurement.js'

export interface Inspection {
  readonly mode: 'off' | 'on' | 'undecided'
  readonly delivery: DeliveryName | undefined
  /** The wire of the last request. */
  readonly wire: string | undefined
  /** The system prompt section about deferred tools; empty before the first request. */
  readonly section: string
  /** Wire names of loaded tools, in order of loading. */
  readonly loadedLazyTools: readonly string[]
  /** Number of requests started before each tool was loaded. */
  readonly loadedAtTurn: Readonly<Record<string, number>>
  readonly searchHistory: readonly {
    readonly turn: number
    readonly query: string
    readonly loaded: readonly string[]
  }[]
  /** Tools that the model sees now, by wire name, for hosts that write their own list of tools. */
  readonly visibleNames: readonly {
    readonly name: string
    readonly snippet: string
    readonly guidelines: readonly string[]
  }[]
  /** Wire names of tools that can be found but are not loaded. Reading this walks through the catalogue. */
  readonly deferredNames: readonly string[]
  /** Results of these tools must not be pruned or truncated, because they contain schemas. */
  readonly protectedToolNames: readonly string[]
  readonly suspended: Readonly<Record<string, string>>
  /** Why Toolwell chose this mode and delivery. Also set if nothing was decided although tools were called or requests were sent. */
  readonly because: string | undefined
  /** Tokens of own tools that are eager only by default, if deferring them would pay: see the option `defer`. */
  readonly ownTokens: number | undefined
  /** Deliveries that did not work here, and why. They are not used when the prefix is frozen again. */
  readonly withheld: Readonly<Record<string, string>>
  /** Number of calls by each alias, deprecated or not. */
  readonly aliasUses: Readonly<Record<string, number>>
  /** Calls that started but did not end because of a crash, by tool id. */
  readonly pendingCalls: readonly string[]
  readonly accounting: Accounting
  /** One line for a status bar. */
  readonly line: string
}

const UNSEEN =
  'tools were called, but no request went through Toolwell: pass all of its settings to the SDK, or its fetch to the client'

/** Explains the mode of a conversation, or what is wrong if tools were called but no mode was decided. */
export function explainMode({ frozen, calls }: LedgerState): string | undefined {
  return frozen ? frozen.because : calls.succeeded && UNSEEN
}

/** `unseen`: a problem noticed with requests that bypassed Toolwell. */
export function inspect(
  state: LedgerState,
  context: Context,
  listed: ToolLister,
  unseen?: string,
): Inspection {
  const { catalogue } = context
  const live = [...state.tools.loaded].filter(([id, each]) => each.live && !state.tools.suspended.has(id))
  // A late eager tool is visible, but nobody loaded it.
  const loaded = live.filter(([, each]) => each.source !== 'arrival')
  const names = loaded.map(([, each]) => each.pin.wireName)
  const on = state.frozen?.mode === 'on'
  return {
    mode: state.frozen?.mode ?? 'undecided',
    delivery: state.frozen?.delivery,
    wire: state.frozen?.wire,
    section: state.frozen?.section ?? '',
    loadedLazyTools: names,
    loadedAtTurn: Object.fromEntries(loaded.map(([, each]) => [each.pin.wireName, each.turn])),
    searchHistory: state.calls.searchHistory.map((search) => ({
      ...search,
      loaded: search.loaded.map((id) => catalogue.get(id)?.wireName ?? id),
    })),
    visibleNames: listVisible(state, context, listed),
    get deferredNames() {
      return listDeferredNames(state, context)
    },
    protectedToolNames: on && state.frozen?.delivery !== 'eager' ? [context.settings.searchTool.name] : [],
    suspended: Object.fromEntries(state.tools.suspended),
    because: explainMode(state) ?? (state.frozen ? undefined : unseen),
    ownTokens: state.frozen?.ownTokens,
    withheld: Object.fromEntries(state.freezing.withheld),
    aliasUses: Object.fromEntries(state.calls.aliasUses),
    pendingCalls: [...state.calls.pending.values()],
    accounting: computeAccounting(state, context.settings.prices),
    line: formatStatusLine(state, names),
  }
}

/** Guidelines of hidden tools stay hidden until the tools are loaded. */
function listVisible(state: LedgerState, context: Context, listed: ToolLister): Inspection['visibleNames'] {
  const describe = (name: string, tool: Tool | undefined) => ({
    name,
    snippet: tool?.promptSnippet ?? '',
    guidelines: tool?.guidelines ?? [],
  })
  const { catalogue, gate } = context
  if (state.frozen?.mode === 'on') {
    const pins = [
      ...state.tools.eager.values(),
      ...[...state.tools.loaded.values()].filter((each) => each.live).map((each) => each.pin),
    ]
    const usable = pins.filter(({ id }) => {
      const entry = catalogue.get(id)
      return entry ? gate.visible(entry) : gate.isSourceAway(id)
    })
    return [
      ...usable.map((pin) => describe(pin.wireName, catalogue.get(pin.id)?.tool)),
      ...state.frozen.metaTools.map((tool) => describe(tool.name, undefined)),
    ]
  }
  if (state.frozen)
    return (listed.find(state.frozen.array) ?? listed.list(context)).map((sent) => {
      const resolution = catalogue.resolve(sent.name, (entry) => gate.visible(entry))
      return describe(sent.name, resolution.kind === 'found' ? resolution.entry.tool : undefined)
    })
  // Before the first request, only eager tools are certain.
  const eager = [...catalogue.entries()].filter(
    (entry) => gate.visible(entry) && !context.exposure(entry).deferred,
  )
  return eager.map((entry) => describe(entry.wireName, entry.tool))
}

function listDeferredNames(state: LedgerState, context: Context): string[] {
  const { frozen } = state
  if (frozen && (frozen.mode === 'off' || frozen.delivery === 'eager')) return []
  return [...context.catalogue.entries()]
    .filter(
      (entry) =>
        !isOnSurface(state, entry.id) && context.exposure(entry).deferred && context.gate.visible(entry),
    )
    .map((entry) => entry.wireName)
}

/** `active 3 (a, b, c) · 91 deferred · 1.9k of 14.5k tokens` */
function formatStatusLine(state: LedgerState, names: readonly string[]): string {
  const { frozen } = state
  const { last } = state.requests
  if (!frozen) return 'no request yet'
  if (frozen.mode === 'off')
    return `all tools eager${last ? ` · ${formatTokens(last.tokens.everythingEager)} tokens` : ''}`
  const some = names.length > 8 ? [...names.slice(0, 8), `… ${names.length - 8} more`] : names
  const loaded = `active ${names.length}${some.length > 0 ? ` (${some.join(', ')})` : ''}`
  const deferred = `${Math.max(0, frozen.deferred - names.length)} deferred`
  const cost = last
    ? ` · ${formatTokens(sumToolTokens(last.tokens))} of ${formatTokens(last.tokens.everythingEager)} tokens`
    : ''
  return `${loaded} · ${deferred}${cost}`
}
