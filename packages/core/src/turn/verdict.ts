/** What becomes of a call: an answer at once, or a run of the real target. Nothing a model does throws. */

import { isRecord } from '../base/data.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { LedgerFact } from '../ledger/event.js'
import type { ResultPart } from '../result/part.js'
import type { SearchResult } from '../search/result.js'
import type { FailureReason } from '../tool/notice.js'
import type { ExecuteContext } from '../tool/tool.js'

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
  | {
      readonly kind: 'result'
      readonly tool: string
      readonly value: unknown
      readonly text: string
      /** Where it is more than text. */
      readonly parts?: readonly ResultPart[]
      /** Handles of what is kept, because it is too large to send. */
      readonly kept?: readonly string[]
    }
  | {
      readonly kind: FailureReason
      readonly tool: string
      readonly asked: string
      readonly text: string
      /** Of a call that was started before: what came of it, where the ledger knows. */
      readonly ended?: 'succeeded' | 'failed'
      /** Where a tool failed with more than text. */
      readonly parts?: readonly ResultPart[]
      readonly kept?: readonly string[]
    }
  | { readonly kind: 'not-recorded'; readonly text: string }

export interface AnswerVerdict {
  readonly kind: 'answer'
  readonly call: ModelCall
  readonly outcome: Outcome
  readonly facts: readonly LedgerFact[]
}

export interface RunVerdict {
  readonly kind: 'run'
  readonly call: ModelCall
  readonly target: Omit<TargetCall, 'context'>
  readonly entry: Entry
  /** The name as the model gave it, out of any wrapper. */
  readonly asked: string
  readonly alias: string | undefined
  /** Not loaded when the batch started: a success loads it. */
  readonly hidden: boolean
  /** The model called a tool that stands for this one. */
  readonly forwarded: boolean
  readonly key: string
}

export type Verdict = AnswerVerdict | RunVerdict

// A call as the model made it, and how its arguments are read: whatever was sent.

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
  const input = readArguments(value.arguments)
  return input && { name: value.name, input, load }
}

/** Arguments within arguments. Some models send them as JSON text; that is read too. Undefined for what is no object. */
export function readArguments(value: unknown): Record<string, unknown> | undefined {
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
export function limitDepth(call: ModelCall): ModelCall {
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
