/** The known definition of one server: the definition in use, its review, and its cached copy. Independent of connections. */

import type { SourceUpdate } from '@toolwell/core'
import { dropUndefined } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'
import { type CachedDefinition, type DefinitionCache, isFresh, knownEra } from '../definition/cache.js'
import {
  definitionHash,
  difference,
  type McpTool,
  type ServerDefinition,
  type ServerOffers,
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
  /** Capabilities of the listing caller: a server may offer other tools to a caller with more capabilities. */
  readonly asked: CallerCapabilities
  readonly now: () => number
  readonly emit: (event: ServerEvent) => void
  /** Called when another definition or review is in use. */
  readonly onAdopted: (before: Review) => void
}

/**
 * Effect of a list. `whole`: replaces the definition. `part`: adds and changes tools, from a caller with fewer capabilities.
 * `elsewhere`: only changes tools, from another folder or a caller with more capabilities.
 */
export type Extent = 'whole' | 'part' | 'elsewhere'

/** Milliseconds after a failed listing in which other programs do not wait for the server. */
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

  /** The failed listing of an earlier program, if the definition is unknown. */
  recallFailure(): RecalledFailure | undefined {
    const { cache, server, now } = this.#options
    const failed = this.#cached || !server.enabled ? undefined : cache.readFailure?.(server, this.#asked)
    const age = failed === undefined ? -1 : now() - failed.at
    if (!failed || age < 0) return undefined
    const isLately = age < LATELY
    // Renew the note, so that the next program does not wait either.
    if (!isLately) this.noteFailure(failed.reason)
    return { reason: failed.reason, isLately }
  }

  /** Notes a failed listing, so that the next program does not wait as long. */
  noteFailure(reason: string): void {
    const { cache, server, now } = this.#options
    cache.writeFailure?.(server, { at: now(), reason }, this.#asked)
  }

  /** When the list was last read from the server. */
  get listedAt(): number | undefined {
    return this.#cached?.savedAt
  }

  /** The list has a `ttlMs`, which is over. */
  get isExpired(): boolean {
    return (this.#cached?.definition.ttlMs ?? 0) > 0 && !this.#isFresh
  }

  /** The list in use is reviewed, and its `ttlMs` is not over. */
  get isCurrent(): boolean {
    return this.definition !== undefined && this.#isFresh
  }

  /** The protocol of the last listing. Undefined for an older server that should be probed again. */
  get era(): 'legacy' | 'modern' | undefined {
    return knownEra(this.#cached, this.#options.now())
  }

  get #isFresh(): boolean {
    return this.#cached !== undefined && isFresh(this.#cached, this.#options.now())
  }

  tool(name: string): McpTool | undefined {
    return this.#tools.get(name)
  }

  /** The effect of a list for a caller with these capabilities. */
  extentFor(capabilities: CallerCapabilities): Extent {
    if (!this.definition || capabilityKey(capabilities) === this.#asked) return 'whole'
    return isWithin(capabilities, this.#options.asked) ? 'part' : 'elsewhere'
  }

  /** Storage for the search index of the definition in use. `use`: key of the other inputs. */
  keptFor(use: string): SourceUpdate['kept'] {
    const { cache, server } = this.#options
    return this.definition && cache.kept?.(server, this.definition, use, this.#asked)
  }

  /** Uses the cached definition, after all servers are registered. False if it must be reviewed first, which takes time. */
  begin(): boolean {
    if (!this.#cached || this.definition) return true
    if (this.#isNoted) this.#adopt(this.#cached.definition, true)
    return this.#isNoted
  }

  /** Reviews the cached definition in short slices, and uses it. */
  async beginInSlices(isOver: () => boolean): Promise<void> {
    const cached = this.#cached
    if (!cached) return
    await this.#options.guard.prepare(this.#options.server, cached.definition)
    if (this.definition || isOver()) return
    this.#adopt(cached.definition, true)
    this.#store(cached.definition, cached.savedAt)
  }

  /** Uses a listed definition and stores it. */
  async keep(listed: ServerDefinition, extent: Extent): Promise<void> {
    const { guard, server } = this.#options
    const whole = (known = this.definition): ServerDefinition =>
      extent === 'whole' || !known
        ? listed
        : { ...known, ...readOffers(listed), tools: merged(known, listed, extent) }
    await guard.prepare(server, whole())
    const now = this.#options.now()
    const known = this.definition
    const definition = whole()
    this.#cached = { definition, savedAt: now }
    // The order of the list does not matter.
    if (!known || known.era !== definition.era || definitionHash(known) !== definitionHash(definition))
      this.#adopt(definition, false)
    this.#store(definition, now)
  }

  /** Reviews the definition in use again, after a change of approvals. */
  reviewAgain(): void {
    if (!this.definition) return
    this.#adopt(this.definition, true)
    this.saveAgain()
  }

  /** Writes the cached copy again, because its notes have changed. */
  saveAgain(): void {
    if (this.definition && this.#cached) this.#store(this.definition, this.#cached.savedAt)
  }

  /**
   * Reviews the definition in use if its lock changed, so that approvals and stricter locks take effect at once. True if something is
   * still quarantined: the approved definition may be newer than the known list.
   */
  reviewIfStale(): boolean {
    const { guard, server } = this.#options
    if (!this.definition || !guard.isStale(server)) return false
    this.reviewAgain()
    return this.review.server !== undefined || this.review.quarantined.size > 0
  }

  /** Is the tool quarantined, or the whole server? */
  holds(tool: string | undefined): boolean {
    return this.review.server !== undefined || (tool !== undefined && this.review.quarantined.has(tool))
  }

  /** Reviews a definition and uses it. */
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

/** The prompts and resources of a definition. */
export function readOffers({ prompts, resources, templates }: Partial<ServerOffers>): Partial<ServerOffers> {
  return dropUndefined({ prompts, resources, templates })
}

function merged(known: ServerDefinition, listed: ServerDefinition, extent: Extent): McpTool[] {
  const now = toolsByName(listed.tools)
  const before = toolsByName(known.tools)
  const added = extent === 'part' ? listed.tools.filter(({ name }) => !before.has(name)) : []
  return [...known.tools.map((tool) => now.get(tool.name) ?? tool), ...added]
}

/** `name` is undefined for requests that are no calls: only the server is checked. */
export function findUsableTool(
  name: string | undefined,
  server: ServerConfig,
  known: Pick<KnownDefinition, 'definition' | 'review' | 'tool'>,
  failures: Failures,
): McpTool | undefined {
  const { review } = known
  if (!server.enabled) throw failures.make('disabled', `${server.name} is disabled in the config`)
  // A model may read this message, so it lacks the reason of the review, which has a command that approves.
  const what = review.server !== undefined ? server.name : `${name} of ${server.name}`
  if (review.server !== undefined || (name !== undefined && review.quarantined.has(name)))
    throw failures.make(
      'quarantined',
      `${what} is quarantined: its definition is new, has changed or looks harmful. Only the user decides whether it may be used`,
    )
  if (name === undefined) return undefined
  const tool = known.tool(name)
  if (tool) return tool
  // Not listed yet: the listing will show if there is such a tool.
  if (!known.definition) return { name, inputSchema: { type: 'object' } }
  throw failures.make('unknown-tool', `${server.name} has no tool ${JSON.stringify(name)}`)
}

/** Can a lost call be repeated without harm, according to trusted annotations? False for a tool that is no longer listed. */
export function isRepeatable(tool: McpTool | undefined, { trust }: ServerConfig): boolean {
  const { annotations } = tool ?? {}
  return trust !== 'none' && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true)
}
