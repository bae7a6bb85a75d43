/** One server over its whole life: known, started on first use, shared, stopped when idle, started again when it died. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { SourceUpdate } from '@toolwell/core'
import { redactor } from '../config/redact.js'
import type { ServerConfig } from '../config/server-config.js'
import { type CachedDefinition, type DefinitionCache, isFresh, knownEra } from '../definition/cache.js'
import {
  definitionHash,
  difference,
  type McpTool,
  type ServerDefinition,
  toolsByName,
} from '../definition/server-definition.js'
import type { Guard } from '../trust/guard.js'
import { NOTHING_FOUND, type Review } from '../trust/review.js'
import { type Caller, capabilityKey, keyOf } from './caller.js'
import { type CallOptions, type Connection, ConnectionLost, openConnection } from './connection.js'
import { createFailures, type Failures } from './failures.js'
import type { McpFailure } from './mcp-failure.js'
import { asksForMore, type ServerAuth } from './open-client.js'
import { Pool } from './pool.js'
import type { ServerEvent, ServerState } from './server-state.js'
import { VERSION } from './version.js'
import type { Watchdog } from './watchdog.js'

/** A call waits this long for a server that rests after a failure; for longer rests it is answered at once. */
const PATIENCE = 2000

export interface UpstreamOptions {
  readonly server: ServerConfig
  readonly watchdog: Watchdog
  readonly cache: DefinitionCache
  readonly guard: Guard
  readonly auth: ServerAuth | undefined
  /** Who lists: a server may offer other tools to a caller that can be asked more. */
  readonly lister: Caller
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
  definition: ServerDefinition | undefined
  review: Review = NOTHING_FOUND
  /** Why it is in this state, in words; empty where there is nothing to say. */
  reason = ''
  /** How often it was started or reached. */
  starts = 0
  /** Calls that were sent to it. */
  calls = 0
  readonly #options: UpstreamOptions
  readonly #pool: Pool
  readonly #failures: Failures
  readonly #hide: (text: string) => string
  #asked = ''
  #cached: CachedDefinition | undefined
  #isNoted = false
  #tools = new Map<string, McpTool>()
  #loginNeeded = false
  #stopWatching: (() => void) | undefined
  #lastState: ServerState | undefined
  #revival: NodeJS.Timeout | undefined
  #relisting: Promise<void> | undefined
  #relistAsked = false
  #refreshing: Promise<void> | undefined

