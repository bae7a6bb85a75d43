/** A ledger as a person reads it: one request after the other, what it sent, and what its reply did. */
import { dropUndefined } from '../base/data.js'
import type { LedgerEvent, SurfaceTokens } from '../ledger/event.js'
import { createState, fold, type LedgerState, type LoadedTool } from '../ledger/fold.js'
import { presentEvents } from '../ledger/stored-events.js'
import type { DeliveryName } from '../tool/notice.js'
import { type Accounting, computeAccounting } from './accounting.js'
import { describeLedgerEvent, describeUsage } from './describe-event.js'
import { explainMode } from './inspect.js'
import { describeTokens, sumToolTokens } from './measurement.js'
import { formatReport } from './report.js'

/** What a request came to, where somebody said so. */
export type TurnUsage = Pick<
  Extract<LedgerEvent, { kind: 'measured' }>,
  'messageTokens' | 'inputTokens' | 'cachedTokens' | 'outputTokens'
>

/** One request and what followed from it. */
export interface LedgerTurn {
  readonly turn: number
  readonly requestId: string
  readonly wire: string
  readonly mode: 'off' | 'on'
  readonly delivery: DeliveryName
  /** Tools that were always sent, those that were loaded (by the names they are called), and how many others could be found. */
  readonly surface: { readonly eager: number; readonly loaded: readonly string[]; readonly deferred: number }
  readonly tokens: SurfaceTokens
  usage?: TurnUsage
  /** What was written down for this request, before it was sent. */
  readonly before: readonly LedgerEvent[]
  /** What its reply did. */
  readonly after: LedgerEvent[]
}

export interface LedgerTurns {
  readonly turns: readonly LedgerTurn[]
  /** What was written down since the last reply, for a request that has not come. */
  readonly rest: readonly LedgerEvent[]
  readonly accounting: Accounting
  /** The same for a person, one line each. */
  readonly lines: readonly string[]
}

/** What belongs to the request that follows. Everything else comes of a reply. */
const BEFORE: ReadonlySet<LedgerEvent['kind']> = new Set([
  'frozen',
  'returned',
  'inherited',
  'thinking-stripped',
  'suspended',
  'restored',
  'redefined',
  'announced',
  'compacted',
  'cleared',
  'downgraded',
])

/** `stored`: as a store gives them, in any format that can be read. Throws `ledger-corrupt` where they cannot be folded. */
export function groupByTurn(id: string, stored: readonly LedgerEvent[]): LedgerTurns {
  const turns: LedgerTurn[] = []
  let waiting: LedgerEvent[] = []
  let state = createState()
  for (const event of presentEvents(id, stored)) {
    state = fold(state, event)
    const last = turns.at(-1)
    if (event.kind === 'requested') {
      turns.push(createTurn(event, state, turns.length + 1, waiting))
      waiting = []
    } else if (event.kind === 'measured') {
      const { messageTokens, inputTokens, cachedTokens, outputTokens } = event
      const turn = turns.findLast(({ requestId }) => requestId === event.requestId)
      if (turn) turn.usage = { messageTokens, ...dropUndefined({ inputTokens, cachedTokens, outputTokens }) }
    } else if (!last || isBefore(event)) waiting.push(event)
    else last.after.push(event)
  }
  const accounting = computeAccounting(state)
  const { frozen, requests } = state
  const isEmpty = requests.last !== undefined && sumToolTokens(requests.last.tokens) === 0
  const tools = { deferred: frozen?.deferred ?? 0, isEmpty }
  const report = formatReport(id, { accounting, ...summariseState(state) }, tools)
  const shown = turns.flatMap((turn, index) => formatTurn(turn, turns[index - 1]?.surface.loaded ?? []))
  const lines = [...shown, ...waiting.map((event) => `    ${describeLedgerEvent(event)}`), report]
  return { turns, rest: waiting, accounting, lines }
}

function isBefore(event: LedgerEvent): boolean {
  return BEFORE.has(event.kind) || (event.kind === 'loaded' && event.source === 'arrival')
}

function createTurn(
  { requestId, tokens }: Extract<LedgerEvent, { kind: 'requested' }>,
  state: LedgerState,
  turn: number,
  before: readonly LedgerEvent[],
): LedgerTurn {
  const { frozen } = state
  const loaded = listLoadedNames(state)
  const off = frozen?.mode !== 'on'
  return {
    turn,
    requestId,
    wire: frozen?.wire ?? '',
    mode: off ? 'off' : 'on',
    delivery: frozen?.delivery ?? 'eager',
    surface: {
      eager: state.tools.eager.size + countLateEager(state),
      loaded,
      deferred: off ? 0 : Math.max(0, frozen.deferred - loaded.length),
    },
    tokens,
    before,
    after: [],
  }
}

function listLoadedNames({ tools }: LedgerState): string[] {
  return [...tools.loaded]
    .filter(([id, each]) => each.live && each.source !== 'arrival' && !tools.suspended.has(id))
    .map(([, { pin }]) => pin.wireName)
}

/** Eager tools that came behind the latch. */
function countLateEager({ tools }: LedgerState): number {
  const isOne = ([id, each]: [string, LoadedTool]) =>
    each.live && each.source === 'arrival' && !tools.suspended.has(id)
  return [...tools.loaded].filter(isOne).length
}

function summariseState(state: LedgerState) {
  return {
    mode: state.frozen?.mode ?? ('undecided' as const),
    because: explainMode(state),
    delivery: state.frozen?.delivery,
    wire: state.frozen?.wire,
    searchHistory: state.calls.searchHistory,
    loadedLazyTools: listLoadedNames(state),
  }
}

/** Loaded tools are named where they are not those of the request before. */
function formatTurn(
  { turn, mode, surface, tokens, usage, before, after }: LedgerTurn,
  loadedBefore: readonly string[],
): string[] {
  const { eager, loaded, deferred } = surface
  const isNamed = loaded.length > 0 && loaded.join() !== loadedBefore.join()
  const names = isNamed ? ` (${loaded.join(', ')})` : ''
  const what =
    mode === 'off'
      ? 'every tool is sent'
      : `${eager} eager, ${loaded.length} loaded${names}, ${deferred} deferred`
  const cost = describeTokens(tokens)
  const came = usage ? ` · ${describeUsage(usage)}` : ''
  const ended = new Set(
    after.flatMap(({ kind, anchor }) =>
      kind === 'call-succeeded' || kind === 'call-failed' ? [anchor] : [],
    ),
  )
  return [
    ...before.map((event) => `    ${describeLedgerEvent(event)}`),
    `${String(turn).padStart(3)} ${what} · ${cost}${came}`,
    ...after
      .filter((event) => addsInformation(event, ended))
      .map((event) => `    ${describeLedgerEvent(event)}`),
  ]
}

/** Not what the line of a search or of an outcome says as well. */
function addsInformation(event: LedgerEvent, ended: ReadonlySet<string>): boolean {
  if (event.kind === 'loaded') return event.source !== 'search' && event.source !== 'select'
  return event.kind !== 'call-started' || !ended.has(event.anchor)
}
