/**
 * Access to the dashboard. A link carries a code that works once, within two minutes, and becomes a cookie and a CSRF token. The
 * cookie alone shows no data, because browsers send it to every port of this computer, where any program may listen. No token of
 * the API opens the dashboard, the owner's included.
 */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isSame } from '../../bridge/folder.js'
import { header } from '../exchange.js'

/** An answer other than 200. `message` says what to do next. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

export const CSRF_HEADER = 'X-Toolwell-Csrf'

const CODE_LIVES = 2 * 60_000
/** Milliseconds without a request after which a cookie is refused. */
const COOKIE_LIVES = 24 * 60 * 60_000
const MOST = 100

export interface Opened {
  readonly cookie: string
  readonly csrf: string
}

interface Visitor {
  readonly csrf: string
  lastSeen: number
}

export class Access {
  readonly #now: () => number
  readonly #codes = new Map<string, number>()
  readonly #visitors = new Map<string, Visitor>()

  constructor(now: () => number) {
    this.#now = now
  }

  createCode(): string {
    const code = randomBytes(24).toString('base64url')
    keep(this.#codes, code, this.#now() + CODE_LIVES)
    return code
  }

  /** Undefined if the code is unknown, used or too old. */
  exchange(code: string): Opened | undefined {
    const until = this.#codes.get(code)
    this.#codes.delete(code)
    if (until === undefined || until <= this.#now()) return undefined
    const [cookie, csrf] = [randomBytes(24).toString('base64url'), randomBytes(24).toString('base64url')]
    keep(this.#visitors, cookie, { csrf, lastSeen: this.#now() })
    return { cookie, csrf }
  }

  /** Returns the CSRF token that belongs to the cookie. Undefined without a valid cookie. */
  find(request: IncomingMessage): string | undefined {
    const value = readCookie(request, cookieName(request))
    const visitor = value === undefined ? undefined : this.#visitors.get(value)
    if (!visitor || this.#now() - visitor.lastSeen > COOKIE_LIVES) return undefined
    visitor.lastSeen = this.#now()
    return visitor.csrf
  }
}

/** Browsers send a cookie to every port of a host, so its name contains the port. */
export function cookieName({ socket }: IncomingMessage): string {
  return `toolwell_${socket.localPort}`
}

function readCookie(request: IncomingMessage, name: string): string | undefined {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** Refuses requests of other pages. A page on another port of this computer counts as another page. */
export function checkSameOrigin(request: IncomingMessage): void {
  const origin = header(request, 'origin')
  const site = header(request, 'sec-fetch-site')
  const isOwn =
    (origin === undefined || origin === `http://${request.headers.host}`) &&
    (site === undefined || site === 'same-origin' || site === 'none')
  if (!isOwn) throw new ApiError(403, 'foreign-origin', 'Only the page of the dashboard may ask for this.')
}

/** An `EventSource` sends no headers, so it has the token in its address. */
export function hasCsrfToken(request: IncomingMessage, { searchParams }: URL, csrf: string): boolean {
  return isSame(header(request, CSRF_HEADER) ?? searchParams.get('csrf') ?? '', csrf)
}

export function checkJson(request: IncomingMessage): void {
  if (!/^application\/json\b/i.test(header(request, 'content-type') ?? ''))
    throw new ApiError(415, 'not-json', 'Send JSON, with Content-Type: application/json.')
}

/** Drops the oldest of too many. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > MOST && oldest !== undefined) map.delete(oldest)
}
