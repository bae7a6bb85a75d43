/** The interface and data of the catalogue: entries, sources, updates and the log of changes. */

import type { Finding, KeptParts, SourceState } from '../tool/source.js'
import type { Tool } from '../tool/tool.js'
import { computeFingerprint } from '../tool/wire-tool.js'
import type { Skipped, UnusableTool } from './check-tools.js'
import type { Resolution } from './name-index.js'

export interface Catalogue {
  /** Grows with every change. */
  readonly revision: number
  readonly size: number
  readonly sources: ReadonlyMap<string, Source>
  readonly findings: readonly Finding[]
  /** The host's array of tools: the same instance, unchanged. */
  readonly hostTools: readonly Tool[]
  entries(): IterableIterator<Entry>
  get(id: string): Entry | undefined
  /** Tools that sources list but that cannot be used. They are not entries; their ids differ from all ids of tools. */
  readonly skippedTools: ReadonlyMap<string, Skipped>
  /** Finds a skipped tool by name. */
  skipped(name: string): Skipped | undefined
  /** Replaces the tools of a source; of the host, if the name is empty. Takes time in proportion to the source. */
  setSource(name: string, update: SourceUpdate): void
  /** Changes only the state; the tools stay in the catalogue. Throws if the source was never set. */
  setState(name: string, state: SourceState, details?: StateDetails): void
  removeSource(name: string): void
  /** Adds a meta-tool, under its plain name if that is free. Does nothing if it exists. */
  addMeta(tool: Tool): void
  /** Accepts a quarantined definition of a locked source. */
  approve(id: string): void
  /** Members of a group, in order of id. A group belongs to its source: other servers cannot join it. */
  members(group: string, source?: string): Entry[]
  /** Lists aliases and deprecated names of a tool. */
  listAliases(id: string): readonly string[]
  /** Adds many host tools in pieces. Before that, any other call adds them all at once. */
  ready(): Promise<void>
  /** Indexes new names in pieces. Otherwise, the next `resolve` indexes them at once and blocks the event loop. */
  prepareNames(): Promise<void>
  /** Tools that are not `usable` neither match nor make a name ambiguous. */
  resolve(asked: string, usable: (entry: Entry) => boolean): Resolution
  /** Ids that were added, changed or removed since a revision. */
  changesSince(revision: number): Iterable<string>
  /** Waits until `holds` returns true after a change, at most this long. */
  until(holds: () => boolean, milliseconds: number): Promise<void>
}

export interface Entry {
  readonly id: string
  readonly wireName: string
  readonly source: string
  readonly tool: Tool
  readonly quarantined: boolean
  /** Computed on first use: most tools of a large catalogue are never pinned. */
  readonly fingerprint: string
  /** Fingerprint of the definition that this one replaced while this process watched. */
  readonly replaced?: string | undefined
}

/** A class, so that thousands of entries share one hidden class in the engine. */
class CatalogueEntry implements Entry {
  #fingerprint: string | undefined

  constructor(
    readonly id: string,
    readonly wireName: string,
    readonly source: string,
    readonly tool: Tool,
    readonly quarantined: boolean,
    readonly replaced: string | undefined,
  ) {}

  get fingerprint(): string {
    this.#fingerprint ??= computeFingerprint(this.tool)
    return this.#fingerprint
  }
}

export function createEntry(
  id: string,
  wireName: string,
  source: string,
  tool: Tool,
  quarantined: boolean,
  replaced?: string,
): Entry {
  return new CatalogueEntry(id, wireName, source, tool, quarantined, replaced)
}

/** A source in the catalogue. */
export interface Source {
  readonly name: string
  readonly description: string
  readonly state: SourceState
  /** Advice for the user about the state. May be empty. */
  readonly advice: string
  /** Changed definitions of a locked source are quarantined until approved. */
  readonly locked: boolean
  readonly ids: ReadonlySet<string>
  /** A hash of the ids; changes when a tool is added or removed. */
  readonly membership: string
  readonly kept?: KeptParts
  /** The source may be used, but its last use failed. */
  readonly tentative: boolean
  /** Asks the owner to reconnect. Returns at once. */
  readonly wake?: () => void
}

/** New data of a source, from its owner. */
export interface SourceUpdate {
  readonly tools: readonly Tool[]
  readonly description?: string
  readonly state?: SourceState
  /** The reason for the state. Appears in events and `debug`, never in requests. */
  readonly reason?: string
  /** Advice for the user about the state. The model reads it, so it must not contain text of a server. */
  readonly advice?: string
  readonly locked?: boolean
  /** Names of tools that must not be seen or called, because the owner quarantined them. */
  readonly quarantined?: readonly string[]
  /** Listed tools that cannot be used. A search for them reports the problem. */
  readonly unusable?: readonly UnusableTool[]
  /** A cache of derived data for the next start. */
  readonly kept?: KeptParts
  /** The source may be used, but its last use failed. Its return is announced only after it works. */
  readonly tentative?: boolean
  /** Called when a search needs a failed or tentative source. Must return at once; the owner decides when to reconnect. */
  readonly wake?: () => void
}

/** The parts of an update that accompany a state. */
export type StateDetails = Pick<SourceUpdate, 'advice' | 'tentative' | 'reason'>

/** A log of changed tools by revision. */
export interface Changes {
  add(id: string, revision: number): void
  /** Ids that changed after this revision. */
  since(revision: number): Set<string>
}

export function createChanges(): Changes {
  /** Oldest first. Compacted to one record per id when it reaches `most`. */
  let changes: { readonly id: string; readonly revision: number }[] = []
  let most = 1024
  return {
    add(id, revision) {
      changes.push({ id, revision })
      if (changes.length < most) return
      const last = new Map(changes.map((change) => [change.id, change]))
      changes = [...last.values()].sort((a, b) => a.revision - b.revision)
      // Double the size, so that each compaction is paid for by as many changes.
      most = 2 * changes.length + 1024
    },
    since(revision) {
      const ids = new Set<string>()
      for (let index = changes.length - 1; index >= 0; index--) {
        const change = changes[index]
        if (!change || change.revision <= revision) break
        ids.add(change.id)
      }
      return ids
    },
  }
}
