/** Life cycle of one server: started on first use, shared, stopped when idle, restarted after failures. */
import type { CallToolResult, Result } from '@modelcontextprotocol/client'
import type { ServerConfig } from '../config/server-config.js'
import type { DefinitionCache } from '../definition/cache.js'
import type { McpTool, ServerDefinition } from '../definition/server-definition.js'
import type { Guard } from '../trust/guard.js'
import type { Review } from '../trust/review.js'
import type { Caller } from './caller.js'
import { chooseIdleTimeout, choosePlace, type Place } from './choose-place.js'
import type { CallOptions, Connection, ServerRequest } from './connection.js'
import { AnswerLost, ConnectionLost, createFailures, type Failures, type McpFailure } from './failures.js'
import {
  type Extent,
  findUsableTool,
  isRepeatable,
  KnownDefinition,
  type RecalledFailure,
  readOffers,
} from './known-definition.js'
import { asksForMore, needsLogin } from './open-client.js'
import { type Breaker, Pool, type Running } from './pool.js'
import { abortable, LoginNeed, Relisting, SingleTimer } from './retries.js'
import type { LostState, ServerEvent, ServerState } from './server-state.js'
import { ServerStarter, type StarterOptions } from './start-server.js'
import { Unreachable } from './unreachable.js'

/** A call waits this long for the pause after a failure. If the pause is longer, the call fails at once. */
const PATIENCE = 2000

/** Minimum milliseconds before a failed listing is repeated in the background, and how often. */
const FIRST_RETRY = 1000
const MOST_RETRIES = 10

export interface UpstreamOptions extends StarterOptions {
  readonly cache: DefinitionCache
  readonly guard: Guard
  /** The listing caller: a server may offer other tools to a caller with more capabilities. */
  readonly lister: Caller
  /** Callers that must be notified of lost state. */
  readonly lost: LostState
  /** Runs background work, a few jobs at a time. */
  readonly inTurn: (work: () => Promise<void>) => void
  /** Ignore failed listings of earlier programs. */
  readonly isPatient: boolean
  /** Milliseconds to start, shake hands and list. */
  readonly connectTimeout: number
  readonly random: () => number
  readonly emit: (event: ServerEvent) => void
  /** Called when the definition, its review or the state changes. */
  readonly onChange: (upstream: Upstream) => void
}

