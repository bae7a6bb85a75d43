/** Judges a batch of calls against the state at its start. Nothing a model does throws: every call gets a typed outcome. */
import { type Batch, createBatch, raise, unitOf } from './activation.js'
import { schemaLine } from './announce.js'
import type { Entry, Source } from './catalogue.js'
import type { Context } from './context.js'
import { deliveries } from './delivery/index.js'
import { canonicalJson, shortHash } from './fingerprint.js'
import { isLoaded, type LedgerState, loaderName } from './ledger.js'
import type { DropReason, FailureReason, LedgerFact, Pin } from './ledger-event.js'
import { BRIDGE_NAME, metaEntry, type SearchRequest } from './meta-tools.js'
import { bounded, innerArguments, isRecord, type ModelCall, unwrap } from './model-call.js'
import type { Resolution } from './name-index.js'
import { nearest } from './nearest.js'
import { find, recordedQuery, suggest } from './search/find.js'
import { awayState } from './search/late-sources.js'
import { quoteName } from './search/query.js'
import { renderSearch, revealed } from './search/render.js'
import type { SearchResult } from './search/result.js'
import { namedSources } from './seen-sources.js'
import { quote, safeJson } from './text.js'
import type { ExecuteContext } from './tool.js'

/** The call that really happens: the target, never a wrapper. This is what permissions, hooks and telemetry see. */
export interface TargetCall {
  readonly callId: string
  readonly id: string
  readonly name: string
  /** The name it is sent under. */
  readonly wireName: string
  readonly tool: Entry['tool']
  readonly input: Record<string, unknown>
  /** What the tool's own `execute` is given beside the arguments. */
  readonly context: ExecuteContext
}

export type Outcome =
  | { readonly kind: 'search'; readonly result: SearchResult; readonly text: string }
  | { readonly kind: 'result'; readonly tool: string; readonly value: unknown; readonly text: string }
  | { readonly kind: FailureReason; readonly tool: string; readonly asked: string; readonly text: string }
  | { readonly kind: 'not-recorded'; readonly text: string }

export type Verdict =
  | {
      readonly kind: 'answer'
      readonly call: ModelCall
      readonly outcome: Outcome
      readonly facts: readonly LedgerFact[]
    }
  | {
      readonly kind: 'run'
      readonly call: ModelCall
      readonly target: Omit<TargetCall, 'context'>
      readonly entry: Entry
      /** The name as the model gave it, out of any wrapper. */
      readonly asked: string
      readonly alias: string | undefined
      /** Not loaded at batch start: a success raises it. */
      readonly hidden: boolean
      /** The model called a tool that stands for this one. */
      readonly forwarded: boolean
      readonly key: string
    }

export interface Judgement {
  readonly verdicts: readonly Verdict[]
  readonly batch: Batch
}

export async function judge(
  made: readonly ModelCall[],
  state: LedgerState,
  context: Context,
): Promise<Judgement> {
  const calls = made.map(bounded)
  const batch = createBatch()
  const verdicts: Verdict[] = new Array(calls.length)
  // Direct calls first: what this batch uses must not be evicted or unloaded by a search beside it.
  for (const [index, call] of calls.entries()) {
    const verdict = judgeCall(call, state, context, batch)
    if (!verdict) continue
    verdicts[index] = verdict
    if (verdict.kind === 'run') batch.inUse.add(verdict.entry.id)
  }
  for (const [index, call] of calls.entries())
    verdicts[index] ??= await judgeSearch(call, state, context, batch)
  return { verdicts, batch }
}

/** Facts of a call that ran. A hidden tool is raised by its success, and only by that; `dropped` says why it was not. */
export function settled(
  verdict: Extract<Verdict, { kind: 'run' }>,
  succeeded: boolean,
  state: LedgerState,
  context: Context,
  batch: Batch,
): { readonly facts: readonly LedgerFact[]; readonly dropped?: DropReason } {
  const { entry, asked, key } = verdict
  const alias = verdict.alias === undefined ? {} : { alias: verdict.alias }
  const named = { tool: entry.id, asked, ...alias }
  if (!succeeded) return { facts: [{ kind: 'call-failed', ...named, reason: 'error', key }] }
  // It may have been denied while it ran.
  if (!verdict.hidden || context.gate.standing(entry, 'activate') !== 'ready')
    return { facts: [{ kind: 'call-succeeded', ...named }] }
  const unit = unitOf(context, entry)
  const native = deliveries[state.latch?.delivery ?? 'append'].answers === 'reference'
  const cost = unit.reduce((sum, member) => sum + context.cost(member), 0)
  const raised =
    cost > context.settings.largeTool
      ? { facts: [], dropped: [{ tool: entry.id, reason: 'too-large' as const }] }
      : raise(
          state,
          context,
          batch,
          unit.map((member) => {
            // Where the provider reveals tools, the history tells the guess as the search that would have led to it.
            const shown = native && member.id === entry.id && !verdict.forwarded
            return { entry: member, source: 'call', asked, ...alias, shown }
          }),
        )
  const [refused] = raised.dropped
  // It ran; that it stays hidden is part of what happened.
  if (refused)
    return { facts: [{ kind: 'call-succeeded', ...named, dropped: refused.reason }], dropped: refused.reason }
  return { facts: [{ kind: 'call-succeeded', ...named }, ...raised.facts] }
}

