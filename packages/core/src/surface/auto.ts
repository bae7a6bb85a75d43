/** Decides, before the first request, whether tools are deferred and which delivery is used. */

import { dropUndefined } from '../base/data.js'
import { quote } from '../base/text.js'
import { estimate } from '../base/tokens.js'
import { computeBreakEven } from '../costs/costs.js'
import type { LedgerFact } from '../ledger/event.js'
import type { LedgerState } from '../ledger/fold.js'
import { toolLimit } from '../schema/dialect.js'
import type { DeliveryName } from '../tool/notice.js'
import type { Context } from './context.js'
import { deliveries } from './deliveries.js'
import { BRIDGE_NAME, createMetaEntry } from './meta-tools.js'

/** Features of a wire beyond a tools array and messages. */
export interface WireSupport {
  /**
   * `references`: a search answer can refer to a tool. `additions` and `changes`: tools can also be added, or added
   * and removed, between messages.
   */
  readonly native?: 'references' | 'additions' | 'changes' | undefined
  /** Tools of the request that are not in the catalogue: the provider's own. */
  readonly beside?: number
  /** Text of the messages about to be sent, if the caller knows it. */
  readonly text?: (() => string) | undefined
}

export interface Decision {
  readonly mode: 'off' | 'on'
  readonly delivery: DeliveryName
  readonly because?: string
}

type Reason = Extract<LedgerFact, { kind: 'frozen' }>['reason']

/** Token counts of the definitions in the catalogue. */
export interface Sizes {
  /** All deferred tools. */
  readonly deferred: number
  /** Deferred tools that are not loaded. */
  readonly hidden: number
  deferredTokens(): number
  eagerTokens(): number
  /** All tools, eager and deferred. */
  readonly tools: number
  /** Sources that are still connecting and have listed no tool yet. */
  readonly awaited: readonly string[]
}

export function decideMode(
  state: LedgerState,
  context: Context,
  reason: Reason,
  sizes: Sizes,
  support: WireSupport,
): Decision {
  const { mode } = context.settings
  const delivery = () => chooseDelivery(state, context, reason, support, sizes)
  const chosen = (because?: string): Decision => {
    const name = delivery()
    const why = context.settings.delivery === 'auto' ? [`${name}: ${REASONS[name]}`] : []
    const said = [...(because === undefined ? [] : [because]), ...why].join('; ')
    return { mode: 'on', delivery: name, ...(said === '' ? {} : { because: said }) }
  }
  if (mode === 'off') return { mode: 'off', delivery: 'eager' }
  // A conversation that defers keeps deferring until it is cleared: its history mentions the loader.
  if (reason !== 'start' && reason !== 'clear' && state.frozen?.mode === 'on') return chosen()
  const limit = toolLimit(context.wire)
  const count = sizes.tools + (support.beside ?? 0)
  const tooMany =
    count > limit && sizes.hidden > 0
      ? `${count} tools, and a request on this wire takes ${limit}`
      : undefined
  // A conversation that starts without deferral keeps sending everything, as long as the wire takes it.
  if (reason === 'tools' && !tooMany)
    return { mode: 'off', delivery: 'eager', ...dropUndefined({ because: state.frozen?.because }) }
  if (context.child && sizes.hidden === 0) return { mode: 'off', delivery: 'eager' }
  // A source that has not been counted yet must not count as zero: without deferral, all its tools are sent.
  const awaited = sizes.awaited.length > 0 ? stillConnecting(sizes.awaited) : undefined
  const nothing = sizes.deferred === 0 ? NOTHING_DEFERRED : undefined
  if (mode === 'on') return chosen(nothing && (awaited ?? nothing))
  if (nothing) return awaited ? chosen(awaited) : { mode: 'off', delivery: 'eager', because: nothing }
  if (tooMany) return chosen(tooMany)
  const least = leastTokens(context, sizes, support)
  const tokens = sizes.deferredTokens()
  const because = `${tokens} tokens of deferred definitions; deferring them pays from ${least} on`
  if (tokens >= least) return chosen(because)
  return awaited ? chosen(awaited) : { mode: 'off', delivery: 'eager', because }
}

/** At most this many sources are named in one reason. */
const MOST_NAMED = 3

