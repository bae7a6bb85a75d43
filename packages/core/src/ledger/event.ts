/** The events of a ledger: everything that can happen to the tools of one conversation. An event contains the decision, so that the fold decides nothing. */
import type { DeliveryName, Dropped, DropReason, FailureReason, LoadSource, Notice } from '../tool/notice.js'
import type { Pin, WireTool } from '../tool/wire-tool.js'

/** Version in every stored line. Increase it if a reader of the old format would misread the new one. */
export const LEDGER_FORMAT = 4

/** Tokens of one request by purpose. */
export interface SurfaceTokens {
  readonly eager: number
  readonly loaded: number
  readonly cards: number
  readonly metaTools: number
  readonly section: number
  readonly searchResults: number
  readonly inserts: number
  /** Unchanged definitions after a changed one, which a prefix cache reads again. Part of the figures above. */
  readonly rewritten: number
  /** Definitions that the provider inserts into the history. They are not in the messages of the host. */
  readonly revealed?: number
  /** Cost of the tools array if every allowed tool were sent. */
  readonly everythingEager: number
  /** Images in tool results, by the rule of the provider. Part of the messages of the host. Absent without images. */
  readonly media?: number
}

/**
 * `id` counts from 0 within a ledger. `anchor` is the position: the call or message that the event follows. A fork, a rewind or a
 * compaction therefore cuts the ledger and the history at the same place.
 */
export type LedgerEvent = { readonly id: number; readonly anchor: string } & LedgerFact

/** A result that was too large to send. The model reads it by its handle. `ledger` is the conversation that produced it. */
export interface KeptResult {
  readonly handle: string
  readonly ledger: string
}

