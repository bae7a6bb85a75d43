/** Types for the state of a source, its findings and its changes. */

/**
 * Only tools of a `ready` source can be found and called. Tools of a source that is connecting, has failed or needs a login
 * stay visible; tools of a `disabled` source do not.
 */
export type SourceState = 'ready' | 'connecting' | 'failed' | 'disabled' | 'needs-login'

export interface StoredPart {
  read(): Uint8Array | undefined
  write(bytes: Uint8Array): void
}

/**
 * A cache of data derived from the tools of a source, so that the next start need not compute it or read schemas again. Must
 * belong to exactly these tools: the data is not compared with their text.
 */
export interface KeptParts {
  /** The index of the built-in ranker. */
  readonly index: StoredPart
  /** The tokens of the definitions. */
  readonly tokens: StoredPart
}

/** A problem of a source or tool that does not stop anything. */
export interface Finding {
  readonly kind:
    | 'invalid-tool'
    | 'duplicate-tool'
    /** An unknown field that is probably a misspelt one. The tool is used. */
    | 'odd-field'
    /** A schema that needs repair. Its valid parts are sent and checked. */
    | 'odd-schema'
    | 'case-twin'
    | 'broken-alias'
    | 'name-collision'
    /** A name with foreign letters or invisible characters that looks like another name, or like plain letters. */
    | 'homoglyph'
    /** Two names in plain letters that look alike in some typefaces: l and 1 and I, 0 and O, rn and m. */
    | 'look-alike'
  readonly source: string
  /** The name of the tool; empty if the finding is about the source itself. */
  readonly tool: string
  readonly detail: string
}

/** A change of a source, for observers. */
export interface SourceChange {
  readonly source: string
  readonly state: SourceState | 'removed'
  /** The reason, if the owner of the source gave one. */
  readonly reason?: string
  readonly tools: number
  /** Ids of tools that were added, changed or removed. */
  readonly changed: readonly string[]
  readonly quarantined: readonly string[]
  readonly findings: readonly Finding[]
}
