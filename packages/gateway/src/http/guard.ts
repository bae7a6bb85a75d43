/** Checks host and origin of a request, and ignores upgrades to other protocols. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { UPGRADE } from '../bridge/protocol.js'

export interface Refusal {
  readonly status: number
  readonly message: string
  /** Set if the host, origin or token was refused. */
  readonly reason?: 'no-token' | 'wrong-token' | 'elsewhere'
  readonly headers?: Readonly<Record<string, string>>
}

const HOSTS = localhostAllowedHostnames()
const ORIGINS = localhostAllowedOrigins()

/** True unless the request comes from another machine. */
export function isLocal({ socket: { remoteAddress = '' } }: IncomingMessage): boolean {
  return /^(?:::ffff:)?127\.|^::1$/.test(remoteAddress)
}

/**
 * Refuses browser pages that reach the gateway through another host name or from another origin. Other machines know the gateway by
 * any name; they need a token with rights.
 */
export function checkOrigin(request: IncomingMessage): Refusal | undefined {
  const { headers, url = '' } = request
  // A request may contain the whole URL; its host is checked too.
  const hosts = URL.canParse(url) ? [headers.host, new URL(url).host] : [headers.host]
  for (const each of isLocal(request) ? hosts : []) {
    const host = validateHostHeader(each, HOSTS)
    if (host.ok && !/[@/?#\\]/.test(each ?? '')) continue
    const why = host.ok ? 'Host must be a name and a port, and nothing else.' : host.message
    return { status: 403, reason: 'elsewhere', message: `The gateway answers to localhost only. ${why}` }
  }
  const origin = validateOriginHeader(headers.origin, ORIGINS)
  return origin.ok ? undefined : { status: 403, reason: 'elsewhere', message: origin.message }
}

/** Since Node 24.9, this option treats other upgrades as ordinary requests. Older versions need `ignoreUpgrade`. */
export const upgradeOption = {
  shouldUpgradeCallback: ({ headers }: IncomingMessage): boolean => headers.upgrade === UPGRADE,
}

/**
 * Answers an upgrade request that is not ours, such as `curl --http2`, as an ordinary request. Node passes every upgrade to the
 * listener before the body is read, so the request is replayed without its upgrade header.
 */
export function ignoreUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  // Node reads headers as Latin-1.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}
