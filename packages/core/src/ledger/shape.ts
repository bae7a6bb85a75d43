/** Checks the shape of stored events when a ledger is opened: it may come from any disk. */

import { isRecord } from '../base/data.js'
import { ToolwellError } from '../base/errors.js'
import type { LedgerEvent } from './event.js'

type Fits = (value: unknown) => boolean
type Shape = Readonly<Record<string, Fits>>

const text: Fits = (value) => typeof value === 'string'
const number: Fits = (value) => typeof value === 'number'
const flag: Fits = (value) => typeof value === 'boolean'
const optional =
  (fits: Fits): Fits =>
  (value) =>
    value === undefined || fits(value)
const list =
  (fits: Fits): Fits =>
  (value) =>
    Array.isArray(value) && value.every(fits)
const table =
  (fits: Fits): Fits =>
  (value) =>
    isRecord(value) && Object.values(value).every(fits)
const oneOf =
  (...known: readonly string[]): Fits =>
  (value) =>
    known.includes(value as string)
const record =
  (shape: Shape): Fits =>
  (value) =>
    isRecord(value) && misfit(value, shape) === undefined

function misfit(value: Record<string, unknown>, shape: Shape): string | undefined {
  for (const [key, fits] of Object.entries(shape)) if (!fits(value[key])) return key
  return undefined
}

const wireTool = record({ name: text, description: text, inputSchema: isRecord })
const pin = record({ id: text, wireName: text, fingerprint: text, definition: optional(wireTool) })
const delivery = oneOf('eager', 'append', 'bridge', 'native')
const kept = optional(list(record({ handle: text, ledger: text })))
const named = { tool: text, asked: text, alias: optional(text) }

const SHAPES: Readonly<Record<LedgerEvent['kind'], Shape>> = {
  frozen: {
    reason: text,
    wire: text,
    mode: oneOf('off', 'on'),
    delivery,
    eager: list(pin),
    loaded: list(pin),
    metaTools: list(wireTool),
    changes: optional(flag),
    removals: optional(flag),
    beside: optional(number),
    because: optional(text),
    ownTokens: optional(number),
    array: optional(text),
    section: text,
    tombstone: optional(text),
    shown: list(text),
    sources: table(text),
    deferred: number,
    cardTokens: number,
  },
  returned: { wire: text, loaded: list(pin) },
  forked: { ledger: text, origin: record({ ledger: text, events: number }) },
  inherited: { parent: text, kept },
  searched: {
    query: text,
    loaded: list(text),
    shown: optional(list(text)),
    dropped: list(record({ tool: text, reason: text })),
    missed: flag,
    tokens: number,
    revealed: optional(number),
    again: optional(list(text)),
  },
  loaded: { tool: pin, source: text, asked: text, alias: optional(text), shown: flag },
  unloaded: { tool: text, reason: text },
  suspended: { tool: text, reason: text },
  restored: { tool: text, pin: optional(pin) },
  redefined: { tool: pin },
  'call-started': { ...named, key: text },
  'call-succeeded': { ...named, kept, media: optional(number) },
  'call-failed': {
    ...named,
    reason: text,
    detail: optional(text),
    key: text,
    tokens: optional(number),
    kept,
    media: optional(number),
  },
  announced: {
    topic: text,
    text,
    about: list(text),
    tokens: number,
    adds: optional(list(wireTool)),
    revealed: optional(number),
    removes: optional(list(text)),
    sources: optional(table(text)),
  },
  'thinking-stripped': { messages: list(text) },
  requested: { requestId: text, tokens: table(number), moved: optional(list(text)) },
  measured: {
    requestId: text,
    messageTokens: number,
    inputTokens: optional(number),
    cachedTokens: optional(number),
    outputTokens: optional(number),
  },
  compacted: { kept: table(text) },
  cleared: {},
  downgraded: { from: delivery, reason: text, request: optional(text) },
}

/** Throws if an event cannot be folded. Ignores unknown kinds, which the fold ignores too. `from` is the number of the first event. */
export function assertEvents(ledger: string, events: readonly LedgerEvent[], from = 0): void {
  events.forEach((event: unknown, index) => {
    const problem = problemOf(event)
    if (problem !== undefined)
      throw new ToolwellError(
        'ledger-corrupt',
        `Ledger ${JSON.stringify(ledger)} cannot be read: event ${from + index} ${problem}. Nothing was changed. Restore it from a backup, or delete this event and all later ones.`,
        { ledger, event: from + index },
      )
  })
}

function problemOf(event: unknown): string | undefined {
  if (!isRecord(event)) return 'is not an object'
  const { kind } = event
  if (typeof kind !== 'string' || typeof event.anchor !== 'string') return 'has no kind or no anchor'
  const shape: Shape = Object.hasOwn(SHAPES, kind) ? SHAPES[kind as LedgerEvent['kind']] : {}
  const key = misfit(event, shape)
  return key === undefined ? undefined : `(${kind}) has a wrong ${key}`
}
