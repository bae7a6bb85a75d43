/** Freezes the prefix: decides mode, delivery and every byte before the messages, once, from what is known now. */

import { dropUndefined } from '../base/data.js'
import { type Entry, META } from '../catalogue/catalogue.js'
import { isEagerByDefault } from '../catalogue/exposure.js'
import type { LedgerEvent, LedgerFact } from '../ledger/event.js'
import { fold, type LedgerState } from '../ledger/fold.js'
import type { LeftPrefix } from '../ledger/state.js'
import { searchToolLimit } from '../schema/dialect.js'
import type { Pin, WireTool } from '../tool/wire-tool.js'
import { decideMode, leastTokens, type Sizes, type WireSupport } from './auto.js'
import { listCards } from './cards.js'
import type { Context } from './context.js'
import { deliveries, isInArray, type Place, placeWhenFreezing } from './deliveries.js'
import { BRIDGE_NAME, canFind, createBridgeTool, createLoaderTool, findQueryParameter } from './meta-tools.js'
import type { Prompts } from './prompts.js'
import type { BoundThinking } from './thinking.js'

type FreezeFact = Extract<LedgerFact, { kind: 'frozen' }>

/** Walks the whole catalogue. This is the only step whose cost grows with it. */
export function freezePrefix(
  state: LedgerState,
  context: Context,
  reason: FreezeFact['reason'],
  support: WireSupport,
  /** Names the list of tools to send if deferral is off. */
  array?: () => string,
): FreezeFact {
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
  const sizes: Sizes = {
    deferred: deferred.length,
    hidden: hiddenCount,
    // Counted only if it decides, because it reads every schema.
    deferredTokens: () => tokensOf(deferred, context),
    eagerTokens: () => tokensOf(eager, context),
    tools: eager.length + deferred.length,
    awaited: awaitedSources(context),
  }
  const decision = decideMode(state, context, reason, sizes, support)
  const own = dropUndefined({ ownTokens: countOwnTokens(eager, context, sizes, support) })
  const isDenied = eager.length + deferred.length === 0 && deniesAll(context)
  const because = dropUndefined({ because: isDenied ? denial(gate.fault) : decision.because })
  if (decision.mode === 'off')
    return {
      kind: 'frozen',
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
      ...own,
      ...dropUndefined({ array: array?.() }),
    }

  const delivery = deliveries[decision.delivery]
  const always = delivery.name === 'eager' ? [...eager, ...deferred] : eager
  const hidden = delivery.name === 'eager' ? [] : deferred
  const language = detectLanguage(hidden)
  const prompts: Prompts = {
    ...settings.prompts,
    loaderQuery: () => settings.prompts.loaderQuery({ language }),
  }
  const { tokenizer, cardBudget, cardPlace, searchTool, affordance } = settings
  const findable = canFind(context)
  const strong = affordance === 'strong' && findable
  const bridge = delivery.metaTools.includes('bridge') ? BRIDGE_NAME : undefined
  const eagerIds = new Set(always.map((entry) => entry.id))
  const loaded = [...state.tools.loaded.values(), ...state.tools.suspendedLoads.values()].flatMap(
    ({ pin, live }) => {
      const entry = catalogue.get(pin.id)
      const place = placeWhenFreezing(delivery.name)
      if (!live || eagerIds.has(pin.id)) return []
      if (entry) return gate.visible(entry) ? [context.pin(entry, place)] : []
      return gate.isSourceAway(pin.id) && state.frozen?.wire === wire ? carried(pin, place) : []
    },
  )
  // Loaded tools are not listed as tools to find.
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
      createLoaderTool(
        searchTool,
        prompts,
        searchTool.description?.({ bridge }) ??
          prompts.loader({
            loader: searchTool.name,
            parameter: findQueryParameter(searchTool, prompts),
            bridge,
            strong,
            unloads: true,
          }),
        inSection ? '' : list,
        searchToolLimit(wire),
      ),
    )
  if (bridge) metaTools.push(createBridgeTool(searchTool, prompts, findable))

  const section = prompts.section({
    loader: searchTool.name,
    bridge,
    deferred: unloaded.length,
    findable,
    cards: inSection ? list : '',
    strong,
  })

  return {
    kind: 'frozen',
    reason,
    wire,
    mode: 'on',
    delivery: delivery.name,
    eager: always.sort(byName).map((entry) => context.pin(entry, 'array')),
    loaded,
    metaTools,
    ...(delivery.name === 'native' ? abilities(support) : {}),
    ...dropUndefined({ beside: support.beside || undefined }),
    ...because,
    ...own,
    section: delivery.name === 'eager' ? '' : section,
    tombstone: prompts.tombstone({ loader: searchTool.name }),
    shown: cards.shown,
    sources,
    deferred: hidden.length,
    // Cards in the prompt section are part of the messages and counted there.
    cardTokens: inSection ? 0 : cards.tokens,
  }
}

/** Counts the own tools that are eager only by default. Undefined if the host wants them eager, or deferring them would not pay. */
function countOwnTokens(
  eager: readonly Entry[],
  context: Context,
  sizes: Sizes,
  support: WireSupport,
): number | undefined {
  const { mode, delivery } = context.settings
  if (mode === 'off' || delivery === 'eager' || context.child) return undefined
  const own = eager.filter((entry) => isEagerByDefault(context.exposure(entry)))
  if (own.length === 0) return undefined
  const tokens = tokensOf(own, context)
  const eagerTokens = () => sizes.eagerTokens() - tokens
  const least = leastTokens(context, { ...sizes, hidden: sizes.hidden + own.length, eagerTokens }, support)
  return tokens >= least ? tokens : undefined
}

