/**
 * Makes a history acceptable to a strict server: every call answered right behind it, every name declared.
 * Deterministic, so that a mended unit has the same bytes on every request.
 */
import { framed } from '../../announce.js'
import { BRIDGE_NAME } from '../../meta-tools.js'
import type { Prompts } from '../../prompts.js'
import type { SurfaceView } from '../../surface.js'
import { safeJson } from '../../text.js'
import { argumentsObject, argumentsText, isRecord, type Placed, type UnitCall } from './thread.js'

type Warn = (warning: string) => void

/** `callable`: every name that a call in this history may have on this request. */
export function repair(
  placed: readonly Placed[],
  view: SurfaceView,
  callable: ReadonlySet<string>,
  prompts: Prompts,
  warn: Warn,
): Placed[] {
  return settleNames(settleOrder(placed, prompts, warn), view, callable, prompts, warn)
}

/** Answers directly after their call, in the order of the calls; one each; none without a call. */
function settleOrder(placed: readonly Placed[], prompts: Prompts, warn: Warn): Placed[] {
  const output: Placed[] = []
  let index = 0
  while (index < placed.length) {
    const item = placed[index++] as Placed
    if (item.unit.kind === 'answer') {
      warn(`dropped an answer without a call (${safeJson(item.unit.callId)})`)
      continue
    }
    output.push(item)
    const calls = item.unit.kind === 'assistant' ? item.unit.calls : []
    if (calls.length === 0) continue
    // Everything up to the next assistant unit may hold an answer that a host put in late.
    const wanted = new Map<string, Placed | undefined>(calls.map((call) => [call.id, undefined]))
    const others: Placed[] = []
    while (index < placed.length && placed[index]?.unit.kind !== 'assistant') {
      const next = placed[index++] as Placed
      const id = next.unit.kind === 'answer' ? next.unit.callId : undefined
      if (id === undefined) others.push(next)
      else if (wanted.has(id) && wanted.get(id) === undefined) {
        if (others.length > 0) warn(`moved the answer to ${safeJson(id)} directly behind its call`)
        wanted.set(id, next)
      } else warn(`dropped a second answer, or one without a call (${safeJson(id)})`)
    }
    for (const [id, answer] of wanted) {
      if (!answer) warn(`answered the interrupted call ${safeJson(id)}`)
      const anchor = item.calls[calls.findIndex((call) => call.id === id)] ?? ''
      output.push(
        answer ?? { unit: { kind: 'answer', callId: id, text: prompts.interrupted() }, anchor, calls: [] },
      )
    }
    output.push(...others)
  }
  return output
}

/** Calls whose name this request does not know: through the bridge, out of it, or told as text. */
function settleNames(
  placed: readonly Placed[],
  view: SurfaceView,
  callable: ReadonlySet<string>,
  prompts: Prompts,
  warn: Warn,
): Placed[] {
  const told = new Map<string, UnitCall>()
  let pending: Placed[] = []
  const output: Placed[] = []
  for (const item of placed) {
    const { unit } = item
    const call = unit.kind === 'answer' ? told.get(unit.callId) : undefined
    if (unit.kind === 'answer' && call) {
      const sentence = prompts.toldCall({
        name: safeJson(call.name),
        input: safeJson(argumentsText(call)),
        answer: safeJson(unit.text),
      })
      const text = framed(sentence)
      pending.push({ unit: { kind: 'note', text }, anchor: item.anchor, calls: [] })
      continue
    }
    if (unit.kind !== 'answer') {
      output.push(...pending)
      pending = []
      told.clear()
    }
    if (unit.kind !== 'assistant' || unit.calls.every(({ name }) => callable.has(name))) {
      output.push(item)
      continue
    }
    const kept: UnitCall[] = []
    for (const each of unit.calls) {
      const renamed = callable.has(each.name) ? each : rename(each, callable, view)
      if (renamed) kept.push(renamed)
      else {
        told.set(each.id, each)
        warn(`told a call of ${safeJson(each.name)} as text: the name is not declared any more`)
      }
    }
    const text = unit.text === '' && kept.length === 0 ? prompts.calledSomething() : unit.text
    output.push({ ...item, unit: { ...unit, text, calls: kept, mended: true } })
  }
  return [...output, ...pending]
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