async function judgeSearch(
  call: ModelCall,
  state: LedgerState,
  context: Context,
  batch: Batch,
): Promise<Verdict> {
  const { tokenizer } = context.settings
  const request = readRequest(call, context)
  const found = await find(request, state, context, batch)
  const loaded = found.activated.flatMap((id) => context.catalogue.get(id) ?? [])
  const references = deliveries[state.latch?.delivery ?? 'append'].answers === 'reference'
  const text = renderSearch(found.result, { loaded, unloaded: found.lowered }, context, references)
  const shown = references ? revealed(found.result) : []
  const shownTokens = shown.reduce((sum, tool) => sum + tokenizer.count(JSON.stringify(tool)), 0)
  const searched: LedgerFact = {
    kind: 'searched',
    query: recordedQuery(request.query),
    loaded: found.activated,
    dropped: found.result.dropped.map(({ name, reason }) => ({ tool: name, reason })),
    missed: found.missed,
    tokens: tokenizer.count(text) + tokenizer.count(JSON.stringify(request)),
    ...(shown.length > 0 ? { revealed: shownTokens } : {}),
  }
  const facts = found.facts.map((fact) =>
    fact.kind === 'activated' && fact.shown && !references
      ? { ...fact, shown: isShown(fact.tool.id, text, context) }
      : fact,
  )
  return {
    kind: 'answer',
    call,
    outcome: { kind: 'search', result: found.result, text },
    facts: [searched, ...facts],
  }
}

/** A face may render as it likes: only what stands in its answer has been shown. */
function isShown(id: string, text: string, context: Context): boolean {
  const entry = context.catalogue.get(id)
  if (!entry || !context.settings.face.render) return true
  const { inputSchema } = context.definition(entry)
  return (
    text.includes(safeJson(inputSchema)) ||
    text.includes(JSON.stringify(inputSchema)) ||
    text.includes(JSON.stringify(inputSchema, null, 2))
  )
}

/** How the loader is asked for this tool. */
function selects(name: string, { settings, notify }: Context): string {
  try {
    const asked: unknown = settings.face.select?.(name)
    if (typeof asked === 'string') return asked
  } catch (error) {
    notify({ kind: 'hook-failed', hook: 'face.select', detail: String(error) })
  }
  return `select:${quoteName(name)}`
}

/** A face is the host's code: where it fails on what a model sent, the model has asked for nothing. */
function readRequest(call: ModelCall, context: Context): SearchRequest {
  const input = 'value' in call.input && isRecord(call.input.value) ? call.input.value : {}
  try {
    const request = context.settings.face.read(input)
    if (typeof request.query === 'string') return request
    throw new Error('it gave no query')
  } catch (error) {
    context.notify({ kind: 'hook-failed', hook: 'face.read', detail: String(error) })
    return { query: '' }
  }
}

