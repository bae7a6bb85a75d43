/** Notices: what a host should know that is no conversation's state. */

import type { SourceChange } from './source.js'

export type Notice =
  /** A source joined, changed, left, or had a definition approved. It belongs to no conversation. */
  | ({ readonly kind: 'source-changed' } & SourceChange)
  /** A policy threw or gave no boolean. The tool was treated as denied. */
  | {
      readonly kind: 'policy-failed'
      readonly tool: string
      readonly action: string
      readonly detail: string
    }
  /** The host's searcher threw or answered nonsense. The built-in one was used instead. */
  | { readonly kind: 'searcher-failed'; readonly query: string; readonly detail: string }
  /** What was learned from use could not be read or written. Searches go on without it. */
  | { readonly kind: 'usage-failed'; readonly detail: string }
  /** The loader is denied or missing: every tool is sent eagerly. */
  | { readonly kind: 'loader-unavailable'; readonly detail: string }
  /** A delivery that was asked for, or in use, cannot be had here: the next best one is used. */
  | { readonly kind: 'delivery-unavailable'; readonly delivery: DeliveryName; readonly detail: string }
  /** The store could not append. Nothing of that step was recorded. */
  | {
      readonly kind: 'append-failed'
      readonly step: 'begin' | 'start' | 'settle' | 'measure'
      readonly detail: string
    }
  /** The model keeps calling tools it cannot see and has never searched. Consider `surface.affordance: 'strong'`. */
  | { readonly kind: 'search-ignored'; readonly hiddenCalls: number }
  /** A tool's schema, or a part of it, could not be used to check arguments (an unresolved reference, or too many steps). */
  | { readonly kind: 'schema-unusable'; readonly tool: string; readonly detail: string }
  /** A tool answered after its time limit. The model had been told that the outcome is unknown. */
  | { readonly kind: 'late-result-dropped'; readonly tool: string; readonly callId: string }
  /** A call that was started before was answered, and not run again: a reply that was run twice, or an id that two conversations use. */
  | {
      readonly kind: 'call-fenced'
      readonly tool: string
      readonly callId: string
      /** What came of it, where the ledger knows. */
      readonly outcome?: 'succeeded' | 'failed'
    }
  /** Figures of a provider that cannot be true were given to `recordRequest`, and left out. */
  | { readonly kind: 'usage-refused'; readonly requestId: string; readonly detail: string }
  /** What an adapter noticed about a history: `warnings` of a turn. Each is told once. */
  | { readonly kind: 'history-warning'; readonly code: string; readonly detail: string }
  /** Names in `eager` or `rules` that no tool has, once all sources are there. They belong to no conversation. */
  | { readonly kind: 'option-unmatched'; readonly option: string; readonly detail: string }
  /** The host's own listener or hook threw. */
  | { readonly kind: 'hook-failed'; readonly hook: string; readonly detail: string }

/** Why a tool was loaded, left out of an answer, or not run; and how it reaches the model. */

export type DeliveryName = 'eager' | 'append' | 'bridge' | 'native'

export type LoadSource = 'search' | 'select' | 'call' | 'pin' | 'operator' | 'import' | 'inherit' | 'arrival'

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

/** Why a call did not do what it was meant to do. Only `error` counts as a failure of the tool itself; what `timed-out` did is not known. */
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
