/** Whether a connection is gone, and whether the server can have seen the call that was on it. */
import {
  type JSONRPCErrorResponse,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client'
import { statusOf } from './http-status.js'
import { needsLogin } from './open-client.js'

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
export function brokenOff(id: RequestId): JSONRPCErrorResponse {
  const error = { code: ProtocolErrorCode.InternalError, message: 'the answer broke off', data: BROKEN_OFF }
  return { jsonrpc: '2.0', id, error }
}

const BROKEN_OFF = Object.freeze({})

/** Tells an answer with an error from a connection that is gone. */
export function lostOr(error: unknown, isClosed: boolean, epitaph: string | undefined): unknown {
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
  const status = statusOf(error)
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
