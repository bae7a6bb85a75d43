/** Errors of servers and calls. Messages say what to do and contain no secrets. */

import {
  type JSONRPCErrorResponse,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client'
import { hasOwnCredentials, type ServerConfig } from '../config/server-config.js'
import { hideInValue } from '../definition/clean-definition.js'
import { describeStatus, readStatus } from './http-answers.js'
import { asksForMore, needsLogin } from './open-client.js'
import { ProgramFailure } from './process-failure.js'
import { explainError, Unreachable } from './unreachable.js'

const MAY_HAVE_RUN = 'The call may have taken effect; check before you call it again'

export interface Failures {
  make(kind: FailureKind, message: string, cause?: unknown): McpFailure
  /** The server could not be started, reached or listed. */
  ofOpening(error: unknown, late: number | undefined): McpFailure
  /** A call failed without a result. */
  /** The tool is another than the one that was approved. */
  ofChange(tool: string): McpFailure
  ofCall(error: unknown, tool: string, cancelled: boolean): McpFailure
}

/** Quotes a name for a command line. */
export function quoted(name: string): string {
  return /^[\w.@:/-]+$/.test(name) ? name : JSON.stringify(name)
}

/** Advice about a missing login. Contains no text of the server, because a model may read it. */
export function loginAdvice(server: Pick<ServerConfig, 'name' | 'endpoint'>): string {
  const name = quoted(server.name)
  return hasOwnCredentials(server)
    ? `correct the Authorization header in its config, or remove it and run toolwell login ${name}`
    : `run toolwell login ${name}`
}

export function createFailures(server: ServerConfig, hide: (text: string) => string): Failures {
  const { name, timeout } = server
  const make = (kind: FailureKind, message: string, cause?: unknown) =>
    new McpFailure(kind, name, hide(message), { cause, ...answered(cause, hide) })
  const login = (cause: unknown) => {
    const scope = asksForMore(cause) ? cause.requiredScope?.replace(/[^\x21-\x7e ]/g, '').slice(0, 200) : ''
    const more = asksForMore(cause) ? ` that grants more${scope ? ` (${scope})` : ''}` : ''
    return make('needs-login', `${name} asks for a login${more}: ${loginAdvice(server)}`, cause)
  }
  const answer = (error: unknown) => {
    const status = describeStatus(error, hide)
    return status === undefined ? undefined : `it answered with ${status}`
  }
  return {
    make,
    ofChange: (tool) => make('quarantined', `${tool} of ${name} has changed since it was approved`),
    ofOpening(error, late) {
      if (McpFailure.is(error)) return error
      if (needsLogin(error)) return login(error)
      const why =
        late === undefined
          ? messageOf(error, hide)
          : `it was not ready within ${seconds(late)}${lastWords(error)}; check that it is an MCP server and can be reached, or increase "startTimeout" in its config`
      return make('unavailable', `${name} cannot be used: ${why}`, error)
    },
    ofCall(error, tool, cancelled) {
      if (McpFailure.is(error)) return error
      if (cancelled) return make('cancelled', `the call of ${tool} was cancelled`, error)
      if (needsLogin(error)) return login(error)
      if (error instanceof ConnectionLost)
        return error.sent
          ? make('lost', `${name} was lost while it ran ${tool}: ${error.message}. ${MAY_HAVE_RUN}`, error)
          : make('unavailable', `${name} cannot be used: ${answer(error.cause) ?? error.message}`, error)
      if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
        return make(
          'timeout',
          `${name} did not answer ${tool} within ${seconds(timeout)}, and the call was cancelled. Increase "timeout" in the config if it needs longer`,
          error,
        )
      const status = describeStatus(error, hide)
      // A proxy may send this status while the server is still working.
      if (status !== undefined && (readStatus(error) ?? 0) >= 500)
        return make('lost', `${name} answered ${tool} with ${status}. ${MAY_HAVE_RUN}`, error)
      if (status !== undefined) return make('error', `${name} refused ${tool}: ${answer(error)}`, error)
      const isRefusal = error instanceof ProtocolError && error.code !== ProtocolErrorCode.InternalError
      const verb = isRefusal ? 'refused' : 'could not run'
      const { endpoint } = server
      const why = endpoint.type === 'stdio' ? error : explainError(error, endpoint, { hide })
      return make('error', `${name} ${verb} ${tool}: ${messageOf(why, hide)}`, error)
    },
  }
}

/** The server's own answer, for callers that forward it. */
function answered(cause: unknown, hide: (text: string) => string): { code?: number; data?: unknown } {
  if (!(cause instanceof ProtocolError)) return {}
  return { code: cause.code, data: hideInValue(cause.data, hide) }
}

/** The last output of a program. */
function lastWords(error: unknown): string {
  const words = error instanceof ProgramFailure ? error.message : ''
  return words === '' ? '' : `, and said: ${words}`
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${Math.round(milliseconds / 1000)} s`
}

/** Limit for servers that answer with a whole page. */
const MOST_CHARACTERS = 500

/** Hides secrets before cutting the text. */
function messageOf(error: unknown, hide: (text: string) => string): string {
  const message = hide(whole(error)).replace(/\s+/g, ' ').trim()
  return message.length > MOST_CHARACTERS ? `${message.slice(0, MOST_CHARACTERS - 1)}…` : message
}

/** Adds the causes, because `fetch failed` alone says nothing. */
function whole(error: unknown): string {
  if (error instanceof Unreachable) return `${error.message}; ${error.fix}`
  if (error instanceof ProgramFailure) return error.message
  if (!(error instanceof Error)) return String(error)
  const said: string[] = []
  for (let at: unknown = error; at instanceof Error && said.length < 8; at = at.cause) {
    const { message } = at
    // Some messages already include their cause.
    if (!said.some((other) => other.includes(message))) said.push(message)
  }
  return said.join(': ')
}

export type FailureKind =
  /** The server could not be started or reached. */
  | 'unavailable'
  /** It failed repeatedly, and is not tried again for a while. */
  | 'resting'
  /** It wants a login. */
  | 'needs-login'
  /** It is disabled in the config. */
  | 'disabled'
  /** The tool is not approved, or has changed. */
  | 'quarantined'
  /** The server has no such tool. */
  | 'unknown-tool'
  /** It did not answer in time. */
  | 'timeout'
  /** The caller gave up. */
  | 'cancelled'
  /** The connection or the answer was lost while the tool ran: the call may have taken effect. */
  | 'lost'
  /** The tool, or the protocol, answered with an error. */
  | 'error'
  /** The servers were closed. */
  | 'closed'

const brand = Symbol.for('toolwell.mcp.failure')

export class McpFailure extends Error {
  readonly kind: FailureKind
  readonly server: string
  /** Code of a protocol error from the server. */
  readonly code: number | undefined
  /** Data of that protocol error, without secrets. */
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

/** The connection was lost during a call. `sent`: the server may have received the call. */
export class ConnectionLost extends Error {
  readonly sent: boolean
  constructor(message: string, sent: boolean, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'ConnectionLost'
    this.sent = sent
  }
}

/** The answer to a call was lost, but the connection still works: over HTTP, every answer has its own stream. */
export class AnswerLost extends ConnectionLost {
  constructor(options: { cause?: unknown } = {}) {
    super('its answer was interrupted', true, options)
    this.name = 'AnswerLost'
  }
}

/** Replaces an interrupted answer. Recognised by its data object, which no server can send. */
export function createBrokenOffAnswer(id: RequestId): JSONRPCErrorResponse {
  const error = {
    code: ProtocolErrorCode.InternalError,
    message: 'the answer was interrupted',
    data: BROKEN_OFF,
  }
  return { jsonrpc: '2.0', id, error }
}

const BROKEN_OFF = Object.freeze({})

/** Distinguishes an error answer from a lost connection. */
export function classifyError(error: unknown, isClosed: boolean, epitaph: string | undefined): unknown {
  if (error instanceof ProtocolError && error.data === BROKEN_OFF) return new AnswerLost({ cause: error })
  if (error instanceof ProtocolError || needsLogin(error)) return error
  const code = error instanceof SdkError ? error.code : undefined
  if (code === SdkErrorCode.RequestTimeout) return error
  const why = epitaph ?? (error instanceof Error ? error.message : String(error))
  if (code === SdkErrorCode.NotConnected) return new ConnectionLost(why, false, { cause: error })
  if (isForgotten(error)) return new ConnectionLost(why, false, { cause: error })
  if (isRefused(error)) return new ConnectionLost(why, false, { cause: error })
  if (
    isClosed ||
    code === SdkErrorCode.ConnectionClosed ||
    code === SdkErrorCode.SendFailed ||
    isNetwork(error)
  )
    return new ConnectionLost(why, true, { cause: error })
  return error
}

/** The server forgot our session and did not run the call. Some servers say so only in the message. */
function isForgotten(error: unknown): boolean {
  const status = readStatus(error)
  return status === 404 || (status === 400 && error instanceof Error && /session/i.test(error.message))
}

/** Nothing listens at the address: the call was not delivered. */
function isRefused(error: unknown): boolean {
  return causes(error).some(({ code }) => code === 'ECONNREFUSED' || code === 'ENOTFOUND')
}

function isNetwork(error: unknown): boolean {
  return causes(error).some(
    ({ code, name }) =>
      typeof code === 'string' && /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(code) && name !== 'AbortError',
  )
}

/** The error and all its causes, including those of parallel attempts. */
function causes(error: unknown, depth = 0): { code?: unknown; name?: unknown }[] {
  if (typeof error !== 'object' || error === null || depth > 5) return []
  const { cause, errors } = error as { cause?: unknown; errors?: unknown }
  const several = Array.isArray(errors) ? errors.flatMap((each) => causes(each, depth + 1)) : []
  return [error, ...causes(cause, depth + 1), ...several]
}
