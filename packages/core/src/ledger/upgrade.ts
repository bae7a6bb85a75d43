/**
 * Reads what format 1 wrote, in the words of format 2. Event by event, by its own shape, so that it holds for every store
 * and for a ledger that began in one format and goes on in the other.
 */
import { isRecord } from '../base/data.js'

type Fields = Record<string, unknown>

/** An event of the present format is given back as it is, and so is anything that is no event. */
export function upgradeEvent(event: unknown): unknown {
  if (!isRecord(event) || typeof event.kind !== 'string') return event
  return Object.hasOwn(UPGRADES, event.kind) ? (UPGRADES[event.kind]?.(event) ?? event) : event
}

const UPGRADES: Readonly<Record<string, (event: Fields) => Fields>> = {
  opened: ({ tail, eager, stubs, delivery, metaTools, ...rest }) => {
    const refrozen = { ...rest, kind: 'frozen', delivery, eager: pins(eager), loaded: pins(tail), metaTools }
    if (delivery !== 'stub') return refrozen
    // The delivery is gone. A retry still sends the same bytes; the next request is latched anew.
    return { ...refrozen, delivery: 'bridge', outdated: pins(stubs ?? []) }
  },
  activated: ({ tool, ...rest }) => ({ ...rest, kind: 'loaded', tool: pin(tool) }),
  deactivated: (event) => ({
    ...event,
    kind: 'unloaded',
    reason: event.reason === 'unloaded' ? 'model' : event.reason,
  }),
  restored: (event) => ('pin' in event ? { ...event, pin: pin(event.pin) } : event),
  redefined: (event) => ({ ...event, tool: pin(event.tool) }),
  announced: (event) => (event.topic === 'activation' ? { ...event, topic: 'loaded' } : event),
  searched: (event) => ({
    ...event,
    dropped: Array.isArray(event.dropped) ? event.dropped.map(dropped) : event.dropped,
  }),
  'call-succeeded': (event) =>
    event.dropped === 'activation-limit' ? { ...event, dropped: 'load-limit' } : event,
  requested: ({ tokens, ...rest }) => ({ ...rest, tokens: surfaceTokens(tokens) }),
  // Nothing is left to be withheld: a kind that is not known changes nothing.
  downgraded: (event) => (event.from === 'stub' ? { ...event, kind: 'outdated' } : event),
}

function pins(value: unknown): unknown {
  return Array.isArray(value) ? value.map(pin) : value
}

function pin(value: unknown): unknown {
  if (!isRecord(value) || !('aside' in value)) return value
  const { aside, ...rest } = value
  return { ...rest, declaredHidden: aside }
}

function dropped(value: unknown): unknown {
  return isRecord(value) && value.reason === 'activation-limit' ? { ...value, reason: 'load-limit' } : value
}

function surfaceTokens(value: unknown): unknown {
  if (!isRecord(value) || !('active' in value)) return value
  const { active, ...rest } = value
  return { ...rest, loaded: active }
}
