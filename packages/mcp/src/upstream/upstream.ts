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
import { type Caller, keyOf } from './caller.js'
import { type CallOptions, type Connection, ConnectionLost, openConnection } from './connection.js'
import { createFailures, type Failures } from './failures.js'
import { KnownDefinition } from './known-definition.js'
import type { McpFailure } from './mcp-failure.js'
import { asksForMore, type ServerAuth } from './open-client.js'
import { Pool } from './pool.js'
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
  /** With what came out of references at the last start. */
  #started: ServerConfig
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
    this.#started = options.server
    this.#failures = createFailures(options.server, (text) => this.#hide(text))
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
    this.known = new KnownDefinition({
      ...options,
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
    return redactor(this.#started)(this.#options.auth?.hide?.(text) ?? text)
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
    // A failed server cannot be called, so a listing that succeeds must reset it. One that is kept running has to prove itself by lasting.
    if (this.server.lazy) this.#pool.breaker.succeed()
    this.#pool.release(key, this.server.lazy && this.calls === 0)
  }

  async call(
    name: string,
    input: Record<string, unknown>,
    options: CallOptions = {},
  ): Promise<CallToolResult> {
    const { signal, caller = {} } = options
    this.known.lookAgain()
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
        const tool = this.known.tool(name)
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
      // A caller that gave up must not keep the connection open.
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
    const { auth, watchdog, guard } = this.#options
    const connectTimeout = this.#connectTimeout
    const deadline = AbortSignal.timeout(connectTimeout)
    const signal = AbortSignal.any([this.#pool.closing, deadline])
    const isWhole = this.known.isWholeFor(caller)
    let connection: Connection | undefined
    try {
      const waiting = guard.waitingCommand(this.server)
      if (waiting !== undefined) throw this.#failures.make('quarantined', waiting)
      const { file } = this.server
      const beside = file === undefined ? '' : entryFolder(file)
      // A config may be a text without a file.
      const folder = existsSync(beside) ? beside : process.cwd()
      const server = await resolveReferences(this.server, { folder, signal })
      this.#started = server
      const opened = await openConnection({
        server,
        version: VERSION,
        watchdog,
        handlers: caller.handlers,
        owner: server.share === 'all' ? undefined : caller,
        era: this.known.era,
        auth,
        hide: (text) => this.#hide(text),
        log: this.#log(server),
        timeout: connectTimeout,
        signal,
        onListChanged: () => connection && this.#relist(connection, isWhole),
      })
      connection = opened
      // A promise about the list was made by another process, or by the server that is still there.
      const isPromised = server.endpoint.type !== 'stdio' && this.known.isCurrent
      if (mustList || !isPromised) await this.#keep(await opened.list(signal), isWhole)
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

  /** What a server repeats of its config is taken out before anything else sees it. */
  #keep(listed: ServerDefinition, isWhole: boolean): Promise<void> {
    return this.known.keep(withoutSecrets(listed, definitionRedactor(this.#started)), isWhole)
  }

  /** The server says that its list has changed. However often it says so, one listing follows the one under way. */
  #relist(connection: Connection, isWhole: boolean): void {
    if (this.#relistAsked) return
    this.#relistAsked = true
    const work = (this.#relisting ?? Promise.resolve()).then(async () => {
      this.#relistAsked = false
      const deadline = AbortSignal.timeout(this.#connectTimeout)
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
    // One tool that needs more scopes says nothing about the others.
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

/** Repeating it does no harm, if what the server says of it can be believed. */
function isRepeatable({ annotations }: McpTool, { trust }: ServerConfig): boolean {
  return trust !== 'none' && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true)
}
