/** The latch: mode, delivery and every byte before the messages are decided once, from what is known now. */

import { defined } from '../base/guards.js'
import { type Entry, META } from '../catalogue/catalogue.js'
import type { LedgerFact } from '../ledger/event.js'
import type { LedgerState } from '../ledger/fold.js'
import { loaderLimit } from '../schema/dialect.js'
import type { Pin, WireTool } from '../tool/wire-tool.js'
import { decide, type WireSupport } from './auto.js'
import { canFind } from './can-find.js'
import { listCards } from './cards.js'
import type { Context } from './context.js'
import { deliveries, type Place } from './deliveries.js'
import { BRIDGE_NAME, bridgeTool, loaderTool, queryParameter } from './meta-tools.js'
import { placeAtLatch } from './placement.js'

type Latched = Extract<LedgerFact, { kind: 'latched' }>

/** Walks the whole catalogue: this is the one step whose cost grows with it. */
export function latchFact(
  state: LedgerState,
  context: Context,
  reason: Latched['reason'],
  support: WireSupport,
): Latched {
  const { catalogue, gate, settings, wire } = context
  const eager: Entry[] = []
  const deferred: Entry[] = []
  for (const entry of catalogue.entries()) {
    const { deferred: hidden } = context.exposure(entry)
    if (!gate.visible(entry)) continue
    if (hidden) deferred.push(entry)
    else eager.push(entry)
  }
  const known = [...catalogue.sources.values()].filter(
    ({ state, ids }) => state === 'ready' || (state !== 'disabled' && ids.size > 0),
  )
  const sources = Object.fromEntries(known.map((source) => [source.name, source.membership]))

  const held = new Set([...state.tools.loaded.keys(), ...state.tools.suspendedLoads.keys()])
  const hiddenCount = deferred.filter((entry) => !held.has(entry.id)).length
  const decision = decide(
    state,
    context,
    reason,
    {
      deferred: deferred.length,
      hidden: hiddenCount,
      // Counted where it decides: every schema has to be read for it.
      deferredTokens: () => tokensOf(deferred, context),
      eagerTokens: () => tokensOf(eager, context),
      tools: eager.length + deferred.length,
      awaited: awaitedSources(context),
    },
    support,
  )
  const isDenied = eager.length + deferred.length === 0 && deniesAll(context)
  const because = defined({ because: isDenied ? denial(gate.fault) : decision.because })
  if (decision.mode === 'off')
    return {
      kind: 'latched',
      reason,
      wire,
      mode: 'off',
      delivery: 'eager',
      eager: [],
      loaded: [],
      metaTools: [],
      section: '',
      shown: [],
      sources,
      deferred: 0,
      cardTokens: 0,
      ...because,
    }

  const delivery = deliveries[decision.delivery]
  const always = delivery.name === 'eager' ? [...eager, ...deferred] : eager
  const hidden = delivery.name === 'eager' ? [] : deferred
  const { prompts, tokenizer, cardBudget, cardPlace, searchTool, affordance } = settings
  const findable = canFind(context)
  const strong = affordance === 'strong' && findable
  const bridge = delivery.metaTools.includes('bridge') ? BRIDGE_NAME : undefined
  const eagerIds = new Set(always.map((entry) => entry.id))
  const loaded = [...state.tools.loaded.values(), ...state.tools.suspendedLoads.values()].flatMap(
    ({ pin, live }) => {
      const entry = catalogue.get(pin.id)
      const place = placeAtLatch(delivery.name)
      if (!live || eagerIds.has(pin.id)) return []
      if (entry) return gate.visible(entry) ? [context.pin(entry, place)] : []
      return gate.away(pin.id) && state.latch?.wire === wire ? carried(pin, place) : []
    },
  )
  // What is loaded already is not told of as something to be found.
  const loadedIds = new Set(loaded.map((pin) => pin.id))
  const unloaded = hidden.filter((entry) => !loadedIds.has(entry.id))
  const cards = listCards(unloaded, {
    catalogue,
    prompts,
    tokenizer,
    budget: cardBudget,
    describe: context.describe,
  })
  const list = unloaded.length === 0 && delivery.name !== 'eager' ? prompts.cardsEmpty() : cards.text
  const inSection = cardPlace === 'section'
  const metaTools: WireTool[] = []
  if (delivery.metaTools.includes('loader'))
    metaTools.push(
      loaderTool(
        searchTool,
        prompts,
        searchTool.description?.({ bridge }) ??
          prompts.loader({
            loader: searchTool.name,
            parameter: queryParameter(searchTool, prompts),
            bridge,
            strong,
            unloads: true,
          }),
        inSection ? '' : list,
        loaderLimit(wire),
      ),
    )
  if (bridge) metaTools.push(bridgeTool(searchTool, prompts, findable))

  const section = prompts.section({
    loader: searchTool.name,
    bridge,
    deferred: unloaded.length,
    findable,
    cards: inSection ? list : '',
    strong,
  })

  return {
    kind: 'latched',
    reason,
    wire,
    mode: 'on',
    delivery: delivery.name,
    eager: always.sort(byName).map((entry) => context.pin(entry, 'array')),
    loaded,
    metaTools,
    ...(delivery.name === 'native' ? abilities(support) : {}),
    ...because,
    section: delivery.name === 'eager' ? '' : section,
    tombstone: prompts.tombstone({ loader: searchTool.name }),
    shown: cards.shown,
    sources,
    deferred: hidden.length,
    // In the section they are part of the messages, and counted there.
    cardTokens: inSection ? 0 : cards.tokens,
  }
}

/** Whether there are tools, and policy lets none of them be seen. */
function deniesAll({ catalogue, gate }: Context): boolean {
  const all = [...catalogue.entries()].filter(({ source }) => source !== META)
  return all.length > 0 && all.every((entry) => gate.availability(entry, 'see') === 'denied')
}

function denial(fault: string | undefined): string {
  return `policy denies every tool${fault === undefined ? '' : `: ${fault}`}`
}

function tokensOf(entries: readonly Entry[], context: Context): number {
  return entries.reduce((sum, entry) => sum + context.cost(entry), 0)
}

/** They may bring tools with the next request. What policy denies as a whole brings none. */
function awaitedSources({ catalogue, gate }: Context): string[] {
  return [...catalogue.sources.values()]
    .filter(({ name, state, ids }) => state === 'connecting' && ids.size === 0 && gate.mayName(name))
    .map(({ name }) => name)
}

/** A loaded tool whose definition is not known in this process: as the last latch had it, where that is enough. */
function carried({ id, wireName, fingerprint, definition }: Pin, place: Place): Pin[] {
  if (place === 'text') return [{ id, wireName, fingerprint }]
  return definition ? [{ id, wireName, fingerprint, definition }] : []
}

/** What the provider can do about tools between two messages. */
function abilities({ native }: WireSupport): Pick<Latched, 'changes' | 'removals'> {
  if (native === 'changes') return { changes: true, removals: true }
  return native === 'additions' ? { changes: true } : {}
}

function byName(a: Entry, b: Entry): number {
  return a.wireName < b.wireName ? -1 : 1
}
