/** What went wrong with a server or a call, in words that say what to do, without anything secret. */
import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { hasOwnCredentials, type ServerConfig } from '../config/server-config.js'
import { hidden } from '../definition/without-secrets.js'
import { ConnectionLost } from './connection-lost.js'
import { statusLine, statusOf } from './http-status.js'
import { type FailureKind, McpFailure } from './mcp-failure.js'
import { asksForMore, needsLogin } from './open-client.js'
import { ProgramFailure } from './process-failure.js'
import { explained, Unreachable } from './unreachable.js'

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
    const status = statusLine(error, hide)
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
      const status = statusLine(error, hide)
      // Whatever stands before the server may say so, too, while the server is at work.
      if (status !== undefined && (statusOf(error) ?? 0) >= 500)
        return make('lost', `${name} answered ${tool} with ${status}. ${MAY_HAVE_RUN}`, error)
      if (status !== undefined) return make('error', `${name} refused ${tool}: ${answer(error)}`, error)
      const isRefusal = error instanceof ProtocolError && error.code !== ProtocolErrorCode.InternalError
      const verb = isRefusal ? 'refused' : 'could not run'
      const { endpoint } = server
      const why = endpoint.type === 'stdio' ? error : explained(error, endpoint, { hide })
      return make('error', `${name} ${verb} ${tool}: ${messageOf(why, hide)}`, error)
    },
  }
}

/** What the server itself answered, for callers that pass it on. */
function answered(cause: unknown, hide: (text: string) => string): { code?: number; data?: unknown } {
  if (!(cause instanceof ProtocolError)) return {}
  return { code: cause.code, data: hidden(cause.data, hide) }
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