function stillConnecting(sources: readonly string[]): string {
  const named = sources.slice(0, MOST_NAMED).map((name) => quote(name, 60))
  const more = sources.length > MOST_NAMED ? ` and ${sources.length - MOST_NAMED} more` : ''
  const isOne = sources.length === 1
  return `${named.join(', ')}${more} ${isOne ? 'is' : 'are'} still connecting, and how many tools ${isOne ? 'it has' : 'they have'} is not known yet`
}

const NOTHING_DEFERRED =
  "nothing is deferred: own tools are eager, unless the option is defer: 'all', or they are given with defer: true or by setSource"

const REASONS: Readonly<Record<DeliveryName, string>> = {
  native: 'the provider itself shows what is found, and the prefix stays',
  bridge: 'the tools array never changes, and the prefix stays',
  append: 'what is found joins the end of the tools array',
  eager: 'every tool is sent',
}

/** Tokens of the meta-tools and the section. */
const META_TOKENS = 500
/** Tokens of a card. */
const CARD_TOKENS = 25
/** Tokens assumed for the first messages if the caller does not know them. */
const USUAL_PROMPT = 3000

/**
 * The estimate exceeds o200k for definitions: by 7 % in total, by 14 % for the median of 2,496 real tools. Near the
 * threshold this difference alone must not decide.
 */
const ESTIMATED = 1.1

/** The host's threshold, or the break-even point of this wire. */
export function leastTokens(
  { settings, prices }: Context,
  sizes: Sizes,
  { text, native }: WireSupport,
): number {
  if (settings.threshold !== undefined) return settings.threshold
  const surface = META_TOKENS + Math.min(settings.cardBudget, CARD_TOKENS * sizes.hidden)
  const messages = text ? settings.tokenizer.count(text()) : USUAL_PROMPT
  const bridged =
    native === undefined && prices.read < prices.write && ['auto', 'bridge'].includes(settings.delivery)
  const least = computeBreakEven(
    settings.plan,
    { surface, prompt: messages + sizes.eagerTokens(), bridged },
    prices,
  )
  return settings.tokenizer === estimate ? Math.round(least * ESTIMATED) : least
}

function chooseDelivery(
  state: LedgerState,
  context: Context,
  reason: Reason,
  support: WireSupport,
  { tools, deferredTokens }: Sizes,
): DeliveryName {
  const { gate, settings, notify, wire } = context
  const allowed = (name: string) => gate.availability(createMetaEntry(name), 'see') !== 'denied'
  const withheld = (name: DeliveryName) => {
    const known = state.freezing.withheld.get(name)
    if (known !== undefined) return known
    if (name === 'native' && !support.native) return 'this wire, as it is set up, has no native way'
    const declared = name === 'eager' ? tools + (support.beside ?? 0) : 0
    return declared > toolLimit(wire) && deferredTokens() > 0
      ? `it declares ${declared} tools, and a request on this wire takes ${toolLimit(wire)}`
      : undefined
  }
  if (settings.delivery === 'eager' && withheld('eager') === undefined) return 'eager'
  if (!allowed(settings.searchTool.name)) {
    notify({
      kind: 'loader-unavailable',
      detail: `${settings.searchTool.name} is denied by policy; every tool is sent eagerly`,
    })
    return 'eager'
  }
  // The cheapest delivery that keeps the whole prefix cached. Without a cache there is nothing to keep.
  const cached = context.prices.read < context.prices.write
  const best = withheld('native') === undefined ? 'native' : cached ? 'bridge' : 'append'
  // The kept end of a compacted history was written for one delivery, so that delivery stays. An eager fallback ends as
  // soon as possible.
  const stays = ['compaction', 'cards', 'delivery'].includes(reason) && state.frozen?.mode === 'on'
  const before = stays ? (state.frozen?.delivery ?? 'eager') : 'eager'
  const asked = before === 'eager' ? settings.delivery : before
  const wanted = asked === 'auto' ? best : asked
  const refusal = withheld(wanted)
  if (refusal !== undefined) notify({ kind: 'delivery-unavailable', delivery: wanted, detail: refusal })
  const chosen = refusal === undefined ? wanted : best === 'native' ? 'bridge' : best
  if (deliveries[chosen].metaTools.includes('bridge') && !allowed(BRIDGE_NAME)) {
    notify({
      kind: 'loader-unavailable',
      detail: `${BRIDGE_NAME} is denied by policy; found tools are appended to the tools array instead`,
    })
    return 'append'
  }
  return chosen
}
