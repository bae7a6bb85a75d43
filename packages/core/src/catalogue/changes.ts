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
