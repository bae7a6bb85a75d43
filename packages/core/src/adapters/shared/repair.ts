/**
 * Repairs a history for a strict server: every call has an answer right after it, every name is declared, every id is
 * valid. The same history is always repaired to the same bytes.
 */

import { isRecord } from '../../base/data.js'
import { shortHash } from '../../base/hash.js'
import { firstLine, quote, quoteLines, safeJson } from '../../base/text.js'
import type { Insert } from '../../ledger/fold.js'
import { quoteName } from '../../search/quote-name.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { CallOutcome } from '../../turn/call-outcomes.js'
import {
  argumentsObject,
  argumentsText,
  createOpenCalls,
  describeReferences,
  hasUnreadableArguments,
  type Native,
  type Placed,
  type Unit,
  type UnitCall,
} from './thread.js'
import type { IdRules, Warn, WireTraits } from './wire.js'

/** Finds the outcome of a call, if the ledger knows it. */
export type EndOf = (call: UnitCall, anchor: string) => CallOutcome

/** `callable`: every name that a call in this history may have on this request. */
export function repairHistory(
  placed: readonly Placed[],
  view: SurfaceView,
  callable: ReadonlySet<string>,
  prompts: Prompts,
  warn: Warn,
  traits: Pick<WireTraits, 'answersAnywhere' | 'wordlessSearches' | 'codeReadsAlone'> = {},
  endOf?: EndOf,
): readonly Placed[] {
  const { answersAnywhere, wordlessSearches = false } = traits
  const ordered = repairOrder(placed, prompts, warn, answersAnywhere, endOf)
  const isNative = view.delivery === 'native'
  const referred = isNative ? ordered.map((item) => repairReferences(item, view)) : ordered
  const interrupted = traits.codeReadsAlone ? findInterruptedCode(referred) : new Set<string>()
  return repairNames(referred, view, callable, prompts, warn, wordlessSearches, interrupted)
}

/** The ids of code that waited for results when the user said something. Its calls cannot stay calls. */
function findInterruptedCode(placed: readonly Placed[]): ReadonlySet<string> {
  const interrupted = new Set<string>()
  let waiting: readonly UnitCall[] = []
  for (const { unit } of placed) {
    if (unit.kind === 'assistant') waiting = unit.calls
    else if (unit.kind !== 'answer')
      for (const { fromCode } of waiting) if (fromCode !== undefined) interrupted.add(fromCode)
  }
  return interrupted
}

/**
 * Keeps the references that the provider can resolve. A reference that was sent as text under this frozen prefix
 * stays text.
 */
function repairReferences(item: Placed, { delivery, references }: SurfaceView): Placed {
  const { unit, anchor } = item
  if (delivery !== 'native' || unit.kind !== 'answer' || !unit.loaded) return item
  if (references.anchors.has(anchor)) return item
  const loaded = unit.loaded.filter((name) => references.names.has(name))
  if (loaded.length === unit.loaded.length) return item
  const { kind, callId } = unit
  const text = describeReferences(unit.loaded)
  return { ...item, unit: { kind, callId, text, ...(loaded.length > 0 ? { loaded } : {}) } }
}

