/**
 * Computes the tokens of each request, and how much deferring tools saved or cost compared with sending every tool.
 *
 * Search calls, cards, notices and whole rounds that only searched count as costs of deferring, so the saving can be negative.
 */

import type { CacheRule } from '../base/wires.js'
import { getCacheRule } from '../costs/costs.js'
import type { LedgerFact, SurfaceTokens } from '../ledger/event.js'
import type { LedgerState, RequestRecord } from '../ledger/fold.js'
import type { Context } from '../surface/context.js'
import { isInArray } from '../surface/deliveries.js'
import { tombstone } from '../surface/project.js'
import type { Pin } from '../tool/wire-tool.js'
import { sumToolTokens } from './measurement.js'

export interface Accounting {
  readonly requests: number
  /** Requests that only made searches, hints or refused guesses. With every tool sent, they would not exist. */
  readonly metaRequests: number
  /** Requests with known `messageTokens`. Only these count below. */
  readonly measured: number
  /** Input tokens as sent: tools and messages. */
  readonly actual: number
  /** Input tokens of the same work with every allowed tool sent eagerly. */
  readonly counterfactual: number
  /** `counterfactual - actual`. Negative if deferring cost more than it saved. */
  readonly saved: number
  /** The cost, in plain input tokens, with the prompt cache rules of this wire. See docs/concepts/deliveries-and-cache.md. */
  readonly cost: { readonly actual: number; readonly counterfactual: number; readonly saved: number }
  /** Tokens that were read again because something before them in the tools array changed. Not part of `saved`. */
  readonly reread: number
  /** Tokens by purpose, summed over the measured requests. */
  readonly tokens: SurfaceTokens
  /** The provider's figures, summed over the requests that have them. */
  readonly provider: {
    readonly inputTokens: number
    readonly cachedTokens: number
    readonly outputTokens: number
  }
}

const NOTHING: SurfaceTokens = {
  eager: 0,
  loaded: 0,
  cards: 0,
  metaTools: 0,
  section: 0,
  searchResults: 0,
  inserts: 0,
  rewritten: 0,
  revealed: 0,
  everythingEager: 0,
  media: 0,
}

/** Sums up the requests of a conversation. `prices`: prices set by the host. */
export function computeAccounting(state: LedgerState, prices: Partial<CacheRule> = {}): Accounting {
  const records = [...state.requests.byId.values()]
  let actual = 0
  let counterfactual = 0
  let reread = 0
  let measured = 0
  let tokens = NOTHING
  const provider = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 }
  let previous: RequestRecord | undefined
  const bill = createBill(prices)
  for (const record of records) {
    provider.inputTokens += record.inputTokens ?? 0
    provider.cachedTokens += record.cachedTokens ?? 0
    provider.outputTokens += record.outputTokens ?? 0
    if (record.messageTokens !== undefined) {
      measured++
      tokens = add(tokens, record.tokens)
      actual += countInput(record)
      if (!isSearchOnly(record)) counterfactual += countEagerInput(record)
      bill.add(record)
      const isSameWire = previous?.wire === record.wire
      if (
        isSameWire &&
        previous?.messageTokens !== undefined &&
        previous.toolsVersion !== record.toolsVersion
      )
        reread += previous.messageTokens + record.tokens.rewritten
    }
    previous = record
  }
  return {
    requests: records.length,
    metaRequests: records.filter(isSearchOnly).length,
    measured,
    actual: Math.round(actual),
    counterfactual: Math.round(counterfactual),
    saved: Math.round(counterfactual) - Math.round(actual),
    cost: bill.total(),
    reread,
    tokens,
    provider,
  }
}

/** Counts all input of a request, scaled to the provider's figure. */
function countInput(record: RequestRecord): number {
  return countUnscaledInput(record) * computeScale(record)
}

/** Counts the input of the same request with every tool sent eagerly. */
function countEagerInput(record: RequestRecord): number {
  return record.tokens.everythingEager * computeScale(record) + countOtherMessages(record)
}

