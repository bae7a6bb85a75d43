/** What a server is doing, for search results, `inspect` and events. */
import type { ServerWarning } from '../definition/warning.js'

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
  /** Something that is worth knowing and stops nothing. `server` is empty where it is about none in particular. */
  | ({ readonly kind: 'warning'; readonly server: string } & ServerWarning)