/** Gives each call one answer, right after it unless answers may be anywhere. Other answers become text. */
function repairOrder(
  placed: readonly Placed[],
  prompts: Prompts,
  warn: Warn,
  answersAnywhere = false,
  endOf: EndOf = () => undefined,
): Placed[] {
  const pairs = pairAnswers(placed)
  const output: Placed[] = []
  placed.forEach((item, index) => {
    const { unit } = item
    if (unit.kind === 'answer') {
      const pairing = pairs.pairings.get(item)
      const id = safeJson(unit.callId)
      if (pairing === 'repeats') {
        warn('answer-repeated', `dropped a repeated answer (${id})`)
        const before = output.pop()
        if (before) output.push({ ...before, also: [...(before.also ?? []), item.anchor] })
      }
      if (pairing === 'answers' && answersAnywhere) output.push(item)
      if (pairing !== undefined) return
      warn('answer-orphaned', `rewrote an answer without a call as text (${id})`)
      const text = prompts.answerAsText({ callId: id, answer: safeJson(unit.text) })
      output.push(createTextUnit(item.anchor, prompts.frame({ body: text }), output.at(-1)))
      return
    }
    output.push(item)
    if (unit.kind !== 'assistant') return
    unit.calls.forEach((call, position) => {
      const answer = pairs.answers.get(item)?.get(position)
      if (!answer) {
        const anchor = item.calls[position] ?? ''
        const ended = endOf(call, anchor)
        if (ended)
          warn(
            'answer-missing',
            `the result of ${safeJson(call.id)}, which ${ended}, is missing from this history: push the messages that run returns`,
          )
        else warn('call-interrupted', `answered the interrupted call ${safeJson(call.id)}`)
        output.push({
          unit: { kind: 'answer', callId: call.id, text: writeMissingAnswer(call, ended, prompts) },
          anchor,
          calls: [],
        })
        return
      }
      if (answersAnywhere) return
      const between = placed.slice(index + 1, pairs.places.get(answer))
      if (between.some((each) => each.unit.kind !== 'answer'))
        warn('answer-moved', `moved the answer to ${safeJson(call.id)} directly after its call`)
      output.push(answer)
    })
  })
  return output
}

/**
 * The answer for a call without one. Unless the ledger knows, it is unknown whether the call ran. A call with
 * unreadable arguments did not run.
 */
function writeMissingAnswer(call: UnitCall, outcome: CallOutcome, prompts: Prompts): string {
  if (!hasUnreadableArguments(call)) return prompts.interrupted({ outcome })
  // Not the message of the JSON parser: it differs between engine versions, and these bytes must not.
  return prompts.badArguments({ name: quote(call.name), problem: 'the text ends too early, or is malformed' })
}

/** Pairs each answer with its call, anywhere. `answers` is keyed by the position of the call in its reply. */
function pairAnswers(placed: readonly Placed[]) {
  const open = createOpenCalls<{ readonly item: Placed; readonly position: number }>()
  const answers = new Map<Placed, Map<number, Placed>>()
  const pairings = new Map<Placed, 'answers' | 'repeats'>()
  const places = new Map<Placed, number>()
  const texts = new Map<string, string>()
  for (const [index, item] of placed.entries()) {
    const { unit } = item
    places.set(item, index)
    if (unit.kind === 'assistant') open.add(unit.calls.map(({ id }, position) => [id, { item, position }]))
    if (unit.kind !== 'answer') continue
    const call = open.take(unit.callId)
    if (call) {
      answers.set(call.item, (answers.get(call.item) ?? new Map()).set(call.position, item))
      pairings.set(item, 'answers')
    } else if (texts.get(unit.callId) === unit.text) pairings.set(item, 'repeats')
    texts.set(unit.callId, unit.text)
  }
  return { answers, pairings, places }
}

