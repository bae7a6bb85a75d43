/** One conversation: a thin shell that plans, appends, and only then answers. Everything it knows is in its ledger. */
import { createEagerTotal, measureSurface } from './accounting/accounting.js'
import { type Inspection, inspect } from './accounting/inspect.js'
import { type Measurement, readMeasurement } from './accounting/measurement.js'
import { lazily, runInPieces } from './base/async.js'
import { ToolwellError } from './base/errors.js'
import { assertNames, assertOneOf } from './base/options.js'
import { quote } from './base/text.js'
import type { Catalogue } from './catalogue/catalogue.js'
import type { LedgerEvent } from './ledger/event.js'
import { type LedgerState, loaderName, replay } from './ledger/fold.js'
import { forkOf } from './ledger/fork.js'
import { createLog } from './ledger/log.js'
import { openLedger, sumUp } from './ledger/open-ledger.js'
import type { WireSupport } from './surface/auto.js'
import type { Context } from './surface/context.js'
import { READER_ID, readerTool } from './surface/meta-tools.js'
import { type NoticePlace, plan } from './surface/plan.js'
import { createToolLister, project, type SurfaceView } from './surface/project.js'
import type { Prompts } from './surface/prompts.js'
import { applyReturn } from './surface/return.js'
import { type ChildOptions, childScope, createContexts, type Scope, type Shared } from './surface/scope.js'
import type { BoundThinking } from './surface/thinking.js'
import type { Notice } from './tool/notice.js'
import type { EndedCalls } from './turn/ended-calls.js'
import type { Compaction, ImportedStep, ImportReport, LoadReport, UnloadReport } from './turn/host-steps.js'
import { type CallAnswer, type RunOptions, runCalls } from './turn/run.js'
import type { ModelCall } from './turn/verdict.js'

/** What a host does besides requests and calls: many never do. */
const hostSteps = lazily(() => import('./turn/host-steps.js'))
/** Few histories lack an answer. */
const endedCalls = lazily(() => import('./turn/ended-calls.js'))

export interface Conversation {
  readonly id: string
  /** The loader's name. */
  readonly loader: string
  /** Every tool that is known, whatever this conversation may see of it. */
  readonly catalogue: Catalogue
  /** Every sentence the model reads in this conversation. */
  readonly prompts: Prompts
  /** How often the history was compacted or cleared. */
  readonly epoch: number
  /** Prepares a request. The same `requestId` gives the same bytes and writes nothing: a retry is free. */
  begin(request: {
    readonly requestId: string
    readonly anchor: string
    readonly wire: string
    /** Every anchor of the history, where the caller knows them: what was shown elsewhere is then shown again. */
    readonly present?: { has(anchor: string): boolean }
    /** The answers among them that refer to tools by the provider's own means, where the caller knows them. */
    readonly references?: ReadonlySet<string>
    /** Where a notice would stand at the end of the history. Default: at the anchor, as text. */
    readonly place?: NoticePlace
    /** Messages with thinking that the provider binds to what stands before it. Default: none. */
    readonly thinking?: BoundThinking | undefined
    /** What the wire can do natively. Default: nothing. */
    readonly support?: WireSupport
  }): Promise<SurfaceView>
  /** Judges, runs and settles the calls of one reply. Answers come in the order of the calls; nothing a model did throws. */
  run(calls: readonly ModelCall[], options?: RunOptions): Promise<CallAnswer[]>
  /** Loads tools by name. `source` is what the event `loaded` says of why: an operator's wish (default), or a `pin` of the host's. */
  load(names: readonly string[], source?: 'operator' | 'pin'): Promise<LoadReport>
  /** Unloads tools. The model can still find and call them: to forbid a tool, use policy. */
  unload(names: readonly string[]): Promise<UnloadReport>
  /** The history was shortened. */
  compact(change: Compaction): Promise<void>
  /** Starts over: nothing is loaded, and the next request is a first one. */
  clear(): Promise<void>
  /** A new conversation with the events up to an anchor, or up to where a history with these anchors ends (all of them without one). */
  fork(options: { readonly id: string; readonly anchor?: string | readonly string[] }): Promise<Conversation>
  /** A conversation of its own for a sub-agent. It never writes here. */
  child(options: ChildOptions): Promise<Conversation>
  /**
   * The provider refused a request because of the delivery: that request ends here, and the next `begin` latches another
   * way. False where there is no other way to try: then the refusal is about something else.
   */
  refuseDelivery(refusal: { readonly requestId: string; readonly detail: string }): Promise<boolean>
  /** What came of the calls in the history of the last request, where the ledger knows: for those whose answers are missing. */
  ends(): Promise<(call: Pick<ModelCall, 'anchor' | 'name' | 'input'>) => 'succeeded' | 'failed' | undefined>
  /** What a policy did instead of allowing or denying, where one did. */
  readonly policyFault: string | undefined
  /** Tells those who listen what an adapter noticed about a history. The same is told once. */
  warn(code: string, detail: string): void
  /** What a request came to, once it was answered. */
  recordRequest(measurement: Measurement): Promise<void>
  /**
   * `called` names the other tools the history called, `unreadable` the search answers that say nothing: what cannot be
   * proven is at least listed.
   */
  importSteps(
    steps: readonly ImportedStep[],
    called?: readonly string[],
    unreadable?: readonly string[],
  ): Promise<ImportReport>
  inspect(): Inspection
  /** The number of all events. */
  readonly length: number
  /** The newest events: all of them, unless this is a long conversation that was opened from a snapshot. */
  readonly events: readonly LedgerEvent[]
  /** All events, of a fork also those of its origin. Reads them where they are not in memory. */
  readEvents(): Promise<readonly LedgerEvent[]>
}

