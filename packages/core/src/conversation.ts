/** Opens a conversation, which plans requests, appends to its ledger, then answers. Its whole state is in the ledger. */
import { createEagerTotal, measureSurface } from './accounting/accounting.js'
import { type Inspection, inspect } from './accounting/inspect.js'
import { type Measurement, readMeasurement } from './accounting/measurement.js'
import { lazily, runInPieces } from './base/async.js'
import { ToolwellError } from './base/errors.js'
import { assertNames, assertOneOf, invalid } from './base/options.js'
import { quote } from './base/text.js'
import type { Catalogue } from './catalogue/catalogue.js'
import type { LedgerEvent } from './ledger/event.js'
import { type LedgerState, loaderName, replay } from './ledger/fold.js'
import { createLog, openLedger, startFork, sumUp } from './ledger/log.js'
import type { WireSupport } from './surface/auto.js'
import {
  type ChildOptions,
  type Context,
  childScope,
  createContexts,
  type Scope,
  type Shared,
} from './surface/context.js'
import { applyReturn } from './surface/freeze.js'
import { createReaderTool, READER_ID } from './surface/meta-tools.js'
import { findLostNotices, type NoticePlace, type PresentAnchors, plan } from './surface/plan.js'
import { createToolLister, project, type SurfaceView } from './surface/project.js'
import type { Prompts } from './surface/prompts.js'
import type { BoundThinking } from './surface/thinking.js'
import type { DeliveryName, Notice } from './tool/notice.js'
import type { CallOutcomes } from './turn/call-outcomes.js'
import type { Compaction, ImportedStep, ImportReport, LoadReport, UnloadReport } from './turn/host-steps.js'
import { type CallAnswer, type RunOptions, runCalls } from './turn/run.js'
import type { ModelCall } from './turn/verdict.js'

/** Loaded on first use: many hosts only begin and run. */
const importHostSteps = lazily(() => import('./turn/host-steps.js'))
/** Loaded on first use: few histories lack an answer to a call. */
const importCallOutcomes = lazily(() => import('./turn/call-outcomes.js'))

export interface Conversation {
  readonly id: string
  /** The name of the search tool. */
  readonly loader: string
  /** Every known tool, visible to this conversation or not. */
  readonly catalogue: Catalogue
  /** Prepares a request. The same `requestId` gives the same bytes and writes nothing: a retry is free. */
  begin(request: {
    readonly requestId: string
    readonly anchor: string
    readonly wire: string
    /** All anchors of the history, if the caller knows them. Schemas that are no longer in the history are shown again. */
    readonly present?: PresentAnchors
    /** Anchors of answers that refer to tools by the provider's own means, if the caller knows them. */
    readonly references?: ReadonlySet<string>
    /** The place of a notice at the end of the history. Default: at the anchor, as text. */
    readonly place?: NoticePlace
    /** Messages with thinking that the provider binds to the messages before it. Default: none. */
    readonly thinking?: BoundThinking | undefined
    /** The wire's native abilities. Default: none. */
    readonly support?: WireSupport
  }): Promise<SurfaceView>
  /** Judges, runs and settles the calls of one reply. Answers have the order of the calls. No model input makes it throw. */
  run(calls: readonly ModelCall[], options?: RunOptions): Promise<CallAnswer[]>
  /** Loads tools by name. The event `loaded` records the source: an `operator` (default), or a `pin` of the host. */
  load(names: readonly string[], source?: 'operator' | 'pin'): Promise<LoadReport>
  /** Unloads tools. The model can still find and call them; use a policy to forbid a tool. */
  unload(names: readonly string[]): Promise<UnloadReport>
  /** Records that the history was shortened. */
  compact(change: Compaction): Promise<void>
  /** Unloads every tool. The next request is like the first one of a conversation. */
  clear(): Promise<void>
  /**
   * Opens a new conversation that starts with the events of this one: up to `anchor`, or, if `anchor` is a list, the events that belong to a history
   * with these anchors. Default: all events.
   */
  fork(options: { readonly id: string; readonly anchor?: string | readonly string[] }): Promise<Conversation>
  /** Opens a conversation for a sub-agent, with its own ledger. The sub-agent never writes to this conversation. */
  child(options: ChildOptions): Promise<Conversation>
  /** Records the usage of an answered request. */
  recordRequest(measurement: Measurement): Promise<void>
  /**
   * Loads the tools that earlier steps of a history loaded. The report lists `called`, the names of other tools that the history
   * called, and `unreadable`, search answers that could not be read.
   */
  importSteps(
    steps: readonly ImportedStep[],
    called?: readonly string[],
    unreadable?: readonly string[],
  ): Promise<ImportReport>
  inspect(): Inspection
  /** The number of all events. */
  readonly length: number
  /** All events in order; for a fork, the events of its origin come first. */
  readonly events: readonly LedgerEvent[]
}

