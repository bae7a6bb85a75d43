/**
 * Makes a history acceptable to a strict server: every call answered right behind it, every name declared.
 * Deterministic, so that a repaired unit has the same bytes on every request.
 */

import { isRecord } from '../../base/data.js'
import { shortHash } from '../../base/hash.js'
import { quote, safeJson } from '../../base/text.js'
import type { Insert } from '../../ledger/fold.js'
import { quoteName } from '../../search/quote-name.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { CallOutcome } from '../../turn/call-outcomes.js'
import { createOpenCalls } from './open-calls.js'
import {
  argumentsObject,
  argumentsText,
  hasUnreadableArguments,
  type Placed,
  referencesText,
  type Unit,
  type UnitCall,
} from './thread.js'
import type { Warn } from './warning.js'
import type { WireTraits } from './wire.js'

/** What came of a call, where the ledger knows. */
export type EndOf = (call: UnitCall, anchor: string) => CallOutcome

/**
 * `callable`: every name that a call in this history may have on this request. `answersAnywhere`: an answer may stand
 * wherever it likes behind its call, so none is moved. `wordlessSearches`: no words fit into the answer to a search.
 */
export function repair(
  placed: readonly Placed[],
  view: SurfaceView,
  callable: ReadonlySet<string>,
  prompts: Prompts,
  warn: Warn,
  traits: Pick<WireTraits, 'answersAnywhere' | 'wordlessSearches'> = {},
  endOf?: EndOf,
): readonly Placed[] {
  const settled = settleOrder(placed, prompts, warn, traits.answersAnywhere, endOf)
  return settleForView(settled, view, callable, prompts, warn, traits)
}

/** The second half: what this request can refer to and call. The order is settled. */
export function settleForView(
  placed: readonly Placed[],
  view: SurfaceView,
  callable: ReadonlySet<string>,
  prompts: Prompts,
  warn: Warn,
  { wordlessSearches = false }: Pick<WireTraits, 'wordlessSearches'> = {},
): readonly Placed[] {
  const settled = view.delivery === 'native' ? placed.map((item) => settleReferences(item, view)) : placed
  return settleNames(settled, view, callable, prompts, warn, wordlessSearches)
}

/** What an answer refers to, as far as the provider can follow: a reference that was words once under this latch stays words. */
function settleReferences(item: Placed, { delivery, references }: SurfaceView): Placed {
  const { unit, anchor } = item
  if (delivery !== 'native' || unit.kind !== 'answer' || !unit.loaded) return item
  if (references.anchors.has(anchor)) return item
  const loaded = unit.loaded.filter((name) => references.names.has(name))
  if (loaded.length === unit.loaded.length) return item
  const { kind, callId } = unit
  const text = referencesText(unit.loaded)
  return { ...item, unit: { kind, callId, text, ...(loaded.length > 0 ? { loaded } : {}) } }
}

/** One answer for each call, directly behind it unless it may stand anywhere; what answers no call is told. */
export function settleOrder(
  placed: readonly Placed[],
  prompts: Prompts,
  warn: Warn,
  answersAnywhere = false,
  endOf: EndOf = () => undefined,
): Placed[] {
  const pairs = pairUp(placed)
  const output: Placed[] = []
  placed.forEach((item, index) => {
    const { unit } = item
    if (unit.kind === 'answer') {
      const pairing = pairs.pairings.get(item)
      const id = safeJson(unit.callId)
      if (pairing === 'repeats') warn('answer-repeated', `dropped an answer that stood there before (${id})`)
      if (pairing === 'answers' && answersAnywhere) output.push(item)
      if (pairing !== undefined) return
      warn('answer-orphaned', `told an answer without a call as text (${id})`)
      const told = prompts.toldAnswer({ callId: id, answer: safeJson(unit.text) })
      output.push(toldAt(item.anchor, prompts.frame({ body: told }), output.at(-1)))
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
            `the result of ${safeJson(call.id)}, which ${ended}, is missing from this history: push the messages that run gives`,
          )
        else warn('call-interrupted', `answered the interrupted call ${safeJson(call.id)}`)
        output.push({
          unit: { kind: 'answer', callId: call.id, text: unanswered(call, ended, prompts) },
          anchor,
          calls: [],
        })
        return
      }
      if (answersAnywhere) return
      const between = placed.slice(index + 1, placed.indexOf(answer))
      if (between.some((each) => each.unit.kind !== 'answer'))
        warn('answer-moved', `moved the answer to ${safeJson(call.id)} directly behind its call`)
      output.push(answer)
    })
  })
  return output
}

/** Whether there is nothing to settle in the order of these units. */
export function isOrderly(placed: readonly Placed[], answersAnywhere = false): boolean {
  let next: readonly (Placed | undefined)[] = []
  const { answers, pairings } = pairUp(placed)
  const isInPlace = placed.every((item) => {
    const { unit } = item
    if (unit.kind === 'answer') {
      const expected = next[0]
      next = next.slice(1)
      return answersAnywhere ? pairings.get(item) === 'answers' : expected === item
    }
    if (next.length > 0 && !answersAnywhere) return false
    next = unit.kind === 'assistant' ? unit.calls.map((_, position) => answers.get(item)?.get(position)) : []
    return next.every((answer) => answer !== undefined)
  })
  return isInPlace && (answersAnywhere || next.length === 0)
}