export class Upstream {
  readonly server: ServerConfig
  readonly known: KnownDefinition
  /** Why it is in this state; may be empty. */
  reason = ''
  /** Address to which it redirects, if that is why it failed. For people: the server chose the text. */
  movedTo: string | undefined
  /** A failed listing of an earlier program, if the definition is unknown. Then nobody waits long for the server. */
  failedBefore: RecalledFailure | undefined
  /** Number of successful starts. */
  starts = 0
  /** Number of calls that were sent. */
  calls = 0
  readonly #options: UpstreamOptions
  readonly #pool: Pool
  readonly #failures: Failures
  readonly #connectTimeout: number
  /** Place of the listing caller. */
  readonly #home: Place
  readonly #starts: ServerStarter
  readonly #reasonsElsewhere = new Map<string, string>()
  readonly #login = new LoginNeed(
    () => this.#options.auth?.watch?.(() => void this.refresh().catch(() => undefined)),
    () => this.refresh().catch(() => undefined),
  )
  #lastState: ServerState | undefined
  readonly #relisting = new Relisting()
  #refreshing: Promise<void> | undefined
  /** The server does not support the older protocol. */
  #isOnlyModern = false
  #underWay = 0
  #isRetired = false
  /** Timer for the next start or listing. */
  readonly #later = new SingleTimer()
  /** The current listing is a background retry, for which nobody waits. */
  #isRetrying = false
  #retries = 0
  #onQuiet: (() => void) | undefined

  constructor(options: UpstreamOptions) {
    this.server = options.server
    this.#options = options
    this.#connectTimeout = options.server.startTimeout ?? options.connectTimeout
    this.#home = choosePlace(options.server, options.lister, false)
    this.#starts = new ServerStarter(options)
    this.#failures = createFailures(options.server, (text) => this.#starts.hide(text))
    this.#pool = new Pool({
      idle: ({ folder }) => chooseIdleTimeout(folder, this.server, this.#home),
      now: options.now,
      random: options.random,
      onChange: () => this.#announce(),
      onLost: (place, reason) => {
        if (place.folder === this.#home.folder) this.reason = this.#starts.hide(reason)
        this.#revive()
      },
      onGone: ({ folder, owner, ...place }, reason) => {
        if (this.server.share === 'all') return
        options.lost.mark({ folder, owner, ...place }, reason)
        options.emit({ kind: 'state-lost', server: this.server.name, reason, owner, workspace: folder })
      },
    })
    this.known = new KnownDefinition({
      ...options,
      asked: this.#home.capabilities,
      onAdopted: ({ server: before }) => {
        this.failedBefore = undefined
        this.#retries = 0
        const { server: quarantined } = this.review
        if (quarantined !== undefined || this.reason === before) this.reason = quarantined ?? ''
        this.#announce(true)
      },
    })
    this.failedBefore = options.isPatient ? undefined : this.known.recallFailure()
    this.#isRetrying = this.failedBefore !== undefined
    this.reason = this.failedBefore?.reason ?? ''
  }

  get definition(): ServerDefinition | undefined {
    return this.known.definition
  }

  get review(): Review {
    return this.known.review
  }

  /** Reviews the cached definition in short slices, and uses it. */
  beginSlowly(): Promise<void> {
    return this.known.beginInSlices(() => this.#pool.closing.aborted)
  }

  get state(): ServerState {
    if (!this.server.enabled) return 'disabled'
    if (this.#login.isNeeded) return 'needs-login'
    if (this.review.server !== undefined) return 'quarantined'
    const isListing = this.#refreshing !== undefined && this.server.lazy && this.calls === 0
    if (this.#pool.connections.length > 0 && !isListing) return 'ready'
    if ((this.#refreshing || this.#pool.isOpening) && !this.#isRetrying) return 'connecting'
    // After the pause, the next call tries again. The first failure causes no pause.
    const isResting = this.#breaker.remaining() > 0 || !this.definition
    if (this.isTentative && isResting) return 'failed'
    if (this.calls > 0) return 'idle'
    return this.definition ? 'cached' : 'connecting'
  }

  get running(): Running[] {
    return this.#pool.running()
  }

  get isTentative(): boolean {
    return this.#breaker.failures > 0 || (!this.definition && this.failedBefore !== undefined)
  }

  /** Tries a failed server again, after its pause, because somebody needs it. */
  wake(): void {
    if (!this.isTentative || this.#login.isNeeded || this.#isRetired || this.#pool.closing.aborted) return
    const isUnderWay = this.#refreshing !== undefined || this.#pool.isOpening
    if (!isUnderWay && this.#breaker.remaining() > 0) return
    // Somebody waits for this attempt.
    this.#isRetrying = false
    this.refresh().catch(() => undefined)
  }

  /** Breaker of the folder in which the server is listed. Failures in other folders do not count. */
  get #breaker(): Breaker {
    return this.#pool.breaker(this.#home)
  }

  /** Lists the server. Stops it afterwards, unless it is in use or has `lazy: false`. */
  refresh(caller?: Caller): Promise<void> {
    if (caller) return this.#refresh(caller)
    this.#refreshing ??= this.#refresh(this.#options.lister).finally(() => {
      this.#refreshing = undefined
      this.#isRetrying = false
      this.#announce(true)
    })
    this.#announce()
    return this.#refreshing
  }

  /** Stops its processes and lists it again. */
  restart(): Promise<void> {
    this.#pool.stop()
    return this.refresh()
  }

  async #refresh(caller: Caller): Promise<void> {
    if (!this.server.enabled || this.#pool.closing.aborted) return
    const place = choosePlace(this.server, caller, false)
    let isListed = false
    const connection = await this.#pool.acquire(place, () => {
      isListed = true
      return this.#open(place, caller, true)
    })
    // It was already running, so opening did not list it.
    if (!isListed) {
      this.#relist(connection, place)
      await this.#relisting.due
    }
    // A successful listing resets the breaker, because a failed server cannot be called. A server with `lazy: false` must last first.
    if (this.server.lazy) this.#pool.breaker(place).succeed()
    this.#pool.release(place, this.server.lazy)
  }

  /** Sends a request of a caller. A tool is checked against the current list first. */
  async request(asked: ServerRequest, options: CallOptions = {}): Promise<Result> {
    this.#underWay++
    try {
      return await this.#request(asked, options)
    } finally {
      this.#underWay--
      if (this.#underWay === 0) this.#onQuiet?.()
    }
  }

  async #request(asked: ServerRequest, options: CallOptions): Promise<Result> {
    const { signal, caller = {} } = options
    const name = asked.method === 'tools/call' ? String(asked.params.name) : undefined
    const isStale = this.known.reviewIfStale() || (this.#refreshing && this.known.holds(name))
    if (isStale) await this.#giveUp(this.refresh(), signal).catch(() => undefined)
    // Do not start a server for an unknown tool, unless a listing is due.
    if (!this.#relisting.due) this.#usable(name)
    // A listing shows if the server supports both protocols.
    if (caller.era === 'legacy' && !this.definition) await this.#giveUp(this.refresh(), signal)
    const speaksBoth = this.definition?.era === 'modern' && !this.#isOnlyModern
    const place = choosePlace(this.server, caller, speaksBoth)
    for (let attempt = 0; ; attempt++) {
      const connection = await this.#acquire(place, caller, signal)
      try {
        // The list may have changed since the caller saw it.
        const listing =
          name === undefined || this.known.tool(name) ? this.#relisting.underWay : this.#relisting.due
        if (listing) await abortable(listing, signal)
        const tool = this.#usable(name)
        if (options.mayCall?.() === false) throw this.#failures.ofChange(name ?? '')
        this.calls++
        this.#pool.use(place)
        const result = await connection.request(asked, tool, options)
        this.#worked(place)
        this.#setLogin(undefined)
        this.#pool.keepSubscribed(place, asked.method)
        if (!tool || result.resultType === 'input_required') return result
        return this.#options.lost.announce(this.server.name, place, result as CallToolResult)
      } catch (error) {
        const lost = error instanceof ConnectionLost
        if (lost && !(error instanceof AnswerLost)) this.#pool.drop(place, connection)
        const repeatable = lost && (!error.sent || !name || isRepeatable(this.known.tool(name), this.server))
        const isCancelled = signal?.aborted === true
        if (attempt > 0 || !repeatable || isCancelled) throw this.#callFailure(error, asked, isCancelled)
      } finally {
        this.#pool.release(place)
      }
    }
  }

  #worked(place: Place): void {
    const wasTentative = this.isTentative
    this.#pool.breaker(place).succeed()
    if (wasTentative && !this.isTentative) this.#announce(true)
  }

  /** Notifies the server of changed roots of this caller. */
  async rootsChanged(caller: Caller): Promise<void> {
    const places = [false, true].map((speaksBoth) => choosePlace(this.server, caller, speaksBoth).key)
    for (const key of new Set(places)) await this.#pool.find({ key })?.rootsChanged()
  }

  /** Stops the processes of a client that left. */
  readonly leave = (client: string): void => this.#pool.leave(client)

  /** Stops the server after its current calls, because another replaces it. Its callers are notified of the lost state. */
  async retire(): Promise<void> {
    this.#isRetired = true
    this.#later.clear()
    this.#login.end()
    this.#pool.giveUp()
    if (this.#underWay > 0)
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve
      })
    await this.close()
  }

  async close(): Promise<void> {
    this.#later.clear()
    this.#login.end()
    await this.#pool.close(this.#failures.make('closed', `${this.server.name} was closed`))
  }

  /** Returns the current tool, if it may be called. */
  #usable(name: string | undefined): McpTool | undefined {
    if (this.#pool.closing.aborted) throw this.#pool.closing.reason
    return findUsableTool(name, this.server, this.known, this.#failures)
  }

  async #acquire(place: Place, caller: Caller, signal: AbortSignal | undefined): Promise<Connection> {
    const breaker = this.#pool.breaker(place)
    const rest = breaker.remaining()
    const isRunning = () => this.#pool.running().some((each) => each.place.folder === place.folder)
    if (rest > PATIENCE && !isRunning())
      throw this.#failures.make(
        'resting',
        `${this.server.name} failed ${breaker.failures} times and is not tried again for ${Math.ceil(rest / 1000)} s. ${this.#reasonIn(place)}`,
      )
    const running = signal?.aborted ? undefined : this.#pool.take(place)
    if (running) return running
    const opened = this.#pool.acquire(place, () => this.#open(place, caller, false))
    try {
      return await this.#giveUp(opened, signal)
    } catch (error) {
      // A cancelled call must not keep the connection open.
      if (signal?.aborted) opened.then(() => this.#pool.release(place)).catch(() => undefined)
      throw error
    }
  }

  #giveUp<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return abortable(work, signal, () => this.#failures.make('cancelled', 'the call was cancelled'))
  }

  /** Opens a connection, and lists the server unless the known list is still valid. */
  async #open(place: Place, caller: Caller, mustList: boolean): Promise<Connection> {
    const connectTimeout = this.#connectTimeout
    const deadline = AbortSignal.timeout(connectTimeout)
    const signal = AbortSignal.any([this.#pool.closing, deadline])
    const server = this.#starts.serverFor(place, this.#failures)
    let connection: Connection | undefined
    try {
      const opened = await this.#starts.start(
        {
          place,
          server,
          caller,
          era: this.known.era,
          timeout: connectTimeout,
          signal,
          onListChanged: () => connection && this.#relist(connection, place),
        },
        this.#failures,
      )
      connection = opened
      if (place.era === 'legacy' && opened.era === 'modern') this.#isOnlyModern = true
      // The `ttlMs` of a local server belongs to an earlier process.
      const isPromised = server.endpoint.type !== 'stdio' && this.known.isCurrent
      if (mustList || !isPromised) await this.#keep(await opened.list(signal), place)
      this.starts++
      this.#login.set(false)
      this.#setReason(place, this.review.server ?? '')
      this.movedTo = undefined
      return opened
    } catch (error) {
      await connection?.close()
      if (this.#pool.closing.aborted) throw this.#pool.closing.reason
      const failure = this.#failures.ofOpening(error, deadline.aborted ? connectTimeout : undefined)
      this.#login.set(failure.kind === 'needs-login')
      this.#setReason(place, failure.message)
      const { movedTo } = failure.cause instanceof Unreachable ? failure.cause : {}
      this.movedTo = movedTo === undefined ? undefined : this.#starts.hide(movedTo)
      if (!this.#login.isNeeded) this.#pool.breaker(place).fail()
      if (!this.#login.isNeeded && !this.definition && place.key === this.#home.key)
        this.known.noteFailure(failure.message)
      this.#revive()
      throw failure
    }
  }

  #setReason({ folder }: Place, reason: string): void {
    if (folder === this.#home.folder) this.reason = reason
    else this.#reasonsElsewhere.set(folder, reason)
  }

  #reasonIn({ folder }: Place): string {
    return folder === this.#home.folder ? this.reason : (this.#reasonsElsewhere.get(folder) ?? '')
  }

  #keep(listed: ServerDefinition, place: Place): Promise<void> {
    // Ignore listings of a replaced server.
    if (this.#isRetired && this.definition) return Promise.resolve()
    const clean = this.#starts.clean(listed, place)
    // A requested older protocol is not the newest of the server.
    const { era = clean.era } = place.era === 'legacy' ? (this.definition ?? {}) : {}
    const offers = place.folder === this.#home.folder ? {} : readOffers(this.definition ?? {})
    return this.known.keep({ ...clean, era, ...offers }, this.#extentIn(place))
  }

  #extentIn({ folder, era, capabilities }: Place): Extent {
    const isHome = folder === this.#home.folder && era === undefined
    return isHome || !this.definition ? this.known.extentFor(capabilities) : 'elsewhere'
  }

  #relist(connection: Connection, place: Place): void {
    this.#relisting.ask(connection, async () => {
      const deadline = AbortSignal.timeout(this.#connectTimeout)
      try {
        await this.#keep(await connection.list(AbortSignal.any([this.#pool.closing, deadline])), place)
        this.#setLogin(undefined)
      } catch (error) {
        if (connection.isClosed || this.#pool.closing.aborted) return
        if (needsLogin(error)) return this.#setLogin(this.#failures.ofOpening(error, undefined).message)
        const text = `its changed list of tools could not be read: ${this.#starts.hide(String(error))}`
        this.#options.emit({ kind: 'warning', server: this.server.name, code: 'list-failed', text })
      }
    })
  }

  /** Restarts a server with `lazy: false`. */
  #revive(): void {
    if (this.server.lazy || this.#isRetired || this.#pool.closing.aborted || this.#login.isNeeded) return
    this.#later.start(this.#breaker.remaining(), () => void this.refresh().catch(() => undefined))
  }

  /** Announces the end of the pause. Lists a server that was never listed again in the background, a few times; then on demand. */
  lookLater(): void {
    if (!this.server.lazy || this.#isRetired || this.#pool.closing.aborted) return
    const rest = this.#breaker.remaining()
    if (this.definition) this.#later.start(rest + 1, () => this.#announce())
    else if (this.#retries < MOST_RETRIES)
      this.#later.start(Math.max(rest, FIRST_RETRY), () => {
        this.#options.inTurn(async () => {
          if (this.definition || this.#refreshing || this.#pool.isOpening) return
          this.#retries++
          this.#isRetrying = true
          await this.refresh()
        })
      })
  }

  #callFailure(error: unknown, { method, params }: ServerRequest, isCancelled: boolean): McpFailure {
    const failure = this.#failures.ofCall(error, String(params.name ?? method), isCancelled)
    // A missing scope of one tool does not affect the others.
    if (failure.kind === 'needs-login' && !asksForMore(failure.cause)) this.#setLogin(failure.message)
    return failure
  }

  /** `reason`: why a login is needed; undefined if it is not. */
  #setLogin(reason: string | undefined): void {
    if (reason === undefined && !this.#login.isNeeded) return
    this.#login.set(reason !== undefined)
    this.reason = reason ?? ''
    this.#announce()
  }

  #announce(isChanged = false): void {
    if (this.#isRetired) return
    const { state } = this
    const moved = state !== this.#lastState
    this.#lastState = state
    if (state === 'failed' && !this.#refreshing && !this.#pool.isOpening) this.lookLater()
    // While it is connecting, the reason of the last failure is outdated.
    const reason = state === 'connecting' ? '' : this.#options.guard.reasonForUser(this.server, this.reason)
    if (moved) this.#options.emit({ kind: 'server-state', server: this.server.name, state, reason })
    if (moved || isChanged) this.#options.onChange(this)
  }
}
