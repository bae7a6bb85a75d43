/** The gate decides whether a tool may be seen, loaded or called now. Every path asks it. One policy that denies is enough. */

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
  /** The tool's id. Meta-tools have the ids `toolwell/<name>`. */
  readonly id: string
  readonly name: string
  readonly source: string
  readonly tool: Tool
  /** Only with `call`: the arguments. If the tool was hidden, they match the schema. */
  readonly input?: Readonly<Record<string, unknown>>
  readonly agent?: string
  readonly principal?: string
}

/** Only `true` allows. Everything else denies, also an exception. Must be fast and synchronous: it is called often. */
export type Policy = (request: PolicyRequest) => boolean

/** `ready`, or the reason why not. For the model, a denied tool does not exist. */
export type Availability = SourceState | 'denied' | 'vanished' | 'quarantined'

export interface Gate {
  availability(entry: Entry | undefined, action: Action, input?: Record<string, unknown>): Availability
  /**
   * True if the model may know of the tool. Tools of an unreachable source stay visible, so that requests depend only on
   * definitions; a call is then answered with the state of the source.
   */
  visible(entry: Entry): boolean
  /** Returns a filter for tools that searches must not find: denied and, by default, quarantined tools. Undefined if there are none. */
  createHiddenFilter(withQuarantined?: boolean): ((entry: Entry | undefined) => boolean) | undefined
  /** True if a tool waits for approval. */
  readonly hasQuarantined: boolean
  /** True if the source of a tool is unreachable for now, so that its tools may be unchanged. */
  isSourceAway(id: string): boolean
  /** True if the model may read the name of a source without known tools. Asks the policies about a tool `*` of the source. */
  mayName(source: string): boolean
  /** The last failure of a policy. */
  readonly fault: string | undefined
}

/** States of a source that this process cannot reach for now. Another process may reach it. */
export function isAway(availability: Availability): boolean {
  return availability === 'connecting' || availability === 'failed' || availability === 'needs-login'
}

export interface GateOptions {
  readonly catalogue: Catalogue
  readonly policies: readonly Policy[]
  readonly agent?: string
  readonly principal?: string
  readonly notify: (notice: Notice) => void
  /** True for meta-tools that this conversation does not have for now. */
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
    // A fast path: each request and each search asks about every tool.
    if (policies.length === 0) return true
    const { source, tool } = entry
    const id = isSkippedId(entry.id) ? toolId(source, tool.name) : entry.id
    const about = { action, id, name: tool.name, source, tool, ...who }
    const request: PolicyRequest = input === undefined ? about : { ...about, input }
    for (const policy of policies) {
      try {
        const verdict: unknown = policy(request)
        if (verdict === true) continue
        // Nobody awaits the promise: without this, its rejection would end the process.
        if (verdict instanceof Promise) verdict.catch(() => undefined)
        if (verdict === false) return false
        return fail(
          entry.id,
          action,
          `it returned ${describeVerdict(verdict)}; a policy must return true or false, and cannot be async`,
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
    // A tool that may not be seen may not be loaded or called either.
    if (!allows(entry, 'see') || (action !== 'see' && !allows(entry, action, input))) return 'denied'
    if (entry.quarantined) return 'quarantined'
    const state = catalogue.sources.get(entry.source)?.state ?? 'ready'
    return state
  }

  const away = (id: string): boolean => {
    const entry = catalogue.get(id)
    if (entry) return isAway(availability(entry, 'see'))
    // The list may be missing or old, so a tool that is not in it may still exist.
    return [...catalogue.sources.values()].some(
      ({ name, state }) => isAway(state) && isToolOfSource(name, id),
    )
  }

  let quarantineReadAt = -1
  let isAnyQuarantined = false
  /** Reads all tools once per change of the catalogue. */
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
