/** Judges a batch of calls against the state at its start. Nothing a model does throws: every call gets a typed outcome. */
import { type Batch, createBatch, raise, unitOf } from './activation.js'
import { schemaLine } from './announce.js'
import type { Entry } from './catalogue.js'
import type { Context } from './context.js'
import { deliveries } from './delivery/index.js'
import { canonicalJson, shortHash } from './fingerprint.js'
import { isLoaded, type LedgerState, loaderName } from './ledger.js'
import type { DropReason, FailureReason, LedgerFact, Pin } from './ledger-event.js'
import { BRIDGE_NAME, metaEntry, type SearchRequest } from './meta-tools.js'
import type { Resolution } from './name-index.js'
import { find, recordedQuery, suggest } from './search/find.js'
import { quoteName } from './search/query.js'
import { renderSearch, revealed } from './search/render.js'
import type { SearchResult } from './search/result.js'
import { quote, safeJson } from './text.js'

/** Levels of nesting in the arguments of a call. */
const MAX_DEPTH = 1000

/** One call as the model made it. */
export interface ModelCall {
  /** The provider's id. */
  readonly callId: string
  /** Names the call in the ledger; unique in the conversation, unlike some providers' ids. */
  readonly anchor: string
  readonly name: string
  /** The arguments, parsed; or the text that would not parse. */
  readonly input: { readonly value: unknown } | { readonly unparsable: string; readonly problem: string }
}

/** The call that really happens: the target, never a wrapper. This is what permissions, hooks and telemetry see. */
export interface TargetCall {
  readonly callId: string
  readonly id: string
  readonly name: string
  /** The name it is sent under. */
  readonly wireName: string
  readonly tool: Entry['tool']
  readonly input: Record<string, unknown>
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
      readonly target: TargetCall
      readonly entry: Entry
      /** The name as the model gave it, out of any wrapper. */
      readonly asked: string
      readonly alias: string | undefined
      /** Not loaded at batch start: a success raises it. */
      readonly hidden: boolean
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
            const shown = native && member.id === entry.id
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
  const wrapped = bridged ? unwrap(value) : { name: call.name, input: value, load: undefined }
  if (!wrapped || !isRecord(wrapped.input)) {
    const problem = bridged ? 'it needs "name" (a string) and "arguments" (an object)' : 'it is not an object'
    return fail('invalid', prompts.badArguments({ name: quote(call.name), problem }))
  }
  const asked = wrapped.name
  const input = wrapped.input
  given = input
  if (bridged && (asked === BRIDGE_NAME || asked === loader))
    return fail('invalid', prompts.bridgeMisuse({ bridge: BRIDGE_NAME }), '', asked)
  if (bridged && gate.standing(metaEntry(BRIDGE_NAME), 'call') === 'denied')
    return fail('denied', prompts.denied({ name: BRIDGE_NAME }), '', asked)

  const offered = on ? loader : undefined
  const missing = () =>
    prompts.unknown({ asked: quote(asked), nearest: suggest(asked, context, batch), loader: offered })
  const pinned = pinOf(asked, state, context)
  if (pinned && !context.catalogue.get(pinned.id))
    return fail(
      'unavailable',
      prompts.unavailable({ name: pinned.wireName, state: 'no longer available' }),
      pinned.id,
      asked,
    )
  const resolution = resolveCall(asked, pinned, state, context)
  if (resolution.kind === 'none' || resolution.kind === 'group') return fail('unknown', missing(), '', asked)
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
      state: standing === 'denied' ? 'no longer available' : standing,
    })
    return fail(standing === 'denied' ? 'denied' : 'unavailable', text, entry.id, asked, alias)
  }
  const hidden = on && !isLoaded(state, entry.id)
  // Before anything that shows the schema or says how to load it.
  if (hidden && gate.standing(entry, 'activate') !== 'ready')
    return fail('denied', prompts.denied({ name: entry.wireName }), entry.id, asked, alias)
  if (wrapped.load !== undefined && wrapped.load !== context.loadToken(entry))
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
  if (hidden || bridged || !state.latch || (raised?.live && !raised.pin.definition)) {
    const check = context.check(entry, input)
    if (check.kind === 'unusable')
      context.notify({ kind: 'schema-unusable', tool: entry.id, detail: check.detail })
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
  return {
    kind: 'run',
    call,
    entry,
    asked,
    alias,
    hidden,
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

/** What this conversation has declared or raised under exactly this name: the model means that, whatever the catalogue calls it now. */
function pinOf(asked: string, state: LedgerState, context: Context): Pin | undefined {
  const raised = [...state.tail.values()].map((held) => held.pin).reverse()
  const named = [...state.eager.values(), ...raised].filter((pin) => pin.wireName === asked)
  // A name may have passed from a tool that is gone to another.
  return named.find((pin) => context.catalogue.get(pin.id)) ?? named[0]
}

/** Among tools that can be used first: one that is denied or away neither answers nor makes a name ambiguous. */
function resolveCall(
  asked: string,
  pinned: Pin | undefined,
  state: LedgerState,
  context: Context,
): Resolution {
  const entry = pinned && context.catalogue.get(pinned.id)
  if (entry && knowable(entry, state, context)) return { kind: 'found', entry, deprecated: false }
  const ready = context.catalogue.resolve(asked, (each) => context.gate.standing(each, 'see') === 'ready')
  if (ready.kind === 'found' || ready.kind === 'ambiguous') return ready
  return context.catalogue.resolve(asked, (each) => knowable(each, state, context))
}

/** A denied tool is like one that does not exist, unless this conversation has already shown it. */
function knowable(entry: Entry, state: LedgerState, context: Context): boolean {
  if (context.gate.standing(entry, 'see') !== 'denied') return true
  return state.eager.has(entry.id) || state.tail.has(entry.id) || state.told.has(entry.id)
}

/** Reads the wrapper's input. Some models send the inner arguments as JSON text; that is read too. */
function unwrap(value: unknown): { name: string; input: unknown; load: string | undefined } | undefined {
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') return undefined
  const load = typeof value.load === 'string' && value.load !== '' ? value.load : undefined
  let input: unknown = value.arguments ?? {}
  if (typeof input === 'string') {
    try {
      input = input.trim() === '' ? {} : JSON.parse(input)
    } catch {
      return undefined
    }
    if (isTooDeep(input)) return undefined
  }
  return { name: value.name, input, load }
}

/** Arguments that would break every recursive reader of JSON behind us count as unreadable here. */
function bounded(call: ModelCall): ModelCall {
  if (!('value' in call.input) || !isTooDeep(call.input.value)) return call
  return { ...call, input: { unparsable: '', problem: `they are nested deeper than ${MAX_DEPTH} levels` } }
}

function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}

function keyOf(name: string, input: unknown): string {
  return shortHash(`${name}\n${typeof input === 'string' ? input : canonicalJson(input)}`)
}

function problemOf(call: ModelCall): string {
  return 'problem' in call.input ? call.input.problem : ''
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
