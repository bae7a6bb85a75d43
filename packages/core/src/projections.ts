/** What hosts ask about a conversation, read from its state. Nothing here is stored. */
import { type Accounting, account, toolsOf } from './accounting.js'
import type { Catalogue } from './catalogue.js'
import type { LedgerState } from './ledger.js'
import type { DeliveryName } from './ledger-event.js'

export interface Inspection {
  readonly mode: 'off' | 'on' | 'unopened'
  readonly delivery: DeliveryName | undefined
  /** Wire names of raised tools, in order of activation. */
  readonly loadedLazyTools: readonly string[]
  /** The number of requests begun before each was raised. */
  readonly loadedAtTurn: Readonly<Record<string, number>>
  readonly searchHistory: readonly {
    readonly turn: number
    readonly query: string
    readonly loaded: readonly string[]
  }[]
  /** What the model can call now, for a host that writes its own list of tools. */
  readonly visible: readonly {
    readonly name: string
    readonly snippet: string
    readonly guidelines: readonly string[]
  }[]
  /** Results of these tools must not be pruned or truncated: schemas live in them. */
  readonly protectedToolNames: readonly string[]
  readonly suspended: Readonly<Record<string, string>>
  /** How often each deprecated or other alias was called. */
  readonly aliasUses: Readonly<Record<string, number>>
  /** Calls that started and did not end, by tool id: a crash left them. */
  readonly pendingCalls: readonly string[]
  readonly accounting: Accounting
  /** One line for a status bar. */
  readonly line: string
}

export function inspect(state: LedgerState, catalogue: Catalogue, loader: string): Inspection {
  const live = [...state.tail].filter(([id, held]) => held.live && !state.suspended.has(id))
  // A late eager tool is visible, and nobody raised it.
  const raised = live.filter(([, held]) => held.source !== 'arrival')
  const names = raised.map(([, held]) => held.pin.wireName)
  const on = state.latch?.mode === 'on'
  const shown = [
    ...[...state.eager.values()].filter((pin) => !state.suspended.has(pin.id)),
    ...live.map(([, held]) => held.pin),
  ]
  const visible = on
    ? shown.map((pin) => ({ name: pin.wireName, tool: catalogue.get(pin.id)?.tool }))
    : [...catalogue.entries()].map((entry) => ({ name: entry.wireName, tool: entry.tool }))
  return {
    mode: state.latch?.mode ?? 'unopened',
    delivery: state.latch?.delivery,
    loadedLazyTools: names,
    loadedAtTurn: Object.fromEntries(raised.map(([, held]) => [held.pin.wireName, held.turn])),
    searchHistory: state.searchHistory.map((search) => ({
      ...search,
      loaded: search.loaded.map((id) => catalogue.get(id)?.wireName ?? id),
    })),
    visible: visible.map(({ name, tool }) => ({
      name,
      snippet: tool?.promptSnippet ?? '',
      guidelines: tool?.guidelines ?? [],
    })),
    protectedToolNames: on && state.latch?.delivery !== 'eager' ? [loader] : [],
    suspended: Object.fromEntries(state.suspended),
    aliasUses: Object.fromEntries(state.aliasUses),
    pendingCalls: [...state.pending.values()],
    accounting: account(state),
    line: statusLine(state, names),
  }
}

/** `active 3 (a, b, c) · 91 deferred · 1.9k of 14.5k tokens` */
function statusLine(state: LedgerState, names: readonly string[]): string {
  const { latch, lastRequest } = state
  if (!latch || latch.mode === 'off')
    return `all tools eager${lastRequest ? ` · ${short(lastRequest.tokens.everythingEager)} tokens` : ''}`
  const some = names.length > 8 ? [...names.slice(0, 8), `… ${names.length - 8} more`] : names
  const active = `active ${names.length}${some.length > 0 ? ` (${some.join(', ')})` : ''}`
  const deferred = `${Math.max(0, latch.deferred - names.length)} deferred`
  const cost = lastRequest
    ? ` · ${short(toolsOf(lastRequest.tokens))} of ${short(lastRequest.tokens.everythingEager)} tokens`
    : ''
  return `${active} · ${deferred}${cost}`
}

function short(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(1)}k`
}
