/** What can go wrong with a login. Each says what to do; none carries a token, a code or a secret. */

export type LoginErrorCode =
  /** The server is a program of this machine, and is not logged in to. */
  | 'not-remote'
  /** It did not answer, or not as an MCP server does. */
  | 'unreachable'
  /** It can be used without a login. */
  | 'not-needed'
  /** It wants credentials, and does not say where a login can be had. */
  | 'unsupported'
  /** The authorization server does not take this program as a client. */
  | 'not-registered'
  /** The user, or the authorization server, said no. */
  | 'denied'
  /** Nobody answered in time. */
  | 'timeout'
  /** The only answers that came belong to another login. */
  | 'wrong-state'
  /** The answer was right, and no token was given for it. */
  | 'failed'
  /** The port of the callback is taken. */
  | 'port-taken'
  /** Tokens cannot be kept. */
  | 'not-kept'
  | 'cancelled'

const brand = Symbol.for('toolwell.mcp.login-error')

export class LoginError extends Error {
  readonly code: LoginErrorCode
  readonly server: string
  /** What to do about it; a sentence. */
  readonly fix: string
  readonly [brand] = true

  constructor(
    code: LoginErrorCode,
    server: string,
    message: string,
    fix: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options)
    this.name = 'LoginError'
    this.code = code
    this.server = server
    this.fix = fix
  }

  /** Holds across duplicate installs of this package, where `instanceof` does not. */
  static is(value: unknown): value is LoginError {
    return typeof value === 'object' && value !== null && brand in value
  }
}
