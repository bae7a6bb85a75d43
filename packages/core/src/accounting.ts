/**
 * What tools cost, and what they would have cost with every schema on the wire. Net: searching, cards, inserts and
 * whole rounds that only searched are charged to deferral, and the figure is negative when that is the truth.
 */
import type { Context } from './context.js'
import { deliveries } from './delivery/index.js'
import type { LedgerState, RequestRecord } from './ledger.js'
import type { LedgerFact, Pin, SurfaceTokens } from './ledger-event.js'
import { tombstone } from './surface.js'

/** Tokens of the request that `facts` are about to begin. */
export function measureSurface(
  state: LedgerState,
  facts: readonly LedgerFact[],
  context: Context,
  everythingEager: number,
): SurfaceTokens {
  const opened = facts.find((fact) => fact.kind === 'opened')
  const latch = opened ?? state.latch
  let searchResults = 0
  for (const tokens of state.searchTokens.values()) searchResults += tokens
  if (!latch || latch.mode === 'off')
    return {
      eager: everythingEager,
      active: 0,
      cards: 0,
      metaTools: 0,
      section: 0,
      searchResults: 0,
      inserts: 0,
      rewritten: 0,
      everythingEager,
    }

  const declares = deliveries[latch.delivery].declares
  const eager = new Map<string, Pin>(
    (opened ? opened.eager : [...state.eager.values()]).map((pin) => [pin.id, pin]),
  )
  const active = new Map<string, Pin>()
  let tombstones = 0
  if (opened) for (const pin of opened.tail) active.set(pin.id, pin)
  else
    for (const [id, { live, pin }] of state.tail)
      if (live) active.set(id, pin)
      else tombstones += context.tokens(tombstone(pin.wireName, latch.tombstone))
  let inserts = state.inserts.reduce((sum, insert) => sum + insert.tokens, 0)
  for (const fact of facts) {
    if (fact.kind === 'activated') active.set(fact.tool.id, fact.tool)
    if (fact.kind === 'restored' && fact.pin) active.set(fact.tool, fact.pin)
    if (fact.kind === 'redefined') (eager.has(fact.tool.id) ? eager : active).set(fact.tool.id, fact.tool)
    if (fact.kind === 'announced') inserts += fact.tokens
  }
  const cost = (pins: Iterable<Pin>) => {
    let sum = 0
    for (const { definition } of pins) if (definition) sum += context.tokens(definition)
    return sum
  }
  const metaTools = latch.metaTools.reduce((sum, tool) => sum + context.tokens(tool), 0)
  return {
    eager: cost(eager.values()),
    active: declares ? cost(active.values()) + tombstones : 0,
    cards: latch.cardTokens,
    metaTools: Math.max(0, metaTools - latch.cardTokens),
    section: latch.section === '' ? 0 : context.settings.tokenizer.count(latch.section),
    searchResults,
    inserts,
    rewritten: opened ? 0 : behind(state, context, facts, declares),
    everythingEager,
  }
}

/** Tokens of the definitions that did not change and stand behind the first one written anew, in the order of the array. */
function behind(
  state: LedgerState,
  context: Context,
  facts: readonly LedgerFact[],
  declares: boolean,
): number {
  const changed = new Set(state.rewritten)
  for (const fact of facts) if (fact.kind === 'redefined' && fact.tool.definition) changed.add(fact.tool.id)
  if (changed.size === 0) return 0
  const raised = declares
    ? [...state.tail.values()].filter((held) => held.live || changed.has(held.pin.id))
    : []
  const order = [
    ...[...state.eager.values()].map((pin) => ({ id: pin.id, tool: pin.definition })),
    ...(state.latch?.metaTools ?? []).map((tool) => ({ id: '', tool })),
    ...raised.map(({ pin }) => ({ id: pin.id, tool: pin.definition })),
  ]
  const first = order.findIndex(({ id }) => changed.has(id))
  if (first < 0) return 0
  let sum = 0
  for (const { id, tool } of order.slice(first)) if (tool && !changed.has(id)) sum += context.tokens(tool)
  return sum
}

