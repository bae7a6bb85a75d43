/** All servers of one config: opens them, lists a few at a time, compares their names, watches locks, applies updates. */

import { invalid } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'
import type { Guard } from '../trust/guard.js'
import { McpFailure } from '../upstream/failures.js'
import type { Upstream } from '../upstream/upstream.js'
import type { Publisher } from './publish.js'
import { planUpdate, type UpdatedConfig, type UpdateReport } from './update.js'

/** Milliseconds between checks of the locks. */
const LOOK_EVERY = 1000
/** Milliseconds to wait for a server that an earlier program could not list. */
const PATIENCE_AFTER_FAILURE = 2000

export interface FleetOptions {
  readonly servers: readonly ServerConfig[]
  readonly open: (server: ServerConfig, onChange: (upstream: Upstream) => void) => Upstream
  readonly publisher: Publisher
  readonly guard: Pick<Guard, 'compare' | 'forget'>
  /** Maximum number of parallel listings. */
  readonly concurrency: number
}

export class Fleet {
  readonly #options: FleetOptions
  readonly #upstreams = new Map<string, Upstream>()
  /** Current first listings. */
  readonly #listing = new Map<string, Promise<void>>()
  /** Resolves when the cached definitions are reviewed. */
  reviewed: Promise<void> = Promise.resolve()
  readonly #looking: NodeJS.Timeout
  #comparing: Promise<void> | undefined
  #closing: Promise<void> | undefined
  /** Replaced servers, which end after their current calls. */
  readonly #superseded = new Set<Upstream>()
  readonly #retiring = new Set<Promise<void>>()
  readonly #lane: Lane

  /** Returns at once: cached tools are published now, the others after listing. */
  constructor(options: FleetOptions) {
    this.#options = options
    this.#lane = createLane(options.concurrency)
    assertDistinct(options.servers)
    for (const server of options.servers) this.#open(server)
    this.#start(this.upstreams)
    // Quarantined tools are not called, so a lock that releases them must be noticed by polling.
    this.#looking = setInterval(() => this.lookAgain(), LOOK_EVERY)
    this.#looking.unref()
  }