/** Whether an answer among these units belongs to no call among them. */
export function strays(placed: readonly Placed[]): boolean {
  const { pairings } = pairUp(placed)
  return placed.some((item) => item.unit.kind === 'answer' && pairings.get(item) !== 'answers')
}

/** Whether it ran is not known, unless the ledger does, or nobody could read its arguments: then it did not. */
function unanswered(call: UnitCall, outcome: CallOutcome, prompts: Prompts): string {
  if (!hasUnreadableArguments(call)) return prompts.interrupted({ outcome })
  // Not in the words of the engine's parser: they differ between versions of it, and this has the same bytes everywhere.
  return prompts.badArguments({ name: quote(call.name), problem: 'the text ends too early, or is malformed' })
}

/** Each answer with the call that it belongs to, wherever in the history that is; `answers` by the place of the call in its reply. */
function pairUp(placed: readonly Placed[]) {
  const open = createOpenCalls<{ readonly item: Placed; readonly position: number }>()
  const answers = new Map<Placed, Map<number, Placed>>()
  const pairings = new Map<Placed, 'answers' | 'repeats'>()
  const texts = new Map<string, string>()
  for (const item of placed) {
    const { unit } = item
    if (unit.kind === 'assistant') open.add(unit.calls.map(({ id }, position) => [id, { item, position }]))
    if (unit.kind !== 'answer') continue
    const call = open.take(unit.callId)
    if (call) {
      answers.set(call.item, (answers.get(call.item) ?? new Map()).set(call.position, item))
      pairings.set(item, 'answers')
    } else if (texts.get(unit.callId) === unit.text) pairings.set(item, 'repeats')
    texts.set(unit.callId, unit.text)
  }
  return { answers, pairings }
}

/** Calls whose name this request does not know where they stand: through the bridge, out of it, as a search, or told as text. */
function settleNames(
  placed: readonly Placed[],
  view: SurfaceView,
  declared: ReadonlySet<string>,
  prompts: Prompts,
  warn: Warn,
  wordlessSearches: boolean,
): Placed[] {
  const told = new Map<string, UnitCall>()
  const guessed = new Map<string, string>()
  const searched = new Set<string>()
  let pending: { readonly text: string; readonly anchor: string }[] = []
  const output: Placed[] = []
  const tell = () => {
    for (const { text, anchor } of pending) output.push(toldAt(anchor, text, output.at(-1)))
    pending = []
  }
  const callable = new Set(declared)
  const isNative = view.delivery === 'native'
  const changes = changesIn(view)
  const hidden = new Set(view.declaredHidden.map(({ name }) => name))
  for (const [index, item] of placed.entries()) {
    const { unit } = item
    const call = unit.kind === 'answer' ? told.get(unit.callId) : undefined
    const found = unit.kind === 'answer' ? guessed.get(unit.callId) : undefined
    // It is known from here on, as if it had been searched for, unless it is taken away again right behind.
    if (found !== undefined) callable.add(found)
    if (isNative) reveal(item, changes.get(placed[index - 1]?.anchor ?? ''), hidden, callable)
    if (unit.kind === 'answer' && call) {
      told.delete(unit.callId)
      guessed.delete(unit.callId)
      const sentence = prompts.toldCall({
        name: safeJson(call.name),
        input: safeJson(argumentsText(call)),
        answer: safeJson(unit.text),
      })
      const text = prompts.frame({ body: sentence })
      if (searched.delete(unit.callId)) {
        output.push({ ...item, unit: { kind: 'answer', callId: unit.callId, text } })
        continue
      }
      if (found !== undefined) {
        const answer: Unit = { kind: 'answer', callId: unit.callId, text: '', loaded: [found] }
        output.push({ ...item, unit: answer })
      }
      pending.push({ text, anchor: item.anchor })
      continue
    }
    if (unit.kind !== 'answer') tell()
    if (unit.kind !== 'assistant' || unit.calls.every(({ name }) => callable.has(name))) {
      output.push(item)
      continue
    }
    const kept: UnitCall[] = []
    for (const [position, each] of unit.calls.entries()) {
      const resolved = view.resolvedCalls.get(item.calls[position] ?? '')
      const isMeant = (name: string) => callable.has(name) || (wordlessSearches && hidden.has(name))
      const known = callable.has(each.name) || !resolved || !isMeant(resolved.wireName)
      const named = known ? each : { ...each, name: resolved.wireName }
      const renamed = callable.has(named.name) ? spelt(named, each) : rename(each, callable, view)
      if (renamed) kept.push(renamed)
      else if (wordlessSearches && hidden.has(named.name) && isFound(named.name, resolved, placed, index)) {
        // What the call gave could not be told behind a search: the search comes first, and the call stays a call.
        output.push(...searchedFirst(item.calls[position] ?? '', each.id, named.name, view))
        callable.add(named.name)
        kept.push(spelt(named, each))
      } else if (resolved?.guessed && hidden.has(resolved.wireName) && view.loader !== undefined) {
        told.set(each.id, each)
        guessed.set(each.id, resolved.wireName)
        kept.push(searchFor(each.id, resolved.wireName, view))
      } else {
        told.set(each.id, each)
        warn(
          'call-undeclared',
          `told a call of ${safeJson(each.name)} as text: the name is not declared on this request`,
        )
        // A model does again what it reads that it did: a search for the name, not words about a call.
        if (view.loader === undefined || !callable.has(view.loader) || wordlessSearches) continue
        searched.add(each.id)
        kept.push(searchFor(each.id, each.name, view))
      }
    }
    // What it did is told behind; words about it in its own mouth would be said again. Where tools are or may be added behind what
    // stands before it, what is told must not join that, so something has to stand between.
    const isAddedTo = isResult(output.at(-1)) || changes.has(placed[index - 1]?.anchor ?? '')
    const said = unit.text === '' && wordlessSearches && isAddedTo ? prompts.noReply() : unit.text
    if (said !== '' || kept.length > 0 || unit.more)
      output.push({ ...item, unit: { ...unit, text: said, calls: kept, repaired: true } })
  }
  tell()
  return output
}

