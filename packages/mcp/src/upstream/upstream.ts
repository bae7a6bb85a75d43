/** One server over its whole life: known, started on first use, shared, stopped when idle, started again when it died. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { ServerConfig } from '../config/server-config.js'
import type { DefinitionCache } from '../definition/cache.js'
import type { McpTool, ServerDefinition } from '../definition/server-definition.js'
import type { Guard } from '../trust/guard.js'
import type { Review } from '../trust/review.js'
import type { Caller } from './caller.js'
import { chooseIdleTimeout, choosePlace, type Place } from './choose-place.js'
import type { CallOptions, Connection } from './connection.js'
import type { McpFailure } from './failures.js'
import { AnswerLost, ConnectionLost, createFailures, type Failures } from './failures.js'
import {
  type Extent,
  findUsableTool,
  isRepeatable,
  KnownDefinition,
  type RecalledFailure,
} from './known-definition.js'
import { asksForMore, needsLogin } from './open-client.js'
import type { Breaker } from './pool.js'
import { Pool, type Running } from './pool.js'
import { abortable, LoginNeed, Relisting, SingleTimer } from './retries.js'
import type { LostState, ServerEvent, ServerState } from './server-state.js'
import { ServerStarter, type StarterOptions } from './start-server.js'

/** A call waits this long for a server that rests after a failure; for longer rests it is answered at once. */
const PATIENCE = 2000

/** Milliseconds before a server that could not be listed is tried again without being asked for, at least; and how often. */
const FIRST_RETRY = 1000
const MOST_RETRIES = 10

export interface UpstreamOptions extends StarterOptions {
  readonly cache: DefinitionCache
  readonly guard: Guard
  /** Who lists: a server may offer other tools to a caller that can be asked more. */
  readonly lister: Caller
  /** Who has to hear that a server of this name has lost what it kept. */
  readonly lost: LostState
  /** Does what nobody waits for, a little at a time. */
  readonly inTurn: (work: () => Promise<void>) => void
  /** That an earlier program could not list it counts for nothing. */
  readonly isPatient: boolean
  /** Milliseconds to start, shake hands and list. */
  readonly connectTimeout: number
  readonly random: () => number
  readonly emit: (event: ServerEvent) => void
  /** The definition in use, its review or the state is another one now. */
  readonly onChange: (upstream: Upstream) => void
}

