/** One server over its whole life: known, started on first use, shared, stopped when idle, started again when it died. */
import { existsSync } from 'node:fs'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { definitionRedactor, redactor } from '../config/redact.js'
import { resolveReferences } from '../config/references.js'
import type { ServerConfig } from '../config/server-config.js'
import { entryFolder } from '../config/translate-entry.js'
import type { DefinitionCache } from '../definition/cache.js'
import type { McpTool, ServerDefinition } from '../definition/server-definition.js'
import { withoutSecrets } from '../definition/without-secrets.js'
import type { Guard } from '../trust/guard.js'
import type { Review } from '../trust/review.js'
import { abortable } from './abortable.js'
import type { Breaker } from './breaker.js'
import type { Caller } from './caller.js'
import { type CallOptions, type Connection, openConnection } from './connection.js'
import { ConnectionLost } from './connection-lost.js'
import { createFailures, type Failures } from './failures.js'
import { type Extent, KnownDefinition } from './known-definition.js'
import { LoginNeed } from './login-need.js'
import type { LostState } from './lost-state.js'
import type { McpFailure } from './mcp-failure.js'
import { asksForMore, type ServerAuth } from './open-client.js'
import { type Place, placeOf, serverIn } from './place.js'
import { Pool, type Running } from './pool.js'
import { Relisting } from './relisting.js'
import { createServerLog, logFileOf, type ServerLog } from './server-log.js'
import type { ServerEvent, ServerState } from './server-state.js'
import { VERSION } from './version.js'
import type { Watchdog } from './watchdog.js'

/** A call waits this long for a server that rests after a failure; for longer rests it is answered at once. */
const PATIENCE = 2000

