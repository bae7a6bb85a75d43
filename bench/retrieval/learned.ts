/** A learned line between hits and misses, to compare with the plain one: logistic regression over features of a hit. */
import type { LexicalSearcher, Ranked, SearchDocument } from '@toolwell/core'

export interface Evidence {
  readonly relevance: number
  readonly certainty: number
  readonly score: number
  /** Log score; share of the words held, by number and by worth; share held in the name; lead over the 2nd, 10th and 50th; words. */
  readonly features: readonly number[]
}

export function evidenceOf(
  searcher: LexicalSearcher,
  text: string,
  documents: ReadonlyMap<string, SearchDocument>,
  ranked: readonly Ranked[],
  { id, score, relevance, certainty = relevance }: Ranked,
): Evidence {
  const document = documents.get(id)
  const words = document ? searcher.explain(text, document).terms.filter(({ kind }) => kind === 'word') : []
  const worth = (list: typeof words) => list.reduce((sum, term) => sum + term.worth, 0)
  const held = words.filter((term) => term.score > 0)
  const named = held.filter(({ fields }) => fields.name !== undefined)
  const at = ranked.findIndex((hit) => hit.id === id)
  const lead = (places: number) => (ranked[at + places]?.score ?? 0) / Math.max(score, 1e-9)
  const count = Math.max(1, words.length)
  const all = Math.max(1e-9, worth(words))
  return {
    relevance,
    certainty,
    score,
    features: [
      Math.log(1 + score),
      held.length / count,
      worth(held) / all,
      worth(named) / all,
      lead(1),
      lead(9),
      lead(49),
      Math.log(1 + words.length),
    ],
  }
}

interface Example {
  readonly right: readonly Evidence[]
  readonly others: readonly Evidence[]
}

/** Newton's method on standardised features; deterministic. */
export function learn(examples: readonly Example[]): (hit: Evidence) => number {
  const rows = examples.flatMap(({ right, others }) => [
    ...right.map(({ features }) => ({ features, answer: 1 })),
    ...others.slice(0, 1).map(({ features }) => ({ features, answer: 0 })),
  ])
  const size = rows[0]?.features.length ?? 0
  const means = Array.from({ length: size }, (_, n) => mean(rows.map(({ features }) => features[n] ?? 0)))
  const spreads = means.map(
    (centre, n) => Math.sqrt(mean(rows.map(({ features }) => ((features[n] ?? 0) - centre) ** 2))) || 1,
  )
  const scaled = (features: readonly number[]) => [
    1,
    ...features.map((value, n) => (value - (means[n] ?? 0)) / (spreads[n] ?? 1)),
  ]
  let weights = new Array<number>(size + 1).fill(0)
  const inputs = rows.map(({ features, answer }) => ({ input: scaled(features), answer }))
  for (let turn = 0; turn < 20; turn += 1) {
    const gradient = new Array<number>(size + 1).fill(0)
    const curvature = gradient.map((_, n) => gradient.map((__, m) => (n === m ? 1e-3 * rows.length : 0)))
    for (const { input, answer } of inputs) {
      const likely = 1 / (1 + Math.exp(-dot(weights, input)))
      input.forEach((value, n) => {
        gradient[n] = (gradient[n] ?? 0) + (likely - answer) * value
        input.forEach((other, m) => {
          const row = curvature[n] as number[]
          row[m] = (row[m] ?? 0) + likely * (1 - likely) * value * other
        })
      })
    }
    const step = solve(curvature, gradient)
    weights = weights.map((weight, n) => weight - (step[n] ?? 0))
  }
  return ({ features }) => dot(weights, scaled(features))
}

/** Gaussian elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, n) => [...row, right[n] ?? 0])
  for (let column = 0; column < rows.length; column += 1) {
    const rest = rows.slice(column).map((row) => Math.abs(row[column] ?? 0))
    const pivot = column + rest.indexOf(Math.max(...rest))
    ;[rows[column], rows[pivot]] = [rows[pivot] as number[], rows[column] as number[]]
    const own = rows[column] as number[]
    for (const row of rows) {
      if (row === own) continue
      const factor = (row[column] ?? 0) / (own[column] || 1e-12)
      for (let n = column; n < row.length; n += 1) row[n] = (row[n] ?? 0) - factor * (own[n] ?? 0)
    }
  }
  return rows.map((row, n) => (row.at(-1) ?? 0) / (row[n] || 1e-12))
}

function dot(first: readonly number[], second: readonly number[]): number {
  return first.reduce((sum, value, n) => sum + value * (second[n] ?? 0), 0)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