/** Rewrites calls to names that this request does not declare: through the bridge, out of it, as a search, or as text. */
function repairNames(
  placed: readonly Placed[],
  view: SurfaceView,
  declared: ReadonlySet<string>,
  prompts: Prompts,
  warn: Warn,
  wordlessSearches: boolean,
  interrupted: ReadonlySet<string>,
): Placed[] {
  const isInterrupted = ({ fromCode = '' }: UnitCall) => interrupted.has(fromCode)
  const callsAsText = new Map<string, UnitCall>()
  const guessed = new Map<string, string>()
  const carried = new Set<string>()
  // Anchors of replies of which nothing is left, by the id of their last call.
  const removed = new Map<string, readonly string[]>()
  let pending: { readonly text: string; readonly anchor: string; readonly also: readonly string[] }[] = []
  const output: Placed[] = []
  const addPending = () => {
    for (const { text, anchor, also } of pending)
      output.push({ ...createTextUnit(anchor, text, output.at(-1)), also })
    pending = []
  }
  const callable = new Set(declared)
  const isNative = view.delivery === 'native'
  const changes = groupChanges(view)
  const hidden = new Set(view.declaredHidden.map(({ name }) => name))
  for (const [index, item] of placed.entries()) {
    const { unit } = item
    const call = unit.kind === 'answer' ? callsAsText.get(unit.callId) : undefined
    const found = unit.kind === 'answer' ? guessed.get(unit.callId) : undefined
    // From here on the tool is known, as after a search, unless it is removed right after.
    if (found !== undefined) callable.add(found)
    if (isNative) updateCallable(item, changes.get(placed[index - 1]?.anchor ?? ''), hidden, callable)
    if (unit.kind === 'answer' && call) {
      callsAsText.delete(unit.callId)
      guessed.delete(unit.callId)
      const sentence = prompts.callAsText({
        name: safeJson(call.name),
        input: safeJson(argumentsText(call)),
        answer: quoteLines(unit.text),
      })
      const text = prompts.frame({ body: sentence })
      if (carried.delete(unit.callId)) {
        output.push({ ...item, unit: { kind: 'answer', callId: unit.callId, text } })
        continue
      }
      if (found !== undefined) {
        const answer: Unit = { kind: 'answer', callId: unit.callId, text: '', loaded: [found] }
        output.push({ ...item, unit: answer })
      }
      pending.push({
        text,
        anchor: item.anchor,
        also: [...(removed.get(unit.callId) ?? []), ...(item.also ?? [])],
      })
      removed.delete(unit.callId)
      continue
    }
    if (unit.kind !== 'answer') addPending()
    if (
      unit.kind !== 'assistant' ||
      unit.calls.every((each) => callable.has(each.name) && !isInterrupted(each))
    ) {
      output.push(item)
      continue
    }
    const kept: UnitCall[] = []
    for (const [position, each] of unit.calls.entries()) {
      const isLost = isInterrupted(each)
      const resolved = isLost ? undefined : view.resolvedCalls.get(item.calls[position] ?? '')
      const isMeant = (name: string) => callable.has(name) || (wordlessSearches && hidden.has(name))
      const known = callable.has(each.name) || !resolved || !isMeant(resolved.wireName)
      const named = known ? each : { ...each, name: resolved.wireName }
      const rename = () =>
        callable.has(named.name) ? keepSpelling(named, each) : renameCall(each, callable, view)
      const renameNative = isLost ? undefined : rename()
      if (renameNative) kept.push(renameNative)
      else if (wordlessSearches && hidden.has(named.name) && isFound(named.name, resolved, placed, index)) {
        // A search that has no text cannot be followed by the result as text. So the search comes first, and the call
        // stays a call.
        output.push(...createSearchStep(item.calls[position] ?? '', each.id, named.name, view))
        callable.add(named.name)
        kept.push(keepSpelling(named, each))
      } else if (resolved?.guessed && hidden.has(resolved.wireName) && view.loader !== undefined) {
        callsAsText.set(each.id, each)
        guessed.set(each.id, resolved.wireName)
        kept.push(createSearch(each.id, resolved.wireName, view))
      } else {
        callsAsText.set(each.id, each)
        const why = isLost
          ? 'the user interrupted the code that made it'
          : 'the name is not declared on this request'
        warn(
          isLost ? 'call-interrupted' : 'call-undeclared',
          `rewrote a call of ${safeJson(each.name)} as text, because ${why}`,
        )
        // A message of the user would end the tool loop, so the search tool carries the call as text.
        if (view.loader === undefined || !callable.has(view.loader) || wordlessSearches) continue
        carried.add(each.id)
        kept.push(carryCall(each, view, prompts))
      }
    }
    // The call and its result follow as text of the user. The model's own message must not describe them, or the model
    // would repeat that. If the previous unit is a result, which was sent, or tools are added after it, the text must
    // not join it, so a message of the model comes between.
    const isAddedTo = isResult(output.at(-1)) || changes.has(placed[index - 1]?.anchor ?? '')
    const said = unit.text === '' && kept.length === 0 && isAddedTo ? prompts.noReply() : unit.text
    if (said !== '' || kept.length > 0 || unit.more)
      output.push({ ...item, unit: { ...unit, text: said, calls: kept, repaired: true, interrupted } })
    else removed.set(unit.calls.at(-1)?.id ?? '', [item.anchor, ...(item.also ?? [])])
  }
  addPending()
  return output
}

/**
 * Writes a tool result as text of the user, which has no higher role. It is a separate message, so that earlier
 * messages keep their bytes. After a result servers accept no message, so the text joins the result.
 */
