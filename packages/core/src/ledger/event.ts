/** The ledger's vocabulary: everything that can happen to one conversation's tools. Decisions are in the event, never left to the fold. */

import type { Notice } from '../tool/notice.js'
import type { DeliveryName, Dropped, DropReason, FailureReason, LoadSource } from '../tool/reasons.js'
import type { Pin, WireTool } from '../tool/wire-tool.js'

/** The version written on every stored line. Increase it when a reader of the old format would misread the new one. */
export const LEDGER_FORMAT = 4

/** Tokens of one request, by what they pay for. */
export interface SurfaceTokens {
  readonly eager: number
  readonly loaded: number
  readonly cards: number
  readonly metaTools: number
  readonly section: number
  readonly searchResults: number
  readonly inserts: number
  /** Definitions that did not change but stand behind one that did: a prefix cache reads them again. Part of the figures above. */
  readonly rewritten: number
  /** Definitions that the provider itself puts into the history. The host's messages do not hold them. */
  readonly revealed?: number
  /** What the tools array would cost with every allowed tool sent eagerly. */
  readonly everythingEager: number
  /** Images in the results of tools, by the provider's rule. Part of the host's messages. Absent where there are none. */
  readonly media?: number
}

/**
 * `id` counts from 0 within a ledger. `anchor` names the call or message after which the event holds,
 * so that a fork, a rewind or a compaction cuts at the same place in the ledger and in the history.
 */
export type LedgerEvent = { readonly id: number; readonly anchor: string } & LedgerFact

/** A result that was too large to send, by the name the model reads it with. `ledger` is the one it was given to. */
export interface KeptResult {
  readonly handle: string
  readonly ledger: string
}

