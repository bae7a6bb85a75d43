/** Why something about a server did not work. Every one of them says what to do next. */

export type FailureKind =
  /** The server could not be started or reached. */
  | 'unavailable'
  /** It failed again and again, and is left alone for a while. */
  | 'resting'
  /** It wants a login. */
  | 'needs-login'
  /** It is switched off. */
  | 'disabled'
  /** The tool's definition is not approved, or has changed. */
  | 'quarantined'
  /** The server has no such tool. */
  | 'unknown-tool'
  /** It did not answer in time. */
  | 'timeout'
  /** The caller gave up. */
  | 'cancelled'
  /** The connection, or the answer, was lost while the tool ran: nobody knows whether it did its work. */
  | 'lost'
  /** The tool, or the protocol, answered with an error. */
  | 'error'
  /** Everything has been closed. */
  | 'closed'

const brand = Symbol.for('toolwell.mcp.failure')

export class McpFailure extends Error {
  readonly kind: FailureKind
  readonly server: string
  /** Where the server answered with an error of the protocol: its code. */
  readonly code: number | undefined
  /** And what it sent with it, without secrets. */
  readonly data: unknown
  readonly [brand] = true

  constructor(
    kind: FailureKind,
    server: string,
    message: string,
    { code, data, ...options }: { cause?: unknown; code?: number | undefined; data?: unknown } = {},
  ) {
    super(message, options)
    this.name = 'McpFailure'
    this.kind = kind
    this.server = server
    this.code = code
    this.data = data
  }

  static is(value: unknown): value is McpFailure {
    return typeof value === 'object' && value !== null && brand in value
  }
}
