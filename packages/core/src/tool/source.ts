/** Where tools come from, as far as everyone needs to know: a source's state, what is odd about it, what a change of it did. */

/**
 * Only tools of a `ready` source can be found and called. Those of one that is connecting, failed or waits for a login stay
 * in sight; those of a `disabled` one do not.
 */
export type SourceState = 'ready' | 'connecting' | 'failed' | 'disabled' | 'needs-login'

export interface StoredPart {
  read(): Uint8Array | undefined
  write(bytes: Uint8Array): void
}

/**
 * Where the owner of a source keeps what was made of its tools, so that the next start need not make it again, nor read a
 * schema for it. Must belong to exactly these tools: what is read is not compared with their text.
 */
export interface KeptParts {
  /** What the built-in ranker makes of them. */
  readonly index: StoredPart
  /** What their definitions cost. */
  readonly tokens: StoredPart
}

/** Something odd about a source that is not worth failing for. */
export interface Finding {
  readonly kind:
    | 'invalid-tool'
    | 'duplicate-tool'
    /** A field that nobody reads, where another was probably meant. The tool is used. */
    | 'odd-field'
    /** A schema that cannot be used as it stands. What fits of it is sent and checked. */
    | 'odd-schema'
    | 'case-twin'
    | 'broken-alias'
    | 'name-collision'
    /** A name with letters or unseen characters that make it look like another, or like plain letters. */
    | 'homoglyph'
    /** Two names of plain letters that some typefaces draw alike: l and 1 and I, 0 and O, rn and m. */
    | 'look-alike'
  readonly source: string
  /** Its name; empty where the source itself is meant. */
  readonly tool: string
  readonly detail: string
}

/** What a change of a source did, for observers. */
export interface SourceChange {
  readonly source: string
  readonly state: SourceState | 'removed'
  /** Why, where its owner has said so. */
  readonly reason?: string
  readonly tools: number
  /** Ids that joined, changed or left. */
  readonly changed: readonly string[]
  readonly quarantined: readonly string[]
  readonly findings: readonly Finding[]
}
