/** A tool with its place in the catalogue. */

import type { KeptParts, SourceState } from '../tool/source.js'
import type { Tool } from '../tool/tool.js'
import { computeFingerprint } from '../tool/wire-tool.js'
import type { UnusableTool } from './check-tools.js'

export interface Entry {
  readonly id: string
  readonly wireName: string
  readonly source: string
  readonly tool: Tool
  readonly quarantined: boolean
  /** Computed on first use: most tools of a large catalogue are never pinned. */
  readonly fingerprint: string
}

/** A class, so that thousands of entries are objects of one kind. */
class CatalogueEntry implements Entry {
  #fingerprint: string | undefined

  constructor(
    readonly id: string,
    readonly wireName: string,
    readonly source: string,
    readonly tool: Tool,
    readonly quarantined: boolean,
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
): Entry {
  return new CatalogueEntry(id, wireName, source, tool, quarantined)
}

// A source as the catalogue knows it, and as its owner tells of it.

export interface Source {
  readonly name: string
  readonly description: string
  readonly state: SourceState
  /** What the user can do about the state, in the host's words; empty where there is nothing to say. */
  readonly advice: string
  /** Changed definitions of a locked source are quarantined until approved. */
  readonly locked: boolean
  readonly ids: ReadonlySet<string>
  /** Names the source's set of tools; changes when one joins or leaves. */
  readonly membership: string
  readonly kept?: KeptParts
  /** It may be used, and failed when it last was: nobody has seen it work since. */
  readonly tentative: boolean
  /** Tries again to reach it, where it is time to. Returns at once. */
  readonly wake?: () => void
}

export interface SourceUpdate {
  readonly tools: readonly Tool[]
  readonly description?: string
  readonly state?: SourceState
  /** Why it is in this state. Only events and `debug` show it, never a model. */
  readonly reason?: string
  /** What the user can do about the state. The model reads it, so it must not hold what a server says. */
  readonly advice?: string
  readonly locked?: boolean
  /** Names of tools that must not be seen or called, for reasons of the source's own. */
  readonly quarantined?: readonly string[]
  /** What it lists besides and cannot be used: told where somebody looks for it. */
  readonly unusable?: readonly UnusableTool[]
  /** Keeps what is made of these tools for the next start. */
  readonly kept?: KeptParts
  /** It may be used, and failed when it last was. The model is not told that it is back before it works. */
  readonly tentative?: boolean
  /** Called when a search asks for a source that failed, or is tentative. Must return at once; when to try is its own affair. */
  readonly wake?: () => void
}

/** What goes with a state. */
export type StateDetails = Pick<SourceUpdate, 'advice' | 'tentative' | 'reason'>

/** Which tools have changed since when. */

export interface Changes {
  add(id: string, revision: number): void
  /** Ids that changed behind this revision. */
  since(revision: number): Set<string>
}

export function createChanges(): Changes {
  /** Oldest first. Shortened to one line per id when it has grown to `most`. */
  let changes: { readonly id: string; readonly revision: number }[] = []
  let most = 1024
  return {
    add(id, revision) {
      changes.push({ id, revision })
      if (changes.length < most) return
      const last = new Map(changes.map((change) => [change.id, change]))
      changes = [...last.values()].sort((a, b) => a.revision - b.revision)
      // Twice what is left, so that the cost is shared by as many changes, also while tools leave.
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