export class Upstream {
  readonly server: ServerConfig
  /** What it offers, as far as that is known. */
  readonly known: KnownDefinition
  /** Why it is in this state, in words; empty where there is nothing to say. */
  reason = ''
  /** Nothing is known of it, and an earlier program could not list it either: nobody need wait long for it, or at all. */
  failedBefore: RecalledFailure | undefined
  /** How often it was started or reached. */
  starts = 0
  /** Calls that were sent to it. */
  calls = 0
  readonly #options: UpstreamOptions
  readonly #pool: Pool
  readonly #failures: Failures
  readonly #connectTimeout: number
  /** Where whoever lists is. */
  readonly #home: Place
  readonly #starts: ServerStarter
  /** Of folders other than that one. */
  readonly #reasonsElsewhere = new Map<string, string>()
  readonly #login = new LoginNeed(
    () => this.#options.auth?.watch?.(() => void this.refresh().catch(() => undefined)),
    () => this.refresh().catch(() => undefined),
  )
  #lastState: ServerState | undefined
  readonly #relisting = new Relisting()
  #refreshing: Promise<void> | undefined
  /** It was asked to speak the older protocol, and does not. */
  #isOnlyModern = false
  /** Calls that are not answered yet. */
  #underWay = 0
  #isRetired = false
  /** When it has rested, is started or is listed again. */
  readonly #later = new SingleTimer()
  /** It is listed again although nobody asks: nobody waits for it either. */
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
        const { server: held } = this.review
        if (held !== undefined || this.reason === before) this.reason = held ?? ''
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

  /** Reviews what is cached, a little at a time, and takes it into use. */
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
    // Where it may be tried again, the next call does: one failure is an accident, and later ones rest for a while.
    const isResting = this.#breaker.remaining() > 0 || !this.definition
    if (this.isTentative && isResting) return 'failed'
    if (this.calls > 0) return 'idle'
    return this.definition ? 'cached' : 'connecting'
  }

  /** What runs now, and where. */
  get running(): Running[] {
    return this.#pool.running()
  }

  /** It failed when it was last used, and has not been seen working since. */
  get isTentative(): boolean {
    return this.#breaker.failures > 0 || (!this.definition && this.failedBefore !== undefined)
  }

  /** It failed, and somebody asks for it: it is tried again, if it has rested. */
  wake(): void {
    if (!this.isTentative || this.#login.isNeeded || this.#isRetired || this.#pool.closing.aborted) return
    const isUnderWay = this.#refreshing !== undefined || this.#pool.isOpening
    if (!isUnderWay && this.#breaker.remaining() > 0) return
    // From now on somebody waits.
    this.#isRetrying = false
    this.refresh().catch(() => undefined)
  }

  /** Of the folder in which it is listed: what happens in another one says nothing about the server. */
  get #breaker(): Breaker {
    return this.#pool.breaker(this.#home)
  }

  /** Reaches the server and lists it; afterwards it is stopped again, unless it is in use or to be kept running. */
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

  async #refresh(caller: Caller): Promise<void> {
    if (!this.server.enabled || this.#pool.closing.aborted) return
    const place = choosePlace(this.server, caller, false)
    let isListed = false
    const connection = await this.#pool.acquire(place, () => {
      isListed = true
      return this.#open(place, caller, true)
    })
    // It was running already: then it has not been listed by being opened.
    if (!isListed) {
      this.#relist(connection, place)
      await this.#relisting.due
    }
    // A failed server cannot be called, so a listing that succeeds must reset it. One that is kept running has to prove itself by lasting.
    if (this.server.lazy) this.#pool.breaker(place).succeed()
    this.#pool.release(place, this.server.lazy && this.calls === 0)
  }

  async call(
    name: string,
    input: Record<string, unknown>,
    options: CallOptions = {},
  ): Promise<CallToolResult> {
    this.#underWay++
    try {
      return await this.#call(name, input, options)
    } finally {
      this.#underWay--
      if (this.#underWay === 0) this.#onQuiet?.()
    }
  }

  async #call(name: string, input: Record<string, unknown>, options: CallOptions): Promise<CallToolResult> {
    const { signal, caller = {} } = options
    const isStale = this.known.reviewIfStale() || (this.#refreshing && this.known.holds(name))
    if (isStale) await this.#giveUp(this.refresh(), signal).catch(() => undefined)
    // What is not known and cannot be under way is not worth starting a server for.
    if (!this.#relisting.due) this.#usable(name)
    // Whether it speaks both protocols shows when it is listed.
    if (caller.era === 'legacy' && !this.definition) await this.#giveUp(this.refresh(), signal)
    const speaksBoth = this.definition?.era === 'modern' && !this.#isOnlyModern
    const place = choosePlace(this.server, caller, speaksBoth)
    for (let attempt = 0; ; attempt++) {
      const connection = await this.#acquire(place, caller, signal)
      try {
        // The list may have changed since the caller saw it.
        const listing = this.known.tool(name) ? this.#relisting.underWay : this.#relisting.due
        if (listing) await abortable(listing, signal)
        const tool = this.#usable(name)
        if (options.mayCall?.() === false)
          throw this.#failures.make('quarantined', `${name} of ${this.server.name} is not as it was approved`)
        this.calls++
        this.#pool.use(place)
        const result = await connection.call(tool, input, options)
        this.#worked(place)
        this.#setLogin(undefined)
        return this.#options.lost.announce(this.server.name, place, result)
      } catch (error) {
        const lost = error instanceof ConnectionLost
        if (lost && !(error instanceof AnswerLost)) this.#pool.drop(place, connection)
        const tool = this.known.tool(name)
        const repeatable = lost && (!error.sent || (tool && isRepeatable(tool, this.server)))
        if (attempt > 0 || !repeatable || signal?.aborted) throw this.#callFailure(error, name, signal)
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

  /** Tells the server that this caller has other roots now. */
  async rootsChanged(caller: Caller): Promise<void> {
    const places = [false, true].map((speaksBoth) => choosePlace(this.server, caller, speaksBoth).key)
    for (const key of new Set(places)) await this.#pool.find({ key })?.rootsChanged()
  }

  /** Another takes its place: calls under way are answered, then it stops. Whoever used it hears that its state is gone. */
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

  /** The tool as it is now, if it may be called now. */
  #usable(name: string): McpTool {
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
        `${this.server.name} failed ${breaker.failures} times and is left alone for another ${Math.ceil(rest / 1000)} s. ${this.#reasonIn(place)}`,
      )
    const running = signal?.aborted ? undefined : this.#pool.take(place)
    if (running) return running
    const opened = this.#pool.acquire(place, () => this.#open(place, caller, false))
    try {
      return await this.#giveUp(opened, signal)
    } catch (error) {
      // A caller that gave up must not keep the connection open.
      if (signal?.aborted) opened.then(() => this.#pool.release(place)).catch(() => undefined)
      throw error
    }
  }

  /** Waits, unless whoever waits gives up. */
  #giveUp<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return abortable(work, signal, () => this.#failures.make('cancelled', 'the call was cancelled'))
  }

  /** Opens, and lists unless the server has promised that what is known still holds. */
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
      // A promise about the list was made by another process, or by the server that is still there.
      const isPromised = server.endpoint.type !== 'stdio' && this.known.isCurrent
      if (mustList || !isPromised) await this.#keep(await opened.list(signal), place)
      this.starts++
      this.#login.set(false)
      this.#setReason(place, this.review.server ?? '')
      return opened
    } catch (error) {
      await connection?.close()
      if (this.#pool.closing.aborted) throw this.#pool.closing.reason
      const failure = this.#failures.ofOpening(error, deadline.aborted ? connectTimeout : undefined)
      this.#login.set(failure.kind === 'needs-login')
      this.#setReason(place, failure.message)
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
    // What it lists now is no longer for others to see.
    if (this.#isRetired && this.definition) return Promise.resolve()
    const clean = this.#starts.clean(listed, place)
    // What it speaks when it is asked to is not the newest that it speaks.
    const { era = clean.era } = place.era === 'legacy' ? (this.definition ?? {}) : {}
    return this.known.keep({ ...clean, era }, this.#extentIn(place))
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
        const text = `its list of tools has changed and could not be read: ${this.#starts.hide(String(error))}`
        this.#options.emit({ kind: 'warning', server: this.server.name, code: 'list-failed', text })
      }
    })
  }

  /** A server that is to be kept running is started again by itself. */
  #revive(): void {
    if (this.server.lazy || this.#isRetired || this.#pool.closing.aborted || this.#login.isNeeded) return
    this.#later.start(this.#breaker.remaining(), () => void this.refresh().catch(() => undefined))
  }

  /**
   * The end of a rest is news: calls may try again. What has never been listed is listed again by itself, a few times;
   * after that when somebody asks for it.
   */
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

  #callFailure(error: unknown, name: string, signal: AbortSignal | undefined): McpFailure {
    const failure = this.#failures.ofCall(error, name, signal?.aborted === true)
    // One tool that needs more scopes says nothing about the others.
    if (failure.kind === 'needs-login' && !asksForMore(failure.cause)) this.#setLogin(failure.message)
    return failure
  }

  /** Why it asks for a login; undefined where it has let us in. */
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
    // While it is tried again, why it failed before is no reason for anything.
    const reason = state === 'connecting' ? '' : this.reason
    if (moved) this.#options.emit({ kind: 'server-state', server: this.server.name, state, reason })
    if (moved || isChanged) this.#options.onChange(this)
  }
}
