/** A call as the model made it, and how its arguments are read: whatever was sent. */
import { isRecord } from '../base/guards.js'

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

/** Reads the wrapper's input. */
export function unwrap(
  value: unknown,
): { name: string; input: Record<string, unknown>; load: string | undefined } | undefined {
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') return undefined
  const load = typeof value.load === 'string' && value.load !== '' ? value.load : undefined
  const input = innerArguments(value.arguments)
  return input && { name: value.name, input, load }
}

/** Arguments within arguments. Some models send them as JSON text; that is read too. Undefined for what is no object. */
export function innerArguments(value: unknown): Record<string, unknown> | undefined {
  let input: unknown = value ?? {}
  if (typeof input === 'string') {
    try {
      input = input.trim() === '' ? {} : JSON.parse(input)
    } catch {
      return undefined
    }
    if (isTooDeep(input)) return undefined
  }
  return isRecord(input) ? input : undefined
}

/** Arguments that would break every recursive reader of JSON behind us count as unreadable here. */
export function bounded(call: ModelCall): ModelCall {
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
