/** One conversation: a thin shell that plans, appends, and only then folds. Everything it knows is in its events. */

import { createEagerTotal, measureSurface } from './accounting.js'
import { createBatch, raise, unitOf } from './activation.js'
import {
  type Judgement,
  judge,
  type ModelCall,
  type Outcome,
  settled,
  type TargetCall,
  type Verdict,
} from './calls.js'
import type { Context } from './context.js'
import { ToolwellError } from './errors.js'
import type { Notice } from './events.js'
import { hostArray } from './host-array.js'
import { fold, isActive, type LedgerState, replay } from './ledger.js'
import type { LedgerEvent, LedgerFact } from './ledger-event.js'
import { BRIDGE_NAME } from './meta-tools.js'
import { plan } from './plan.js'
import type { Policy } from './policy.js'
import { type Inspection, inspect } from './projections.js'
import type { LedgerStore } from './stores/store.js'
import { project, type SurfaceView } from './surface.js'
import { quote } from './text.js'
import type { Tool } from './tool.js'

/** Runs the real target. Throwing, or rejecting, is a failed call: the model reads the message. */
export type Execute = (call: TargetCall, signal: AbortSignal | undefined) => unknown

export interface RunOptions {
  /** Default: the tool's own `execute`. Put permissions and approval prompts here: it sees the target, never a wrapper. */
  readonly execute?: Execute
  readonly signal?: AbortSignal
}

export interface CallAnswer {
  readonly callId: string
  readonly outcome: Outcome
  /** What the model reads. */
  readonly text: string
}

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

/** Rebuilt from a provider's own messages: what a search answer says it loaded and unloaded. */
export interface ImportedStep {
  readonly anchor: string
  readonly loaded: readonly { readonly id: string; readonly fingerprint: string }[]
  readonly unloaded: readonly string[]
}

export interface ImportReport {
  readonly recovered: readonly string[]
  readonly unrecovered: readonly { readonly tool: string; readonly reason: string }[]
}

export interface Measurement {
  readonly requestId: string
  /** Tokens of the messages as they were sent, system prompt and inserts included. */
  readonly messageTokens: number
  readonly inputTokens?: number
  readonly cachedTokens?: number
  readonly outputTokens?: number
}

export interface Conversation {
  readonly id: string
  /** The loader's name. */
  readonly loader: string
  /** Prepares a request. The same `requestId` gives the same bytes and writes nothing: a retry is free. */
  begin(request: {
    readonly requestId: string
    readonly anchor: string
    readonly wire: string
  }): Promise<SurfaceView>
  /** Judges, runs and settles the calls of one reply. Answers come in the order of the calls; nothing a model did throws. */
  run(calls: readonly ModelCall[], options?: RunOptions): Promise<CallAnswer[]>
  /** Raises tools by name, for a host or an operator. */
  activate(names: readonly string[], source?: 'operator' | 'pin'): Promise<ImportReport>
  deactivate(names: readonly string[]): Promise<void>
  /** The history was shortened. `kept` maps each anchor that survived to its new name. `trim` may give tools back. */
  compact(change: {
    readonly kept: Readonly<Record<string, string>>
    readonly trim?: (active: readonly string[]) => readonly string[]
  }): Promise<void>
  /** Starts over: nothing is raised, and the next request is a first one. */
  clear(): Promise<void>
  /** A new conversation with the events up to an anchor (all of them without one). */
  fork(options: { readonly id: string; readonly anchor?: string }): Promise<Conversation>
  /** A conversation of its own for a sub-agent. It never writes here. */
  child(options: ChildOptions): Promise<Conversation>
  recordRequest(measurement: Measurement): Promise<void>
  /** `called` names the other tools the history called, so that what cannot be proven is at least listed. */
  importSteps(steps: readonly ImportedStep[], called?: readonly string[]): Promise<ImportReport>
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
  openChild(options: ChildOptions, seed: (context: Context) => readonly LedgerEvent[]): Promise<Conversation>
}

type Anchored = readonly [anchor: string, fact: LedgerFact]

/** A hidden-tool guesser is reported once, when it gets here without a single search. */
const IGNORED_AFTER = 3