/** Members of a conversation that only adapters use. */
export interface AdapterPort {
  /** Every sentence that the model reads in this conversation. */
  readonly prompts: Prompts
  /** How often the history was compacted or cleared. */
  readonly epoch: number
  /** The delivery of the last request. */
  readonly delivery: DeliveryName | undefined
  /** Whether a compaction was recorded at this anchor. */
  hasCompaction(anchor: string): boolean
  /** Whether this conversation has answered the call with this anchor since the last compaction. */
  hasCall(anchor: string): boolean
  /** Whether a loaded tool has its schema at one of these anchors. */
  isShownIn(anchors: ReadonlySet<string>): boolean
  /** Describes what a policy did instead of allowing or denying. Undefined if all policies work. */
  readonly policyFault: string | undefined
  /** Finds the outcomes of the calls in the last request's history, for calls whose answers are missing. */
  readCallOutcomes(): Promise<
    (call: Pick<ModelCall, 'anchor' | 'name' | 'input'>) => 'succeeded' | 'failed' | undefined
  >
  /** Notifies listeners of an oddity in the history, once for each text. */
  warn(code: string, detail: string): void
  /**
   * Gives up native delivery, which this request has shown not to work; the next `begin` uses another one. Ends the request,
   * unless it was answered. False if no other delivery can be tried: then a refusal has another cause.
   */
  giveUpDelivery(requestId: string, reason: string, answered?: boolean): Promise<boolean>
}

/** Registered, so that two copies of this package share it. */
const PORT: unique symbol = Symbol.for('toolwell.adapter-port')

export function adapterPort(conversation: Conversation): AdapterPort {
  const port = (conversation as { readonly [PORT]?: AdapterPort } | undefined)?.[PORT]
  if (port) return port
  throw invalid('conversation', 'An adapter takes a conversation: use await toolwell.open({ id }).')
}

/** Calls of hidden tools, without any search, after which `search-ignored` is reported once. */
const MAX_UNSEARCHED = 3

/** Warnings that one conversation reports. */
const MAX_WARNINGS = 100

export interface ConversationShared extends Shared {
  /** Learns from events as they are written. */
  observe?(principal: string): (fresh: readonly LedgerEvent[]) => void
  /** Checks, with every new request, that the names in options belong to tools. */
  checkNames?(): Promise<void>
}

/** The first events of a fork or a child. */
interface Seed {
  open(context: Context): {
    /** Events to write. */
    readonly own: readonly LedgerEvent[]
    /** The same, with the events of the origin. */
    readonly events: readonly LedgerEvent[]
  }
  /** The parent of a child. A child with a stored ledger resumes. */
  readonly parent?: string
}

