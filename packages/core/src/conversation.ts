/** One conversation: a thin shell that plans, appends, and only then answers. Everything it knows is in its ledger. */
import { createEagerTotal, measureSurface } from './accounting.js'
import { ambientTexts, findNamed } from './ambient-lint.js'
import type { WireSupport } from './auto.js'
import type { Catalogue } from './catalogue.js'
import type { Context } from './context.js'
import { ToolwellError } from './errors.js'
import type { Notice } from './events.js'
import { hostArray } from './host-array.js'
import {
  type ActivationReport,
  type Compaction,
  compaction,
  type DeactivationReport,
  type ImportedStep,
  type ImportReport,
  imported,
  inherited,
  raiseByName,
  seenBy,
  unloadByName,
} from './host-steps.js'
import { type LedgerState, loaderName, replay } from './ledger.js'
import type { LedgerEvent, LedgerFact } from './ledger-event.js'
import { createLog } from './ledger-log.js'
import { type Measurement, readMeasurement } from './measurement.js'
import type { ModelCall } from './model-call.js'
import { assertNames, assertOneOf } from './options.js'
import { plan } from './plan.js'
import type { Policy } from './policy.js'
import { type Inspection, inspect } from './projections.js'
import type { Prompts } from './prompts.js'
import { type CallAnswer, type RunOptions, runCalls } from './run-calls.js'
import type { LedgerStore } from './stores/store.js'
import { project, type SurfaceView } from './surface.js'
import { quote } from './text.js'

export interface ChildOptions {
  readonly id: string
  /** What the child starts with: the parent's raised tools (default), nothing, or everything eager. */
  readonly inherit?: 'snapshot' | 'none' | 'all'
  /** The only tools the child may use. Exact names are eager; patterns with `*` follow the rules. */
  readonly allow?: readonly string[]
  /** Asked besides the parent's policy. */
  readonly policy?: Policy
  readonly agent?: string
}

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
    readonly present?: ReadonlySet<string>
    /** The answers among them that refer to tools by the provider's own means, where the caller knows them. */
    readonly references?: ReadonlySet<string>
    /** What the wire can do natively. Default: nothing. */
    readonly support?: WireSupport
  }): Promise<SurfaceView>
  /** Judges, runs and settles the calls of one reply. Answers come in the order of the calls; nothing a model did throws. */
  run(calls: readonly ModelCall[], options?: RunOptions): Promise<CallAnswer[]>
  /** Raises tools by name. `source` is what the event `activated` says of why: an operator's wish (default), or a `pin` of the host's. */
  activate(names: readonly string[], source?: 'operator' | 'pin'): Promise<ActivationReport>
  /** Puts tools back. The model can still find and call them: to forbid a tool, use policy. */
  deactivate(names: readonly string[]): Promise<DeactivationReport>
  /** The history was shortened. */
  compact(change: Compaction): Promise<void>
  /** Starts over: nothing is raised, and the next request is a first one. */
  clear(): Promise<void>
  /** A new conversation with the events up to an anchor, or up to where a history with these anchors ends (all of them without one). */
  fork(options: { readonly id: string; readonly anchor?: string | readonly string[] }): Promise<Conversation>
  /** A conversation of its own for a sub-agent. It never writes here. */
  child(options: ChildOptions): Promise<Conversation>
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
  readonly events: readonly LedgerEvent[]
}

/** What `createToolwell` gives a conversation. */
export interface ConversationHost {
  readonly store: LedgerStore
  context(wire: string): Context
  notify(notice: Notice): void
  emit(event: LedgerEvent): void
  open(id: string, seed: readonly LedgerEvent[] | undefined): Promise<Conversation>
  openChild(
    parent: string,
    options: ChildOptions,
    seed: (context: Context) => readonly LedgerEvent[],
  ): Promise<Conversation>
}

/** A hidden-tool guesser is reported once, when it gets here without a single search. */
const IGNORED_AFTER = 3