  get upstreams(): Upstream[] {
    return [...this.#upstreams.values()]
  }

  peek(name: string): Upstream | undefined {
    return this.#upstreams.get(name)
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

  /** Waits for all first listings, but no longer than this. Returns the servers that are not listed yet. */
  async settled(milliseconds: number): Promise<string[]> {
    const done = async () => {
      await Promise.all(this.#listing.values())
      await this.#comparing
    }
    if (this.#listing.size > 0 || this.#comparing) await bounded(done(), milliseconds)
    return [...this.#listing.keys()]
  }

  /** Reviews servers whose lock changed. Lists those with quarantined tools again, because the approved definition may be a newer one. */
  lookAgain(): void {
    if (this.#closing) return
    for (const upstream of this.upstreams)
      if (upstream.known.reviewIfStale()) upstream.refresh().catch(() => undefined)
  }

  /** Stops every server. Idempotent. */
  close(): Promise<void> {
    clearInterval(this.#looking)
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const all = [...this.upstreams, ...this.#superseded]
    await Promise.all([...all.map((upstream) => upstream.close()), ...this.#retiring])
  }

  /** Applies a new config at once. Unchanged servers are not touched. */
  update(config: UpdatedConfig): UpdateReport {
    if (this.#closing) throw new McpFailure('closed', '', 'the servers were closed')
    assertDistinct('servers' in config ? config.servers : config)
    const { servers, ...report } = planUpdate(
      this.upstreams.map(({ server }) => server),
      config,
    )
    if (!report.isApplied) return report
    const { publisher, guard } = this.#options
    const before = new Map(this.#upstreams)
    for (const name of [...report.removed, ...report.changed]) {
      const upstream = before.get(name)
      this.#upstreams.delete(name)
      publisher.forget(name)
      guard.forget(name)
      if (upstream) this.#retire(upstream)
    }
    for (const name of report.removed) publisher.remove(name)
    const fresh = servers.filter(({ name }) => !this.#upstreams.has(name))
    for (const server of fresh) this.#open(server)
    // Sort by the order of the config, as at a start.
    const opened = new Map(this.#upstreams)
    this.#upstreams.clear()
    for (const { name } of servers) {
      const upstream = opened.get(name)
      if (upstream) this.#upstreams.set(name, upstream)
    }
    this.#start(fresh.flatMap(({ name }) => this.#upstreams.get(name) ?? []))
    this.#compare()
    return report
  }

  #retire(upstream: Upstream): void {
    this.#superseded.add(upstream)
    const ending = upstream.retire().finally(() => {
      this.#superseded.delete(upstream)
      this.#retiring.delete(ending)
    })
    this.#retiring.add(ending)
  }

  #open(server: ServerConfig): void {
    const upstream = this.#options.open(server, (changed) => {
      if (this.#upstreams.get(server.name) === changed) this.#publish(changed)
    })
    this.#upstreams.set(server.name, upstream)
  }

  #start(upstreams: readonly Upstream[]): void {
    // Register all cached servers before the first review, because findings may depend on the names of other servers.
    const unreviewed = upstreams.filter((upstream) => !upstream.known.begin())
    for (const upstream of upstreams) this.#publish(upstream)
    const list = (upstream: Upstream, work: () => Promise<void>) => {
      const { name } = upstream.server
      const isCurrent = () => !this.#closing && this.#upstreams.get(name) === upstream
      const done: Promise<void> = this.#lane(async () => {
        if (isCurrent()) await work()
      })
        .catch(() => undefined)
        .finally(() => {
          if (this.#listing.get(name) === done) this.#listing.delete(name)
        })
      if (upstream.definition !== undefined) return done
      const isHopeful = upstream.failedBefore === undefined
      this.#listing.set(
        name,
        isHopeful ? done : bounded(done, PATIENCE_AFTER_FAILURE).then(() => void this.#listing.delete(name)),
      )
      return done
    }
    const listed = upstreams.filter((upstream) => mustList(upstream, !unreviewed.includes(upstream)))
    const reviews = unreviewed.map((upstream) => list(upstream, () => upstream.beginSlowly()))
    this.reviewed = Promise.all([this.reviewed, ...reviews]).then(() => undefined)
    for (const upstream of listed)
      if (upstream.failedBefore?.isLately) upstream.lookLater()
      else void list(upstream, () => upstream.refresh())
  }

  #publish(upstream: Upstream): void {
    if (!this.#closing && this.#options.publisher.publish(upstream)) this.#compare()
  }

  /** Compares names again, because new names may change the findings in other servers. */
  #compare(): void {
    const isOver = () => this.#closing !== undefined
    this.#comparing ??= new Promise((resolve) => setImmediate(resolve))
      .then(() => this.#options.guard.compare(isOver))
      .then(({ changed, noted }) => {
        for (const name of changed) if (!isOver()) this.#upstreams.get(name)?.known.reviewAgain()
        for (const name of noted) if (!isOver()) this.#upstreams.get(name)?.known.saveAgain()
      })
      .finally(() => {
        this.#comparing = undefined
      })
  }
}

function assertDistinct(servers: readonly ServerConfig[]): void {
  const seen = new Set<string>()
  for (const { name } of servers) {
    if (seen.has(name)) throw invalid(name, `Two servers are named ${JSON.stringify(name)}. Rename one.`)
    seen.add(name)
  }
}

/** Must the server be listed at the start? Cached servers need not be. An expired `ttlMs` justifies a request, but not a process. */
function mustList({ server, known }: Upstream, isReviewed: boolean): boolean {
  const { definition, isExpired } = known
  const isUnknown = definition === undefined && isReviewed
  return server.enabled && (isUnknown || !server.lazy || (isExpired && server.endpoint.type !== 'stdio'))
}

type Lane = <T>(work: () => Promise<T>) => Promise<T>

/** Runs at most `most` jobs at a time, in order. */
export function createLane(most: number): Lane {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      return await work()
    } finally {
      running--
      waiting.shift()?.()
    }
  }
}

/** Waits for the work, but no longer than this. */
async function bounded(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
