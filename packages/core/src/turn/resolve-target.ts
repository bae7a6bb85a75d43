/** Which tool a call is for: what the conversation declared under the name, then what the catalogue calls so. */
import { nearest } from '../base/nearest.js'
import { quote } from '../base/text.js'
import type { Entry, Source } from '../catalogue/catalogue.js'
import type { Resolution } from '../catalogue/name-index.js'
import { isOnSurface } from '../ledger/fold.js'
import { quoteName } from '../search/quote-name.js'
import type { Context } from '../surface/context.js'
import { canFind } from '../surface/meta-tools.js'
import type { Pin } from '../tool/wire-tool.js'
import type { CallStep, JudgeContext, Refusal, UnwrappedCall } from './checks.js'
import { suggestNames } from './search-call/by-name.js'
import { findMissingSource } from './search-call/find.js'
import { findSources } from './seen-sources.js'

export function resolveTarget(read: UnwrappedCall, at: JudgeContext): CallStep | Refusal {
  const { context, state, batch, loader, deferring } = at
  const { asked, input, within } = read
  const { prompts } = context.settings
  const refuse = (reason: Refusal['reason'], text: string, tool = ''): Refusal => ({
    reason,
    text,
    asked,
    tool,
    given: input,
  })
  const [source, ...twins] = within === undefined ? [] : findSources(context, within)
  if (within !== undefined && (!source || twins.length > 0))
    return refuse('unknown', prompts.unknownServer(listNearServers(within, context)))
  const pinned = findPin(asked, at, source)
  if (pinned && !context.catalogue.get(pinned.id)) {
    const text = prompts.unavailable({ name: pinned.wireName, state: 'no longer available' })
    return refuse('unavailable', text, pinned.id)
  }
  const resolution = resolveName(asked, pinned, at, source)
  if (resolution.kind === 'found') {
    const { entry, alias } = resolution
    const hidden = deferring && !isOnSurface(state, entry.id)
    return { ...read, entry, alias, hidden, original: input }
  }
  if (resolution.kind === 'none' && source && source.state !== 'ready')
    return refuse('unavailable', prompts.unavailable({ name: quote(source.name), state: source.state }))
  if (resolution.kind === 'ambiguous') {
    const names = resolution.entries.map((entry) => entry.wireName)
    return refuse('unknown', prompts.ambiguous({ asked: quote(asked), names }))
  }
  if (resolution.kind === 'group') {
    const names = resolution.entries.map((entry) => entry.wireName)
    const load = deferring ? { loader, select: `select:${quoteName(asked)}` } : undefined
    return refuse('unknown', prompts.isGroup({ asked: quote(asked), names, load }))
  }
  const away = findMissingSource(asked, context)
  if (away) return refuse('unavailable', prompts.unavailable(away))
  const close = suggestNames(asked, context, batch)
  const found = {
    asked: quote(asked),
    nearest: close,
    loader: deferring && canFind(context) ? loader : undefined,
  }
  return refuse('unknown', prompts.unknown(found))
}

/** The servers that a wrong name may have meant. */
function listNearServers(asked: string, context: Context): { asked: string; names: string[] } {
  const names = findSources(context).map(({ name }) => name)
  const near = nearest(asked, names)
  return {
    asked: quote(asked, 60),
    names: (near.length > 0 ? near : names).slice(0, 10).map((name) => quote(name, 60)),
  }
}

/** What this conversation has declared or loaded under exactly this name: the model means that, whatever the catalogue calls it now. */
function findPin(asked: string, { state, context }: JudgeContext, within?: Source): Pin | undefined {
  const loaded = [...state.tools.loaded.values()].map((each) => each.pin).reverse()
  const named = [...state.tools.eager.values(), ...loaded].filter(
    (pin) => pin.wireName === asked && (!within || within.ids.has(pin.id)),
  )
  // A name may have passed from a tool that is gone to another.
  return named.find((pin) => context.catalogue.get(pin.id)) ?? named[0]
}

/** Among tools that can be used first: one that is denied or away neither answers nor makes a name ambiguous. */
function resolveName(asked: string, pinned: Pin | undefined, at: JudgeContext, within?: Source): Resolution {
  const { catalogue, gate } = at.context
  const entry = pinned && catalogue.get(pinned.id)
  if (entry && mayBeKnown(entry, at)) return { kind: 'found', entry, deprecated: false }
  const resolve = (isUsable: (entry: Entry) => boolean) =>
    catalogue.resolve(asked, (each) => (!within || each.source === within.name) && isUsable(each))
  const ready = resolve((each) => gate.availability(each, 'see') === 'ready')
  if (ready.kind === 'found' || ready.kind === 'ambiguous') return ready
  return resolve((each) => mayBeKnown(each, at))
}

/** A denied tool is like one that does not exist, unless this conversation has already shown it. */
function mayBeKnown(entry: Entry, { state, context }: JudgeContext): boolean {
  if (context.gate.availability(entry, 'see') !== 'denied') return true
  return (
    state.tools.eager.has(entry.id) || state.tools.loaded.has(entry.id) || state.history.told.has(entry.id)
  )
}
