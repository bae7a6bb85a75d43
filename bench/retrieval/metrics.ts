/** Standard retrieval figures of one ranking: recall, hit rate, reciprocal rank, normalised discounted gain. */

export interface Figures {
  readonly r1: number
  readonly r3: number
  readonly r5: number
  readonly r10: number
  readonly hit1: number
  readonly hit3: number
  readonly hit5: number
  readonly mrr: number
  readonly ndcg10: number
}

export const figureNames = ['r1', 'r3', 'r5', 'r10', 'hit1', 'hit3', 'hit5', 'mrr', 'ndcg10'] as const

/**
 * Figures of one query. Tools with the same name and server count as one answer (`groupOf`), because a catalogue may contain
 * several variants of a function of which the labels name only one.
 */
export function figuresOf(
  ranking: readonly string[],
  relevant: readonly string[],
  groupOf: (id: string) => string,
): Figures {
  const wanted = new Set(relevant.map(groupOf))
  const ranked = [...new Set(ranking.map(groupOf))]
  const found = ranked.flatMap((group, index) => (wanted.has(group) ? [index] : []))
  const within = (depth: number) => found.filter((index) => index < depth).length
  const recall = (depth: number) => within(depth) / wanted.size
  const hit = (depth: number) => (within(depth) > 0 ? 1 : 0)
  const gain = found.filter((index) => index < 10).reduce((sum, index) => sum + discount(index), 0)
  const ideal = Array.from({ length: Math.min(10, wanted.size) }, (_, index) => discount(index))
  return {
    r1: recall(1),
    r3: recall(3),
    r5: recall(5),
    r10: recall(10),
    hit1: hit(1),
    hit3: hit(3),
    hit5: hit(5),
    mrr: found[0] === undefined ? 0 : 1 / (found[0] + 1),
    ndcg10: gain / ideal.reduce((sum, each) => sum + each, 0),
  }
}

export function meanOf(all: readonly Figures[]): Figures {
  const mean = (name: keyof Figures) =>
    all.reduce((sum, each) => sum + each[name], 0) / Math.max(1, all.length)
  return Object.fromEntries(figureNames.map((name) => [name, mean(name)])) as unknown as Figures
}

function discount(index: number): number {
  return 1 / Math.log2(index + 2)
}
