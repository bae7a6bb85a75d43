/** All servers of one config over their common life: opened, started a few at a time, compared, looked at again, closed. */
import { ToolwellError } from '@toolwell/core'
import type { ServerConfig } from '../config/server-config.js'
import type { Guard } from '../trust/guard.js'
import { McpFailure } from '../upstream/mcp-failure.js'
import type { Upstream } from '../upstream/upstream.js'
import { bounded, createLane } from './lane.js'
import type { Publish } from './publish.js'

/** Milliseconds between looks at the locks: a file's date, read from a folder that is in memory. */
const LOOK_EVERY = 1000

export interface FleetOptions {
  readonly servers: readonly ServerConfig[]
  readonly open: (server: ServerConfig, onChange: (upstream: Upstream) => void) => Upstream
  readonly publish: Publish
  readonly guard: Pick<Guard, 'compare'>
  /** How many are listed at a time. */
  readonly concurrency: number
}

export class Fleet {
  readonly #options: FleetOptions
  readonly #upstreams = new Map<string, Upstream>()
  /** Servers that are being listed for the first time. */
  readonly #listing = new Map<string, Promise<void>>()
  readonly #looking: NodeJS.Timeout
  #comparing: Promise<void> | undefined
  #closing: Promise<void> | undefined

  /** Returns at once: what is cached is published now, the rest when it has been listed. */
  constructor(options: FleetOptions) {
    this.#options = options
    for (const server of options.servers) this.#open(server)
    this.#start()
    // Tools that are held back are not called, so a lock that releases them has to be looked for.
    this.#looking = setInterval(() => this.lookAgain(), LOOK_EVERY)
    this.#looking.unref()
  }

  get upstreams(): Upstream[] {
    return [...this.#upstreams.values()]
  }

  find(name: string): Upstream {
    const upstream = this.#upstreams.get(name)
    if (upstream) return upstream
    throw new McpFailure(
      'unavailable',
      name,
      `there is no server ${JSON.stringify(name)}; known: ${[...this.#upstreams.keys()].join(', ') || 'none'}`,
    )
  }

  /** Waits until no server is being listed for the first time, but no longer than this; gives those that still are. */
  async settled(milliseconds: number): Promise<string[]> {
    const done = async () => {
      await Promise.all(this.#listing.values())
      await this.#comparing
    }
    if (this.#listing.size > 0 || this.#comparing) await bounded(done(), milliseconds)
    return [...this.#listing.keys()]
  }

  /** Reviews again where a lock has changed. */
  lookAgain(): void {
    if (this.#closing) return
    for (const upstream of this.upstreams) upstream.known.lookAgain()
  }

  /** Stops every server. Idempotent. */
  close(): Promise<void> {
    clearInterval(this.#looking)
    this.#closing ??= Promise.all(this.upstreams.map((upstream) => upstream.close())).then(() => undefined)
    return this.#closing
  }

  #open(server: ServerConfig): void {
    if (this.#upstreams.has(server.name))
      throw new ToolwellError(
        'invalid-option',
        `Two servers are named ${JSON.stringify(server.name)}. Rename one.`,
        { path: server.name },
      )
    const upstream = this.#options.open(server, (changed) => {
      if (this.#upstreams.get(server.name) === changed) this.#publish(changed)
    })
    this.#upstreams.set(server.name, upstream)
  }

  #start(): void {
    // Every server that is cached is met before one is reviewed: what is found in one may depend on the names of another.
    const unreviewed = this.upstreams.filter((upstream) => !upstream.known.begin())
    for (const upstream of this.upstreams) this.#publish(upstream)
    const lane = createLane(this.#options.concurrency)
    const list = (upstream: Upstream, work: () => Promise<void>) => {
      const { name } = upstream.server
      const done = lane(async () => {
        if (!this.#closing) await work()
      })
        .catch(() => undefined)
        .finally(() => this.#listing.delete(name))
      if (upstream.definition === undefined) this.#listing.set(name, done)
    }
    const listed = this.upstreams.filter((upstream) => mustList(upstream, !unreviewed.includes(upstream)))
    for (const upstream of unreviewed) list(upstream, () => upstream.beginSlowly())
    for (const upstream of listed) list(upstream, () => upstream.refresh())
  }

  #publish(upstream: Upstream): void {
    if (!this.#closing && this.#options.publish(upstream)) this.#compare()
  }

  /** New names may change the findings in other servers: a tool may now look like one of theirs. */
  #compare(): void {
    const isOver = () => this.#closing !== undefined
    this.#comparing ??= new Promise((resolve) => setImmediate(resolve))
      .then(() => this.#options.guard.compare(isOver))
      .then(({ changed, noted }) => {
        for (const name of changed) if (!isOver()) this.#upstreams.get(name)?.known.reviewAgain()
        for (const name of noted) if (!isOver()) this.#upstreams.get(name)?.known.keepAgain()
      })
      .finally(() => {
        this.#comparing = undefined
      })
  }
}

/** Whether a server is listed at the start. What is cached need not be; an expired promise is worth a request, not a process. */
function mustList({ server, known }: Upstream, isReviewed: boolean): boolean {
  const { definition, isExpired } = known
  const isUnknown = definition === undefined && isReviewed
  return server.enabled && (isUnknown || !server.lazy || (isExpired && server.endpoint.type !== 'stdio'))
}
