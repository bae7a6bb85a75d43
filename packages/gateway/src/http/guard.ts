/** Who may come in: this machine, asking for this machine, with the token. */

import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { isSame } from '../bridge/folder.js'
import { UPGRADE } from '../bridge/protocol.js'

export interface Refusal {
  readonly status: number
  readonly message: string
  /** Where it is a matter of who may come in. */
  readonly reason?: 'no-token' | 'wrong-token' | 'elsewhere'
  readonly headers?: Readonly<Record<string, string>>
}

const HOSTS = localhostAllowedHostnames()
const ORIGINS = localhostAllowedOrigins()

/** A page in a browser may reach this machine under another name, or from another origin. */
export function checkOrigin({ headers, url = '' }: IncomingMessage): Refusal | undefined {
  // Where the whole address is given, it counts, too.
  const hosts = URL.canParse(url) ? [headers.host, new URL(url).host] : [headers.host]
  for (const each of hosts) {
    const host = validateHostHeader(each, HOSTS)
    if (host.ok && !/[@/?#\\]/.test(each ?? '')) continue
    const why = host.ok ? 'Host must be a name and a port, and nothing else.' : host.message
    return { status: 403, reason: 'elsewhere', message: `The gateway answers to localhost only. ${why}` }
  }
  const origin = validateOriginHeader(headers.origin, ORIGINS)
  return origin.ok ? undefined : { status: 403, reason: 'elsewhere', message: origin.message }
}

export function checkToken({ headers }: IncomingMessage, token: string, where: string): Refusal | undefined {
  const [, given = ''] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
  if (given !== '' && isSame(given, token)) return undefined
  return {
    status: 401,
    reason: given === '' ? 'no-token' : 'wrong-token',
    message: `${given === '' ? 'Send the header "Authorization: Bearer TOKEN".' : 'This is not the token of this gateway.'} ${where}`,
    headers: { 'WWW-Authenticate': 'Bearer realm="toolwell"' },
  }
}

// Requests that would also speak another protocol, if the server did: `curl --http2` and Java's client ask so for HTTP/2.

/** An option of HTTP servers since Node 24.9: the others are requests as any. Before, `ignoreUpgrade` makes them so. */
export const upgradeOption = {
  shouldUpgradeCallback: ({ headers }: IncomingMessage): boolean => headers.upgrade === UPGRADE,
}

/**
 * Answers such a request as if it had not asked. Whoever listens for one upgrade gets every request with that header from Node, before
 * its body is read: it is given back without the header, and what follows it on the connection with it.
 */
export function ignoreUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  // As Node has read them: a character for each byte.
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}
