/** What a server is doing, for search results, `inspect` and events. */

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
  /** Was running; starts again when it is used. */
  | 'idle'
  /** Could not be started or reached. */
  | 'failed'
  | 'disabled'
  /** Held back by a review of its definitions. */
  | 'quarantined'
  | 'needs-login'

export type ServerEvent =
  | {
      readonly kind: 'server-state'
      readonly server: string
      readonly state: ServerState
      readonly reason: string
    }
  /** The list came from the server, not from the cache. */
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
  /** A server that keeps something for its callers was stopped: whoever used it reads so in the next answer. */
  | {
      readonly kind: 'state-lost'
      readonly server: string
      readonly reason: LossReason
      /** Whose it was; the folder is empty where the server does not depend on one. */
      readonly owner: Pick<Caller, 'client' | 'conversation'>
      readonly workspace: string
    }
  /** What `update` did. */
  | {
      readonly kind: 'server-updated'
      readonly server: string
      readonly change: 'added' | 'changed' | 'removed'
    }
  /** Something that is worth knowing and stops nothing. `server` is empty where it is about none in particular. */
  | ({ readonly kind: 'warning'; readonly server: string } & ServerWarning)

// Who has used a server that keeps something for them, and has to hear that it is gone.

/** Why what a server kept for its caller is gone: nobody used it for a while, it ended by itself, its config changed. */
export type LossReason = 'idle' | 'ended' | 'changed'

/** More are not remembered: the oldest are forgotten. */
const MOST_REMEMBERED = 1000

export class LostState {
  readonly #lost = new Map<string, LossReason>()

  mark({ key }: Place, reason: LossReason): void {
    this.#lost.delete(key)
    this.#lost.set(key, reason)
    const [oldest] = this.#lost.keys()
    if (this.#lost.size > MOST_REMEMBERED && oldest !== undefined) this.#lost.delete(oldest)
  }

  /** The answer to the first call since, with the news at its end: programs read the first part. */
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

/** In `_meta` of the first result after the loss, for programs. */
export const STATE_LOST = 'toolwell/state-lost'

function newsOf(server: string, reason: LossReason): string {
  const why = {
    idle: 'had not been used for a while and was stopped',
    ended: 'ended by itself',
    changed: 'was changed in the config',
  }[reason]
  return `[${server} ${why}; it was started again for this call. What it kept from earlier calls (open pages, sessions, variables) is gone.]`
}
