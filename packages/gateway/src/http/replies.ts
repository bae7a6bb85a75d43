/** Answers that are not the protocol's own: JSON over HTTP, whole, and to a connection that is not to be used. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Refused } from './guard.js'

/** Undefined where it is no path: `//` is none. */
export function urlOf({ url = '/' }: IncomingMessage): URL | undefined {
  try {
    return new URL(url, 'http://localhost')
  } catch {
    return undefined
  }
}

export function header(request: IncomingMessage, name: string): string | undefined {
  return [request.headers[name.toLowerCase()] ?? []].flat()[0]
}

export function rpcError(message: string): object {
  return { jsonrpc: '2.0', error: { code: -32000, message }, id: null }
}

export function reply(
  response: ServerResponse,
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
  response.end(`${JSON.stringify(value)}\n`)
}

export function refuse(response: ServerResponse, { status, message, headers = {} }: Refused): void {
  reply(response, status, rpcError(message.trim()), { Connection: 'close', ...headers })
}

/** Whoever does not close their side is not waited for. */
export function refuseSocket(socket: Duplex, { status, message }: Refused): void {
  const body = `${JSON.stringify(rpcError(message.trim()))}\n`
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}
