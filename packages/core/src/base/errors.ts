/** The error class for programming mistakes and broken stores. A model's mistake is data and is never thrown. */

/** Every code, with the contents of `data`. */
export type ToolwellErrorCode =
  /** An options or config object has an unknown key or an impossible value: `{ path, nearest? }`. */
  | 'invalid-option'
  /** A tool definition cannot be used: `{ tool, problem }`. */
  | 'invalid-tool'
  /** Two tools claim one name: `{ name, tools }`. */
  | 'duplicate-tool'
  /** A setting defers an always-loaded tool: `{ tool, role }`. */
  | 'always-loaded'
  /** A manifest cannot be read: `{ problems: [{ file, path, message, fix }] }`. */
  | 'invalid-manifest'
  /** A newer version wrote the ledger: `{ ledger, found, known }`. */
  | 'ledger-too-new'
  /** A line or an event of the ledger cannot be read: `{ ledger, line }` or `{ ledger, event }`. Nothing was changed. */
  | 'ledger-corrupt'
  /** Another writer appended to this ledger first: `{ ledger, expected, found }`. Reopen it and try again. */
  | 'ledger-conflict'
  /** The store could not read or write: `{ ledger }`, with `cause`. */
  | 'store-failed'
  /** The store cannot use this ledger id, or it is taken: `{ ledger }`. */
  | 'invalid-ledger-id'
  /** The request id belongs to another history: `{ requestId }`. */
  | 'request-id-reused'
  /** A fork names a position that the ledger does not have: `{ anchor }`. */
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

  /** Works across duplicate installs of this package, where `instanceof` fails. */
  static is(value: unknown): value is ToolwellError {
    return typeof value === 'object' && value !== null && brand in value
  }
}

/** `instanceof` for any thrown value. A Proxy can throw when it is asked. */
export function isInstance<T>(value: unknown, type: abstract new (...given: never[]) => T): value is T {
  try {
    return value instanceof type
  } catch {
    return false
  }
}
