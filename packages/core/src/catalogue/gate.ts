/** The one predicate: whether a tool may be seen, loaded or called right now. Every path asks it, and deny wins. */

import { dropUndefined } from '../base/data.js'
import { isToolOfSource, toolId } from '../base/names.js'
import type { Notice } from '../tool/notice.js'
import type { SourceState } from '../tool/source.js'
import type { Tool } from '../tool/tool.js'
import { type Catalogue, type Entry, META } from './catalogue.js'
import { isSkippedId } from './check-tools.js'

export type Action = 'see' | 'load' | 'call'

export interface PolicyRequest {
  readonly action: Action
  /** The tool's id; the meta-tools have the ids `toolwell/<name>`. */
  readonly id: string
  readonly name: string
  readonly source: string
  readonly tool: Tool
  /** The arguments of a call, already checked against the schema where the tool was hidden. Only with `call`. */
  readonly input?: Readonly<Record<string, unknown>>
  readonly agent?: string
  readonly principal?: string
}

/** Only `true` allows. Anything else denies, a throw included. Must be quick and synchronous: it is asked often. */
export type Policy = (request: PolicyRequest) => boolean

/** `ready`, or the reason why not. Denied tools are answered like tools that do not exist. */
export type Availability = SourceState | 'denied' | 'vanished' | 'quarantined'

export interface Gate {
  availability(entry: Entry | undefined, action: Action, input?: Record<string, unknown>): Availability
  /**
   * May be mentioned to the model at all. Does not depend on whether its source can be reached: what a request says of a
   * source follows from its definitions, and a call while it is away is answered with its state.
   */
  visible(entry: Entry): boolean
  /** What a search takes for not there: what is denied, and, unless they are asked for, tools in quarantine. Undefined where that is nothing. */
  createHiddenFilter(withQuarantined?: boolean): ((entry: Entry | undefined) => boolean) | undefined
  /** Whether any tool waits for approval. */
  readonly hasQuarantined: boolean
  /** Whether the source of a tool is only out of reach from here: then nothing new can be said of the tool. */
  isSourceAway(id: string): boolean
  /** May a source be named of which no tool is known yet? The policies are asked about a tool `*` of it. */
  mayName(source: string): boolean
  /** What a policy did instead of giving an answer, the last time. */
  readonly fault: string | undefined
}

/** States in which a source cannot be reached from here for now. Another process may reach it. */
export function isAway(availability: Availability): boolean {
  return availability === 'connecting' || availability === 'failed' || availability === 'needs-login'
}

export interface GateOptions {
  readonly catalogue: Catalogue
  readonly policies: readonly Policy[]
  readonly agent?: string
  readonly principal?: string
  readonly notify: (notice: Notice) => void
  /** Tools that this conversation does not have for now, whatever a policy says. */
  readonly lacks?: (id: string) => boolean
}

export function createGate(options: GateOptions): Gate {
  const { catalogue, policies, agent, principal, notify, lacks } = options
  const who = { ...dropUndefined({ agent }), ...dropUndefined({ principal }) }

  let fault: string | undefined
  const fail = (tool: string, action: Action, detail: string): false => {
    fault = `asked about ${tool}, ${detail}`
    notify({ kind: 'policy-failed', tool, action, detail })
    return false
  }
  const allows = (entry: Entry, action: Action, input?: Record<string, unknown>): boolean => {
    // A request asks this about every tool there is, and so does a search.
    if (policies.length === 0) return true
    const { source, tool } = entry
    const id = isSkippedId(entry.id) ? toolId(source, tool.name) : entry.id
    const about = { action, id, name: tool.name, source, tool, ...who }
    const request: PolicyRequest = input === undefined ? about : { ...about, input }
    for (const policy of policies) {
      try {
        const verdict: unknown = policy(request)
        if (verdict === true) continue
        // Nobody waits for it, so its failure would end the process.
        if (verdict instanceof Promise) verdict.catch(() => undefined)
        if (verdict === false) return false
        return fail(
          entry.id,
          action,
          `it returned ${describeVerdict(verdict)}; a policy gives true or false, and is not async`,
        )
      } catch (error) {
        return fail(entry.id, action, `it threw ${String(error)}`)
      }
    }
    return true
  }

  const availability: Gate['availability'] = (entry, action, input) => {
    if (!entry) return 'vanished'
    if (entry.source === META && lacks?.(entry.id)) return 'denied'
    // What may not be seen may not be loaded or called either, whatever a policy says of those.
    if (!allows(entry, 'see') || (action !== 'see' && !allows(entry, action, input))) return 'denied'
    if (entry.quarantined) return 'quarantined'
    const state = catalogue.sources.get(entry.source)?.state ?? 'ready'
    return state
  }

  const away = (id: string): boolean => {
    const entry = catalogue.get(id)
    if (entry) return isAway(availability(entry, 'see'))
    // A list that was never read here, or an older one, says nothing of what is missing in it.
    return [...catalogue.sources.values()].some(
      ({ name, state }) => isAway(state) && isToolOfSource(name, id),
    )
  }

  let quarantineReadAt = -1
  let isAnyQuarantined = false
  /** Looks at all tools once for each change of the catalogue. */
  const hasQuarantined = (): boolean => {
    if (quarantineReadAt !== catalogue.revision) {
      isAnyQuarantined = [...catalogue.entries()].some(({ quarantined }) => quarantined)
      quarantineReadAt = catalogue.revision
    }
    return isAnyQuarantined
  }

  return {
    availability,
    get hasQuarantined() {
      return hasQuarantined()
    },
    createHiddenFilter(withQuarantined = false) {
      const isDenied = (entry: Entry | undefined) => availability(entry, 'load') === 'denied'
      if (withQuarantined || !hasQuarantined()) return policies.length > 0 ? isDenied : undefined
      return (entry) => entry?.quarantined === true || isDenied(entry)
    },
    isSourceAway: away,
    visible: (entry) => {
      const found = availability(entry, 'see')
      return found === 'ready' || isAway(found)
    },
    mayName: (source) => allows(createWildcardEntry(source), 'see'),
    get fault() {
      return fault
    },
  }
}

function createWildcardEntry(source: string): Entry {
  const tool = { name: '*', description: '', inputSchema: {}, source }
  return { id: toolId(source, '*'), wireName: '', source, tool, quarantined: false, fingerprint: '' }
}

function describeVerdict(value: unknown): string {
  return value instanceof Promise ? 'a promise' : typeof value
}
