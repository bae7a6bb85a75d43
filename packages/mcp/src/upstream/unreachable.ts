/** Explains why a remote server could not be reached: the cause, and what to do. */

import { type FetchLike, ProtocolError, SdkErrorCode } from '@modelcontextprotocol/client'
import { dropUndefined } from '@toolwell/core/internal'
import type { HttpEndpoint } from '../config/server-config.js'
import { quoted, readAnswerText } from './http-answers.js'

/** Last answer of a server while connecting. */
export interface Seen {
  readonly status: number
  readonly type: string
  /** Redirect target without query. */
  readonly location: string | undefined
  /** The redirect target was visited before. */
  readonly isCircle: boolean
}

export interface Observer {
  readonly fetch: FetchLike
  seen(): Seen | undefined
  /** Error of the last request. The older transport forwards only its text. */
  failure(): unknown
  /** Stops observing, after the connection is open. */
  stop(): void
}

/** Observes answers to messages, but not requests of a login. */
export function observeFetch(inner: FetchLike, type: 'http' | 'sse'): Observer {
  const visited = new Set<string>()
  let seen: Seen | undefined
  let failure: unknown
  let isOver = false
  const observed: FetchLike = async (address, init) => {
    const isMessage = init?.method === 'POST' || type === 'sse'
    const isOurs = isMessage && (new Headers(init?.headers).get('accept') ?? '').includes('text/event-stream')
    if (!isOurs) return inner(address, init)
    seen = undefined
    failure = undefined
    const from = new URL(address)
    visited.add(placeOf(from))
    const response = await inner(address, init).catch((error: unknown) => {
      failure = error
      throw error
    })
    const given = response.headers.get('location')
    const to = given !== null && URL.canParse(given, from.href) ? new URL(given, from) : undefined
    seen = {
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      location: to && placeOf(to),
      isCircle: to !== undefined && visited.has(placeOf(to)),
    }
    return response
  }
  return {
    seen: () => seen,
    failure: () => failure,
    fetch: (address, init) => (isOver ? inner : observed)(address, init),
    stop() {
      isOver = true
    },
  }
}

const placeOf = ({ origin, pathname }: URL) => `${origin}${pathname}`

export class Unreachable extends Error {
  /** What to do about it, without a full stop. */
  readonly fix: string
  /** Redirect target. The server chose it, so it is not part of the message, which a model may read. */
  readonly movedTo: string | undefined

  constructor(why: string, fix: string, cause: unknown, movedTo?: string) {
    super(why, { cause })
    this.name = 'Unreachable'
    this.fix = fix
    this.movedTo = movedTo
  }
}

type Explained = readonly [why: string, fix: string, movedTo?: string]

/** Returns the error itself if nothing better is known. */
export function explainError(
  error: unknown,
  endpoint: HttpEndpoint,
  {
    seen,
    failure,
    hide = (text) => text,
  }: {
    readonly seen?: Seen | undefined
    readonly failure?: unknown
    readonly hide?: (text: string) => string
  } = {},
): unknown {
  const { url } = endpoint
  // The server uses MCP and explains the error itself.
  if (error instanceof ProtocolError) return error
  if (!URL.canParse(url))
    return new Unreachable('the url is not an address', 'write it in full: "https://example.com/mcp"', error)
  const address = new URL(url)
  const [why, fix, movedTo] =
    ofNetwork(error, address) ??
    ofNetwork(failure, address) ??
    (seen && ofAnswer(seen, hide(readAnswerText(error)), endpoint)) ??
    []
  return why === undefined || fix === undefined ? error : new Unreachable(why, fix, error, movedTo)
}

