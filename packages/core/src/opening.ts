/** The latch: mode, delivery and every byte before the messages are decided once, from what is known now. */

import { listCards } from './cards.js'
import type { Entry } from './catalogue.js'
import type { Context } from './context.js'
import { deliveries } from './delivery/index.js'
import { descriptionLimit } from './dialect.js'
import type { LedgerState } from './ledger.js'
import type { DeliveryName, LedgerFact, WireTool } from './ledger-event.js'
import { BRIDGE_NAME, bridgeTool, loaderTool, metaEntry, queryParameter } from './meta-tools.js'

type Opened = Extract<LedgerFact, { kind: 'opened' }>

/** Walks the whole catalogue: this is the one step whose cost grows with it. */
export function openFact(state: LedgerState, context: Context, reason: Opened['reason']): Opened {
  const { catalogue, gate, settings, wire } = context
  const eager: Entry[] = []
  const deferred: Entry[] = []
  let deferredTokens = 0
  for (const entry of catalogue.entries()) {
    const { deferred: hidden } = context.exposure(entry)
    if (gate.standing(entry, 'see') !== 'ready') continue
    if (!hidden) eager.push(entry)
    else {
      deferred.push(entry)
      deferredTokens += context.cost(entry)
    }
  }
  const ready = [...catalogue.sources.values()].filter((source) => source.state === 'ready')
  const sources = Object.fromEntries(ready.map((source) => [source.name, source.membership]))

  const held = new Set([...state.tail.keys(), ...state.parked.keys()])
  const hiddenCount = deferred.filter((entry) => !held.has(entry.id)).length
  if (!isOn(state, context, reason, hiddenCount, deferredTokens))
    return {
      kind: 'opened',
      reason,
      wire,
      mode: 'off',
      delivery: 'eager',
      eager: [],
      tail: [],
      metaTools: [],
      section: '',
      shown: [],
      sources,
      deferred: 0,
      cardTokens: 0,
    }

  const delivery = deliveries[chooseDelivery(state, context, reason)]
  const always = delivery.name === 'eager' ? [...eager, ...deferred] : eager
  const hidden = delivery.name === 'eager' ? [] : deferred
  const { prompts, tokenizer, cardBudget, face, affordance } = settings
  const strong = affordance === 'strong'
  const bridge = delivery.metaTools.includes('bridge') ? BRIDGE_NAME : undefined
  const eagerIds = new Set(always.map((entry) => entry.id))
  const tail = [...state.tail.values(), ...state.parked.values()].flatMap(({ pin, live }) => {
    const entry = catalogue.get(pin.id)
    const usable = live && entry && !eagerIds.has(pin.id) && gate.standing(entry, 'see') === 'ready'
    return usable ? [context.pin(entry, delivery.declares)] : []
  })
  // What is raised already is not told of as something to be found.
  const raised = new Set(tail.map((pin) => pin.id))
  const unloaded = hidden.filter((entry) => !raised.has(entry.id))
  const cards = listCards(unloaded, {
    catalogue,
    prompts,
    tokenizer,
    budget: cardBudget,
    describe: context.describe,
  })
  const metaTools: WireTool[] = []
  if (delivery.metaTools.includes('loader'))
    metaTools.push(
      loaderTool(
        face,
        prompts,
        face.description?.({ bridge }) ??
          prompts.loader({ loader: face.name, parameter: queryParameter(face, prompts), bridge, strong }),
        cards.text,
        descriptionLimit(wire),
      ),
    )
  if (bridge) metaTools.push(bridgeTool(face, prompts))

  return {
    kind: 'opened',
    reason,
    wire,
    mode: 'on',
    delivery: delivery.name,
    eager: always.sort((a, b) => (a.wireName < b.wireName ? -1 : 1)).map((entry) => context.pin(entry, true)),
    tail,
    metaTools,
    section:
      delivery.name === 'eager'
        ? ''
        : prompts.section({ loader: face.name, bridge, deferred: unloaded.length, strong }),
    tombstone: prompts.tombstone({ loader: face.name }),
    shown: cards.shown,
    sources,
    deferred: hidden.length,
    cardTokens: cards.tokens,
  }
}

/** Once on, a conversation stays on until it is cleared: its history speaks of the loader. */
function isOn(
  state: LedgerState,
  context: Context,
  reason: Opened['reason'],
  hidden: number,
  deferredTokens: number,
): boolean {
  const { mode, threshold } = context.settings
  if (mode === 'off') return false
  if (reason !== 'start' && reason !== 'clear' && state.latch?.mode === 'on') return true
  if (context.child && hidden === 0) return false
  if (mode === 'on') return true
  return deferredTokens >= threshold
}

function chooseDelivery(state: LedgerState, context: Context, reason: Opened['reason']): DeliveryName {
  const { gate, settings, notify } = context
  const allowed = (name: string) => gate.standing(metaEntry(name), 'see') !== 'denied'
  if (settings.delivery === 'eager') return 'eager'
  if (!allowed(settings.face.name)) {
    notify({
      kind: 'loader-unavailable',
      detail: `${settings.face.name} is denied by policy; every tool is sent eagerly`,
    })
    return 'eager'
  }
  // The kept end of a compacted history was written for one delivery; an eager fallback is given up when it can be.
  const before = reason === 'compaction' && state.latch?.mode === 'on' ? state.latch.delivery : 'eager'
  const kept = before === 'eager' ? undefined : before
  const wanted = kept ?? (settings.delivery === 'auto' ? 'bridge' : settings.delivery)
  if (wanted === 'bridge' && !allowed(BRIDGE_NAME)) {
    notify({
      kind: 'loader-unavailable',
      detail: `${BRIDGE_NAME} is denied by policy; found tools are appended to the tools array instead`,
    })
    return 'append'
  }
  return wanted
}
