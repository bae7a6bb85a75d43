/** Answers that are not the protocol's own: JSON over HTTP, whole, and to a connection that is not to be used. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Refused } from './guard.js'

/** Undefined where it is no path (`//` is none), or one that leads elsewhere: `/mcp/.` would be all of `/mcp`. */
export function urlOf({ url = '/' }: IncomingMessage): URL | undefined {
  const [path = ''] = url.split(/[?#]/)
  if (/[/\\](\.|%2e){1,2}([/\\]|$)/i.test(path)) return undefined
  try {
    return new URL(url, 'http://localhost')
  } catch {
    return undefined
  }
}

export function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name.toLowerCase()]
  return Array.isArray(value) ? value[0] : value
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

/** Milliseconds for which what comes after a refusal is read. */
const LISTENS = 5000

/**
 * The whole answer at once. A connection that is closed while the client still sends takes the answer with it, so what comes is read
 * and thrown away until the client has sent all of it, or has had the time to read.
 */
export function refuse(response: ServerResponse, { status, message, headers = {} }: Refused): void {
  const body = bodyOf(message)
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...headers,
  })
  response.write(body)
  const { req: request } = response
  const end = () => {
    clearTimeout(patience)
    response.end()
  }
  const patience = setTimeout(end, LISTENS)
  patience.unref()
  request.on('end', end)
  request.on('close', end)
  request.resume()
  if (request.readableEnded) end()
}

function bodyOf(message: string): string {
  return `${JSON.stringify(rpcError(message.trim()))}\n`
}

/** Whoever does not close their side is not waited for. */
export function refuseSocket(socket: Duplex, { status, message }: Refused): void {
  const body = bodyOf(message)
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}
