/** The cut of one search: which of the tools that fit answer it. Pure, so its rules stand in a table. */
import { describe, expect, it } from 'vitest'
import type { Entry } from '../src/catalogue/catalogue.js'
import { cutHits } from '../src/turn/keyword-hits.js'

type Hit = Parameters<typeof cutHits>[0]['hits'][number]

const hit = (id: string, score: number, more: Partial<Hit> = {}): Hit => ({
  entry: { id } as Entry,
  asked: 'query',
  alias: undefined,
  deprecated: false,
  explicit: false,
  named: false,
  called: false,
  sure: true,
  learnedOnly: false,
  ownScore: score,
  coverage: 1,
  isOfNamedServer: false,
  clear: true,
  score,
  ...more,
})

interface Case {
  readonly hits?: readonly Hit[]
  readonly weak?: readonly Hit[]
  readonly bestAway?: number
  readonly limit?: number
  readonly loaded?: readonly string[]
}

function cut({ hits = [], weak = [], bestAway = 0, limit = 5, loaded = [] }: Case) {
  const made = cutHits({ hits, weak, bestAway }, limit, { answer: 0.5, load: 0.75 }, (id) =>
    loaded.includes(id),
  )
  return { hits: made.hits.map(({ entry }) => entry.id), weak: made.weak }
}

describe('cutHits', () => {
  it.each<[string, Case, ReturnType<typeof cut>]>([
    ['gives nothing for nothing', {}, { hits: [], weak: [] }],
    [
      'keeps what scores at least half of the best, and names the rest',
      { hits: [hit('a', 10), hit('b', 5), hit('c', 4)] },
      { hits: ['a', 'b'], weak: ['c'] },
    ],
    [
      'stops at the limit and counts what also fits',
      { hits: [hit('a', 10), hit('b', 9), hit('c', 8)], limit: 2 },
      { hits: ['a', 'b'], weak: [] },
    ],
    [
      'puts tools that are not loaded yet first',
      { hits: [hit('a', 10), hit('b', 9)], loaded: ['a'] },
      { hits: ['b', 'a'], weak: [] },
    ],
    [
      'takes a tool that the query names as the whole answer',
      { hits: [hit('a', Number.MAX_VALUE, { named: true, called: true }), hit('b', 9)] },
      { hits: ['a'], weak: ['b'] },
    ],
    [
      'keeps every tool that is named, beyond the limit',
      {
        hits: [hit('a', 1, { named: true }), hit('b', 1, { named: true }), hit('c', 1, { named: true })],
        limit: 2,
      },
      { hits: ['a', 'b', 'c'], weak: [] },
    ],
    [
      'does not measure others by the score of a name in some spelling',
      { hits: [hit('a', 10_000, { called: true }), hit('b', 9), hit('c', 6)] },
      { hits: ['a', 'b', 'c'], weak: [] },
    ],
    [
      'drops a tool if an unavailable tool fits twice as well',
      { hits: [hit('a', 4)], bestAway: 10 },
      { hits: [], weak: ['a'] },
    ],
    [
      'measures nothing by what use adds to a score',
      { hits: [hit('a', 20, { ownScore: 8 }), hit('b', 9), hit('c', 4)] },
      { hits: ['a', 'b'], weak: ['c'] },
    ],
    [
      'gives tools that match only by use one place, plus any that are left',
      {
        hits: [
          ...['a', 'b', 'c'].map((id) => hit(id, 20, { ownScore: 1, learnedOnly: true })),
          hit('d', 9),
          hit('e', 8),
        ],
        limit: 3,
      },
      { hits: ['a', 'd', 'e'], weak: [] },
    ],
    [
      'names what comes close where nothing fits',
      { weak: [hit('a', 1), hit('b', 0.9)], limit: 1 },
      { hits: [], weak: ['a'] },
    ],
    [
      'does not name what is loaded already among the weak ones',
      { hits: [hit('a', 10), hit('b', 1)], loaded: ['b'] },
      { hits: ['a'], weak: [] },
    ],
  ])('%s', (_, given, expected) => {
    expect(cut(given)).toEqual(expected)
  })
})