/** Undefined for a search that may run: those are judged in a second round. */
function judgeCall(call: ModelCall, state: LedgerState, context: Context, batch: Batch): Verdict | undefined {
  const { settings, gate } = context
  const { prompts } = settings
  const loader = loaderName(state, settings.face)
  const on = state.latch?.mode === 'on' && state.latch.delivery !== 'eager'
  const bridged = on && state.latch?.delivery === 'bridge' && call.name === BRIDGE_NAME
  let given: unknown = 'value' in call.input ? call.input.value : call.input.unparsable
  const fail = (
    reason: FailureReason,
    text: string,
    tool = '',
    asked = call.name,
    alias?: string,
  ): Verdict => {
    // The target and its arguments, not how they were spelt or wrapped: a loop is a loop.
    const key = tool === '' ? keyOf(asked, given) : keyOf(tool, given)
    const repeated = (state.failures.get(key) ?? 0) >= 2
    const answer = repeated ? prompts.repeated({ name: quote(asked) }) : text
    return {
      kind: 'answer',
      call,
      outcome: { kind: reason, tool, asked, text: answer },
      facts: [
        {
          kind: 'call-failed',
          tool,
          asked,
          reason,
          key,
          ...(alias === undefined ? {} : { alias }),
          tokens: settings.tokenizer.count(answer),
        },
      ],
    }
  }
  const unparsable = 'unparsable' in call.input
  if (on && call.name === loader) {
    if (gate.standing(metaEntry(loader), 'call') === 'denied')
      return fail('denied', prompts.denied({ name: loader }))
    return unparsable
      ? fail('invalid', prompts.badArguments({ name: loader, problem: quote(problemOf(call)) }))
      : undefined
  }
  if (unparsable)
    return fail('invalid', prompts.badArguments({ name: quote(call.name), problem: quote(problemOf(call)) }))

  const value = 'value' in call.input ? call.input.value : {}
  const wrapped = bridged ? unwrap(value) : isRecord(value) && { name: call.name, input: value }
  if (!wrapped) {
    const problem = bridged ? 'it needs "name" (a string) and "arguments" (an object)' : 'it is not an object'
    return fail('invalid', prompts.badArguments({ name: quote(call.name), problem }))
  }
  if (bridged && (wrapped.name === BRIDGE_NAME || wrapped.name === loader))
    return fail('invalid', prompts.bridgeMisuse({ bridge: BRIDGE_NAME }), '', wrapped.name)
  if (bridged && gate.standing(metaEntry(BRIDGE_NAME), 'call') === 'denied')
    return fail('denied', prompts.denied({ name: BRIDGE_NAME }), '', wrapped.name)

  /** `within`: the source of the tool, where the call names one. */
  const judgeTarget = (
    asked: string,
    input: Record<string, unknown>,
    { load, within }: { readonly load?: string | undefined; readonly within?: string },
  ): Verdict => {
    given = input
    const forwarded = within !== undefined
    const [source, ...twins] = forwarded ? namedSources(context, within) : []
    if (forwarded && (!source || twins.length > 0))
      return fail('unknown', prompts.unknownServer(servers(within, context)), '', asked)
    const missing = () =>
      prompts.unknown({
        asked: quote(asked),
        nearest: suggest(asked, context, batch),
        loader: on ? loader : undefined,
      })
    const pinned = pinOf(asked, state, context, source)
    if (pinned && !context.catalogue.get(pinned.id))
      return fail(
        'unavailable',
        prompts.unavailable({ name: pinned.wireName, state: 'no longer available' }),
        pinned.id,
        asked,
      )
    const resolution = resolveCall(asked, pinned, state, context, source)
    if (resolution.kind === 'none' && source && source.state !== 'ready')
      return fail(
        'unavailable',
        prompts.unavailable({ name: quote(source.name), state: source.state }),
        '',
        asked,
      )
    if (resolution.kind === 'none' || resolution.kind === 'group')
      return fail('unknown', missing(), '', asked)
    if (resolution.kind === 'ambiguous')
      return fail(
        'unknown',
        prompts.ambiguous({ asked: quote(asked), names: resolution.entries.map((entry) => entry.wireName) }),
        '',
        asked,
      )

    const { entry, alias } = resolution
    const standing = gate.standing(entry, 'see')
    if (standing !== 'ready') {
      // Denied after it was shown: the model knows the name, so it is told that the tool is gone, and no more.
      const text = prompts.unavailable({
        name: entry.wireName,
        state: standing === 'denied' ? 'no longer available' : awayState(entry, standing, context),
      })
      return fail(standing === 'denied' ? 'denied' : 'unavailable', text, entry.id, asked, alias)
    }
    const hidden = on && !isLoaded(state, entry.id)
    // Before anything that shows the schema or says how to load it.
    if (hidden && gate.standing(entry, 'activate') !== 'ready')
      return fail('denied', prompts.denied({ name: entry.wireName }), entry.id, asked, alias)
    if (load !== undefined && load !== context.loadToken(entry))
      return fail(
        'stale',
        `${prompts.stale({ name: entry.wireName })}\n${schemaLine(entry, context)}`,
        entry.id,
        asked,
        alias,
      )
    if (hidden && settings.hiddenCalls === 'hint')
      return fail(
        'hint',
        prompts.hint({
          name: entry.wireName,
          loader,
          select: selects(entry.wireName, context),
        }),
        entry.id,
        asked,
        alias,
      )
    if (hidden && settings.hiddenCalls === 'refuse')
      return fail('refused', prompts.refused({ name: entry.wireName }), entry.id, asked, alias)
    // Where the provider has the schema it holds the model to it; where it has not, this is the only check.
    const raised = on ? state.tail.get(entry.id) : undefined
    const wrapper = entry.tool.forwards
    if (
      hidden ||
      bridged ||
      forwarded ||
      wrapper ||
      !state.latch ||
      (raised?.live && !raised.pin.definition)
    ) {
      const check = context.check(entry, input)
      const detail = check.kind === 'unusable' ? check.detail : context.unsound(entry)
      if (detail !== undefined) context.notify({ kind: 'schema-unusable', tool: entry.id, detail })
      if (check.kind === 'invalid')
        return fail(
          'schema-needed',
          `${prompts.schemaNeeded({ name: entry.wireName, problems: check.problems })}\n${schemaLine(entry, context)}`,
          entry.id,
          asked,
          alias,
        )
    }
    const original = context.restore(entry, input)
    if (gate.standing(entry, 'call', original) !== 'ready')
      return fail('denied', prompts.denied({ name: entry.wireName }), entry.id, asked, alias)
    if (wrapper) {
      const meant = forwarded ? undefined : forward(entry, original, context)
      if (meant) return judgeTarget(meant.tool, meant.input, { within: meant.source })
      return fail('invalid', prompts.bridgeMisuse({ bridge: entry.wireName }), entry.id, asked, alias)
    }
    return {
      kind: 'run',
      call,
      entry,
      asked,
      alias,
      hidden,
      forwarded,
      key: keyOf(entry.id, input),
      target: {
        callId: call.callId,
        id: entry.id,
        name: entry.tool.name,
        wireName: entry.wireName,
        tool: entry.tool,
        input: original,
      },
    }
  }
  return judgeTarget(wrapped.name, wrapped.input, 'load' in wrapped ? { load: wrapped.load } : {})
}

