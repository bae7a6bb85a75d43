/** What a host gives an adapter besides its history, checked: a mistake there is told where it is made. */

import { isRecord } from '../../base/data.js'
import { describeKind, invalid } from '../../base/options.js'
import type { Unit } from './thread.js'

const KINDS: readonly unknown[] = ['system', 'user', 'assistant', 'answer', 'note'] satisfies Unit['kind'][]

/** A thread comes from `thread` of an adapter, perhaps by way of a store. */
export function assertThread(thread: unknown): void {
  const from = 'what thread() of an adapter gave, as it was or from JSON'
  if (!Array.isArray(thread)) throw invalid('thread', `adopt takes ${from}, not ${describeKind(thread)}.`)
  const broken = thread.findIndex((unit: unknown) => !isUnit(unit))
  if (broken >= 0) throw invalid('thread', `adopt takes ${from}; entry ${broken} of this list is none of it.`)
}

function isUnit(value: unknown): boolean {
  if (!isRecord(value) || !KINDS.includes(value.kind) || typeof value.text !== 'string') return false
  if (value.kind === 'answer' && typeof value.callId !== 'string') return false
  if (value.kind === 'assistant' && !(Array.isArray(value.calls) && value.calls.every(isUnitCall)))
    return false
  return isNative(value.native)
}

function isUnitCall(value: unknown): boolean {
  if (!isRecord(value) || typeof value.id !== 'string' || typeof value.name !== 'string') return false
  return isRecord(value.input) && isNative(value.native)
}

function isNative(value: unknown): boolean {
  if (value === undefined) return true
  return (
    isRecord(value) &&
    typeof value.wire === 'string' &&
    typeof value.value === 'object' &&
    value.value !== null
  )
}

const METHODS = ['read', 'write', 'parts', 'calls', 'answer']

export function assertWire(wire: unknown): void {
  const missing = isRecord(wire)
    ? [
        ...(typeof wire.name === 'string' ? [] : ['name']),
        ...METHODS.filter((key) => typeof wire[key] !== 'function'),
      ]
    : ['name', ...METHODS]
  if (missing.length > 0)
    throw invalid(
      'wire',
      `createAdapter takes a wire, and this one lacks ${missing.join(', ')}. See docs/adapters/writing-one.md.`,
    )
}