function createTextUnit(anchor: string, text: string, before: Placed | undefined): Placed {
  return { unit: { kind: isResult(before) ? 'note' : 'user', text }, anchor, calls: [] }
}

function isResult(item: Placed | undefined): boolean {
  return item?.unit.kind === 'answer' || item?.unit.kind === 'note'
}

/** Updates the callable names after an answer that loaded tools, and after added or removed tools. */
function updateCallable(
  { unit }: Placed,
  changes: readonly Insert[] | undefined,
  hidden: ReadonlySet<string>,
  callable: Set<string>,
): void {
  if (unit.kind === 'answer') for (const name of unit.loaded ?? []) if (hidden.has(name)) callable.add(name)
  for (const insert of changes ?? []) {
    for (const { name } of insert.adds) if (hidden.has(name)) callable.add(name)
    for (const name of insert.removes) if (hidden.has(name)) callable.delete(name)
  }
}

/** Groups the added and removed tools by anchor. */
function groupChanges({ inserts }: SurfaceView): ReadonlyMap<string, readonly Insert[]> {
  const changes = new Map<string, Insert[]>()
  for (const insert of inserts)
    if (insert.adds.length > 0 || insert.removes.length > 0) {
      const some = changes.get(insert.anchor)
      if (some) some.push(insert)
      else changes.set(insert.anchor, [insert])
    }
  return changes
}

/** The call under the name of its tool, without the native piece, which has the other name. */
function keepSpelling({ native, ...call }: UnitCall, was: UnitCall): UnitCall {
  return call.name === was.name ? was : call
}

/** Writes a correct guess of a tool name as the search that finds the tool. */
function createSearch(id: string, name: string, view: SurfaceView): UnitCall {
  const parameter = findLoaderParameter(view)
  const query = parameter === 'name' ? name : `select:${quoteName(name)}`
  return { id, name: view.loader ?? '', input: { value: { [parameter]: query } } }
}

/** Writes a call that cannot be declared as text in a call of the search tool. The answer has all arguments. */
function carryCall(call: UnitCall, view: SurfaceView, prompts: Prompts): UnitCall {
  const input = firstLine(argumentsText(call), 200) || '{}'
  const text = prompts.callInSearch({ name: quoteName(call.name), input })
  return { id: call.id, name: view.loader ?? '', input: { value: { [findLoaderParameter(view)]: text } } }
}

function findLoaderParameter(view: SurfaceView): string {
  const schema = view.tools.find((tool) => tool.name === view.loader)?.inputSchema ?? {}
  const [parameter = 'query'] = (Array.isArray(schema.required) ? schema.required : []) as string[]
  return parameter
}

/** Whether the reply at this index found the tool: by a guess, or by a search in the same reply. */
function isFound(
  name: string,
  resolved: { readonly guessed: boolean } | undefined,
  placed: readonly Placed[],
  index: number,
): boolean {
  if (resolved?.guessed) return true
  const next = placed.findIndex(({ unit }, at) => at > index && unit.kind === 'assistant')
  const behind = placed.slice(index + 1, next < 0 ? placed.length : next)
  return behind.some(({ unit }) => unit.kind === 'answer' && unit.loaded?.includes(name))
}

/** Writes the search as a separate step before the reply. */
function createSearchStep(anchor: string, callId: string, name: string, view: SurfaceView): Placed[] {
  const id = `found_${shortHash(`${anchor} ${callId}`)}`
  const asked: Unit = { kind: 'assistant', text: '', calls: [createSearch(id, name, view)] }
  const answer: Unit = { kind: 'answer', callId: id, text: '', loaded: [name] }
  return [
    { unit: asked, anchor: `asked ${anchor}`, calls: [`found ${anchor}`] },
    { unit: answer, anchor: `found ${anchor}`, calls: [] },
  ]
}