/** From this size on, counting the tokens of a catalogue would hold the event loop. */
const MANY_TOOLS = 500

/** Counts what a plan will ask for, in pieces: once for each state of the catalogue, and each definition once. */
async function countAll(context: Context, counted: Map<string, number>): Promise<void> {
  const { catalogue, gate, wire } = context
  if (catalogue.size < MANY_TOOLS || counted.get(wire) === catalogue.revision) return
  counted.set(wire, catalogue.revision)
  await runInPieces(catalogue.entries(), (entry) => {
    if (gate.visible(entry)) context.cost(entry)
  })
}

/** A hidden-tool guesser is reported once, when it gets here without a single search. */
const IGNORED_AFTER = 3

/** A history with more that is odd has been told of enough. */
const MOST_WARNINGS = 100

/** With what learns from the ledger as it is written. */
export interface ConversationShared extends Shared {
  observe?(principal: string): (fresh: readonly LedgerEvent[]) => void
  /** With every new request: whether the names in options are those of tools. */
  checkNames?(): Promise<void>
}

/** How a new ledger begins, where it is a fork or a child. */
interface Seed {
  open(context: Context): {
    /** What is written. */
    readonly own: readonly LedgerEvent[]
    /** With what it goes on from. */
    readonly events: readonly LedgerEvent[]
  }
  /** The parent of a child. A child that is known already goes on where it was. */
  readonly parent?: string
}

