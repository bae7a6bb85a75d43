/** Who may come in: this machine, asking for this machine, with the token. */
import type { IncomingMessage } from 'node:http'
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { isSame } from '../bridge/folder.js'

export interface Refused {
  readonly status: number
  readonly message: string
  /** Where it is a matter of who may come in. */
  readonly reason?: 'no-token' | 'wrong-token' | 'elsewhere'
  readonly headers?: Readonly<Record<string, string>>
}

const HOSTS = localhostAllowedHostnames()
const ORIGINS = localhostAllowedOrigins()

/** A page in a browser may reach this machine under another name, or from another origin. */
export function refusedOrigin({ headers, url = '' }: IncomingMessage): Refused | undefined {
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

export function refusedToken(
  { headers }: IncomingMessage,
  token: string,
  where: string,
): Refused | undefined {
  const [, given = ''] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
  if (given !== '' && isSame(given, token)) return undefined
  return {
    status: 401,
    reason: given === '' ? 'no-token' : 'wrong-token',
    message: `${given === '' ? 'Send the header "Authorization: Bearer TOKEN".' : 'This is not the token of this gateway.'} ${where}`,
    headers: { 'WWW-Authenticate': 'Bearer realm="toolwell"' },
  }
}
