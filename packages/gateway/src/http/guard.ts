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

/** A page in a browser may reach this machine under another name, or from another origin. */
export function refusedOrigin({ headers }: IncomingMessage): Refused | undefined {
  const host = validateHostHeader(headers.host, localhostAllowedHostnames())
  if (!host.ok)
    return {
      status: 403,
      reason: 'elsewhere',
      message: `The gateway answers to localhost only. ${host.message}`,
    }
  const origin = validateOriginHeader(headers.origin, localhostAllowedOrigins())
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
    message: `${given === '' ? 'The header "Authorization: Bearer TOKEN" is missing' : 'The token is not the one of this gateway'}. ${where}`,
    headers: { 'WWW-Authenticate': 'Bearer realm="toolwell"' },
  }
}
