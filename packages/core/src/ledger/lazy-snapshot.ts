/** What writes and reads snapshots, loaded with the first store that has a place for them: a bundle need not hold it at the start. */

type Snapshots = typeof import('./snapshot.js')

let loaded: Snapshots | undefined

export async function loadSnapshots(): Promise<Snapshots> {
  loaded ??= await import('./snapshot.js')
  return loaded
}

/** Undefined until it was loaded, which whoever opens a ledger waits for. */
export function loadedSnapshots(): Snapshots | undefined {
  return loaded
}
