/** Groups the events of a ledger by request, as data and as lines for people. */

import { dropUndefined } from '../base/data.js'
import type { LedgerEvent, SurfaceTokens } from '../ledger/event.js'
import { createState, fold, type LedgerState, type LoadedTool } from '../ledger/fold.js'
import { assertEvents } from '../ledger/shape.js'
import type { DeliveryName } from '../tool/notice.js'
import { type Accounting, computeAccounting } from './accounting.js'
import { describeLedgerEvent, describeUsage } from './describe-event.js'
import { explainMode } from './inspect.js'
import { describeTokens, sumToolTokens } from './measurement.js'
import { formatReport } from './report.js'

/** Token figures of a request, if they were reported. */
export type TurnUsage = Pick<
  Extract<LedgerEvent, { kind: 'measured' }>,
  'messageTokens' | 'inputTokens' | 'cachedTokens' | 'outputTokens'
>

/** One request and its consequences. */
export interface LedgerTurn {
  readonly turn: number
  readonly requestId: string
  readonly wire: string
  readonly mode: 'off' | 'on'
  readonly delivery: DeliveryName
  /** Number of eager tools, names of loaded tools, and number of deferred tools. */
  readonly surface: { readonly eager: number; readonly loaded: readonly string[]; readonly deferred: number }
  readonly tokens: SurfaceTokens
  usage?: TurnUsage
  /** Events recorded for this request before it was sent. */
  readonly before: readonly LedgerEvent[]
  /** Events caused by its reply. */
  readonly after: LedgerEvent[]
}

export interface LedgerTurns {
  readonly turns: readonly LedgerTurn[]
  /** Events recorded since the last reply, for a request that was not made yet. */
  readonly rest: readonly LedgerEvent[]
  readonly accounting: Accounting
  /** The turns as text, one line each. */
  readonly lines: readonly string[]
}

/** Events that belong to the following request. All others belong to a reply. */
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

/** Groups events by request. Throws `ledger-corrupt` if an event cannot be folded. */
export function groupByTurn(id: string, events: readonly LedgerEvent[]): LedgerTurns {
  const turns: LedgerTurn[] = []
  let waiting: LedgerEvent[] = []
  let state = createState()
  assertEvents(id, events)
  for (const event of events) {
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

/** Counts eager tools that arrived after the prefix was frozen. */
function countLateEager({ tools }: LedgerState): number {
  const isOne = ([id, each]: [string, LoadedTool]) =>
    each.live && each.source === 'arrival' && !tools.suspended.has(id)
  return [...tools.loaded].filter(isOne).length
}

function summariseState(state: LedgerState) {
  return {
    mode: state.frozen?.mode ?? ('undecided' as const),
    because: explainMode(state),
    ownTokens: state.frozen?.ownTokens,
    delivery: state.frozen?.delivery,
    wire: state.frozen?.wire,
    searchHistory: state.calls.searchHistory,
    loadedLazyTools: listLoadedNames(state),
  }
}

/** Names the loaded tools only if they changed since the request before. */
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

/** Skips events that the line of a search or of a call's outcome already covers. */
function addsInformation(event: LedgerEvent, ended: ReadonlySet<string>): boolean {
  if (event.kind === 'loaded') return event.source !== 'search' && event.source !== 'select'
  return event.kind !== 'call-started' || !ended.has(event.anchor)
}
