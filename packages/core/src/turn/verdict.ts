/** The types of a call, of its verdict (an answer, or a run of the target) and of its outcome. */

import type { Entry } from '../catalogue/catalogue.js'
import type { LedgerFact } from '../ledger/event.js'
import type { ResultPart } from '../result/part.js'
import type { SearchResult } from '../search/result.js'
import type { FailureReason } from '../tool/notice.js'
import type { ExecuteContext } from '../tool/tool.js'

/** The call that runs. It is the target, never a wrapper. Permissions, hooks and telemetry see this call. */
export interface TargetCall {
  readonly callId: string
  readonly id: string
  readonly name: string
  /** The name in requests. */
  readonly wireName: string
  readonly tool: Entry['tool']
  readonly input: Record<string, unknown>
  /** The second argument of `tool.execute`. */
  readonly context: ExecuteContext
}

export type Outcome =
  | { readonly kind: 'search'; readonly result: SearchResult; readonly text: string }
  | {
      readonly kind: 'result'
      readonly tool: string
      readonly value: unknown
      readonly text: string
      /** Present if the result is more than text. */
      readonly parts?: readonly ResultPart[]
      /** Handles of kept results, which were too large to send. */
      readonly kept?: readonly string[]
    }
  | {
      readonly kind: FailureReason
      readonly tool: string
      readonly asked: string
      readonly text: string
      /** The outcome of a call that was already started, if the ledger knows it. */
      readonly ended?: 'succeeded' | 'failed'
      /** Present if a tool failed with more than text. */
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
  /** The tool's name as the model wrote it, without the wrapper. */
  readonly asked: string
  readonly alias: string | undefined
  /** Not loaded when the batch started: a success loads it. */
  readonly hidden: boolean
  /** The model called another tool, which forwarded the call to this one. */
  readonly forwarded: boolean
  readonly key: string
}

export type Verdict = AnswerVerdict | RunVerdict

/** One call as the model wrote it. */
export interface ModelCall {
  /** The provider's id. */
  readonly callId: string
  /** The call's position in the ledger. Unique in the conversation, unlike some providers' ids. */
  readonly anchor: string
  readonly name: string
  /** `code`: code that the provider runs made the call. Absent: the model did. */
  readonly caller?: 'code'
  /** The parsed arguments, or the text that could not be parsed. */
  readonly input: { readonly value: unknown } | { readonly unparsable: string; readonly problem: string }
}
