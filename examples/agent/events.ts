/** Events of a session, in order. They are enough to show, log or test the agent. */
import type { ToolwellEvent } from '@toolwell/core'
import type { ServerEvent } from '@toolwell/mcp'
import type { Mode } from './permissions.ts'
import type { WireName } from './wires.ts'

interface Facts {
  /** An open session: its messages and loaded tools. */
  session: { wire: WireName; mode: Mode; messages: number; loaded: readonly string[] }
  text: { text: string }
  search: { query: string; loaded: readonly string[] }
  load: { tool: string; because: string }
  unload: { tool: string; because: string }
  /** A loaded or sent tool became unavailable, or available again. */
  suspend: { tool: string; because: string }
  restore: { tool: string }
  /** An empty `because` means approved. */
  approval: { callId: string; tool: string; because: string }
  /** The target tool, never a wrapper. */
  'tool-call': { callId: string; tool: string; input: object }
  /** `outcome`: `result`, or why there is none. */
  'tool-result': { callId: string; tool: string; outcome: string; text: string }
  /** The sub-agent's session emits its own events. */
  'sub-agent': { agent: string; session: string; task: string }
  mode: { mode: Mode }
  retry: { attempt: number; because: string; wait: number }
  compaction: { before: number; after: number }
  move: { wire: WireName }
  server: { server: string; state: string; because: string }
  /** A warning of Toolwell or about a config, not a failure. */
  notice: { text: string }
  error: { text: string }
  done: { text: string; context: string }
}

export type AgentEvent = {
  [Kind in keyof Facts]: { readonly kind: Kind } & Readonly<Facts[Kind]>
}[keyof Facts]

const LONGEST = 160

/** Converts Toolwell's events that are worth showing. Undefined for the others. */
export function fromToolwell(event: ToolwellEvent): AgentEvent | undefined {
  switch (event.kind) {
    case 'searched':
      return { kind: 'search', query: event.query, loaded: event.loaded }
    case 'loaded':
      return { kind: 'load', tool: event.tool.wireName, because: event.source }
    case 'unloaded':
      return { kind: 'unload', tool: event.tool, because: event.reason }
    case 'suspended':
      return { kind: 'suspend', tool: event.tool, because: event.reason }
    case 'restored':
      return { kind: 'restore', tool: event.tool }
    case 'policy-failed':
    case 'hook-failed':
    case 'append-failed':
    case 'delivery-unavailable':
      return { kind: 'notice', text: `${event.kind}: ${event.detail}` }
    default:
      return undefined
  }
}

export function fromServers(event: ServerEvent): AgentEvent | undefined {
  return event.kind === 'server-state'
    ? { kind: 'server', server: event.server, state: event.state, because: event.reason }
    : undefined
}

/** One line for people: the event and its facts. */
export function describeEvent({ kind, ...facts }: AgentEvent): string {
  const words = Object.entries(facts).flatMap(([name, fact]) => {
    if (name === 'callId' || fact === '' || (Array.isArray(fact) && fact.length === 0)) return []
    const text = (typeof fact === 'string' ? fact : JSON.stringify(fact)).replace(/\s+/g, ' ').trim()
    return [text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text]
  })
  return [kind, ...words].join(' · ')
}