export function createConversation(
  id: string,
  stored: readonly LedgerEvent[],
  host: ConversationHost,
): Conversation {
  const events: LedgerEvent[] = [...stored]
  let state: LedgerState = replay(events)
  let queue: Promise<unknown> = Promise.resolve()
  let latest: SurfaceView | undefined
  const eagerTotal = createEagerTotal()
  const listed = hostArray()

  /** One step at a time; a failed step does not stop the next. */
  const exclusive = <T>(step: () => Promise<T>): Promise<T> => {
    const next = queue.then(step, step)
    queue = next.catch(() => undefined)
    return next
  }

  const context = () => host.context(state.latch?.wire ?? 'none')
  const lastAnchor = () => events.at(-1)?.anchor ?? ''

  /** All or nothing: the store first, memory after. */
  const append = async (facts: readonly Anchored[]): Promise<void> => {
    if (facts.length === 0) return
    const fresh = facts.map(
      ([anchor, fact], index) => ({ id: events.length + index, anchor, ...fact }) as LedgerEvent,
    )
    await host.store.append(id, events.length, fresh)
    const before = state.hiddenCalls
    for (const event of fresh) {
      events.push(event)
      state = fold(state, event)
      host.emit(event)
    }
    if (before < IGNORED_AFTER && state.hiddenCalls >= IGNORED_AFTER && state.searchHistory.length === 0)
      host.notify({ kind: 'search-ignored', hiddenCalls: state.hiddenCalls })
  }

  /** Someone else wrote to this ledger: read it again, so that the next step starts from the truth. */
  const reload = async () => {
    const stored = await host.store.read(id)
    events.splice(0, events.length, ...stored)
    state = replay(events)
    latest = undefined
  }

  const view = (requestId: string, from: LedgerState): SurfaceView => {
    const settings = context().settings
    const projected = project(from, requestId, settings.face.name, BRIDGE_NAME, settings.prompts)
    return projected.mode === 'off' ? { ...projected, tools: listed(context()) } : projected
  }

  const beginOnce = async (requestId: string, anchor: string, wire: string): Promise<SurfaceView> => {
    const known = state.requests.get(requestId)
    if (known) {
      if (latest?.requestId === requestId) return latest
      return view(requestId, known.length === state.length ? state : replay(events.slice(0, known.length)))
    }
    const current = host.context(wire)
    const facts = plan(state, current)
    const tokens = measureSurface(state, facts, current, eagerTotal(current))
    await append(
      [...facts, { kind: 'requested', requestId, tokens } as const].map((fact) => [anchor, fact] as const),
    )
    latest = view(requestId, state)
    return latest
  }

  const failed = async (step: 'start' | 'settle', error: unknown) => {
    host.notify({ kind: 'append-failed', step, detail: String(error) })
    if (ToolwellError.is(error) && error.code === 'ledger-conflict') await reload().catch(() => undefined)
  }

  /** Phase one: judge everything, and write down what is about to run. Undefined where that could not be recorded. */
  const start = async (calls: readonly ModelCall[]): Promise<Judgement | undefined> => {
    const judgement = await judge(calls, state, context())
    const started = judgement.verdicts.flatMap((verdict): Anchored[] => {
      if (verdict.kind !== 'run') return []
      const { entry, alias, call } = verdict
      return [
        [
          call.anchor,
          {
            kind: 'call-started',
            tool: entry.id,
            asked: call.name,
            ...(alias === undefined ? {} : { alias }),
          },
        ],
      ]
    })
    try {
      await append(started)
      return judgement
    } catch (error) {
      await failed('start', error)
      return undefined
    }
  }

  /** Phase two: everything the batch did, in one append. False where that failed: then nothing of it happened. */
  const settle = async (judgement: Judgement, outcomes: ReadonlyMap<Verdict, Outcome>): Promise<boolean> => {
    const facts: Anchored[] = []
    for (const verdict of judgement.verdicts) {
      const made =
        verdict.kind === 'answer'
          ? verdict.facts
          : settled(verdict, outcomes.get(verdict)?.kind === 'result', state, context(), judgement.batch)
      for (const fact of made) facts.push([verdict.call.anchor, fact])
    }
    try {
      await append(facts)
      return true
    } catch (error) {
      await failed('settle', error)
      return false
    }
  }

  const unrecorded = (calls: readonly ModelCall[]): CallAnswer[] => {
    const text = context().settings.prompts.notRun()
    return calls.map((call) => ({ callId: call.callId, outcome: { kind: 'not-recorded', text }, text }))
  }

  const execute = async (
    verdict: Extract<Verdict, { kind: 'run' }>,
    options: RunOptions,
  ): Promise<Outcome> => {
    const { prompts } = context().settings
    const { target, entry, call } = verdict
    try {
      options.signal?.throwIfAborted()
      const work = options.execute
        ? options.execute(target, options.signal)
        : runTool(entry.tool, target, options.signal)
      const value = await abortable(Promise.resolve(work), options.signal)
      const text =
        typeof value === 'string' ? value : value === undefined ? '' : (JSON.stringify(value) ?? '')
      return { kind: 'result', tool: entry.id, value, text: text === '' ? prompts.noOutput() : text }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return {
        kind: 'error',
        tool: entry.id,
        asked: call.name,
        text: prompts.failed({ name: entry.wireName, error: message }),
      }
    }
  }

  const run = async (calls: readonly ModelCall[], options: RunOptions): Promise<CallAnswer[]> => {
    if (calls.length === 0) return []
    const outcomes = new Map<Verdict, Outcome>()
    let recorded = true
    const begun = await exclusive(async () => {
      const judgement = await start(calls)
      if (!judgement || judgement.verdicts.some((verdict) => verdict.kind === 'run'))
        return { judgement, at: state.length }
      recorded = await settle(judgement, outcomes)
      return { judgement, at: state.length, done: true }
    })
    if (!begun.judgement) return unrecorded(calls)
    let { judgement } = begun
    if (!begun.done) {
      // Not inside the queue: a tool may itself use this conversation.
      await Promise.all(
        judgement.verdicts.map(async (verdict) => {
          if (verdict.kind === 'run') outcomes.set(verdict, await execute(verdict, options))
        }),
      )
      recorded = await exclusive(async () => {
        if (state.length !== begun.at) judgement = await rejudge(judgement)
        return settle(judgement, outcomes)
      })
    }
    const { prompts } = context().settings
    return judgement.verdicts.map((verdict): CallAnswer => {
      const { callId } = verdict.call
      if (verdict.kind === 'answer') {
        const outcome: Outcome =
          recorded || verdict.outcome.kind !== 'search'
            ? verdict.outcome
            : { kind: 'not-recorded', text: prompts.notRecorded() }
        return { callId, outcome, text: outcome.text }
      }
      const outcome = outcomes.get(verdict) ?? { kind: 'not-recorded' as const, text: prompts.notRun() }
      return {
        callId,
        outcome,
        text: recorded ? outcome.text : `${outcome.text}\n${prompts.ranButNotRecorded()}`,
      }
    })
  }

  /** Other steps were taken while tools ran: searches are judged again, on what is true now. Calls that ran stay as they are. */
  const rejudge = async (judgement: Judgement): Promise<Judgement> => {
    const searches = judgement.verdicts.filter(
      (verdict) => verdict.kind === 'answer' && verdict.outcome.kind === 'search',
    )
    if (searches.length === 0)
      return { verdicts: judgement.verdicts, batch: { ...createBatch(), inUse: judgement.batch.inUse } }
    const again = await judge(
      searches.map((verdict) => verdict.call),
      state,
      context(),
    )
    for (const id of judgement.batch.inUse) again.batch.inUse.add(id)
    const byCall = new Map(again.verdicts.map((verdict) => [verdict.call, verdict]))
    return {
      verdicts: judgement.verdicts.map((verdict) => byCall.get(verdict.call) ?? verdict),
      batch: again.batch,
    }
  }

  return {
    id,
    loader: host.context('none').settings.face.name,
    get events() {
      return events
    },

    begin: ({ requestId, anchor, wire }) =>
      exclusive(async () => {
        try {
          return await beginOnce(requestId, anchor, wire)
        } catch (error) {
          if (!ToolwellError.is(error) || error.code !== 'ledger-conflict') {
            host.notify({ kind: 'append-failed', step: 'begin', detail: String(error) })
            throw error
          }
          await reload()
          return beginOnce(requestId, anchor, wire)
        }
      }),

    run: (calls, options = {}) => run(calls, options),

    activate: (names, source = 'operator') =>
      exclusive(async () => {
        const current = context()
        const batch = createBatch()
        const facts: LedgerFact[] = []
        const recovered: string[] = []
        const unrecovered: { tool: string; reason: string }[] = []
        for (const name of names) {
          const resolution = current.catalogue.resolve(
            name,
            (entry) => current.gate.standing(entry, 'see') !== 'denied',
          )
          const entries =
            resolution.kind === 'found'
              ? unitOf(current, resolution.entry)
              : resolution.kind === 'group'
                ? resolution.entries
                : []
          const standing = entries
            .map((entry) => current.gate.standing(entry, 'activate'))
            .find((each) => each !== 'ready')
          if (entries.length === 0 || standing) {
            unrecovered.push({
              tool: name,
              reason: standing ?? (resolution.kind === 'ambiguous' ? 'ambiguous' : 'unknown'),
            })
            continue
          }
          const raised = raise(
            state,
            current,
            batch,
            entries.map((entry) => ({ entry, source, asked: name, shown: false })),
          )
          facts.push(...raised.facts)
          recovered.push(...raised.activated)
          unrecovered.push(...raised.dropped.map(({ tool, reason }) => ({ tool, reason })))
        }
        await append(facts.map((fact) => [lastAnchor(), fact]))
        return { recovered, unrecovered }
      }),

    deactivate: (names) =>
      exclusive(async () => {
        const current = context()
        const ids = new Set<string>()
        for (const name of names) {
          const resolution = current.catalogue.resolve(name, (entry) => isActive(state, entry.id))
          if (resolution.kind === 'found') ids.add(resolution.entry.id)
          if (resolution.kind === 'group') for (const entry of resolution.entries) ids.add(entry.id)
          if (resolution.kind === 'none' && isActive(state, name)) ids.add(name)
        }
        await append(
          [...ids].map((tool) => [lastAnchor(), { kind: 'deactivated', tool, reason: 'operator' }]),
        )
      }),

    compact: ({ kept, trim }) =>
      exclusive(async () => {
        const active = [...state.tail].filter(([, held]) => held.live)
        const keep = trim ? new Set(trim(active.map(([, held]) => held.pin.wireName))) : undefined
        const facts: LedgerFact[] = active
          .filter(([, held]) => keep && !keep.has(held.pin.wireName))
          .map(([tool]) => ({ kind: 'deactivated', tool, reason: 'trimmed' }))
        const known = new Set(events.map((event) => event.anchor))
        const relevant = Object.fromEntries(Object.entries(kept).filter(([anchor]) => known.has(anchor)))
        await append(
          [...facts, { kind: 'compacted', kept: relevant } as const].map((fact) => [lastAnchor(), fact]),
        )
      }),

    clear: () => exclusive(() => append([[lastAnchor(), { kind: 'cleared' }]])),

    fork: ({ id: forkId, anchor }) =>
      exclusive(() => {
        const end =
          anchor === undefined ? events.length : events.findLastIndex((event) => event.anchor === anchor) + 1
        if (end === 0 && anchor !== undefined && anchor !== '')
          throw new ToolwellError(
            'unknown-anchor',
            `The ledger ${quote(id)} has no event at anchor ${quote(anchor)}. Fork at the id of a call or message it has seen.`,
            { anchor },
          )
        return host.open(forkId, events.slice(0, end))
      }),

    child: (options) => {
      const snapshot =
        options.inherit === undefined || options.inherit === 'snapshot'
          ? [...state.tail.values()].filter((held) => held.live)
          : []
      return host.openChild(options, (childContext) => {
        const facts: LedgerFact[] = snapshot.flatMap(({ pin, asked }) => {
          const entry = childContext.catalogue.get(pin.id)
          const allowed =
            entry &&
            childContext.gate.standing(entry, 'activate') === 'ready' &&
            childContext.exposure(entry).deferred
          return allowed
            ? [
                {
                  kind: 'activated',
                  tool: childContext.pin(entry, true),
                  source: 'inherit',
                  asked,
                  shown: false,
                } as const,
              ]
            : []
        })
        return facts.map((fact, index) => ({ id: index, anchor: '', ...fact }) as LedgerEvent)
      })
    },

    recordRequest: ({ requestId, ...figures }) =>
      exclusive(() => append([[lastAnchor(), { kind: 'measured', requestId, ...figures }]])),

    importSteps: (steps, called = []) =>
      exclusive(async () => {
        const current = context()
        const facts: Anchored[] = []
        const recovered = new Set<string>()
        const unrecovered: { tool: string; reason: string }[] = []
        for (const { anchor, loaded, unloaded } of steps) {
          for (const { id: tool, fingerprint } of loaded) {
            const entry = current.catalogue.get(tool)
            const standing = current.gate.standing(entry, 'activate')
            if (!entry || standing !== 'ready') {
              unrecovered.push({ tool, reason: standing })
              continue
            }
            if (isActive(state, tool) || !current.exposure(entry).deferred) continue
            // A schema that has changed since is not what the history shows.
            facts.push([
              anchor,
              {
                kind: 'activated',
                tool: current.pin(entry, true),
                source: 'import',
                asked: tool,
                shown: fingerprint === entry.fingerprint,
              },
            ])
            recovered.add(tool)
          }
          for (const tool of unloaded) {
            if (!recovered.delete(tool)) continue
            facts.push([anchor, { kind: 'deactivated', tool, reason: 'unloaded' }])
          }
        }
        for (const name of new Set(called)) {
          const resolution = current.catalogue.resolve(name, (entry) => current.gate.visible(entry))
          if (resolution.kind !== 'found' || !current.exposure(resolution.entry).deferred) continue
          const { id: tool } = resolution.entry
          if (!recovered.has(tool) && !isActive(state, tool))
            unrecovered.push({ tool, reason: 'called, but no search answer shows that it was loaded' })
        }
        await append(facts)
        return { recovered: [...recovered], unrecovered }
      }),

    inspect: () => inspect(state, context().catalogue, context().settings.face.name),
  }
}

function runTool(tool: Tool, target: TargetCall, signal: AbortSignal | undefined): unknown {
  if (!tool.execute) throw new Error('this tool has no implementation; the host has to run it')
  return tool.execute(target.input, { callId: target.callId, ...(signal ? { signal } : {}) })
}

function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('cancelled'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
