/** What a server is doing, for search results, `inspect` and events. */
import type { ServerWarning } from '../definition/warning.js'
import type { Caller } from './caller.js'
import type { LossReason } from './lost-state.js'

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