export async function openConversation(
  shared: ConversationShared,
  scope: Scope,
  seed?: Seed,
): Promise<Conversation> {
  const { id } = scope
  const { store } = shared
  const notify = (notice: Notice) => shared.publish({ ...notice, conversation: id })
  const emit = (event: LedgerEvent) => shared.publish({ ...event, conversation: id })
  // The reader of kept results is hidden until a result is kept.
  let hasKept = false
  const getContext = createContexts(shared, scope, notify, (tool) => tool === READER_ID && !hasKept)
  const offerReader = () => {
    hasKept = true
    shared.catalogue.addMeta(createReaderTool(shared.settings.prompts))
  }
  const stored = await openLedger(store, id)
  const isResumed = seed?.parent !== undefined && stored.parent === seed.parent
  const seeded = isResumed ? undefined : seed?.open(getContext('none'))
  if (seeded && stored.state.length > 0)
    throw new ToolwellError(
      'invalid-ledger-id',
      `A ledger named ${JSON.stringify(id)} exists already. Choose another id for the fork or child.`,
      { ledger: id },
    )
  if (seeded && seeded.own.length > 0) await store.append(id, 0, seeded.own)
  // Listeners know the events of a fork from its origin, but not those of a child.
  if (seed?.parent !== undefined) seeded?.own.forEach(emit)

  const observe = shared.observe?.(scope.principal)
  let hiddenBefore = 0
  const log = createLog(id, seeded ? sumUp(id, seeded.events) : stored, store, (fresh) => {
    fresh.forEach(emit)
    observe?.(fresh)
    const { hiddenCalls, searchHistory } = log.state.calls
    if (hiddenBefore < MAX_UNSEARCHED && hiddenCalls >= MAX_UNSEARCHED && searchHistory.length === 0)
      notify({ kind: 'search-ignored', hiddenCalls })
    hiddenBefore = hiddenCalls
  })
  hiddenBefore = log.state.calls.hiddenCalls
  if (log.state.results.size > 0) offerReader()
  let latest: { readonly view: SurfaceView; readonly length: number } | undefined
  let historyStart = 0
  let callOutcomes: CallOutcomes | undefined
  const warned = new Set<string>()
  let unseenRequest: string | undefined
  const sumEager = createEagerTotal()
  const counted = new Map<string, number>()
  const tools = createToolLister()
  const context = () => getContext(log.state.frozen?.wire ?? 'none')

  const createView = (requestId: string, from: LedgerState): SurfaceView => {
    const projected = project(from, requestId)
    if (projected.mode === 'on') return projected
    return { ...projected, tools: tools.find(from.frozen?.array) ?? tools.list(context()) }
  }

  const begin = async ({
    requestId,
    anchor,
    wire,
    present,
    references,
    place = { anchors: [anchor], takes: () => 'words' },
    thinking,
    support,
  }: Parameters<Conversation['begin']>[0]): Promise<SurfaceView> => {
    if (typeof requestId !== 'string' || requestId === '')
      throw new ToolwellError('invalid-option', 'begin needs a requestId: a text that is not empty.', {
        path: 'requestId',
      })
    historyStart = present ? log.started.since(present) : 0
    const known = log.state.requests.byId.get(requestId)
    if (known) {
      if (known.anchor !== anchor || known.wire !== wire)
        throw new ToolwellError(
          'request-id-reused',
          `The request id ${quote(requestId)} was used for another history or wire. A retry sends the same messages; a new request needs a new id, or none.`,
          { requestId },
        )
      if (latest?.view.requestId === requestId && latest.length === known.length) return latest.view
      if (known.length === log.state.length) return createView(requestId, log.state)
      return createView(requestId, replay(log.events.slice(0, known.length)))
    }
    // Another process may have kept a result.
    if (log.state.results.size > 0) offerReader()
    const current = getContext(wire)
    await countDefinitions(current, counted)
    await shared.checkNames?.()
    const array = { name: () => tools.name(current), has: (name: string) => tools.find(name) !== undefined }
    const history = { present, references, place, thinking, array }
    const facts = plan(log.state, current, history, support)
    const flipped = facts.flatMap((fact) =>
      fact.kind === 'suspended' || fact.kind === 'restored' ? [fact.tool] : [],
    )
    const back = applyReturn(log.state, facts)
    const tokens = measureSurface(
      back.state,
      back.facts,
      current,
      sumEager(
        current,
        flipped,
        facts.some((fact) => fact.kind === 'frozen'),
      ),
    )
    const moved = findLostNotices(back.state, back.facts, history)
    const lost = moved.length > 0 ? { moved } : {}
    const written = [...facts, { kind: 'requested', requestId, tokens, ...lost } as const]
    try {
      await log.append(written.map((fact) => [anchor, fact]))
    } catch (error) {
      notify({ kind: 'append-failed', step: 'begin', detail: String(error) })
      throw error
    }
    latest = { view: createView(requestId, log.state), length: log.state.length }
    return latest.view
  }

  const port: AdapterPort = {
    prompts: getContext('none').settings.prompts,
    get epoch() {
      return log.state.epoch
    },
    get delivery() {
      return log.state.frozen?.delivery
    },
    hasCompaction: (anchor) =>
      log.events.some((event) => event.kind === 'compacted' && event.anchor === anchor),
    hasCall(anchor) {
      const last = log.events.findLast(
        ({ anchor: at, kind }) =>
          kind === 'compacted' || kind === 'cleared' || (at === anchor && /^(searched|call-)/.test(kind)),
      )
      return last?.anchor === anchor && last.kind !== 'compacted' && last.kind !== 'cleared'
    },
    isShownIn: (anchors) =>
      [...log.state.tools.loaded.values()].some(({ live, shownAt }) => live && anchors.has(shownAt)),
    get policyFault() {
      return context().gate.fault
    },

    async readCallOutcomes() {
      const { createCallOutcomes } = await importCallOutcomes()
      callOutcomes ??= createCallOutcomes()
      callOutcomes.add(log.events)
      const [known, from] = [callOutcomes, historyStart]
      return (call) => known.find(call, from)
    },

    warn(code, detail) {
      const warning = `${code} ${detail}`
      if (warned.has(warning) || warned.size >= MAX_WARNINGS) return
      warned.add(warning)
      if (code === 'request-unseen') unseenRequest = detail
      notify({ kind: 'history-warning', code, detail })
    },

    giveUpDelivery: (requestId, reason, answered = false) =>
      log.runWithRetry(async () => {
        const { frozen, freezing, requests } = log.state
        if (frozen?.delivery !== 'native' || requests.last?.requestId !== requestId) return false
        if (answered && freezing.due !== undefined) return false
        const request = answered ? '' : requestId
        await log.append([[log.lastAnchor, { kind: 'downgraded', from: 'native', reason, request }]])
        notify({ kind: 'delivery-unavailable', delivery: 'native', detail: reason })
        return true
      }),
  }

  const opened: Conversation & { readonly [PORT]: AdapterPort } = {
    [PORT]: port,
    id,
    get loader() {
      return loaderName(log.state, getContext('none').settings.searchTool)
    },
    catalogue: getContext('none').catalogue,
    events: log.events,
    get length() {
      return log.state.length
    },

    begin: (request) => log.runWithRetry(() => begin(request)),

    run: (calls, options = {}) =>
      runCalls({ log, historyStart, context, notify, offerReader }, calls, options),

    load: (names, source = 'operator') =>
      log.runWithRetry(async () => {
        assertNames('load', names)
        assertOneOf('the source of load', source, ['operator', 'pin'])
        const { loadByName } = await importHostSteps()
        const { facts, report } = loadByName(log.state, context(), names, source, log.lastAnchor)
        await log.append(facts)
        return report
      }),

    unload: (names) =>
      log.runWithRetry(async () => {
        assertNames('unload', names)
        const { unloadByName } = await importHostSteps()
        const { facts, report } = unloadByName(log.state, context(), names, log.lastAnchor)
        await log.append(facts)
        return report
      }),

    compact: (change) =>
      log.runWithRetry(async () => {
        const { createCompactionFacts } = await importHostSteps()
        await log.append(createCompactionFacts(log.state, context(), change, log.lastAnchor, log.events))
      }),

    clear: () => log.runWithRetry(() => log.append([[log.lastAnchor, { kind: 'cleared' }]])),

    fork: ({ id: forkId, anchor }) =>
      log.runExclusive(async () => {
        const { countSeenEvents } = await importHostSteps()
        // Another process may have appended to this ledger.
        await log.reload()
        const { events } = log
        const end =
          anchor === undefined
            ? events.length
            : typeof anchor === 'string'
              ? events.findLastIndex((event) => event.anchor === anchor) + 1
              : countSeenEvents(anchor, events)
        if (end === 0 && typeof anchor === 'string' && anchor !== '')
          throw new ToolwellError(
            'unknown-anchor',
            `The ledger ${quote(id)} has no event at anchor ${quote(anchor)}. Fork at the id of a call or message it has seen.`,
            { anchor },
          )
        if (forkId === id)
          throw new ToolwellError('invalid-ledger-id', 'A fork needs its own ledger. Give it another id.', {
            ledger: id,
          })
        const seed = () => startFork({ ledger: id, events: end }, log.origin, forkId, events)
        return openConversation(shared, { ...scope, id: forkId }, { open: seed })
      }),

    child: (options) =>
      log.runExclusive(async () => {
        const { createInheritedEvents } = await importHostSteps()
        await log.reload()
        const isSnapshot = (options.inherit ?? 'snapshot') === 'snapshot'
        return openConversation(shared, childScope(scope, options, shared.catalogue), {
          parent: id,
          open: (child) => {
            const own = createInheritedEvents(
              id,
              isSnapshot ? log.state : undefined,
              child,
              log.state.results,
            )
            return { own, events: own }
          },
        })
      }),

    recordRequest: (measurement) =>
      log.runWithRetry(async () => {
        const fact = readMeasurement(measurement, (id) => log.state.requests.byId.get(id), notify)
        if (!fact) return
        await log.append([[log.lastAnchor, fact]]).catch((error) => {
          notify({ kind: 'append-failed', step: 'measure', detail: String(error) })
          throw error
        })
      }),

    importSteps: (steps, called = [], unreadable = []) =>
      log.runWithRetry(async () => {
        const { importSteps } = await importHostSteps()
        const { facts, report } = importSteps(log.state, context(), steps, called, unreadable)
        await log.append(facts)
        return report
      }),

    inspect: () => inspect(log.state, context(), tools, unseenRequest),
  }
  shared.opened.add(id, opened)
  return opened
}

/** Counting the tokens of a larger catalogue at once would block the event loop. */
const MANY_TOOLS = 500

/** Counts the definitions that a plan needs, in pieces, once for each revision of the catalogue. */
async function countDefinitions(context: Context, counted: Map<string, number>): Promise<void> {
  const { catalogue, gate, wire } = context
  if (catalogue.size < MANY_TOOLS || counted.get(wire) === catalogue.revision) return
  counted.set(wire, catalogue.revision)
  await runInPieces(catalogue.entries(), (entry) => {
    if (gate.visible(entry)) context.cost(entry)
  })
}
