/** Long work in pieces: others get their turn in between, and nothing is held for long. */

/** Milliseconds of work at a stretch. */
const PIECE = 10

/** What Node has for it, and some others. */
interface Immediate {
  setImmediate?(work: () => void): unknown
}

/**
 * Gives the event loop back once. Not by a timer where there is another way: two who work in turns would find each other's due, and nobody
 * else would get theirs.
 */
export function turn(): Promise<void> {
  const here: Immediate = globalThis
  return new Promise((resolve) => {
    if (here.setImmediate) here.setImmediate(resolve)
    else setTimeout(resolve)
  })
}

/** Does the work item by item, and gives the event loop back whenever a piece is done. */
export async function inPieces<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  let started = performance.now()
  for (const item of items) {
    work(item)
    if (performance.now() - started < PIECE) continue
    await turn()
    started = performance.now()
  }
}
