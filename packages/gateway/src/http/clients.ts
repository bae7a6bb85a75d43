/** Connected clients, for `status` and the idle stop. */
import type { Server } from '@modelcontextprotocol/server'
import { nameSingle } from '../answer/mcp-server.js'

export interface ClientReport {
  /** Names the client as the owner of a process. */
  readonly id: string
  readonly kind: 'stdio' | 'session' | 'http'
  /** The name the client sent. Unverified. */
  readonly name: string
  readonly endpoint: string
  readonly workspace: string | undefined
  readonly pid: number | undefined
  /** Milliseconds since the epoch. */
  readonly since: number
  readonly lastUsed: number
  /** Calls that ran, searches, and calls answered without running a tool. */
  readonly calls: number
  readonly searches: number
  readonly refused: number
}

export type Counted = 'calls' | 'searches' | 'refused'

interface Client extends Omit<ClientReport, 'name' | 'lastUsed' | Counted> {
  readonly server: Server | undefined
  name: string
  lastUsed: number
  calls: number
  searches: number
  refused: number
}

/** Milliseconds for which a client without a session stays in the report after its last request. */
const HTTP_STAYS = 300_000
const MOST_HTTP = 100

export class Clients {
  readonly #clients = new Map<string, Client>()
  readonly #byServer = new WeakMap<Server, Client>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  /** `key` is unique for each connection. */
  join(
    key: string,
    client: Omit<Client, 'since' | 'lastUsed' | Counted | 'name'> & { readonly name?: string },
  ): void {
    const now = this.#now()
    const joined: Client = {
      name: '',
      ...client,
      since: now,
      lastUsed: now,
      calls: 0,
      searches: 0,
      refused: 0,
    }
    this.#clients.set(key, joined)
    if (client.server) this.#byServer.set(client.server, joined)
  }

  leave(key: string): void {
    this.#clients.delete(key)
  }

  /** Records a request. Returns the name of the client. */
  used(
    server: Server,
    name: string,
    endpoint: string,
    workspace: string | undefined,
    principal: string,
    counted: Counted | undefined,
  ): string {
    const client = this.#byServer.get(server) ?? this.#single(name, endpoint, workspace, principal)
    if (name !== '') client.name = name
    client.lastUsed = this.#now()
    if (counted) client[counted]++
    return client.name
  }

  /** True if the client with this id has an open connection or session. */
  has(id: string): boolean {
    return [...this.#clients.values()].some((client) => client.id === id)
  }

  /** Number of clients with an open connection or session. */
  get staying(): number {
    return [...this.#clients.values()].filter(({ kind }) => kind !== 'http').length
  }

  reports(): ClientReport[] {
    const now = this.#now()
    for (const [key, { kind, lastUsed }] of this.#clients)
      if (kind === 'http' && now - lastUsed > HTTP_STAYS) this.#clients.delete(key)
    return [...this.#clients.values()].map(({ server: _, ...client }) => client)
  }

  #single(name: string, endpoint: string, workspace: string | undefined, principal: string): Client {
    const key = JSON.stringify(['http', name, endpoint, workspace, principal])
    const known = this.#clients.get(key)
    if (known) return known
    const oldest = [...this.#clients].find(([, { kind }]) => kind === 'http')
    if (oldest && this.#clients.size > MOST_HTTP) this.#clients.delete(oldest[0])
    const id = nameSingle(name, principal)
    this.join(key, { id, kind: 'http', name, endpoint, workspace, pid: undefined, server: undefined })
    return this.#clients.get(key) as Client
  }
}