function renameCall(call: UnitCall, callable: ReadonlySet<string>, view: SurfaceView): UnitCall | undefined {
  const { id, name, input } = call
  if (view.bridge !== undefined && callable.has(view.bridge) && name !== view.loader) {
    // The model's own text, not a copy of its value: it may be nested too deep to write again.
    const inner = 'value' in input ? argumentsText(call).trim() : '{}'
    const text = `{"name":${JSON.stringify(name)},"arguments":${inner === '' ? '{}' : inner}}`
    return { id, name: view.bridge, text, input: { value: { name, arguments: argumentsObject(input) } } }
  }
  if (name !== BRIDGE_NAME) return undefined
  const wrapped = argumentsObject(input)
  if (typeof wrapped.name !== 'string' || !callable.has(wrapped.name)) return undefined
  return { id, name: wrapped.name, input: { value: isRecord(wrapped.arguments) ? wrapped.arguments : {} } }
}

/**
 * Gives calls ids that a server accepts: valid characters, not too long, unique. A call and its answer change
 * together. A new id depends only on the units before it, so later requests have the same bytes. Anchors keep the
 * original ids.
 */
export function repairIds(
  placed: readonly Placed[],
  wire: string,
  rules: IdRules,
  warn: Warn,
): readonly Placed[] {
  const ids = createIds(rules)
  const open = createOpenCalls<string>()
  const { call: inCall, answer: inAnswer } = rules.fields
  const settleCall = (call: UnitCall): UnitCall => {
    const id = ids.settle(call.id)
    if (id === call.id) return call
    warn(
      'call-id-changed',
      `gave the call ${safeJson(call.id)} the id ${safeJson(id)}, because servers refuse its own or it is not unique`,
    )
    return { ...call, id, ...renamed(call.native, wire, inCall, id) }
  }
  return placed.map((item) => {
    const { unit } = item
    if (unit.kind === 'answer') {
      const callId = open.take(unit.callId) ?? ids.avoid(unit.callId)
      if (callId === unit.callId) return item
      return { ...item, unit: { ...unit, callId, ...renamed(unit.native, wire, inAnswer, callId) } }
    }
    if (unit.kind !== 'assistant' || unit.calls.length === 0) return item
    ids.nextTurn()
    const calls = unit.calls.map(settleCall)
    open.add(calls.map(({ id }, index) => [unit.calls[index]?.id ?? '', id]))
    return calls.every((call, at) => call === unit.calls[at])
      ? item
      : { ...item, unit: replaceCalls(unit, calls) }
  })
}

function createIds({ legal, max = Number.POSITIVE_INFINITY, made, scope }: IdRules) {
  const taken = new Set<string>()
  const given = new Set<string>()
  const counts = new Map<string, number>()
  const fits = (id: string) => id !== '' && id.length <= max && (legal?.test(id) ?? true)
  const numbered = (id: string, count: number) => {
    const plain = count === 1 ? id : `${id}_${count}`
    if (fits(plain)) return plain
    if (made) return made(plain)
    return `call_${shortHash(id)}${count === 1 ? '' : `_${count}`}`
  }
  return {
    nextTurn() {
      if (scope === 'history') return
      taken.clear()
      counts.clear()
    },
    settle(id: string): string {
      let count = counts.get(id) ?? 1
      while (taken.has(numbered(id, count))) count++
      counts.set(id, count + 1)
      const settled = numbered(id, count)
      taken.add(settled)
      if (settled !== id) given.add(settled)
      return settled
    },
    /** The id of an answer without a call must not equal a new id of a call. */
    avoid(id: string): string {
      let free = id
      while (given.has(free)) free += '_'
      return free
    },
  }
}

/**
 * If the native piece is a list that contains the calls, replaces them there. Otherwise the wire writes the piece
 * again.
 */
function replaceCalls(unit: Extract<Unit, { kind: 'assistant' }>, calls: readonly UnitCall[]): Unit {
  const { native } = unit
  const repaired = { ...unit, calls, repaired: true as const }
  if (!native || !Array.isArray(native.value)) return repaired
  let next = 0
  const value = native.value.map((piece: unknown) => {
    if (next === calls.length || piece !== unit.calls[next]?.native?.value) return piece
    return calls[next++]?.native?.value
  })
  return { ...repaired, native: { ...native, value } }
}

function renamed(
  native: Native | undefined,
  wire: string,
  field: string,
  id: string,
): { readonly native?: Native } {
  if (native?.wire !== wire || !isRecord(native.value)) return {}
  return { native: { wire, value: { ...native.value, [field]: id } } }
}