/**
 * What tools gave, told in words: the user's, as it has no higher role. A message of its own, so that the one before it, which
 * a request has carried, stays as it was; behind a result, where servers take no message, it joins that.
 */
function toldAt(anchor: string, text: string, before: Placed | undefined): Placed {
  return { unit: { kind: isResult(before) ? 'note' : 'user', text }, anchor, calls: [] }
}

/** With what joined it. */
function isResult(item: Placed | undefined): boolean {
  return item?.unit.kind === 'answer' || item?.unit.kind === 'note'
}

/** What an answer, and what the provider was told behind the unit before it, lets the model call from then on. */
function reveal(
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

/** What the provider was told of tools, by anchor. */
function changesIn({ inserts }: SurfaceView): ReadonlyMap<string, readonly Insert[]> {
  const changes = new Map<string, Insert[]>()
  for (const insert of inserts)
    if (insert.adds.length > 0 || insert.removes.length > 0) {
      const some = changes.get(insert.anchor)
      if (some) some.push(insert)
      else changes.set(insert.anchor, [insert])
    }
  return changes
}

/** The call under the name of its tool. The native piece has the other one. */
function spelt({ native, ...call }: UnitCall, was: UnitCall): UnitCall {
  return call.name === was.name ? was : call
}

/** A guess that came true, as the search that would have led to it. */
function searchFor(id: string, name: string, view: SurfaceView): UnitCall {
  const schema = view.tools.find((tool) => tool.name === view.loader)?.inputSchema ?? {}
  const [parameter = 'query'] = (Array.isArray(schema.required) ? schema.required : []) as string[]
  const query = parameter === 'name' ? name : `select:${quoteName(name)}`
  return { id, name: view.loader ?? '', input: { value: { [parameter]: query } } }
}

/** Whether the reply at this place found the tool: by guessing it, or by a search beside the call. */
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

/** The same as a step of its own, before the reply that guessed. */
function searchedFirst(anchor: string, callId: string, name: string, view: SurfaceView): Placed[] {
  const id = `found_${shortHash(`${anchor} ${callId}`)}`
  const asked: Unit = { kind: 'assistant', text: '', calls: [searchFor(id, name, view)] }
  const answer: Unit = { kind: 'answer', callId: id, text: '', loaded: [name] }
  return [
    { unit: asked, anchor: `asked ${anchor}`, calls: [`found ${anchor}`] },
    { unit: answer, anchor: `found ${anchor}`, calls: [] },
  ]
}

function rename(call: UnitCall, callable: ReadonlySet<string>, view: SurfaceView): UnitCall | undefined {
  const { id, name, input } = call
  if (view.bridge !== undefined && callable.has(view.bridge) && name !== view.loader) {
    // The text itself, not a copy of what it means: the model may have nested it deeper than can be written again.
    const inner = 'value' in input ? argumentsText(call).trim() : '{}'
    const text = `{"name":${JSON.stringify(name)},"arguments":${inner === '' ? '{}' : inner}}`
    return { id, name: view.bridge, text, input: { value: { name, arguments: argumentsObject(input) } } }
  }
  if (name !== BRIDGE_NAME) return undefined
  const wrapped = argumentsObject(input)
  if (typeof wrapped.name !== 'string' || !callable.has(wrapped.name)) return undefined
  return { id, name: wrapped.name, input: { value: isRecord(wrapped.arguments) ? wrapped.arguments : {} } }
}