/** The running total of what all allowed tools would cost. After the first walk it costs what changed. */
export function createEagerTotal() {
  let revision = -1
  let total = 0
  const costs = new Map<string, number>()
  /** `also`: ids that policy has denied or allowed since; `anew`: policy may have changed its mind about any of them. */
  return (context: Context, also: readonly string[], anew: boolean): number => {
    const ids = new Set(also)
    if (anew) revision = -1
    if (revision < 0) for (const entry of context.catalogue.entries()) ids.add(entry.id)
    else if (revision < context.catalogue.revision)
      for (const id of context.catalogue.changesSince(revision)) ids.add(id)
    for (const id of ids) {
      const entry = context.catalogue.get(id)
      const cost = entry && context.gate.standing(entry, 'see') === 'ready' ? context.cost(entry) : 0
      total += cost - (costs.get(id) ?? 0)
      costs.set(id, cost)
    }
    revision = context.catalogue.revision
    return total
  }
}

export interface Accounting {
  readonly requests: number
  /** Requests whose only calls were searches, hints or refused guesses: with every tool on the wire they would not exist. */
  readonly metaRequests: number
  /** Requests for which the host gave `messageTokens`. Only these enter the figures below. */
  readonly measured: number
  /** Input tokens: tools and messages as sent. */
  readonly actual: number
  /** Input tokens of the same work with every allowed tool sent eagerly. */
  readonly counterfactual: number
  /** `counterfactual - actual`: negative when deferral cost more than it saved. */
  readonly saved: number
  /** Tokens that had to be read again because something before them in the tools array changed. Not part of `saved`. */
  readonly reread: number
  /** Where the tokens went, summed over the measured requests. */
  readonly tokens: SurfaceTokens
  /** The provider's own figures, summed where the host gave them. */
  readonly provider: {
    readonly inputTokens: number
    readonly cachedTokens: number
    readonly outputTokens: number
  }
}

const NOTHING: SurfaceTokens = {
  eager: 0,
  active: 0,
  cards: 0,
  metaTools: 0,
  section: 0,
  searchResults: 0,
  inserts: 0,
  rewritten: 0,
  everythingEager: 0,
}

export function account(state: LedgerState): Accounting {
  const records = [...state.requests.values()]
  let actual = 0
  let counterfactual = 0
  let reread = 0
  let measured = 0
  let tokens = NOTHING
  const provider = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 }
  let previous: RequestRecord | undefined
  for (const record of records) {
    provider.inputTokens += record.inputTokens ?? 0
    provider.cachedTokens += record.cachedTokens ?? 0
    provider.outputTokens += record.outputTokens ?? 0
    if (record.messageTokens !== undefined) {
      measured++
      tokens = add(tokens, record.tokens)
      actual += toolsOf(record.tokens) + record.messageTokens
      if (!isMeta(record)) counterfactual += record.tokens.everythingEager + foreignMessages(record)
      if (previous?.messageTokens !== undefined && previous.toolsVersion !== record.toolsVersion)
        reread += previous.messageTokens + record.tokens.rewritten
    }
    previous = record
  }
  return {
    requests: records.length,
    metaRequests: records.filter(isMeta).length,
    measured,
    actual,
    counterfactual,
    saved: counterfactual - actual,
    reread,
    tokens,
    provider,
  }
}

function isMeta(record: RequestRecord): boolean {
  return record.metaCalls > 0 && record.realCalls === 0
}

/** What the tools array costs. The section, search answers and inserts are part of the messages. */
export function toolsOf(tokens: SurfaceTokens): number {
  return tokens.eager + tokens.active + tokens.cards + tokens.metaTools
}

/** The messages without what deferral put into them. */
function foreignMessages({ messageTokens = 0, tokens }: RequestRecord): number {
  return Math.max(0, messageTokens - tokens.section - tokens.searchResults - tokens.inserts)
}

function add(a: SurfaceTokens, b: SurfaceTokens): SurfaceTokens {
  return {
    eager: a.eager + b.eager,
    active: a.active + b.active,
    cards: a.cards + b.cards,
    metaTools: a.metaTools + b.metaTools,
    section: a.section + b.section,
    searchResults: a.searchResults + b.searchResults,
    inserts: a.inserts + b.inserts,
    rewritten: a.rewritten + b.rewritten,
    everythingEager: a.everythingEager + b.everythingEager,
  }
}