function countUnscaledInput({ tokens, messageTokens = 0 }: RequestRecord): number {
  return sumToolTokens(tokens) + messageTokens + (tokens.revealed ?? 0)
}

/**
 * Toolwell's tokenizer may count more than the provider's. If the definitions alone exceed the provider's total, the provider's
 * figure counts, and all definitions are scaled down to it.
 */
function computeScale(record: RequestRecord): number {
  const { inputTokens, messageTokens } = record
  const own = countUnscaledInput(record)
  return messageTokens === 0 && inputTokens !== undefined && inputTokens < own ? inputTokens / own : 1
}

/** Adds up the price of requests, with unchanged prefixes read from the cache. Idle times are unknown, so expiry is ignored. */
function createBill(prices: Partial<CacheRule>) {
  let actual = 0
  let counterfactual = 0
  let previous: RequestRecord | undefined
  let eager: RequestRecord | undefined
  const price = (wire: string | undefined, input: number, kept: number) => {
    const { read, write } = getCacheRule(wire ?? '', prices)
    const cached = Math.min(input, Math.max(0, kept))
    return read * cached + write * (input - cached)
  }
  return {
    add(record: RequestRecord) {
      actual += price(record.wire, countInput(record), previous ? countCached(previous, record) : 0)
      previous = record
      if (isSearchOnly(record)) return
      const same = eager?.wire === record.wire
      const kept =
        !eager || !same
          ? 0
          : eager.frozen === record.frozen
            ? countEagerInput(eager)
            : eager.tokens.everythingEager
      counterfactual += price(record.wire, countEagerInput(record), kept)
      eager = record
    },
    total: () => ({
      actual: Math.round(actual),
      counterfactual: Math.round(counterfactual),
      saved: Math.round(counterfactual) - Math.round(actual),
    }),
  }
}

/** Counts the tokens that a request shares with the one before, from the start. Tools come before messages. */
function countCached(previous: RequestRecord, record: RequestRecord): number {
  if (previous.frozen !== record.frozen) return 0
  if (previous.toolsVersion === record.toolsVersion) return countInput(previous)
  return (sumToolTokens(previous.tokens) - record.tokens.rewritten) * computeScale(previous)
}

function isSearchOnly(record: RequestRecord): boolean {
  return record.metaCalls > 0 && record.realCalls === 0
}

/** Counts the messages without the texts that deferring added. */
function countOtherMessages({ messageTokens = 0, tokens }: RequestRecord): number {
  return Math.max(0, messageTokens - tokens.section - tokens.searchResults - tokens.inserts)
}

function add(a: SurfaceTokens, b: SurfaceTokens): SurfaceTokens {
  return {
    eager: a.eager + b.eager,
    loaded: a.loaded + b.loaded,
    cards: a.cards + b.cards,
    metaTools: a.metaTools + b.metaTools,
    section: a.section + b.section,
    searchResults: a.searchResults + b.searchResults,
    inserts: a.inserts + b.inserts,
    rewritten: a.rewritten + b.rewritten,
    revealed: (a.revealed ?? 0) + (b.revealed ?? 0),
    everythingEager: a.everythingEager + b.everythingEager,
    media: (a.media ?? 0) + (b.media ?? 0),
  }
}

