/**
 * Converts between Node's HTTP messages and web requests and responses, and writes answers outside the protocol. The body is read
 * and parsed once, here; the web request has none. A response that is not a stream is sent in one piece.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import { isRecord } from '@toolwell/core/internal'
import type { Refusal } from './guard.js'

export class RequestTooLarge extends Error {
  constructor(most: number) {
    super(`The request must not be larger than ${most} bytes.`)
  }
}

/** Throws `RequestTooLarge` as soon as the limit is passed. */
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
      // Removes a byte order mark.
      resolve(text.startsWith('\uFEFF') ? text.slice(1) : text)
    })
    request.on('error', reject)
    // Creates the error only if needed: `close` follows every request, and a stack is expensive.
    request.on('close', () => {
      if (!request.complete) reject(new Error('The request was cut off.'))
    })
  })
}

/** Headers that the protocol reads, in addition to `Mcp-…`. */
const READ = new Set(['accept', 'content-type', 'host', 'last-event-id', 'origin'])

/**
 * The signal aborts if the client leaves before its answer. Without a `body`, the request has only the fields that are read: a
 * real `Request` takes longer to create than a call takes to judge.
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

/** Some clients send the whole URL, as to a proxy. */
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

/**
 * Milliseconds before headers are sent alone. A fast answer goes out in one piece with its headers; a subscriber gets its headers
 * early.
 */
const HEAD_WAITS = 20

/** Writes chunks as they arrive, waits if the client reads slowly, and stops when it leaves. */
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
    // The stream broke or the client left.
  }
  clearTimeout(flushing)
  response.off('close', leave)
  response.end()
}

/** The newer protocol names its version in each request. Checking it here saves the SDK's slower check. */
export function isModern(body: unknown): boolean {
  const { method, params } = isRecord(body) ? body : {}
  const meta = isRecord(params) ? params._meta : undefined
  return (
    typeof method === 'string' &&
    method !== 'initialize' &&
    isRecord(meta) &&
    meta[PROTOCOL_VERSION_META_KEY] !== undefined
  )
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Undefined for invalid paths and for paths with dot segments: `/mcp/.` would lead to all of `/mcp`. */
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

export function rpcError(message: string, code = -32000): object {
  return { jsonrpc: '2.0', error: { code, message }, id: null }
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

/** Milliseconds for which input is read after a refusal. */
const LISTENS = 5000

/**
 * Writes the whole answer, then discards input until the client has sent everything or the time is up. Closing the connection
 * earlier could lose the answer.
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

/** Does not wait for the client to close its side. */
export function refuseSocket(socket: Duplex, { status, message }: Refusal): void {
  const body = writeErrorBody(message)
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}