/** True if there are tools and policy hides all of them. */
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

/** These sources may add tools with the next request. A source that policy denies entirely adds none. */
function awaitedSources({ catalogue, gate }: Context): string[] {
  return [...catalogue.sources.values()]
    .filter(({ name, state, ids }) => state === 'connecting' && ids.size === 0 && gate.mayName(name))
    .map(({ name }) => name)
}

/**
 * A loaded tool whose definition is unknown in this process keeps the definition of the last frozen prefix, if that is
 * enough.
 */
function carried({ id, wireName, fingerprint, definition }: Pin, place: Place): Pin[] {
  if (place === 'text') return [{ id, wireName, fingerprint }]
  return definition ? [{ id, wireName, fingerprint, definition }] : []
}

/** The provider's features for changing tools between two messages. */
function abilities({ native }: WireSupport): Pick<FreezeFact, 'changes' | 'removals'> {
  if (native === 'changes') return { changes: true, removals: true }
  return native === 'additions' ? { changes: true } : {}
}

function byName(a: Entry, b: Entry): number {
  return a.wireName < b.wireName ? -1 : 1
}

type Returned = Extract<LedgerFact, { kind: 'returned' }>

/**
 * Returns to the frozen prefix of a wire that the thread has used before. The old bytes are preferred to a fresh list
 * only if there is thinking behind them, because the provider accepts it only behind those bytes. They are valid while
 * every declared tool is unchanged and policy denies none of the named tools.
 */
export function planReturn(
  state: LedgerState,
  context: Context,
  support: WireSupport,
  thinking: BoundThinking | undefined,
): Returned | undefined {
  const left = state.freezing.left.get(context.wire)
  const { stripped } = state.history.thinking
  const isWorth = thinking?.before.concat(thinking.inside).some((anchor) => !stripped.has(anchor))
  if (!left || !isWorth || state.freezing.due || !isPossible(left, state, context, support)) return undefined
  const { catalogue, gate } = context
  const declared = [...left.eager.values(), ...[...left.loaded.values()].map(({ pin }) => pin)]
  const isAsItWas = declared.every(({ id, fingerprint }) => {
    const entry = catalogue.get(id)
    return entry?.fingerprint === fingerprint && gate.availability(entry, 'see') === 'ready'
  })
  const isDenied = left.frozen.shown.some((id) => gate.availability(catalogue.get(id), 'see') === 'denied')
  if (!isAsItWas || isDenied) return undefined
  const live = [...state.tools.suspendedLoads, ...[...state.tools.loaded].filter(([, { live }]) => live)]
  const loaded = live.flatMap(([id]) => {
    const entry = left.loaded.has(id) || left.eager.has(id) ? undefined : catalogue.get(id)
    if (!entry || gate.availability(entry, 'see') !== 'ready') return []
    return [context.pin(entry, deliveries[left.frozen.delivery].defines)]
  })
  // Tools that were loaded in the meantime must not change the array either.
  return loaded.some(isInArray) ? undefined : { kind: 'returned', wire: context.wire, loaded }
}

/** True if the host still wants this delivery and the wire still supports it. */
function isPossible(
  { frozen }: LeftPrefix,
  { freezing }: LedgerState,
  { settings }: Context,
  { native }: WireSupport,
): boolean {
  const { mode, delivery } = settings
  if (mode === 'off' || freezing.withheld.has(frozen.delivery)) return false
  if (delivery !== 'auto' && delivery !== frozen.delivery) return false
  if (frozen.delivery !== 'native') return true
  const changes = native === 'changes' || native === 'additions'
  return (
    native !== undefined &&
    changes === (frozen.changes === true) &&
    (native === 'changes') === (frozen.removals === true)
  )
}

/** Returns a copy of the state after the return, and the remaining facts to write. Does not change `state`. */
export function applyReturn(
  state: LedgerState,
  facts: readonly LedgerFact[],
): { readonly state: LedgerState; readonly facts: readonly LedgerFact[] } {
  const returned = facts.find((fact) => fact.kind === 'returned')
  if (!returned) return { state, facts }
  const event: LedgerEvent = { ...returned, id: state.length, anchor: '' }
  return { state: fold(structuredClone(state), event), facts: facts.filter((fact) => fact !== returned) }
}

// Finds the language of tool descriptions, so that the search tool can ask for queries in it.

const READ_TOOLS = 1000
const READ_CHARACTERS = 300

/** In this order: Japanese text also has Chinese characters. */
const languages: readonly (readonly [language: string, pattern: RegExp])[] = [
  ['Japanese', /[\p{sc=Hiragana}\p{sc=Katakana}]/u],
  ['Korean', /\p{sc=Hangul}/u],
  ['Chinese', /\p{sc=Han}/u],
  ['the language of the tool descriptions', /[^\p{sc=Latin}\p{sc=Common}\p{sc=Inherited}]/u],
  ['English', /\b(?:the|of|for|with|and|from|this|to|an)\b/i],
]

/** Returns the language of most descriptions. Undefined if too few of them show one. */
export function detectLanguage(entries: readonly Entry[]): string | undefined {
  const read = entries.slice(0, READ_TOOLS)
  const counts = new Map<string, number>()
  for (const { tool } of read) {
    // A source may leave out the description.
    const { description = '' }: { readonly description?: string } = tool
    const text = description.slice(0, READ_CHARACTERS)
    const [language] = languages.find(([, pattern]) => pattern.test(text)) ?? []
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1)
  }
  const [most] = [...counts].sort(([, first], [, second]) => second - first)
  return most && most[1] * 2 > read.length ? most[0] : undefined
}
