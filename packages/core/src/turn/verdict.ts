/** What becomes of a call: an answer at once, or a run of the real target. Nothing a model does throws. */
import type { Entry } from '../catalogue/catalogue.js'
import type { LedgerFact } from '../ledger/event.js'
import type { ResultPart } from '../result/part.js'
import type { SearchResult } from '../search/result.js'
import type { FailureReason } from '../tool/reasons.js'
import type { ExecuteContext } from '../tool/tool.js'
import type { ModelCall } from './model-call.js'

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