export async function openConversation(
  shared: ConversationShared,
  scope: Scope,
  seed?: Seed,
): Promise<Conversation> {
  const { id } = scope
  const { store } = shared
  const notify = (notice: Notice) => shared.tell({ ...notice, conversation: id })
  const emit = (event: LedgerEvent) => shared.tell({ ...event, conversation: id })
  // Whether there is anything here for the tool that reads kept results.
  let keeping = false
  const contextOf = createContexts(shared, scope, notify, (tool) => tool === READER_ID && !keeping)
  const keeps = () => {
    keeping = true
    shared.catalogue.addMeta(readerTool(shared.settings.prompts))
  }
  const stored = await openLedger(store, id)
  const isResumed = seed?.parent !== undefined && stored.parent === seed.parent
  const seeded = isResumed ? undefined : seed?.open(contextOf('none'))
  // Nothing may write over another ledger.
  if (seeded && stored.state.length > 0)
    throw new ToolwellError(
      'invalid-ledger-id',
      `A ledger named ${JSON.stringify(id)} exists already. Choose another id for the fork or child.`,
      { ledger: id },
    )
  if (seeded && seeded.own.length > 0) await store.append(id, 0, seeded.own)
  // What a child inherits is new; what a fork goes on from was told by its origin.
  if (seed?.parent !== undefined) seeded?.own.forEach(emit)

  const observe = shared.observe?.(scope.principal)
  let guessed = 0
  const log = createLog(id, seeded ? sumUp(id, seeded.events) : stored, store, (fresh) => {
    fresh.forEach(emit)
    observe?.(fresh)
    const { hiddenCalls, searchHistory } = log.state.calls
    if (guessed < IGNORED_AFTER && hiddenCalls >= IGNORED_AFTER && searchHistory.length === 0)
      notify({ kind: 'search-ignored', hiddenCalls })
    guessed = hiddenCalls
  })
  guessed = log.state.calls.hiddenCalls
  if (log.state.results.size > 0) keeps()
  let latest: { readonly view: SurfaceView; readonly length: number } | undefined
  let since = 0
  let ended: EndedCalls | undefined
  const warned = new Set<string>()
  let unseen: string | undefined
  const eagerTotal = createEagerTotal()
  const counted = new Map<string, number>()
  const listed = createToolLister()
  const context = () => contextOf(log.state.frozen?.wire ?? 'none')

  const view = (requestId: string, from: LedgerState): SurfaceView => {
    const projected = project(from, requestId)
    return projected.mode === 'off' ? { ...projected, tools: listed(context()) } : projected
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
    since = present ? log.started.since(present) : 0
    const known = log.state.requests.byId.get(requestId)
    if (known) {
      if (known.anchor !== anchor || known.wire !== wire)
        throw new ToolwellError(
          'request-id-reused',
          `The request id ${quote(requestId)} was used for another history or wire. A retry sends the same messages; a new request needs a new id, or none.`,
          { requestId },
        )
      if (latest?.view.requestId === requestId && latest.length === known.length) return latest.view
      if (known.length === log.state.length) return view(requestId, log.state)
      return view(requestId, replay((await log.all()).slice(0, known.length)))
    }
    // Another process may have kept one.
    if (log.state.results.size > 0) keeps()
    const current = contextOf(wire)
    await countAll(current, counted)
    await shared.checkNames?.()
    const facts = plan(log.state, current, { present, references, place, thinking }, support)
    const flipped = facts.flatMap((fact) =>
      fact.kind === 'suspended' || fact.kind === 'restored' ? [fact.tool] : [],
    )
    const back = applyReturn(log.state, facts)
    const tokens = measureSurface(
      back.state,
      back.facts,
      current,
      eagerTotal(
        current,
        flipped,
        facts.some((fact) => fact.kind === 'frozen'),
      ),
    )
    const written = [...facts, { kind: 'requested', requestId, tokens } as const]
    try {
      await log.append(written.map((fact) => [anchor, fact]))
    } catch (error) {
      notify({ kind: 'append-failed', step: 'begin', detail: String(error) })
      throw error
    }
    latest = { view: view(requestId, log.state), length: log.state.length }
    return latest.view
  }

  const opened: Conversation = {
    id,
    get loader() {
      return loaderName(log.state, contextOf('none').settings.face)
    },
    prompts: contextOf('none').settings.prompts,
    catalogue: contextOf('none').catalogue,
    get epoch() {
      return log.state.epoch
    },
    events: log.events,
    get length() {
      return log.state.length
    },
    readEvents: () => log.exclusive(() => log.all()),

    begin: (request) => log.retried(() => begin(request)),

    run: (calls, options = {}) => runCalls({ log, since, context, notify, keeps }, calls, options),

    load: (names, source = 'operator') =>
      log.retried(async () => {
        assertNames('load', names)
        assertOneOf('the source of load', source, ['operator', 'pin'])
        const { loadByName } = await hostSteps()
        const { facts, report } = loadByName(log.state, context(), names, source, log.lastAnchor)
        await log.append(facts)
        return report
      }),

    unload: (names) =>
      log.retried(async () => {
        assertNames('unload', names)
        const { unloadByName } = await hostSteps()
        const { facts, report } = unloadByName(log.state, context(), names, log.lastAnchor)
        await log.append(facts)
        return report
      }),

    compact: (change) =>
      log.retried(async () => {
        const { createCompactionEvents } = await hostSteps()
        const events = await log.all()
        await log.append(createCompactionEvents(log.state, context(), change, log.lastAnchor, events))
      }),

    clear: () => log.retried(() => log.append([[log.lastAnchor, { kind: 'cleared' }]])),

    fork: ({ id: forkId, anchor }) =>
      log.exclusive(async () => {
        const { seenBy } = await hostSteps()
        // Another process may have gone on with this ledger.
        await log.reload()
        const events = await log.all()
        const end =
          anchor === undefined
            ? events.length
            : typeof anchor === 'string'
              ? events.findLastIndex((event) => event.anchor === anchor) + 1
              : seenBy(anchor, events)
        if (end === 0 && typeof anchor === 'string' && anchor !== '')
          throw new ToolwellError(
            'unknown-anchor',
            `The ledger ${quote(id)} has no event at anchor ${quote(anchor)}. Fork at the id of a call or message it has seen.`,
            { anchor },
          )
        if (forkId === id)
          throw new ToolwellError(
            'invalid-ledger-id',
            'A fork needs a ledger of its own: give it another id.',
            { ledger: id },
          )
        const seed = () => forkOf({ ledger: id, events: end }, log.origin, forkId, events)
        return openConversation(shared, { ...scope, id: forkId }, { open: seed })
      }),

    child: (options) =>
      log.exclusive(async () => {
        const { createInheritedEvents } = await hostSteps()
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

    async ends() {
      const { createEndedCalls } = await endedCalls()
      if (!ended) {
        const made = createEndedCalls()
        made.note(await log.exclusive(() => log.all()))
        ended = made
      }
      ended.note(log.events)
      const [known, from] = [ended, since]
      return (call) => known.endOf(call, from)
    },

    get policyFault() {
      return context().gate.fault
    },

    warn(code, detail) {
      const told = `${code} ${detail}`
      if (warned.has(told) || warned.size >= MOST_WARNINGS) return
      warned.add(told)
      if (code === 'request-unseen') unseen = detail
      notify({ kind: 'history-warning', code, detail })
    },

    refuseDelivery: ({ requestId, detail }) =>
      log.retried(async () => {
        const { frozen, requests } = log.state
        if (frozen?.delivery !== 'native' || requests.last?.requestId !== requestId) return false
        const reason = `the provider refused it: ${quote(detail, 300)}`
        await log.append([
          [log.lastAnchor, { kind: 'downgraded', from: 'native', reason, request: requestId }],
        ])
        notify({ kind: 'delivery-unavailable', delivery: 'native', detail: reason })
        return true
      }),

    recordRequest: (measurement) =>
      log.retried(async () => {
        const fact = readMeasurement(measurement, (id) => log.state.requests.byId.get(id), notify)
        if (!fact) return
        await log.append([[log.lastAnchor, fact]]).catch((error) => {
          notify({ kind: 'append-failed', step: 'measure', detail: String(error) })
          throw error
        })
      }),

    importSteps: (steps, called = [], unreadable = []) =>
      log.retried(async () => {
        const { createImportedEvents } = await hostSteps()
        const { facts, report } = createImportedEvents(log.state, context(), steps, called, unreadable)
        await log.append(facts)
        return report
      }),

    inspect: () => inspect(log.state, context(), listed, unseen),
  }
  shared.opened.add(id, opened)
  return opened
}
