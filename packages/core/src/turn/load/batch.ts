/** What one batch of calls does to the loaded tools, on top of the state at its start. */

/** What this batch has done so far, on top of the state at its start. */
export interface Batch {
  readonly loaded: Set<string>
  readonly unloaded: Set<string>
  /** Tools that this batch calls or loads: never evicted by it. */
  readonly inUse: Set<string>
  /** How many wrong names of this batch have been given suggestions: looking for them walks the catalogue. */
  suggested: number
}

export function createBatch(): Batch {
  return { loaded: new Set(), unloaded: new Set(), inUse: new Set(), suggested: 0 }
}
