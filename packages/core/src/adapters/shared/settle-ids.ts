/**
 * Gives calls ids that a server takes: of its form, not too long, none twice. A call and its answer change together.
 * What a call is named here depends only on what stands before it, so it has the same bytes on every later request.
 * Names in the ledger are made from the ids as they were.
 */

import { isRecord } from '../../base/guards.js'
import { shortHash } from '../../base/hash.js'
import { safeJson } from '../../base/text.js'
import { createOpenCalls } from './open-calls.js'
import type { Native, Placed, Unit, UnitCall } from './thread.js'
import type { Warn } from './warning.js'

/** What the servers of a wire demand of the ids of calls. */
export interface IdRules {
  readonly legal?: RegExp
  /** Characters. */
  readonly max?: number
  /** A legal id in the place of one that is not. Default: a hash behind `call_`. */
  readonly made?: (id: string) => string
  /** Where an id may occur only once: among the calls of one reply, or in the whole history. */
  readonly scope: 'turn' | 'history'
  /** What the id is called in the native piece of a call, and in that of an answer. */
  readonly fields: { readonly call: string; readonly answer: string }
}

export function settleIds(
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
      `gave the call ${safeJson(call.id)} the id ${safeJson(id)}: servers refuse its own, or it stood there before`,
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
      : { ...item, unit: withCalls(unit, calls) }
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
    /** The id of an answer without a call must not become that of a call which got its id here. */
    avoid(id: string): string {
      let free = id
      while (given.has(free)) free += '_'
      return free
    },
  }
}

/** A native list holds the natives of its calls, in their order: there they are replaced. Any other piece is written anew by its wire. */
function withCalls(unit: Extract<Unit, { kind: 'assistant' }>, calls: readonly UnitCall[]): Unit {
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
