/**
 * A request of Node's HTTP server as one of the web, and the answer to it back. A body is read and parsed once, by us: the request of
 * the web goes without it. An answer that is no stream is whole before its first byte is sent, and goes out in one piece.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Refusal } from './guard.js'

export class RequestTooLarge extends Error {
  constructor(most: number) {
    super(`The request must not be larger than ${most} bytes.`)
  }
}

/** Throws `TooLarge` as soon as that is known; what comes after is not kept. */
export async function readBody(request: IncomingMessage, most: number): Promise<string> {
  if (Number(request.headers['content-length']) > most) throw new RequestTooLarge(most)
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    request.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes <= most) pieces.push(piece)
      else {
        pieces.length = 0
        reject(new RequestTooLarge(most))
      }
    })
    request.on('end', () => {
      const [first] = pieces
      const text = (pieces.length === 1 && first ? first : Buffer.concat(pieces)).toString('utf8')
      // A mark of the byte order is no part of a text.
      resolve(text.startsWith('\uFEFF') ? text.slice(1) : text)
    })
    request.on('error', reject)
    // Every request ends like this, and an error with its stack is expensive to make.
    request.on('close', () => {
      if (!request.complete) reject(new Error('The request was cut off.'))
    })
  })
}

/** The headers that the protocol reads, besides its own (`Mcp-…`). */
const READ = new Set(['accept', 'content-type', 'host', 'last-event-id', 'origin'])

/**
 * Its signal is aborted when the client leaves before it has its answer. Without a `body` it has what is asked of a request whose
 * body was parsed, and no more: one of the web's own takes longer to make than a call to judge.
 */
export function webRequest(
  { method = 'GET', url: target = '/', headers }: IncomingMessage,
  response: ServerResponse,
  body?: string,
): Request {
  const given = new Headers()
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && (READ.has(name) || name.startsWith('mcp-'))) given.set(name, String(value))
  const url = `http://${headers.host ?? 'localhost'}${readPathAndQuery(target)}`
  if (body !== undefined) return new Request(url, { method, headers: given, body })
  let leaving: AbortSignal | undefined
  const request: Pick<Request, 'method' | 'url' | 'headers' | 'signal'> = {
    method,
    url,
    headers: given,
    get signal() {
      leaving ??= createLeaveSignal(response)
      return leaving
    },
  }
  return request as Request
}

/** Some name the whole address, as if to a proxy. */
function readPathAndQuery(url: string): string {
  if (url.startsWith('/')) return url
  const { pathname, search } = new URL(url)
  return pathname + search
}

function createLeaveSignal(response: ServerResponse): AbortSignal {
  const leaving = new AbortController()
  const leave = () => {
    if (!response.writableEnded) leaving.abort()
  }
  response.on('close', leave)
  if (response.destroyed) leave()
  return leaving.signal
}

export async function send(answer: Response, response: ServerResponse): Promise<void> {
  const headers: Record<string, string> = {}
  for (const [name, value] of answer.headers) headers[name] = value
  if (answer.body && headers['content-type']?.includes('event-stream')) {
    response.writeHead(answer.status, headers)
    return stream(answer.body, response)
  }
  const body = answer.body ? Buffer.from(await answer.arrayBuffer()) : Buffer.alloc(0)
  headers['content-length'] = String(body.length)
  response.writeHead(answer.status, headers)
  response.end(body)
}

/** Milliseconds: an answer that comes soon goes out in one piece with its head, and whoever listens learns soon that it may. */
const HEAD_WAITS = 20

/** As it comes, no faster than the client reads, and no longer than the client is there. */
async function stream(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const reader = body.getReader()
  let goOn: () => void = () => undefined
  const leave = () => {
    reader.cancel().catch(() => undefined)
    goOn()
  }
  response.on('close', leave)
  response.on('drain', () => goOn())
  if (response.destroyed) leave()
  const flushing = setTimeout(() => response.flushHeaders(), HEAD_WAITS)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      clearTimeout(flushing)
      if (done) break
      if (!response.write(value) && !response.destroyed)
        await new Promise<void>((resolve) => {
          goOn = resolve
        })
    }
  } catch {
    // What cannot be read or sent any more ends here.
  }
  clearTimeout(flushing)
  response.off('close', leave)
  response.end()
}

// Answers that are not the protocol's own: JSON over HTTP, whole, and to a connection that is not to be used.

/** Undefined where it is no path (`//` is none), or one that leads elsewhere: `/mcp/.` would be all of `/mcp`. */
export function parseUrl({ url = '/' }: IncomingMessage): URL | undefined {
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
export function refuse(response: ServerResponse, { status, message, headers = {} }: Refusal): void {
  const body = writeErrorBody(message)
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

function writeErrorBody(message: string): string {
  return `${JSON.stringify(rpcError(message.trim()))}\n`
}

/** Whoever does not close their side is not waited for. */
export function refuseSocket(socket: Duplex, { status, message }: Refusal): void {
  const body = writeErrorBody(message)
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}