  constructor(options: UpstreamOptions) {
    this.server = options.server
    this.#options = options
    const hide = redactor(options.server)
    this.#hide = (text) => hide(options.auth?.hide?.(text) ?? text)
    this.#failures = createFailures(options.server, this.#hide)
    this.#pool = new Pool({
      idle: options.server.idle,
      now: options.now,
      random: options.random,
      onChange: () => this.#announce(),
      onLost: (reason) => {
        this.reason = this.#hide(reason)
        this.#revive()
      },
    })
    if (!this.server.enabled) return
    this.#asked = capabilityKey(options.lister)
    this.#cached = options.cache.read(this.server, this.#asked)
    if (this.#cached)
      this.#isNoted = options.guard.meet(this.server, this.#cached.definition, this.#cached.notes)
  }

  /** Takes what is cached into use, once all servers are met; false where that has to be reviewed first, which takes time. */
  begin(): boolean {
    if (!this.#cached || this.definition) return true
    if (this.#isNoted) this.#adopt(this.#cached.definition, true)
    return this.#isNoted
  }

  /** Reviews what is cached, a little at a time, and takes it into use. */
  async beginSlowly(): Promise<void> {
    const cached = this.#cached
    if (!cached) return
    await this.#options.guard.prepare(this.server, cached.definition)
    if (this.definition || this.#pool.closing.aborted) return
    this.#adopt(cached.definition, true)
    this.#store(cached.definition, cached.savedAt)
  }

  get state(): ServerState {
    if (!this.server.enabled) return 'disabled'
    if (this.#loginNeeded) return 'needs-login'
    if (this.review.server !== undefined) return 'quarantined'
    const isListing = this.#refreshing !== undefined && this.server.lazy && this.calls === 0
    if (this.#pool.connections.length > 0 && !isListing) return 'ready'
    if (this.#refreshing || this.#pool.isOpening) return 'connecting'
    // One failure of a server that has worked is an accident: the next call may start it again.
    if (this.#pool.breaker.failures > (this.starts > 0 ? 1 : 0)) return 'failed'
    if (this.calls > 0) return 'idle'
    return this.definition ? 'cached' : 'connecting'
  }

  get pids(): number[] {
    return this.#pool.connections.flatMap(({ pid }) => pid ?? [])
  }

  /** When the list was last read from the server. */
  get listedAt(): number | undefined {
    return this.#cached?.savedAt
  }

  /** The server promised how long its list holds, and that time is over. */
  get isExpired(): boolean {
    return (this.#cached?.definition.ttlMs ?? 0) > 0 && !this.#isFresh
  }

  get #isFresh(): boolean {
    return this.#cached !== undefined && isFresh(this.#cached, this.#options.now())
  }

  /** Where what search makes of the definition in use is kept; `use` names what else decides it. */
  keptFor(use: string): SourceUpdate['kept'] {
    return this.definition && this.#options.cache.kept?.(this.server, this.definition, use, this.#asked)
  }

  /** Reaches the server and lists it; afterwards it is stopped again, unless it is in use or to be kept running. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
      this.#announce()
    })
    this.#announce()
    return this.#refreshing
  }

  async #refresh(): Promise<void> {
    if (!this.server.enabled || this.#pool.closing.aborted) return
    const { lister } = this.#options
    const key = keyOf(this.server, lister)
    const starts = this.starts
    const connection = await this.#pool.acquire(key, () => this.#open(lister, true))
    // It was running already: then it has not been listed by being opened.
    if (this.starts === starts) {
      this.#relist(connection, true)
      await this.#relisting
    }
    // Only calls would show it otherwise, and nobody can call a server that counts as failed. One that is kept running has to last.
    if (this.server.lazy) this.#pool.breaker.succeed()
    this.#pool.release(key, this.server.lazy && this.calls === 0)
  }

  async call(
    name: string,
    input: Record<string, unknown>,
    options: CallOptions = {},
  ): Promise<CallToolResult> {
    const { signal, caller = {} } = options
    this.lookAgain()
    // What is not known and cannot be under way is not worth starting a server for.
    if (!this.#relisting) this.#usable(name)
    const key = keyOf(this.server, caller)
    for (let attempt = 0; ; attempt++) {
      const connection = await this.#acquire(key, caller, signal)
      try {
        // The list may have changed since the caller saw it.
        if (this.#relisting) await abortable(this.#relisting, signal)
        return await this.#send(connection, this.#usable(name), input, options)
      } catch (error) {
        const lost = error instanceof ConnectionLost
        if (lost) this.#pool.drop(key, connection)
        const tool = this.#tools.get(name)
        const repeatable = lost && (!error.sent || (tool && isRepeatable(tool, this.server)))
        if (attempt > 0 || !repeatable || signal?.aborted) throw this.#callFailure(error, name, signal)
      } finally {
        this.#pool.release(key)
      }
    }
  }

  async #send(connection: Connection, tool: McpTool, input: Record<string, unknown>, options: CallOptions) {
    this.calls++
    const result = await connection.call(tool, input, options)
    this.#pool.breaker.succeed()
    this.#wasLetIn()
    return result
  }

  async close(): Promise<void> {
    clearTimeout(this.#revival)
    this.#stopWatching?.()
    await this.#pool.close(this.#failures.make('closed', `${this.server.name} was closed`))
  }

  /** Reviews what is in use once more: something was approved, or is no longer. */
  reviewAgain(): void {
    if (!this.definition) return
    this.#adopt(this.definition, true)
    this.keepAgain()
  }

  /** Keeps what is cached once more: there is something else to note of it. */
  keepAgain(): void {
    if (this.definition && this.#cached) this.#store(this.definition, this.#cached.savedAt)
  }

  /** Reviews what is in use where its lock is another one by now: an approval needs no restart, and a stricter lock counts at once. */
  lookAgain(): void {
    if (this.definition && this.#options.guard.isStale(this.server)) this.reviewAgain()
  }

  /** Takes a definition into use, after review. */
  #adopt(definition: ServerDefinition, isKnown: boolean): void {
    const { server, review } = this
    const before = this.#tools
    this.review = this.#options.guard.review({
      server,
      definition,
      previous: this.definition,
      fromCache: isKnown,
    })
    this.definition = definition
    this.#tools = toolsByName(definition.tools)
    if (!isKnown)
      this.#options.emit({
        kind: 'server-listed',
        server: server.name,
        tools: this.#tools.size,
        ...difference(before, this.#tools),
      })
    if (this.review.quarantined.size > 0)
      this.#options.emit({ kind: 'tools-quarantined', server: server.name, tools: this.review.quarantined })
    for (const warning of this.review.warnings ?? [])
      this.#options.emit({ kind: 'warning', server: server.name, ...warning })
    if (this.review.server !== undefined || this.reason === review.server)
      this.reason = this.review.server ?? ''
    this.#announce(true)
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
    const tool = this.#tools.get(name)
    if (tool) return tool
    // Not listed yet: whether there is such a tool shows when it is.
    if (!this.definition) return { name, inputSchema: { type: 'object' } }
    throw fail('unknown-tool', `${server.name} has no tool ${JSON.stringify(name)}`)
  }

  async #acquire(key: string, caller: Caller, signal: AbortSignal | undefined): Promise<Connection> {
    const rest = this.#pool.breaker.remaining()
    if (rest > PATIENCE && this.#pool.connections.length === 0)
      throw this.#failures.make(
        'resting',
        `${this.server.name} failed ${this.#pool.breaker.failures} times and is left alone for another ${Math.ceil(rest / 1000)} s. ${this.reason}`,
      )
    const opened = this.#pool.acquire(key, () => this.#open(caller, false))
    try {
      return await abortable(opened, signal, () => this.#failures.make('cancelled', 'the call was cancelled'))
    } catch (error) {
      // Whoever gave up must not hold what the others have waited for.
      if (signal?.aborted)
        opened.then(
          () => this.#pool.release(key),
          () => undefined,
        )
      throw error
    }
  }

  /** Opens, and lists unless the server has promised that what is known still holds. */
  async #open(caller: Caller, mustList: boolean): Promise<Connection> {
    const { server } = this
    const { connectTimeout, now, auth, watchdog } = this.#options
    const deadline = AbortSignal.timeout(connectTimeout)
    const signal = AbortSignal.any([this.#pool.closing, deadline])
    const isWhole = capabilityKey(caller) === this.#asked
    let connection: Connection | undefined
    try {
      const opened = await openConnection({
        server,
        version: VERSION,
        watchdog,
        handlers: caller.handlers,
        owner: server.share === 'all' ? undefined : caller,
        era: knownEra(this.#cached, now()),
        auth,
        timeout: connectTimeout,
        signal,
        onListChanged: () => connection && this.#relist(connection, isWhole),
      })
      connection = opened
      // A cached list that is not reviewed yet is no list.
      if (mustList || !this.definition || !this.#isFresh) await this.#keep(await opened.list(signal), isWhole)
      this.starts++
      this.#setLoginNeeded(false)
      this.reason = this.review.server ?? ''
      return opened
    } catch (error) {
      await connection?.close()
      if (this.#pool.closing.aborted) throw this.#pool.closing.reason
      const failure = this.#failures.ofOpening(error, deadline.aborted ? connectTimeout : undefined)
      this.#setLoginNeeded(failure.kind === 'needs-login')
      this.reason = failure.message
      if (!this.#loginNeeded) this.#pool.breaker.fail()
      this.#revive()
      throw failure
    }
  }

  /** A list made for a caller that can do less, or more, changes tools and brings or takes none. */
  async #keep(listed: ServerDefinition, isWhole: boolean): Promise<void> {
    const whole = (known = this.definition): ServerDefinition =>
      isWhole || !known ? listed : { ...known, tools: merged(known, listed) }
    await this.#options.guard.prepare(this.server, whole())
    const now = this.#options.now()
    const known = this.definition
    const definition = whole()
    this.#cached = { definition, savedAt: now }
    // The same list in another order is the same list.
    if (!known || known.era !== definition.era || definitionHash(known) !== definitionHash(definition))
      this.#adopt(definition, false)
    this.#store(definition, now)
  }

  #store(definition: ServerDefinition, now: number): void {
    const notes = this.#options.guard.notes(this.server, definition)
    this.#options.cache.write(this.server, definition, this.#asked, now, notes)
  }

  /** The server says that its list has changed. However often it says so, one listing follows the one under way. */
  #relist(connection: Connection, isWhole: boolean): void {
    if (this.#relistAsked) return
    this.#relistAsked = true
    const work = (this.#relisting ?? Promise.resolve()).then(async () => {
      this.#relistAsked = false
      const deadline = AbortSignal.timeout(this.#options.connectTimeout)
      try {
        const listed = await connection.list(AbortSignal.any([this.#pool.closing, deadline]))
        await this.#keep(listed, isWhole)
        this.#wasLetIn()
      } catch (error) {
        if (connection.isClosed || this.#pool.closing.aborted) return
        const text = `its list of tools has changed and could not be read: ${this.#hide(String(error))}`
        this.#options.emit({ kind: 'warning', server: this.server.name, code: 'list-failed', text })
      } finally {
        if (!this.#relistAsked) this.#relisting = undefined
      }
    })
    this.#relisting = work
  }

  /** A server that is to be kept running is started again by itself. */
  #revive(): void {
    if (this.server.lazy || this.#pool.closing.aborted || this.#loginNeeded) return
    clearTimeout(this.#revival)
    this.#revival = setTimeout(() => {
      this.refresh().catch(() => undefined)
    }, this.#pool.breaker.remaining())
    this.#revival.unref()
  }

  #callFailure(error: unknown, name: string, signal: AbortSignal | undefined): McpFailure {
    const failure = this.#failures.ofCall(error, name, signal?.aborted === true)
    // What one tool lacks says nothing of the others.
    if (failure.kind === 'needs-login' && !asksForMore(failure.cause)) {
      this.#setLoginNeeded(true)
      this.reason = failure.message
      this.#announce()
    }
    return failure
  }

  /** While a login is needed, somebody may log in elsewhere at any time; then the server is reached again. */
  #setLoginNeeded(needed: boolean): void {
    this.#loginNeeded = needed
    if (needed && !this.#pool.closing.aborted)
      this.#stopWatching ??= this.#options.auth?.watch?.(() => void this.refresh().catch(() => undefined))
    else {
      this.#stopWatching?.()
      this.#stopWatching = undefined
    }
  }

  #wasLetIn(): void {
    if (!this.#loginNeeded) return
    this.#setLoginNeeded(false)
    this.reason = ''
    this.#announce()
  }

  #announce(isChanged = false): void {
    const { state } = this
    const moved = state !== this.#lastState
    this.#lastState = state
    if (moved)
      this.#options.emit({ kind: 'server-state', server: this.server.name, state, reason: this.reason })
    if (moved || isChanged) this.#options.onChange(this)
  }
}

function merged(known: ServerDefinition, listed: ServerDefinition): McpTool[] {
  const now = toolsByName(listed.tools)
  return known.tools.map((tool) => now.get(tool.name) ?? tool)
}

/** Repeating it does no harm, if what the server says of it can be believed. */
function isRepeatable({ annotations }: McpTool, { trust }: ServerConfig): boolean {
  return trust !== 'none' && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true)
}

function abortable<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  reason: () => Error = () => new Error('cancelled'),
): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(reason())
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