export interface UpstreamOptions {
  readonly server: ServerConfig
  readonly watchdog: Watchdog
  /** Where what local servers write to standard error is kept; undefined: nowhere. */
  readonly logs: string | undefined
  readonly cache: DefinitionCache
  readonly guard: Guard
  readonly auth: ServerAuth | undefined
  /** Who lists: a server may offer other tools to a caller that can be asked more. */
  readonly lister: Caller
  /** Who has to hear that a server of this name has lost what it kept. */
  readonly lost: LostState
  /** Milliseconds to start, shake hands and list. */
  readonly connectTimeout: number
  readonly now: () => number
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
  /** How often it was started or reached. */
  starts = 0
  /** Calls that were sent to it. */
  calls = 0
  readonly #options: UpstreamOptions
  readonly #pool: Pool
  readonly #failures: Failures
  /** Where whoever lists is. */
  readonly #home: Place
  /** By folder: with what came out of references at the last start. */
  readonly #started = new Map<string, ServerConfig>()
  /** Of folders other than that one. */
  readonly #reasonsElsewhere = new Map<string, string>()
  readonly #login = new LoginNeed(() =>
    this.#options.auth?.watch?.(() => void this.refresh().catch(() => undefined)),
  )
  #lastState: ServerState | undefined
  #revival: NodeJS.Timeout | undefined
  readonly #relisting = new Relisting()
  #refreshing: Promise<void> | undefined
  /** It was asked to speak the older protocol, and does not. */
  #isOnlyModern = false
  /** Calls that are not answered yet. */
  #underWay = 0
  #isRetired = false
  #onQuiet: (() => void) | undefined

  constructor(options: UpstreamOptions) {
    this.server = options.server
    this.#options = options
    this.#home = placeOf(options.server, options.lister, false)
    this.#failures = createFailures(options.server, (text) => this.#hide(text))
    this.#pool = new Pool({
      idle: options.server.idle,
      now: options.now,
      random: options.random,
      onChange: () => this.#announce(),
      onLost: (place, reason) => {
        if (place.folder === this.#home.folder) this.reason = this.#hide(reason)
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
        const { server: held } = this.review
        if (held !== undefined || this.reason === before) this.reason = held ?? ''
        this.#announce(true)
      },
    })
  }

  get #connectTimeout(): number {
    return this.server.startTimeout ?? this.#options.connectTimeout
  }

  /** Secrets that come out of references are known by now. */
  #log(started: ServerConfig): ServerLog | undefined {
    const { logs, now } = this.#options
    return logs === undefined ? undefined : createServerLog(logFileOf(started, logs), redactor(started), now)
  }

  #hide(text: string): string {
    const said = this.#options.auth?.hide?.(text) ?? text
    return [this.server, ...this.#started.values()].reduce((rest, server) => redactor(server)(rest), said)
  }

  get definition(): ServerDefinition | undefined {
    return this.known.definition
  }

  get review(): Review {
    return this.known.review
  }

  /** Reviews what is cached, a little at a time, and takes it into use. */
  beginSlowly(): Promise<void> {
    return this.known.beginSlowly(() => this.#pool.closing.aborted)
  }

  get state(): ServerState {
    if (!this.server.enabled) return 'disabled'
    if (this.#login.isNeeded) return 'needs-login'
    if (this.review.server !== undefined) return 'quarantined'
    const isListing = this.#refreshing !== undefined && this.server.lazy && this.calls === 0
    if (this.#pool.connections.length > 0 && !isListing) return 'ready'
    if (this.#refreshing || this.#pool.isOpening) return 'connecting'
    // One failure of a server that has worked is an accident: the next call may start it again.
    if (this.#breaker.failures > (this.starts > 0 ? 1 : 0)) return 'failed'
    if (this.calls > 0) return 'idle'
    return this.definition ? 'cached' : 'connecting'
  }

  get pids(): number[] {
    return this.#pool.connections.flatMap(({ pid }) => pid ?? [])
  }

  /** What runs now, and where. */
  get running(): Running[] {
    return this.#pool.running()
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
      this.#announce()
    })
    this.#announce()
    return this.#refreshing
  }

  async #refresh(caller: Caller): Promise<void> {
    if (!this.server.enabled || this.#pool.closing.aborted) return
    const place = placeOf(this.server, caller, false)
    let isListed = false
    const connection = await this.#pool.acquire(place, () => {
      isListed = true
      return this.#open(place, caller, true)
    })
    // It was running already: then it has not been listed by being opened.
    if (!isListed) {
      this.#relist(connection, place)
      await this.#relisting.underWay
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
    this.known.lookAgain()
    // What is not known and cannot be under way is not worth starting a server for.
    if (!this.#relisting.underWay) this.#usable(name)
    // Whether it speaks both protocols shows when it is listed.
    if (caller.era === 'legacy' && !this.definition) await this.#giveUp(this.refresh(), signal)
    const speaksBoth = this.definition?.era === 'modern' && !this.#isOnlyModern
    const place = placeOf(this.server, caller, speaksBoth)
    for (let attempt = 0; ; attempt++) {
      const connection = await this.#acquire(place, caller, signal)
      try {
        // The list may have changed since the caller saw it.
        if (this.#relisting.underWay) await abortable(this.#relisting.underWay, signal)
        const tool = this.#usable(name)
        this.calls++
        this.#pool.use(place)
        const result = await connection.call(tool, input, options)
        this.#pool.breaker(place).succeed()
        this.#wasLetIn()
        return this.#options.lost.tell(this.server.name, place, result)
      } catch (error) {
        const lost = error instanceof ConnectionLost
        if (lost) this.#pool.drop(place, connection)
        const tool = this.known.tool(name)
        const repeatable = lost && (!error.sent || (tool && isRepeatable(tool, this.server)))
        if (attempt > 0 || !repeatable || signal?.aborted) throw this.#callFailure(error, name, signal)
      } finally {
        this.#pool.release(place)
      }
    }
  }

  /** Tells the server that this caller has other roots now. */
  async rootsChanged(caller: Caller): Promise<void> {
    const places = [false, true].map((speaksBoth) => placeOf(this.server, caller, speaksBoth).key)
    for (const key of new Set(places)) await this.#pool.find({ key })?.rootsChanged()
  }

  /** Another takes its place: calls under way are answered, then it stops. Whoever used it hears that its state is gone. */
  async retire(): Promise<void> {
    this.#isRetired = true
    clearTimeout(this.#revival)
    this.#pool.giveUp()
    if (this.#underWay > 0)
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve
      })
    await this.close()
  }

  async close(): Promise<void> {
    clearTimeout(this.#revival)
    this.#login.end()
    await this.#pool.close(this.#failures.make('closed', `${this.server.name} was closed`))
  }

  /** The tool as it is now, if it may be called now. */
  #usable(name: string): McpTool {
    const { server, review } = this
    const fail = (kind: McpFailure['kind'], message: string) => this.#failures.make(kind, message)
    if (this.#pool.closing.aborted) throw this.#pool.closing.reason
    if (!server.enabled) throw fail('disabled', `${server.name} is switched off in the config`)
    if (review.server !== undefined)
      throw fail('quarantined', `${server.name} is quarantined: ${review.server}`)
    const why = review.quarantined.get(name)
    if (why !== undefined) throw fail('quarantined', `${name} of ${server.name} is quarantined: ${why}`)
    const tool = this.known.tool(name)
    if (tool) return tool
    // Not listed yet: whether there is such a tool shows when it is.
    if (!this.definition) return { name, inputSchema: { type: 'object' } }
    throw fail('unknown-tool', `${server.name} has no tool ${JSON.stringify(name)}`)
  }

  async #acquire(place: Place, caller: Caller, signal: AbortSignal | undefined): Promise<Connection> {
    const breaker = this.#pool.breaker(place)
    const rest = breaker.remaining()
    const isRunning = this.#pool.running().some((each) => each.place.folder === place.folder)
    if (rest > PATIENCE && !isRunning)
      throw this.#failures.make(
        'resting',
        `${this.server.name} failed ${breaker.failures} times and is left alone for another ${Math.ceil(rest / 1000)} s. ${this.#reasonIn(place)}`,
      )
    const opened = this.#pool.acquire(place, () => this.#open(place, caller, false))
    try {
      return await this.#giveUp(opened, signal)
    } catch (error) {
      // A caller that gave up must not keep the connection open.
      if (signal?.aborted)
        opened.then(
          () => this.#pool.release(place),
          () => undefined,
        )
      throw error
    }
  }

  /** Waits, unless whoever waits gives up. */
  #giveUp<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return abortable(work, signal, () => this.#failures.make('cancelled', 'the call was cancelled'))
  }

  /** Opens, and lists unless the server has promised that what is known still holds. */
  async #open(place: Place, caller: Caller, mustList: boolean): Promise<Connection> {
    const { auth, watchdog, guard } = this.#options
    const connectTimeout = this.#connectTimeout
    const deadline = AbortSignal.timeout(connectTimeout)
    const signal = AbortSignal.any([this.#pool.closing, deadline])
    const written = serverIn(this.server, place.folder)
    // Nothing was tried, so nothing has to rest.
    if ('problem' in written)
      throw this.#failures.make(
        'unavailable',
        `${this.server.name} cannot be used in ${JSON.stringify(place.folder)}: ${written.problem}`,
      )
    let connection: Connection | undefined
    try {
      const waiting = guard.waitingCommand(written)
      if (waiting !== undefined) throw this.#failures.make('quarantined', waiting)
      const { file } = this.server
      const beside = file === undefined ? '' : entryFolder(file)
      // A config may be a text without a file.
      const folder = existsSync(beside) ? beside : process.cwd()
      const server = await resolveReferences(written, { folder, signal })
      this.#started.set(place.folder, server)
      const opened = await openConnection({
        server,
        version: VERSION,
        watchdog,
        capabilities: place.capabilities,
        owner: Object.keys(place.owner).length > 0 ? caller : undefined,
        era: this.known.era,
        prefersLegacy: place.era === 'legacy',
        auth,
        hide: (text) => this.#hide(text),
        log: this.#log(server),
        timeout: connectTimeout,
        signal,
        onListChanged: () => connection && this.#relist(connection, place),
      })
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

  /** What a server repeats of its config is taken out before anything else sees it. */
  #keep(listed: ServerDefinition, place: Place): Promise<void> {
    // What it lists now is no longer for others to see.
    if (this.#isRetired && this.definition) return Promise.resolve()
    const hide = definitionRedactor(this.#started.get(place.folder) ?? this.server)
    const clean = withoutSecrets(listed, hide)
    // What it speaks when it is asked to is not the newest that it speaks.
    const { era = clean.era } = place.era === 'legacy' ? (this.definition ?? {}) : {}
    return this.known.keep({ ...clean, era }, this.#extentIn(place))
  }

  #extentIn({ folder, era, capabilities }: Place): Extent {
    const isHome = folder === this.#home.folder && era === undefined
    return isHome || !this.definition ? this.known.extentFor(capabilities) : 'elsewhere'
  }

  #relist(connection: Connection, place: Place): void {
    this.#relisting.ask(async () => {
      const deadline = AbortSignal.timeout(this.#connectTimeout)
      try {
        await this.#keep(await connection.list(AbortSignal.any([this.#pool.closing, deadline])), place)
        this.#wasLetIn()
      } catch (error) {
        if (connection.isClosed || this.#pool.closing.aborted) return
        const text = `its list of tools has changed and could not be read: ${this.#hide(String(error))}`
        this.#options.emit({ kind: 'warning', server: this.server.name, code: 'list-failed', text })
      }
    })
  }

  /** A server that is to be kept running is started again by itself. */
  #revive(): void {
    if (this.server.lazy || this.#isRetired || this.#pool.closing.aborted || this.#login.isNeeded) return
    clearTimeout(this.#revival)
    this.#revival = setTimeout(() => {
      this.refresh().catch(() => undefined)
    }, this.#breaker.remaining())
    this.#revival.unref()
  }

  #callFailure(error: unknown, name: string, signal: AbortSignal | undefined): McpFailure {
    const failure = this.#failures.ofCall(error, name, signal?.aborted === true)
    // One tool that needs more scopes says nothing about the others.
    if (failure.kind === 'needs-login' && !asksForMore(failure.cause)) {
      this.#login.set(true)
      this.reason = failure.message
      this.#announce()
    }
    return failure
  }

  #wasLetIn(): void {
    if (!this.#login.isNeeded) return
    this.#login.set(false)
    this.reason = ''
    this.#announce()
  }

  #announce(isChanged = false): void {
    if (this.#isRetired) return
    const { state } = this
    const moved = state !== this.#lastState
    this.#lastState = state
    if (moved)
      this.#options.emit({ kind: 'server-state', server: this.server.name, state, reason: this.reason })
    if (moved || isChanged) this.#options.onChange(this)
  }
}

/** Repeating it does no harm, if what the server says of it can be believed. */
function isRepeatable({ annotations }: McpTool, { trust }: ServerConfig): boolean {
  return trust !== 'none' && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true)
}
