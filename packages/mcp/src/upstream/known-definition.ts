/** What is known of one server: the definition in use, its review, and the copy in the cache. Knows nothing of connections. */

import type { SourceUpdate } from '@toolwell/core'
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
import { type CallerCapabilities, capabilityKey, isWithin } from './caller.js'
import type { Failures } from './failures.js'
import type { ServerEvent } from './server-state.js'

export interface KnownOptions {
  readonly server: ServerConfig
  readonly cache: DefinitionCache
  readonly guard: Guard
  /** What may be asked of whoever lists: a server may offer other tools to a caller that can be asked more. */
  readonly asked: CallerCapabilities
  readonly now: () => number
  readonly emit: (event: ServerEvent) => void
  /** Another definition, or another review of it, is in use now. */
  readonly onAdopted: (before: Review) => void
}

/**
 * How much a list says: `whole`, that of whoever lists; a `part` of it, for a caller that can do less, which adds and
 * changes tools; or one from elsewhere (another folder, a caller that can do more), which only changes them.
 */
export type Extent = 'whole' | 'part' | 'elsewhere'

/** Milliseconds: a program that begins so soon after one that could not list a server does not wait for it. */
const LATELY = 600_000

export interface RecalledFailure {
  readonly reason: string
  readonly isLately: boolean
}

export class KnownDefinition {
  definition: ServerDefinition | undefined
  review: Review = NOTHING_FOUND
  readonly #options: KnownOptions
  readonly #asked: string
  #cached: CachedDefinition | undefined
  /** The cached notes make a scan unnecessary. */
  #isNoted = false
  #tools = new Map<string, McpTool>()

