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