export function createConversation(
  id: string,
  stored: readonly LedgerEvent[],
  host: ConversationHost,
): Conversation {
  let guessed = 0
  const log = createLog(id, stored, host.store, (fresh) => {
    fresh.forEach(host.emit)
    const { hiddenCalls, searchHistory } = log.state
    if (guessed < IGNORED_AFTER && hiddenCalls >= IGNORED_AFTER && searchHistory.length === 0)
      host.notify({ kind: 'search-ignored', hiddenCalls })
    guessed = hiddenCalls
  })
  guessed = log.state.hiddenCalls
  let latest: { readonly view: SurfaceView; readonly length: number } | undefined
  const eagerTotal = createEagerTotal()
  const listed = hostArray()
  const context = () => host.context(log.state.latch?.wire ?? 'none')

  const view = (requestId: string, from: LedgerState): SurfaceView => {
    const projected = project(from, requestId)
    return projected.mode === 'off' ? { ...projected, tools: listed(context()) } : projected
  }

  const told = new Set<string>()
  /** A latch fixes what is out of sight: the time to say that a text orders it all the same. */
  const lint = (current: Context, facts: readonly LedgerFact[], support: WireSupport = {}) => {
    const opened = facts.find((fact) => fact.kind === 'opened')
    if (opened?.mode !== 'on') return
    const { catalogue, gate } = current
    const inSight = new Set([...opened.eager, ...opened.tail, ...(opened.stubs ?? [])].map(({ id }) => id))
    const eager = opened.eager.flatMap((pin) => catalogue.get(pin.id) ?? [])
    const found = findNamed(
      ambientTexts(support.system?.() ?? '', eager, current.describe),
      (name) => catalogue.resolve(name, (entry) => gate.standing(entry, 'see') === 'ready'),
      (entry) => !inSight.has(entry.id),
    )
    for (const finding of found) {
      const key = JSON.stringify([finding.tools, finding.where])
      if (!told.has(key)) host.notify({ kind: 'deferred-tool-named', ...finding })
      told.add(key)
    }
  }

  const begin = async ({
    requestId,
    anchor,
    wire,
    present,
    references,
    support,
  }: Parameters<Conversation['begin']>[0]): Promise<SurfaceView> => {
    if (typeof requestId !== 'string' || requestId === '')
      throw new ToolwellError('invalid-option', 'begin needs a requestId: a text that is not empty.', {
        path: 'requestId',
      })
    const known = log.state.requests.get(requestId)
    if (known) {
      if (known.anchor !== anchor || known.wire !== wire)
        throw new ToolwellError(
          'request-id-reused',
          `The request id ${quote(requestId)} was used for another history or wire. A retry sends the same messages; a new request needs a new id, or none.`,
          { requestId },
        )
      if (latest?.view.requestId === requestId && latest.length === known.length) return latest.view
      return view(
        requestId,
        known.length === log.state.length ? log.state : replay(log.events.slice(0, known.length)),
      )
    }
    const current = host.context(wire)
    const facts = plan(log.state, current, { present, references }, support)
    const flipped = facts.flatMap((fact) =>
      fact.kind === 'suspended' || fact.kind === 'restored' ? [fact.tool] : [],
    )
    const tokens = measureSurface(
      log.state,
      facts,
      current,
      eagerTotal(
        current,
        flipped,
        facts.some((fact) => fact.kind === 'opened'),
      ),
    )
    const written = [...facts, { kind: 'requested', requestId, tokens } as const]
    try {
      await log.append(written.map((fact) => [anchor, fact]))
    } catch (error) {
      host.notify({ kind: 'append-failed', step: 'begin', detail: String(error) })
      throw error
    }
    lint(current, facts, support)
    latest = { view: view(requestId, log.state), length: log.state.length }
    return latest.view
  }

  return {
    id,
    get loader() {
      return loaderName(log.state, host.context('none').settings.face)
    },
    prompts: host.context('none').settings.prompts,
    catalogue: host.context('none').catalogue,
    get epoch() {
      return log.state.epoch
    },
    events: log.events,

    begin: (request) => log.retried(() => begin(request)),

    run: (calls, options = {}) => runCalls({ log, context, notify: host.notify }, calls, options),

    activate: (names, source = 'operator') =>
      log.retried(async () => {
        assertNames('activate', names)
        assertOneOf('the source of activate', source, ['operator', 'pin'])
        const { facts, report } = raiseByName(log.state, context(), names, source, log.lastAnchor)
        await log.append(facts)
        return report
      }),

    deactivate: (names) =>
      log.retried(async () => {
        assertNames('deactivate', names)
        const { facts, report } = unloadByName(log.state, context(), names, log.lastAnchor)
        await log.append(facts)
        return report
      }),

    compact: (change) =>
      log.retried(() => log.append(compaction(log.state, context(), change, log.lastAnchor, log.events))),

    clear: () => log.retried(() => log.append([[log.lastAnchor, { kind: 'cleared' }]])),

    fork: ({ id: forkId, anchor }) =>
      log.exclusive(async () => {
        // Another process may have gone on with this ledger.
        await log.reload()
        const { events } = log
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
        return host.open(forkId, events.slice(0, end))
      }),

    child: (options) =>
      log.exclusive(async () => {
        await log.reload()
        return host.openChild(id, options, (child) =>
          inherited(id, (options.inherit ?? 'snapshot') === 'snapshot' ? log.state : undefined, child),
        )
      }),

    recordRequest: (measurement) =>
      log.retried(async () => {
        const fact = readMeasurement(measurement, (id) => log.state.requests.has(id), host.notify)
        await log.append([[log.lastAnchor, fact]])
      }),

    importSteps: (steps, called = [], unreadable = []) =>
      log.retried(async () => {
        const { facts, report } = imported(log.state, context(), steps, called, unreadable)
        await log.append(facts)
        return report
      }),

    inspect: () => inspect(log.state, context(), listed),
  }
}