  constructor(options: KnownOptions) {
    const { server, cache, guard, asked } = options
    this.#options = options
    this.#asked = server.enabled ? capabilityKey(asked) : ''
    if (!server.enabled) return
    this.#cached = cache.read(server, this.#asked)
    if (this.#cached) this.#isNoted = guard.register(server, this.#cached.definition, this.#cached.notes)
  }

  /** Why an earlier program could not list it, where nothing else is known of it. */
  recallFailure(): RecalledFailure | undefined {
    const { cache, server, now } = this.#options
    const failed = this.#cached || !server.enabled ? undefined : cache.readFailure?.(server, this.#asked)
    const age = failed === undefined ? -1 : now() - failed.at
    if (!failed || age < 0) return undefined
    const isLately = age < LATELY
    // The next program need not wait for it, whatever comes of it in this one.
    if (!isLately) this.noteFailure(failed.reason)
    return { reason: failed.reason, isLately }
  }

  /** For the next program: it need not wait as long. */
  noteFailure(reason: string): void {
    const { cache, server, now } = this.#options
    cache.writeFailure?.(server, { at: now(), reason }, this.#asked)
  }

  /** When the list was last read from the server. */
  get listedAt(): number | undefined {
    return this.#cached?.savedAt
  }

  /** The server promised how long its list holds, and that time is over. */
  get isExpired(): boolean {
    return (this.#cached?.definition.ttlMs ?? 0) > 0 && !this.#isFresh
  }

  /** The list in use is the one that the server has promised to keep. A cached list that is not reviewed yet is no list. */
  get isCurrent(): boolean {
    return this.definition !== undefined && this.#isFresh
  }

  /** The protocol that need not be found out again. */
  get era(): 'legacy' | undefined {
    return knownEra(this.#cached, this.#options.now())
  }

  get #isFresh(): boolean {
    return this.#cached !== undefined && isFresh(this.#cached, this.#options.now())
  }

  tool(name: string): McpTool | undefined {
    return this.#tools.get(name)
  }

  /** What the list for a caller of which this may be asked says. */
  extentFor(capabilities: CallerCapabilities): Extent {
    if (!this.definition || capabilityKey(capabilities) === this.#asked) return 'whole'
    return isWithin(capabilities, this.#options.asked) ? 'part' : 'elsewhere'
  }

  /** Where what search makes of the definition in use is kept; `use` names what else decides it. */
  keptFor(use: string): SourceUpdate['kept'] {
    const { cache, server } = this.#options
    return this.definition && cache.kept?.(server, this.definition, use, this.#asked)
  }

  /** Takes what is cached into use, once all servers are met; false where that has to be reviewed first, which takes time. */
  begin(): boolean {
    if (!this.#cached || this.definition) return true
    if (this.#isNoted) this.#adopt(this.#cached.definition, true)
    return this.#isNoted
  }

  /** Reviews what is cached, a little at a time, and takes it into use. */
  async beginInSlices(isOver: () => boolean): Promise<void> {
    const cached = this.#cached
    if (!cached) return
    await this.#options.guard.prepare(this.#options.server, cached.definition)
    if (this.definition || isOver()) return
    this.#adopt(cached.definition, true)
    this.#store(cached.definition, cached.savedAt)
  }

  /** Takes what a server has listed into use. */
  async keep(listed: ServerDefinition, extent: Extent): Promise<void> {
    const { guard, server } = this.#options
    const whole = (known = this.definition): ServerDefinition =>
      extent === 'whole' || !known ? listed : { ...known, tools: merged(known, listed, extent) }
    await guard.prepare(server, whole())
    const now = this.#options.now()
    const known = this.definition
    const definition = whole()
    this.#cached = { definition, savedAt: now }
    // The same list in another order is the same list.
    if (!known || known.era !== definition.era || definitionHash(known) !== definitionHash(definition))
      this.#adopt(definition, false)
    this.#store(definition, now)
  }

  /** Reviews what is in use once more: something was approved, or is no longer. */
  reviewAgain(): void {
    if (!this.definition) return
    this.#adopt(this.definition, true)
    this.saveAgain()
  }

  /** Writes the cached copy again: its notes have changed. */
  saveAgain(): void {
    if (this.definition && this.#cached) this.#store(this.definition, this.#cached.savedAt)
  }

  /**
   * Reviews what is in use where its lock has changed: an approval needs no restart, and a stricter lock counts at once. True
   * where something of it is held back then: what was approved may be what the server lists by now.
   */
  reviewIfStale(): boolean {
    const { guard, server } = this.#options
    if (!this.definition || !guard.isStale(server)) return false
    this.reviewAgain()
    return this.review.server !== undefined || this.review.quarantined.size > 0
  }

  /** It may not be called as it is known now. */
  holds(tool: string): boolean {
    return this.review.server !== undefined || this.review.quarantined.has(tool)
  }

  /** Takes a definition into use, after review. */
  #adopt(definition: ServerDefinition, isKnown: boolean): void {
    const { server, guard, emit, onAdopted } = this.#options
    const { review: before } = this
    const tools = this.#tools
    this.review = guard.review({ server, definition, previous: this.definition, fromCache: isKnown })
    this.definition = definition
    this.#tools = toolsByName(definition.tools)
    if (!isKnown)
      emit({
        kind: 'server-listed',
        server: server.name,
        tools: this.#tools.size,
        ...difference(tools, this.#tools),
      })
    const { quarantined, warnings = [] } = this.review
    if (quarantined.size > 0) emit({ kind: 'tools-quarantined', server: server.name, tools: quarantined })
    for (const warning of warnings) emit({ kind: 'warning', server: server.name, ...warning })
    onAdopted(before)
  }

  #store(definition: ServerDefinition, now: number): void {
    const { guard, server, cache } = this.#options
    cache.write(server, definition, this.#asked, now, guard.notes(server, definition))
  }
}

function merged(known: ServerDefinition, listed: ServerDefinition, extent: Extent): McpTool[] {
  const now = toolsByName(listed.tools)
  const before = toolsByName(known.tools)
  const added = extent === 'part' ? listed.tools.filter(({ name }) => !before.has(name)) : []
  return [...known.tools.map((tool) => now.get(tool.name) ?? tool), ...added]
}

// The tool that a call is for, if it may be called now; and whether a lost call of it may be repeated.

export function findUsableTool(
  name: string,
  server: ServerConfig,
  known: Pick<KnownDefinition, 'definition' | 'review' | 'tool'>,
  failures: Failures,
): McpTool {
  const { review } = known
  if (!server.enabled) throw failures.make('disabled', `${server.name} is switched off in the config`)
  if (review.server !== undefined)
    throw failures.make('quarantined', `${server.name} is quarantined: ${review.server}`)
  const why = review.quarantined.get(name)
  if (why !== undefined)
    throw failures.make('quarantined', `${name} of ${server.name} is quarantined: ${why}`)
  const tool = known.tool(name)
  if (tool) return tool
  // Not listed yet: whether there is such a tool shows when it is.
  if (!known.definition) return { name, inputSchema: { type: 'object' } }
  throw failures.make('unknown-tool', `${server.name} has no tool ${JSON.stringify(name)}`)
}

/** Repeating it does no harm, if what the server says of it can be believed. */
export function isRepeatable({ annotations }: McpTool, { trust }: ServerConfig): boolean {
  return trust !== 'none' && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true)
}
