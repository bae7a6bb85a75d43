/** Requests that would also speak another protocol, if the server did: `curl --http2` and Java's client ask so for HTTP/2. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { UPGRADE } from '../bridge/protocol.js'

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