/** What a call of a tool that stands for others means. The tool is the host's code: where it fails, nothing was meant. */
function forward(
  { id, tool }: Entry,
  input: Record<string, unknown>,
  context: Context,
): { tool: string; source: string; input: Record<string, unknown> } | undefined {
  try {
    const meant = tool.forwards?.(input)
    const inner = innerArguments(meant?.input)
    if (meant && inner) return { tool: String(meant.tool), source: String(meant.source), input: inner }
  } catch (error) {
    context.notify({ kind: 'hook-failed', hook: 'forwards', detail: `${id}: ${String(error)}` })
  }
  return undefined
}

/** The servers that a wrong name may have meant. */
function servers(asked: string, context: Context): { asked: string; names: string[] } {
  const names = namedSources(context).map(({ name }) => name)
  const near = nearest(asked, names)
  return {
    asked: quote(asked, 60),
    names: (near.length > 0 ? near : names).slice(0, 10).map((name) => quote(name, 60)),
  }
}

/** What this conversation has declared or raised under exactly this name: the model means that, whatever the catalogue calls it now. */
function pinOf(asked: string, state: LedgerState, context: Context, within?: Source): Pin | undefined {
  const raised = [...state.tail.values()].map((held) => held.pin).reverse()
  const named = [...state.eager.values(), ...raised].filter(
    (pin) => pin.wireName === asked && (!within || within.ids.has(pin.id)),
  )
  // A name may have passed from a tool that is gone to another.
  return named.find((pin) => context.catalogue.get(pin.id)) ?? named[0]
}

/** Among tools that can be used first: one that is denied or away neither answers nor makes a name ambiguous. */
function resolveCall(
  asked: string,
  pinned: Pin | undefined,
  state: LedgerState,
  context: Context,
  within?: Source,
): Resolution {
  const entry = pinned && context.catalogue.get(pinned.id)
  if (entry && knowable(entry, state, context)) return { kind: 'found', entry, deprecated: false }
  const resolve = (usable: (entry: Entry) => boolean) =>
    context.catalogue.resolve(asked, (each) => (!within || each.source === within.name) && usable(each))
  const ready = resolve((each) => context.gate.standing(each, 'see') === 'ready')
  if (ready.kind === 'found' || ready.kind === 'ambiguous') return ready
  return resolve((each) => knowable(each, state, context))
}

/** A denied tool is like one that does not exist, unless this conversation has already shown it. */
function knowable(entry: Entry, state: LedgerState, context: Context): boolean {
  if (context.gate.standing(entry, 'see') !== 'denied') return true
  return state.eager.has(entry.id) || state.tail.has(entry.id) || state.told.has(entry.id)
}

function keyOf(name: string, input: unknown): string {
  return shortHash(`${name}\n${typeof input === 'string' ? input : canonicalJson(input)}`)
}

function problemOf(call: ModelCall): string {
  return 'problem' in call.input ? call.input.problem : ''
}
