/** Finds the principal of a request: the owner, a named token, or a stdio client. Slows down wrong tokens. */
import type { IncomingMessage } from 'node:http'
import { isSame } from '../bridge/folder.js'
import { PRINCIPAL_HEADER, STDIO_PRINCIPAL } from '../bridge/protocol.js'
import type { Rights, TokenRecord, TokenStore } from '../storage/storage.js'
import { hashToken } from '../storage/token-file.js'
import type { McpPath } from './address.js'
import { header } from './exchange.js'
import { isLocal, type Refusal } from './guard.js'

export interface Principal {
  readonly name: string
  /** Unique for each token, even if a later token has the same name. */
  readonly id: string
  /** Undefined: everything. */
  readonly rights: Rights | undefined
  /** When the token was added. An earlier token may have had the same name. */
  readonly since?: number
  /** False if the token was revoked or has expired. */
  isValid(): boolean
}

/** Everyone with the owner's token or the key of the daemon. */
export const OWNER: Principal = { name: 'owner', id: 'owner', rights: undefined, isValid: () => true }

/** A token that opens everything. */
export function isUnlimited({ rights = {} }: Principal): boolean {
  return Object.values(rights).every((limit) => limit === undefined || limit === false)
}

export interface PrincipalsOptions {
  readonly tokens: TokenStore
  /** The key and the owner's token. `isFresh` skips any cached value. */
  readonly owner: (isFresh: boolean) => readonly string[]
  /** False if no token is accepted, only the key. */
  readonly takesTokens: () => boolean
  /** A sentence for refused clients. */
  readonly hint: () => string
  readonly now: () => number
}

export class Principals {
  readonly #options: PrincipalsOptions

  constructor(options: PrincipalsOptions) {
    this.#options = options
  }

  /** A bridge may name its principal, because it has the rights of the owner. */
  identify(request: IncomingMessage, isBridge = false): Principal | Refusal {
    const [, given = ''] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? []
    // Reads the owner's token again before refusing: it may have just been replaced.
    const isOwner = isLocal(request)
    const found =
      given === '' ? undefined : (this.#find(given, isOwner, false) ?? this.#find(given, isOwner, true))
    if (!found) return refuseToken(given, this.#options.hint())
    if (!('hash' in found)) {
      const name = isBridge ? header(request, PRINCIPAL_HEADER) : undefined
      return name === undefined ? found : this.#findNamed(name)
    }
    if (!this.#isExpired(found)) return this.#describe(found)
    const message = `The token ${JSON.stringify(found.name)} has expired. Ask the owner of this gateway for a new one.`
    return { status: 401, reason: 'wrong-token', message, headers: CHALLENGE }
  }

  /** The owner's token opens everything, so it works only on the machine of the gateway. */
  #find(given: string, mayBeOwner: boolean, isFresh: boolean): Principal | TokenRecord | undefined {
    const { owner, tokens, takesTokens } = this.#options
    if (mayBeOwner && owner(isFresh).some((token) => isSame(given, token))) return OWNER
    if (!takesTokens()) return undefined
    const hash = hashToken(given)
    return tokens.list().find((token) => isSame(token.hash, hash))
  }

  #findNamed(name: string): Principal | Refusal {
    const find = () => this.#options.tokens.list().find((token) => token.name === name)
    const found = find()
    const isStdio = name.startsWith(STDIO_PRINCIPAL)
    // Stdio clients have all rights until their name is revoked or gets a record with rights.
    if (isStdio && !found)
      return { ...OWNER, name: name.slice(0, 80), id: name, isValid: () => find() === undefined }
    if (found && !this.#isExpired(found)) return this.#describe(found)
    if (isStdio) {
      const message = `The client ${name.slice(0, 80)} was revoked. The owner of this gateway can allow it again.`
      return { status: 403, message }
    }
    const why = found ? 'has expired' : 'does not exist or was revoked'
    const message = `The token ${JSON.stringify(name.slice(0, 80))} of this client ${why}. Add one with: toolwell token add NAME`
    return { status: 403, message }
  }

  #describe(token: TokenRecord): Principal {
    const { name, hash, rights, createdAt } = token
    const isListed = () => this.#options.tokens.list().some((each) => each.hash === hash)
    const isValid = () => isListed() && !this.#isExpired(token)
    return { name, id: `${name} ${hash}`, rights, since: createdAt, isValid }
  }

  #isExpired({ expiresAt }: TokenRecord): boolean {
    return expiresAt !== undefined && expiresAt <= this.#options.now()
  }
}

const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="toolwell"' }

function refuseToken(given: string, hint: string): Refusal {
  return {
    status: 401,
    reason: given === '' ? 'no-token' : 'wrong-token',
    message: `${given === '' ? 'Send the header "Authorization: Bearer TOKEN".' : 'This is not a token of this gateway.'} ${hint}`,
    headers: CHALLENGE,
  }
}

/** A token with a profile opens that profile, also at `/mcp`. It must not learn the names of others. */
export function limitPath(path: McpPath, { rights }: Principal): McpPath | Refusal {
  if (rights?.profile === undefined || path.profile === rights.profile) return path
  if (path.profile === undefined) return { ...path, profile: rights.profile }
  return {
    status: 403,
    message: `This token opens only the profile ${JSON.stringify(rights.profile)}. Connect to /mcp.`,
  }
}

/** Failures of an address that are answered at once: a person who pastes a token may be wrong. */
const FREE_FAILURES = 5
const FIRST_DELAY = 100
const LONGEST_DELAY = 5000
/** Milliseconds after which the failures of an address are forgotten. */
const FORGET_AFTER = 10 * 60_000
const MOST_ADDRESSES = 1000
/** Answers that wait. More are refused at once. */
const MOST_WAITING = 200

/** Delays the answers to wrong tokens, longer with each failure of an address. Right tokens never wait. */
export class Slowdown {
  readonly #failures = new Map<string, { count: number; last: number }>()
  readonly #now: () => number
  #waiting = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** Resolves when the answer may be sent. False if too many answers wait already. */
  async wait(address: string): Promise<boolean> {
    const delay = this.#count(address)
    if (delay === 0) return true
    if (this.#waiting >= MOST_WAITING) return false
    this.#waiting++
    await new Promise<void>((resolve) => setTimeout(resolve, delay).unref())
    this.#waiting--
    return true
  }

  #count(address: string): number {
    const now = this.#now()
    const before = this.#failures.get(address)
    const count = before && now - before.last < FORGET_AFTER ? before.count + 1 : 1
    // Moves the address to the end, so the first is the oldest.
    this.#failures.delete(address)
    this.#failures.set(address, { count, last: now })
    const [oldest] = this.#failures.keys()
    if (this.#failures.size > MOST_ADDRESSES && oldest !== undefined) this.#failures.delete(oldest)
    return count <= FREE_FAILURES
      ? 0
      : Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(count - FREE_FAILURES - 1, 10))
  }
}
