/** States and events of servers, and notices about lost state. */

import type { CallToolResult } from '@modelcontextprotocol/client'
import type { ServerWarning } from '../definition/warning.js'
import type { Caller } from './caller.js'
import type { Place } from './choose-place.js'

export type ServerState =
  /** Known from the cache, not started. */
  | 'cached'
  /** Being started or reached. */
  | 'connecting'
  /** Running. */
  | 'ready'
  /** Stopped; starts again when it is used. */
  | 'idle'
  /** Could not be started or reached. */
  | 'failed'
  | 'disabled'
  /** Quarantined by a review of its definition. */
  | 'quarantined'
  | 'needs-login'

export type ServerEvent =
  | {
      readonly kind: 'server-state'
      readonly server: string
      readonly state: ServerState
      readonly reason: string
    }
  /** The server was listed. */
  | {
      readonly kind: 'server-listed'
      readonly server: string
      readonly tools: number
      readonly added: readonly string[]
      readonly removed: readonly string[]
      readonly changed: readonly string[]
    }
  | {
      readonly kind: 'tools-quarantined'
      readonly server: string
      readonly tools: ReadonlyMap<string, string>
    }
  /** A server lost the state of its callers. Their next results say so. */
  | {
      readonly kind: 'state-lost'
      readonly server: string
      readonly reason: LossReason
      /** The owner of the state. `workspace` is empty if the server does not depend on a folder. */
      readonly owner: Pick<Caller, 'client' | 'conversation'>
      readonly workspace: string
    }
  /** `update` changed a server. */
  | {
      readonly kind: 'server-updated'
      readonly server: string
      readonly change: 'added' | 'changed' | 'removed'
    }
  /** A warning. `server` is empty if it is not about one server. */
  | ({ readonly kind: 'warning'; readonly server: string } & ServerWarning)

/** Why a server lost its state: it was idle, it ended by itself, or its config changed. */
export type LossReason = 'idle' | 'ended' | 'changed'

/** Limit; the oldest are dropped. */
const MOST_REMEMBERED = 1000

/** Remembers which callers must be notified that their server lost its state. */
export class LostState {
  readonly #lost = new Map<string, LossReason>()

  mark({ key }: Place, reason: LossReason): void {
    this.#lost.delete(key)
    this.#lost.set(key, reason)
    const [oldest] = this.#lost.keys()
    if (this.#lost.size > MOST_REMEMBERED && oldest !== undefined) this.#lost.delete(oldest)
  }

  /** Adds a notice to the result of the first call after the loss. At the end, because programs read the first part. */
  announce(server: string, { key }: Place, result: CallToolResult): CallToolResult {
    const reason = this.#lost.get(key)
    if (reason === undefined) return result
    this.#lost.delete(key)
    return {
      ...result,
      content: [...(result.content ?? []), { type: 'text', text: newsOf(server, reason) }],
      _meta: { ...result._meta, [STATE_LOST]: reason },
    }
  }
}

/** Key in `_meta` of the first result after the loss, for programs. */
export const STATE_LOST = 'toolwell/state-lost'

function newsOf(server: string, reason: LossReason): string {
  const why = {
    idle: 'had not been used for a while and was stopped',
    ended: 'ended by itself',
    changed: 'was changed in the config',
  }[reason]
  return `[${server} ${why}; it was started again for this call. Its state from earlier calls (open pages, sessions, variables) is gone.]`
}
