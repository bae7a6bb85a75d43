/** What went wrong with a server or a call, in words that say what to do, without anything secret. */

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

const MAY_HAVE_RUN = 'It is not known whether it did its work; check before you call it again'

export interface Failures {
  make(kind: FailureKind, message: string, cause?: unknown): McpFailure
  /** The server could not be started, reached or listed. */
  ofOpening(error: unknown, late: number | undefined): McpFailure
  /** A call did not give a result. */
  ofCall(error: unknown, tool: string, cancelled: boolean): McpFailure
}

/** A name as it is written on a command line. */
export function quoted(name: string): string {
  return /^[\w.@:/-]+$/.test(name) ? name : JSON.stringify(name)
}

/** What the user can do about a server that wants a login. A model may read it: it holds nothing that the server says. */
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
    ofOpening(error, late) {
      if (McpFailure.is(error)) return error
      if (needsLogin(error)) return login(error)
      const why =
        late === undefined
          ? messageOf(error, hide)
          : `it was not ready within ${seconds(late)}${lastWords(error)}; check that it is an MCP server and can be reached, or give it more time`
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
          `${name} did not answer ${tool} within ${seconds(timeout)}; it was told to stop. Increase "timeout" in the config if it needs longer`,
          error,
        )
      const status = describeStatus(error, hide)
      // Whatever stands before the server may say so, too, while the server is at work.
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

/** What the server itself answered, for callers that pass it on. */
function answered(cause: unknown, hide: (text: string) => string): { code?: number; data?: unknown } {
  if (!(cause instanceof ProtocolError)) return {}
  return { code: cause.code, data: hideInValue(cause.data, hide) }
}

/** What a program printed before we gave up on it. */
function lastWords(error: unknown): string {
  const words = error instanceof ProgramFailure ? error.message : ''
  return words === '' ? '' : `, and said: ${words}`
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${Math.round(milliseconds / 1000)} s`
}

/** A server may answer with a whole page. */
const MOST_CHARACTERS = 500

/** Secrets are taken out before the text is cut. */
function messageOf(error: unknown, hide: (text: string) => string): string {
  const message = hide(whole(error)).replace(/\s+/g, ' ').trim()
  return message.length > MOST_CHARACTERS ? `${message.slice(0, MOST_CHARACTERS - 1)}…` : message
}

/** `fetch failed` says nothing, so the causes are added. */
function whole(error: unknown): string {
  if (error instanceof Unreachable) return `${error.message}; ${error.fix}`
  if (error instanceof ProgramFailure) return error.message
  if (!(error instanceof Error)) return String(error)
  const said: string[] = []
  for (let at: unknown = error; at instanceof Error && said.length < 8; at = at.cause) {
    const { message } = at
    // Some tell their cause themselves.
    if (!said.some((other) => other.includes(message))) said.push(message)
  }
  return said.join(': ')
}

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

// Whether a connection is gone, and whether the server can have seen the call that was on it.

/** A call that the connection did not survive. `sent` is false where the server cannot have seen it. */
export class ConnectionLost extends Error {
  readonly sent: boolean
  constructor(message: string, sent: boolean, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'ConnectionLost'
    this.sent = sent
  }
}

/** The call has lost its answer, and the connection goes on: over HTTP, every answer comes by itself. */
export class AnswerLost extends ConnectionLost {
  constructor(options: { cause?: unknown } = {}) {
    super('its answer broke off', true, options)
    this.name = 'AnswerLost'
  }
}

/** In the place of an answer that broke off. It is known by its data, which no server can send. */
export function createBrokenOffAnswer(id: RequestId): JSONRPCErrorResponse {
  const error = { code: ProtocolErrorCode.InternalError, message: 'the answer broke off', data: BROKEN_OFF }
  return { jsonrpc: '2.0', id, error }
}

const BROKEN_OFF = Object.freeze({})

/** Tells an answer with an error from a connection that is gone. */
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

/** The server does not know our session any more, and has not run the call. Some say so only in the message. */
function isForgotten(error: unknown): boolean {
  const status = readStatus(error)
  return status === 404 || (status === 400 && error instanceof Error && /session/i.test(error.message))
}

/** Nothing listened at the address: the call was not delivered. */
function isRefused(error: unknown): boolean {
  return causes(error).some(({ code }) => code === 'ECONNREFUSED' || code === 'ENOTFOUND')
}

function isNetwork(error: unknown): boolean {
  return causes(error).some(
    ({ code, name }) =>
      typeof code === 'string' && /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(code) && name !== 'AbortError',
  )
}

/** The error, what caused it, and so on; of several tries at once, every one. */
function causes(error: unknown, depth = 0): { code?: unknown; name?: unknown }[] {
  if (typeof error !== 'object' || error === null || depth > 5) return []
  const { cause, errors } = error as { cause?: unknown; errors?: unknown }
  const several = Array.isArray(errors) ? errors.flatMap((each) => causes(each, depth + 1)) : []
  return [error, ...causes(cause, depth + 1), ...several]
}