export type LedgerFact =
  /** Freezes the prefix: the bytes of everything before the messages, until the next event of this kind. */
  | {
      readonly kind: 'frozen'
      readonly reason: 'start' | 'clear' | 'compaction' | 'wire' | 'loader' | 'cards' | 'delivery' | 'tools'
      readonly wire: string
      readonly mode: 'off' | 'on'
      readonly delivery: DeliveryName
      readonly eager: readonly Pin[]
      /** Loaded tools that stay loaded, in order of loading. */
      readonly loaded: readonly Pin[]
      readonly metaTools: readonly WireTool[]
      /** The provider can add tools in the middle of the history. */
      readonly changes?: true
      /** The provider can also remove them. */
      readonly removals?: true
      /** Number of the provider's own tools, which count against the limit of the wire. */
      readonly beside?: number
      /** Reason for mode and delivery, if Toolwell chose them. */
      readonly because?: string
      /** Tokens of own tools that are eager only by default, if deferring them would pay. */
      readonly ownTokens?: number
      /** If deferral is off: names the list of tools that is sent until the next event of this kind. */
      readonly array?: string
      /** The prompt section, or empty. */
      readonly section: string
      /** Replaces the description of an unloaded tool until the prefix is frozen again. */
      readonly tombstone?: string
      /** Ids of the tools that the cards or names in the description of the search tool mention. */
      readonly shown: readonly string[]
      /** Hash of the tool ids of each source that the model knows. */
      readonly sources: Readonly<Record<string, string>>
      /** Number of deferred tools, including loaded ones. */
      readonly deferred: number
      /** Tokens of the cards, in the description of the search tool or in the prompt section. */
      readonly cardTokens: number
    }
  /**
   * Returns to a wire with a valid frozen prefix, whose bytes are sent again; thinking after it stays valid. `loaded` are tools that
   * were loaded at other wires meanwhile, as they are sent here.
   */
  | { readonly kind: 'returned'; readonly wire: string; readonly loaded: readonly Pin[] }
  /**
   * First event of a fork. The fork continues the first events of its origin, which are not copied. `ledger` is the fork itself. Its
   * origin may be a fork too.
   */
  | {
      readonly kind: 'forked'
      readonly ledger: string
      readonly origin: { readonly ledger: string; readonly events: number }
    }
  /** First event of the ledger of a sub-agent. */
  | {
      readonly kind: 'inherited'
      readonly parent: string
      /** Kept results of the parent, which the child may read too. */
      readonly kept?: readonly KeptResult[]
    }
  | {
      readonly kind: 'searched'
      readonly query: string
      readonly loaded: readonly string[]
      /** Ids of the tools that the answer showed. Usage is learned from them. */
      readonly shown?: readonly string[]
      readonly dropped: readonly Dropped[]
      /** Nothing was found. The third identical miss gets an answer of one line. */
      readonly missed: boolean
      /** Tokens of the question and the answer. */
      readonly tokens: number
      /** Tokens of the definitions that the provider inserts after the answer. */
      readonly revealed?: number
      /** Loaded tools that the search asked for by name. This counts as a use, so they are evicted later. */
      readonly again?: readonly string[]
    }
  | {
      readonly kind: 'loaded'
      readonly tool: Pin
      readonly source: LoadSource
      /** Name in the request, before case, alias or group were resolved. */
      readonly asked: string
      /** Alias or deprecated name in the request. */
      readonly alias?: string
      /** The schema was written into the history at the anchor of this event. */
      readonly shown: boolean
    }
  | {
      readonly kind: 'unloaded'
      readonly tool: string
      readonly reason: 'model' | 'evicted' | 'operator' | 'trimmed'
      /** Its bytes stay in the array until the prefix is frozen again: removing them would cost more than it saves. */
      readonly kept?: true
      /** No answer has announced it, so the next request does. */
      readonly unannounced?: true
    }
  /** A known tool is not usable for now. Its bytes stay, and calls get an answer that says so. */
  | {
      readonly kind: 'suspended'
      readonly tool: string
      readonly reason: 'vanished' | 'unavailable' | 'denied' | 'quarantined'
    }
  /** A tool works again after it was suspended or after a call found it unavailable. */
  | {
      readonly kind: 'restored'
      readonly tool: string
      /** New definition of a loaded tool that was removed when the prefix was frozen. */
      readonly pin?: Pin
    }
  /** A trusted source changed the definition of an eager or loaded tool. Declared bytes stay until the prefix is frozen again. */
  | { readonly kind: 'redefined'; readonly tool: Pin }
  | {
      readonly kind: 'call-started'
      readonly tool: string
      readonly asked: string
      readonly alias?: string
      /** Equal for calls with the same target and arguments. */
      readonly key: string
    }
  | {
      readonly kind: 'call-succeeded'
      readonly tool: string
      readonly asked: string
      readonly alias?: string
      /** The tool was hidden and was not loaded, for this reason. */
      readonly dropped?: DropReason
      /** Kept parts of the result, and the cost of its images. */
      readonly kept?: readonly KeptResult[]
      readonly media?: number
    }
  | {
      readonly kind: 'call-failed'
      /** Id of the tool; empty if the call could not be resolved. */
      readonly tool: string
      readonly asked: string
      readonly reason: FailureReason
      readonly alias?: string
      /** Text for people: for arguments the place and the rule, never a value; for an error the beginning of its first line. */
      readonly detail?: string
      /** Equal for calls with the same target and arguments, in any spelling. */
      readonly key: string
      /** Tokens of an answer that would not exist if every tool were sent. */
      readonly tokens?: number
      /** Kept parts of the result: an error may be long. */
      readonly kept?: readonly KeptResult[]
      readonly media?: number
    }
  /** Text in the history at the anchor. Every request repeats it until a compaction drops it. */
  | {
      readonly kind: 'announced'
      readonly topic: 'loaded' | 'arrival' | 'changed' | 'removed' | 'restored' | 'schemas' | 'unloaded'
      readonly text: string
      readonly about: readonly string[]
      readonly tokens: number
      /** Definitions that the provider adds here, and names that it removes. */
      readonly adds?: readonly WireTool[]
      /** Tokens of `adds`. */
      readonly revealed?: number
      readonly removes?: readonly string[]
      /** Sources that this text announced, each with the hash of its tool ids. */
      readonly sources?: Readonly<Record<string, string>>
    }
  /** This thinking is never sent again: other bytes come before it now, and the provider checks them. */
  | {
      readonly kind: 'thinking-stripped'
      /** Anchors of the messages that held it. */
      readonly messages: readonly string[]
    }
  /** A model request began. A second begin with the same id is a retry and writes nothing. */
  | {
      readonly kind: 'requested'
      readonly requestId: string
      readonly tokens: SurfaceTokens
      /** Positions of announcements that this history lacks. They follow its last message, in this and later requests. */
      readonly moved?: readonly string[]
    }
  /** Usage of a request as the host measured it. */
  | {
      readonly kind: 'measured'
      readonly requestId: string
      readonly messageTokens: number
      readonly inputTokens?: number
      readonly cachedTokens?: number
      readonly outputTokens?: number
    }
  /** The history was compacted. `kept` maps each remaining anchor to its name in the new history. */
  | { readonly kind: 'compacted'; readonly kept: Readonly<Record<string, string>> }
  | { readonly kind: 'cleared' }
  /** A delivery does not work here. The next frozen prefix uses another one. */
  | {
      readonly kind: 'downgraded'
      readonly from: DeliveryName
      readonly reason: string
      /**
       * Request that the provider refused because of the delivery: it counts as not sent. Empty if the request was answered. In both
       * cases, the next request freezes a new prefix.
       */
      readonly request?: string
    }

/** Event for `onEvent`: every ledger event as it is stored, and every notice. `conversation` is empty if the event belongs to no conversation. */
export type ToolwellEvent = (LedgerEvent | Notice) & { readonly conversation: string }

type Listener = (event: ToolwellEvent) => unknown

/** Calls the listeners of the host. Ignores their errors: the event is already stored. */
export function createPublisher(listeners: readonly Listener[]): (event: ToolwellEvent) => void {
  return (event) => {
    for (const listener of listeners)
      try {
        const result = listener(event)
        if (result instanceof Promise) result.catch(() => undefined)
      } catch {
        // The event is already stored.
      }
  }
}
