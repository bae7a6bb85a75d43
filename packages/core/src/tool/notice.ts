/** Notices: events for the host that are not stored in a ledger. Also the reasons that events share. */

import type { SourceChange } from './source.js'

export type Notice =
  /** A source was added, changed or removed, or one of its definitions was approved. Not tied to a conversation. */
  | ({ readonly kind: 'source-changed' } & SourceChange)
  /** A policy threw or did not return a boolean. The tool counts as denied. */
  | {
      readonly kind: 'policy-failed'
      readonly tool: string
      readonly action: string
      readonly detail: string
    }
  /** The host's searcher threw or returned an invalid answer. The built-in searcher was used instead. */
  | { readonly kind: 'searcher-failed'; readonly query: string; readonly detail: string }
  /** Learned usage could not be read or written. Searches work without it. */
  | { readonly kind: 'usage-failed'; readonly detail: string }
  /** The search tool is denied or missing: every tool is sent eagerly. */
  | { readonly kind: 'loader-unavailable'; readonly detail: string }
  /** The requested or current delivery is not available here. The next best delivery is used. */
  | { readonly kind: 'delivery-unavailable'; readonly delivery: DeliveryName; readonly detail: string }
  /** The store could not append. Nothing of this step was recorded. */
  | {
      readonly kind: 'append-failed'
      readonly step: 'begin' | 'start' | 'settle' | 'measure'
      readonly detail: string
    }
  /** The model keeps calling tools it cannot see and has never searched. Consider `surface.affordance: 'strong'`. */
  | { readonly kind: 'search-ignored'; readonly hiddenCalls: number }
  /** A schema, or a part of it, could not be used to check arguments (an unresolved reference, or too many steps). */
  | { readonly kind: 'schema-unusable'; readonly tool: string; readonly detail: string }
  /** A tool answered after its time limit. The model had already read that the outcome is unknown. */
  | { readonly kind: 'late-result-dropped'; readonly tool: string; readonly callId: string }
  /** A call had already started, so it was answered and not run again: the reply was run twice, or two conversations use one call id. */
  | {
      readonly kind: 'call-fenced'
      readonly tool: string
      readonly callId: string
      /** The outcome of the first run, if the ledger has it. */
      readonly outcome?: 'succeeded' | 'failed'
    }
  /** `recordRequest` got impossible figures of a provider, and ignored them. */
  | { readonly kind: 'usage-refused'; readonly requestId: string; readonly detail: string }
  /** A warning of an adapter about the history, as in `turn.warnings`. Each is reported once. */
  | { readonly kind: 'history-warning'; readonly code: string; readonly detail: string }
  /** A name in `eager` or `rules` matches no tool, although all sources are connected. Not tied to a conversation. */
  | { readonly kind: 'option-unmatched'; readonly option: string; readonly detail: string }
  /** A listener or hook of the host threw. */
  | { readonly kind: 'hook-failed'; readonly hook: string; readonly detail: string }

/** How a loaded tool reaches the model. */
export type DeliveryName = 'eager' | 'append' | 'bridge' | 'native'

/** Why a tool was loaded. */
export type LoadSource = 'search' | 'select' | 'call' | 'pin' | 'operator' | 'import' | 'inherit' | 'arrival'

/** Why a search answer omits or does not load a tool. */
export type DropReason =
  | 'load-limit'
  | 'below-cut-off'
  | 'too-large'
  | 'result-budget'
  | 'cap'
  | 'wire-limit'
  | 'group-incomplete'
  | 'diversity'

export interface Dropped {
  readonly tool: string
  readonly reason: DropReason
}

/** Why a call did not succeed. Only `error` is a failure of the tool itself. After `timed-out`, the outcome is unknown. */
export type FailureReason =
  | 'error'
  | 'timed-out'
  | 'already-started'
  | 'schema-needed'
  | 'hint'
  | 'refused'
  | 'denied'
  | 'unavailable'
  | 'unknown'
  | 'stale'
  | 'invalid'
