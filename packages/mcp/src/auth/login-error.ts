import { OAuthError, RegistrationRejectedError } from '@modelcontextprotocol/client'
import { createRedactor } from '../config/redact.js'
import type { ServerConfig } from '../config/server-config.js'
import { Unreachable } from '../upstream/unreachable.js'

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

// What can go wrong during one login, as errors that say what to do. Nothing secret of the server's config is in them.

export interface LoginFailures {
  make(code: LoginErrorCode, message: string, fix: string, cause?: unknown): LoginError
  /** The caller's own signal ended it; undefined where it did not. */
  ifCancelled(cause: unknown): LoginError | undefined
  notKept(cause: unknown): LoginError
  unreachable(cause: unknown): LoginError
  /** Somebody said no, or something that cannot be used; `what` follows the server's name. */
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
        `Tokens cannot be kept: ${describeLoginError(cause, hide)}.`,
        'Make the folder writable, or name another one in XDG_DATA_HOME.',
        cause,
      ),
    unreachable(cause) {
      const [why, fix] =
        cause instanceof Unreachable
          ? [cause.message, cause.fix]
          : [describeLoginError(cause, hide), 'check "url" in its config, and whether the server runs']
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
        'Try again. If it fails again, tell whoever runs the server.',
        cause,
      ),
  }
}

/** An error in one short line. */
export function describeLoginError(error: unknown, hide: (text: string) => string = (text) => text): string {
  if (error instanceof OAuthError) return toPlainLine(hide(`${error.code}, ${error.message}`))
  if (error instanceof RegistrationRejectedError)
    return toPlainLine(`registration was refused with ${error.status}`)
  if (!(error instanceof Error)) return toPlainLine(hide(String(error)))
  const inner = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return toPlainLine(hide(`${error.message}${inner}`))
}

/** What others say is shown without control characters, in one short line. */
export function toPlainLine(text: string): string {
  const line = text.replace(/[^\P{C}]|\s+/gu, ' ').trim()
  return (line.length > 300 ? `${line.slice(0, 299)}…` : line).replace(/\.$/, '')
}