export type LedgerFact =
  /** A latch point: the bytes of everything before the messages, fixed until the next one. */
  | {
      readonly kind: 'latched'
      readonly reason: 'start' | 'clear' | 'compaction' | 'wire' | 'loader' | 'cards' | 'delivery'
      readonly wire: string
      readonly mode: 'off' | 'on'
      readonly delivery: DeliveryName
      readonly eager: readonly Pin[]
      /** Loaded tools carried over, in order of loading. */
      readonly loaded: readonly Pin[]
      readonly metaTools: readonly WireTool[]
      /** Tools can be added in the middle of the history, by a message of the provider's own. */
      readonly changes?: true
      /** And taken away again. */
      readonly removals?: true
      /** Why this mode and delivery, where it was for Toolwell to decide. */
      readonly because?: string
      /** The prompt section, or empty. */
      readonly section: string
      /** What stands for the description of a tool that is unloaded until the next latch. */
      readonly tombstone?: string
      /** Ids that the cards or names in the loader's description mention. */
      readonly shown: readonly string[]
      /** The membership of each source the model now knows of. */
      readonly sources: Readonly<Record<string, string>>
      /** How many tools are deferred as of now, loaded ones included. */
      readonly deferred: number
      /** Tokens of the cards, inside the loader's description or the section. */
      readonly cardTokens: number
    }
  /**
   * Back at a wire whose latch still holds: its bytes are sent again. What was thought behind them stays valid. `loaded`:
   * what was loaded elsewhere meanwhile, as it is sent here.
   */
  | { readonly kind: 'returned'; readonly wire: string; readonly loaded: readonly Pin[] }
  /**
   * The first event of a fork's ledger: what follows goes on from the first events of its origin, which are not copied. `ledger`
   * is the fork itself, whose own origin may be a fork, too.
   */
  | {
      readonly kind: 'forked'
      readonly ledger: string
      readonly origin: { readonly ledger: string; readonly events: number }
    }
  /** The first event of a sub-agent's ledger. */
  | {
      readonly kind: 'inherited'
      readonly parent: string
      /** What the parent may read, its child may read too. */
      readonly kept?: readonly KeptResult[]
    }
  | {
      readonly kind: 'searched'
      readonly query: string
      readonly loaded: readonly string[]
      /** Tools that the answer showed for its words, by id: what is learned from its use. */
      readonly shown?: readonly string[]
      readonly dropped: readonly Dropped[]
      /** Nothing was found. The third identical miss is answered in one line. */
      readonly missed: boolean
      /** Tokens of the question and the answer. */
      readonly tokens: number
      /** Tokens of the definitions that the provider itself puts behind the answer. */
      readonly revealed?: number
      /** Loaded tools that it asked for by name: a use, so they make no room before others. */
      readonly again?: readonly string[]
    }
  | {
      readonly kind: 'loaded'
      readonly tool: Pin
      readonly source: LoadSource
      /** The name as it was asked for, before case, alias or group were resolved. */
      readonly asked: string
      /** The alias or deprecated name, where it was one that was asked for. */
      readonly alias?: string
      /** The schema was written into the history at this event's anchor. */
      readonly shown: boolean
    }
  | {
      readonly kind: 'unloaded'
      readonly tool: string
      readonly reason: 'model' | 'evicted' | 'operator' | 'trimmed'
      /** Its bytes stay in the array until the next latch: taking them out would cost more than it saves. */
      readonly kept?: true
      /** No answer tells the model of it; the next request has to. */
      readonly untold?: true
    }
  /** Known to this conversation, and not usable for now: its bytes stay, calls are answered honestly. */
  | {
      readonly kind: 'suspended'
      readonly tool: string
      readonly reason: 'vanished' | 'unavailable' | 'denied' | 'quarantined'
    }
  /** It works again: what was suspended, or what a call was told cannot be used now. */
  | {
      readonly kind: 'restored'
      readonly tool: string
      /** As it is sent from now on, where a latch had taken a loaded tool off the surface. */
      readonly pin?: Pin
    }
  /** A trusted source changed the definition of an eager or loaded tool. What is declared of it stays until the next latch. */
  | { readonly kind: 'redefined'; readonly tool: Pin }
  | {
      readonly kind: 'call-started'
      readonly tool: string
      readonly asked: string
      readonly alias?: string
      /** Equal for calls that are identical in target and arguments. */
      readonly key: string
    }
  | {
      readonly kind: 'call-succeeded'
      readonly tool: string
      readonly asked: string
      readonly alias?: string
      /** It was hidden and stays so: there was no room for it. */
      readonly dropped?: DropReason
      /** What of its result is kept, and what its images cost. */
      readonly kept?: readonly KeptResult[]
      readonly media?: number
    }
  | {
      readonly kind: 'call-failed'
      /** The id where the call could be resolved, otherwise empty. */
      readonly tool: string
      readonly asked: string
      readonly reason: FailureReason
      readonly alias?: string
      /** For people: of arguments the place and the rule, never a value; of an error the beginning of its first line. */
      readonly detail?: string
      /** Equal for calls that are identical in target and arguments, however they are spelt. */
      readonly key: string
      /** Tokens of the answer, where it would not exist with every tool on the wire. */
      readonly tokens?: number
      /** What of its result is kept: a tool may fail at length. */
      readonly kept?: readonly KeptResult[]
      readonly media?: number
    }
  /** Text written into the history at the anchor, replayed verbatim until a compaction drops it. */
  | {
      readonly kind: 'announced'
      readonly topic: 'loaded' | 'arrival' | 'changed' | 'removed' | 'restored' | 'schemas' | 'unloaded'
      readonly text: string
      readonly about: readonly string[]
      readonly tokens: number
      /** Definitions that the provider itself puts here, and names that it takes away. */
      readonly adds?: readonly WireTool[]
      /** Tokens of `adds`. */
      readonly revealed?: number
      readonly removes?: readonly string[]
      /** Sources that this text told of, with their membership. */
      readonly sources?: Readonly<Record<string, string>>
    }
  /** This thinking is never sent again: other bytes come before it now, and the provider checks them. */
  | {
      readonly kind: 'thinking-stripped'
      /** Anchors of the messages that held it. */
      readonly messages: readonly string[]
    }
  /** A model request was begun. A second begin with the same id is a retry and writes nothing. */
  | { readonly kind: 'requested'; readonly requestId: string; readonly tokens: SurfaceTokens }
  /** What the host measured about a request. */
  | {
      readonly kind: 'measured'
      readonly requestId: string
      readonly messageTokens: number
      readonly inputTokens?: number
      readonly cachedTokens?: number
      readonly outputTokens?: number
    }
  /** The history was compacted. `kept` maps each surviving anchor to its name in the shortened history. */
  | { readonly kind: 'compacted'; readonly kept: Readonly<Record<string, string>> }
  | { readonly kind: 'cleared' }
  /** A delivery does not do here what it should. The next latch does without it. */
  | {
      readonly kind: 'downgraded'
      readonly from: DeliveryName
      readonly reason: string
      /** The request that the provider refused for it: it ends here, and a new latch is due at once. */
      readonly request?: string
    }

// What a host can watch: every ledger event as it is stored, and every notice.

/** `conversation` is empty where an event belongs to none. */
export type ToolwellEvent = (LedgerEvent | Notice) & { readonly conversation: string }

type Listener = (event: ToolwellEvent) => unknown

/** Tells the host's listeners. One that throws must not undo what was stored; it has no channel but itself to be told by. */
export function createTell(listeners: readonly Listener[]): (event: ToolwellEvent) => void {
  return (event) => {
    for (const listener of listeners)
      try {
        const result = listener(event)
        if (result instanceof Promise) result.catch(() => undefined)
      } catch {
        // See above.
      }
  }
}