function ofNetwork(error: unknown, { host, hostname, port, protocol }: URL): Explained | undefined {
  const isSecure = protocol === 'https:'
  for (const { code = '', message } of causesOf(error)) {
    if (/^(?:ENOTFOUND|EAI_\w+)$/.test(code))
      return [
        `the host ${hostname} is not known (${code})`,
        'check the spelling of "url" and your network connection',
      ]
    if (code === 'ECONNREFUSED')
      return [
        `nothing listens on ${host} (${code})`,
        `start the server, or correct ${port === '' ? '"url"' : 'the port in "url"'}`,
      ]
    if (/^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|UND_ERR_CONNECT_TIMEOUT)$/.test(code))
      return [
        `${host} cannot be reached (${code})`,
        'check the address, and the network, VPN or proxy between here and there',
      ]
    if (code === 'CERT_HAS_EXPIRED')
      return [`the certificate of ${host} has expired`, 'tell the operator of the server']
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
      return [
        `the certificate of ${host} is for another host`,
        'use the host name of the certificate in "url", or tell the operator of the server',
      ]
    if (/^(?:DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_(?:VERIFY|GET)_/.test(code))
      return [
        `the certificate of ${host} is not signed by an authority that this machine trusts (${code})`,
        'if you trust it, set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority',
      ]
    if (isSecure && /wrong.version.number|packet.length.too.long/i.test(`${code} ${message}`))
      return [
        `${host} does not speak TLS`,
        'write "http://" instead of "https://" in "url" if the server has no TLS, or correct the port',
      ]
    if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
      return [
        `${host} and this machine have no TLS version in common (${code})`,
        'tell the operator of the server',
      ]
    // Node 24 gives no code here.
    if (code.startsWith('HPE_') || message.includes('does not match the HTTP/1.1 protocol'))
      return [`${host} does not speak HTTP`, 'correct the port in "url"']
    if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE')
      return [
        `${host} closed the connection without an answer`,
        isSecure
          ? 'see the log of the server'
          : 'write "https://" instead of "http://" in "url" if the server uses TLS; otherwise see its log',
      ]
    if (code === SdkErrorCode.RequestTimeout)
      return ['it did not answer in time', 'check that it is an MCP server and that it is running']
    if (message === 'bad port')
      return [
        `web requests to port ${port} are blocked`,
        'correct the port in "url", or configure the server to use another port',
      ]
    if (message.includes('includes credentials'))
      return [
        'the url contains a user name or password',
        'write "headers": { "Authorization": "Basic ${NAME_OF_A_VARIABLE}" } instead',
      ]
  }
  return undefined
}

function ofAnswer(seen: Seen, answer: string, { headers, type: kind }: HttpEndpoint): Explained | undefined {
  const { status, type, location, isCircle } = seen
  const path = `check the path of "url": most end in /mcp, older ones in /sse${kind === 'auto' ? '' : '; or remove "type"'}`
  if (status >= 300 && status < 400) {
    if (isCircle)
      return [
        `its address redirects in a circle (${status})`,
        'check "url", and tell the operator of the server',
      ]
    return location === undefined
      ? [`its address redirects without saying where to (${status})`, path]
      : [
          `its address has moved (${status})`,
          'Toolwell does not follow redirects: if you trust the new address, which toolwell status shows, write it into "url"',
          location,
        ]
  }
  if (status === 403)
    return [
      'it denies access (403)',
      Object.keys(headers).length > 0
        ? 'check the keys in "headers" of its config'
        : 'set a key in "headers" of its config, or ask the operator of the server',
    ]
  if (status === 404 || status === 410) return [`there is nothing at its address (${status})`, path]
  if (status === 405 || status === 406 || status === 415)
    return [`its address does not accept MCP messages (${status})`, path]
  if (status === 429) return ['it has received too many requests (429)', 'try again later']
  if (status >= 400 && status < 500)
    return [`it refuses the request (${status})${quoted(answer)}`, 'check "url" and "headers" in its config']
  if (status >= 502 && status <= 504)
    return [
      `it is not available at the moment (${status})`,
      'try again later, or tell the operator of the server',
    ]
  if (status >= 500)
    return [
      `it has an internal error (${status})${quoted(answer)}`,
      'see its log, or tell the operator of the server',
    ]
  if (/^text\/html\b/i.test(type)) return ['there is a web page at its address, not an MCP server', path]
  if (/^(?:application\/json|text\/event-stream)\b/i.test(type)) return ['its answer is not MCP', path]
  return [
    `it answers with ${type === '' ? 'nothing' : type.split(';')[0]?.slice(0, 60)}, which is not MCP`,
    path,
  ]
}

/** All causes of an error, outermost first. A host with several addresses fails once per address. */
function* causesOf(error: unknown): Generator<{ code?: string; message: string }> {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    const { code } = at as { code?: unknown }
    yield { message: at.message, ...dropUndefined({ code: typeof code === 'string' ? code : undefined }) }
    if (at instanceof AggregateError) for (const each of at.errors) yield* causesOf(each)
  }
}
