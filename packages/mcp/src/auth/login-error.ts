/** Errors of logins. Each says what to do; none contains a token, a code or a secret. */
import { OAuthError, RegistrationRejectedError } from '@modelcontextprotocol/client'
import { createRedactor } from '../config/redact.js'
import type { ServerConfig } from '../config/server-config.js'
import { Unreachable } from '../upstream/unreachable.js'

export type LoginErrorCode =
  /** The server is a local program, which has no login. */
  | 'not-remote'
  /** It did not answer, or is not an MCP server. */
  | 'unreachable'
  /** It can be used without a login. */
  | 'not-needed'
  /** It wants credentials, and does not say where to log in. */
  | 'unsupported'
  /** The authorization server does not accept this program as a client. */
  | 'not-registered'
  /** The user or the authorization server refused. */
  | 'denied'
  /** Nobody answered in time. */
  | 'timeout'
  /** Only answers to other logins arrived. */
  | 'wrong-state'
  /** The answer was right, but the server gave no token. */
  | 'failed'
  /** The callback port is in use. */
  | 'port-taken'
  /** Tokens cannot be stored. */
  | 'not-kept'
  | 'cancelled'

const brand = Symbol.for('toolwell.mcp.login-error')

export class LoginError extends Error {
  readonly code: LoginErrorCode
  readonly server: string
  /** What to do about it, as a sentence. */
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

  /** Works across duplicate installs of this package, unlike `instanceof`. */
  static is(value: unknown): value is LoginError {
    return typeof value === 'object' && value !== null && brand in value
  }
}

/** Creates the errors of one login, without secrets. */
export interface LoginFailures {
  make(code: LoginErrorCode, message: string, fix: string, cause?: unknown): LoginError
  /** An error if the caller's signal ended the login. */
  ifCancelled(cause: unknown): LoginError | undefined
  notKept(cause: unknown): LoginError
  unreachable(cause: unknown): LoginError
  /** A server refused, or sent an unusable answer. `what` follows the server's name. */
  refused(what: string, cause: unknown): LoginError
}

export function createLoginFailures(server: ServerConfig, signal: AbortSignal | undefined): LoginFailures {
  const { name } = server
  const hide = createRedactor(server)
  const make: LoginFailures['make'] = (code, message, fix, cause) =>
    new LoginError(code, name, hide(message), hide(fix), { cause })
  return {
    make,
    ifCancelled: (cause) =>
      signal?.aborted ? make('cancelled', 'The login was cancelled.', 'Run it again.', cause) : undefined,
    notKept: (cause) =>
      make(
        'not-kept',
        `Tokens cannot be stored: ${describeLoginError(cause, hide)}.`,
        'Make the folder writable, or set another one with XDG_DATA_HOME.',
        cause,
      ),
    unreachable(cause) {
      const [why, fix] =
        cause instanceof Unreachable
          ? [`${cause.message}${cause.movedTo === undefined ? '' : `, to ${cause.movedTo}`}`, cause.fix]
          : [describeLoginError(cause, hide), 'check "url" in its config, and that the server is running']
      return make(
        'unreachable',
        `${name} does not answer as an MCP server: ${why}.`,
        `${fix.charAt(0).toUpperCase()}${fix.slice(1)}.`,
        cause,
      )
    },
    refused: (what, cause) =>
      make(
        'failed',
        `${name} ${what}: ${describeLoginError(cause, hide)}.`,
        'Try again. If it fails again, tell the operator of the server.',
        cause,
      ),
  }
}

/** Describes an error in one short line. */
export function describeLoginError(error: unknown, hide: (text: string) => string = (text) => text): string {
  if (error instanceof OAuthError) return toPlainLine(hide(`${error.code}, ${error.message}`))
  if (error instanceof RegistrationRejectedError)
    return toPlainLine(`registration was refused with ${error.status}`)
  if (!(error instanceof Error)) return toPlainLine(hide(String(error)))
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return toPlainLine(hide(`${error.message}${inner}`))
}

/** Turns a foreign text into one short line without control characters. */
export function toPlainLine(text: string): string {
  const line = text.replace(/[^\P{C}]|\s+/gu, ' ').trim()
  return (line.length > 300 ? `${line.slice(0, 299)}…` : line).replace(/\.$/, '')
}