/** Counts the tokens of the request that starts with `facts`. */
export function measureSurface(
  state: LedgerState,
  facts: readonly LedgerFact[],
  context: Context,
  everythingEager: number,
): SurfaceTokens {
  const refrozen = facts.find((fact) => fact.kind === 'frozen')
  const frozen = refrozen ?? state.frozen
  const searchResults = sum(state.requests.searchTokens.values())
  const images = sum(state.requests.mediaTokens.values())
  const media = images > 0 ? { media: images } : {}
  if (!frozen || frozen.mode === 'off')
    return {
      eager: everythingEager,
      loaded: 0,
      cards: 0,
      metaTools: 0,
      section: 0,
      searchResults: 0,
      inserts: 0,
      rewritten: 0,
      everythingEager,
      ...media,
    }

  const eager = new Map<string, Pin>(
    (refrozen ? refrozen.eager : [...state.tools.eager.values()]).map((pin) => [pin.id, pin]),
  )
  const loadedPins = new Map<string, Pin>()
  let tombstones = 0
  if (refrozen) for (const pin of refrozen.loaded) loadedPins.set(pin.id, pin)
  else
    for (const [id, { live, kept, pin }] of state.tools.loaded)
      if (live || kept) loadedPins.set(id, pin)
      else if (pin.definition) tombstones += context.tokens(tombstone(pin.wireName, frozen.tombstone))
  let inserts = sum(state.history.inserts.map((insert) => insert.tokens))
  let revealed = sum(state.requests.revealedTokens.values())
  if (!refrozen) revealed += sum(state.history.inserts.map((insert) => insert.revealed))
  for (const fact of facts) {
    if (fact.kind === 'loaded') loadedPins.set(fact.tool.id, fact.tool)
    if (fact.kind === 'restored' && fact.pin) loadedPins.set(fact.tool, fact.pin)
    if (fact.kind === 'announced') {
      inserts += fact.tokens
      revealed += fact.revealed ?? 0
    }
  }
  const cost = (pins: Iterable<Pin>) =>
    sum([...pins].map((pin) => (pin.definition && isInArray(pin) ? context.tokens(pin.definition) : 0)))
  const { tokenizer } = context.settings
  const metaTools = frozen.metaTools.reduce((sum, tool) => sum + context.tokens(tool), 0)
  const section = frozen.section === '' ? 0 : tokenizer.count(frozen.section)
  return {
    eager: cost(eager.values()),
    loaded: cost(loadedPins.values()) + tombstones,
    cards: frozen.cardTokens,
    metaTools: Math.max(0, metaTools - frozen.cardTokens),
    section,
    searchResults,
    inserts,
    rewritten: refrozen ? 0 : sumAfterFirstRewrite(state, context),
    revealed,
    everythingEager,
    ...media,
  }
}

function sum(figures: Iterable<number>): number {
  let total = 0
  for (const figure of figures) total += figure
  return total
}

/** Sums the unchanged definitions after the first rewritten one, in the order of the tools array. They lose their place in the cache. */
function sumAfterFirstRewrite(state: LedgerState, context: Context): number {
  const changed = new Set(state.array.rewritten)
  if (changed.size === 0) return 0
  const loaded = [...state.tools.loaded.values()].filter(
    ({ pin, live, kept }) => isInArray(pin) && (live || kept || changed.has(pin.id)),
  )
  const order = [
    ...[...state.tools.eager.values()].map((pin) => ({ id: pin.id, tool: pin.definition })),
    ...(state.frozen?.metaTools ?? []).map((tool) => ({ id: '', tool })),
    ...loaded.map(({ pin }) => ({ id: pin.id, tool: pin.definition })),
  ]
  const first = order.findIndex(({ id }) => changed.has(id))
  if (first < 0) return 0
  let sum = 0
  for (const { id, tool } of order.slice(first)) if (tool && !changed.has(id)) sum += context.tokens(tool)
  return sum
}

/** Keeps the running total of all allowed tools' definitions. After the first call, its cost depends on the changes. */
export function createEagerTotal() {
  let revision = -1
  let total = 0
  const costs = new Map<string, number>()
  /** `changed`: ids whose policy decision changed. `recheckAll`: all policy decisions may have changed. */
  return (context: Context, changed: readonly string[], recheckAll: boolean): number => {
    const ids = new Set(changed)
    if (recheckAll) revision = -1
    if (revision < 0) for (const entry of context.catalogue.entries()) ids.add(entry.id)
    else if (revision < context.catalogue.revision)
      for (const id of context.catalogue.changesSince(revision)) ids.add(id)
    for (const id of ids) {
      const entry = context.catalogue.get(id)
      const cost = entry && context.gate.visible(entry) ? context.cost(entry) : 0
      total += cost - (costs.get(id) ?? 0)
      costs.set(id, cost)
    }
    revision = context.catalogue.revision
    return total
  }
}
