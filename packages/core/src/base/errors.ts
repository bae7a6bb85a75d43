/** The one error class. It is for programmers' mistakes and broken stores; what a model did is data, never a throw. */

/** Every code a caller may meet, with what `data` carries. */
export type ToolwellErrorCode =
  /** An options or config object holds an unknown key or an impossible value: `{ path, nearest? }`. */
  | 'invalid-option'
  /** A tool definition cannot be used: `{ tool, problem }`. */
  | 'invalid-tool'
  /** Two tools claim one name: `{ name, tools }`. */
  | 'duplicate-tool'
  /** A config would defer a tool that must stay eager: `{ tool, role }`. */
  | 'floor'
  /** A manifest cannot be read: `{ problems: [{ file, path, message, fix }] }`. */
  | 'invalid-manifest'
  /** A ledger was written by a newer format: `{ ledger, found, known }`. */
  | 'ledger-too-new'
  /** A ledger holds a line or an event that cannot be read: `{ ledger, line }` or `{ ledger, event }`. Nothing was changed. */
  | 'ledger-corrupt'
  /** Someone else appended to this ledger first: `{ ledger, expected, found }`. Reopen and try again. */
  | 'ledger-conflict'
  /** The store could not read or write: `{ ledger }`, with `cause`. */
  | 'store-failed'
  /** A ledger id that the store cannot use, or that is taken: `{ ledger }`. */
  | 'invalid-ledger-id'
  /** A request id was used before, for another history: `{ requestId }`. */
  | 'request-id-reused'
  /** A fork names an anchor that the ledger does not hold: `{ anchor }`. */
  | 'unknown-anchor'

const brand = Symbol.for('toolwell.error')

export class ToolwellError extends Error {
  readonly code: ToolwellErrorCode
  readonly data: Readonly<Record<string, unknown>>
  readonly [brand] = true

  constructor(
    code: ToolwellErrorCode,
    message: string,
    data: Record<string, unknown> = {},
    options: { cause?: unknown } = {},
  ) {
    super(message, options)
    this.name = 'ToolwellError'
    this.code = code
    this.data = data
  }

  /** Holds across duplicate installs of this package, where `instanceof` does not. */
  static is(value: unknown): value is ToolwellError {
    return typeof value === 'object' && value !== null && brand in value
  }
}
