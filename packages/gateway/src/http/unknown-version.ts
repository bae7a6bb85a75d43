/**
 * Requests over stdio that name a version which nobody speaks. The SDK looks at the version of a connection's first request alone;
 * over HTTP each is looked at, and here it gets the same answer.
 */
import {
  classifyInboundRequest,
  isJSONRPCRequest,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type Transport,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'

/** Of those in which each request names its version; a test holds it to what the SDK says over HTTP. */
const SUPPORTED = ['2026-07-28']

/** From now on the transport answers such requests itself. Whoever reads its messages has to be there already. */
export function answerUnknownVersions(transport: Transport): void {
  const { onmessage } = transport
  transport.onmessage = (message, extra) => {
    const answer = unsupported(message)
    if (answer) transport.send(answer).catch(() => undefined)
    else onmessage?.(message, extra)
  }
}

function unsupported(message: JSONRPCMessage): JSONRPCErrorResponse | undefined {
  if (!isJSONRPCRequest(message)) return undefined
  const found = classifyInboundRequest({ httpMethod: 'POST', body: message })
  if (found.kind !== 'modern') return undefined
  const { revision: requested } = found.classification
  if (requested === undefined || SUPPORTED.includes(requested)) return undefined
  const {
    code,
    message: text,
    data,
  } = new UnsupportedProtocolVersionError({ supported: SUPPORTED, requested })
  return { jsonrpc: '2.0', id: message.id, error: { code, message: text, data } }
}
