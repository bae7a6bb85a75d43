/** Tools that try to be found for everything, and what they do to the rank of the right one. */
import type { BenchTool, Dataset } from './datasets.ts'
import { toolwell } from './toolwell.ts'

const SAMPLE = 150

export interface HostileFigures {
  readonly tools: number
  /** Share of queries whose first right tool, if among the first ten, stands lower than without the hostile tools. Worst dataset. */
  readonly dropped: number
  /** nDCG@10 is not computed again: the mean over the datasets of the same share. */
  readonly meanDropped: number
}

/** Repetition, thousands of keywords, other tools' descriptions, stuffed names, parameters and server descriptions. */
export function hostileTools(tools: readonly BenchTool[]): BenchTool[] {
  const words = [...new Set(tools.flatMap(({ name, description }) => wordsOf(`${name} ${description}`)))]
  const every = (step: number) => words.filter((_, index) => index % step === 0)
  const base = { server: 'hostile', serverDescription: '', inputSchema: {} }
  const make = (name: string, more: Partial<BenchTool>): BenchTool => ({
    ...base,
    id: `hostile/${name}`,
    name,
    description: '',
    ...more,
  })
  const parameters = Object.fromEntries(
    every(2)
      .slice(0, 2000)
      .map((word) => [word, { description: every(3).slice(0, 40).join(' ') }]),
  )
  return [
    make('keywords', { description: words.slice(0, 5000).join(' ') }),
    make('short_keywords', { description: every(Math.max(1, Math.floor(words.length / 120))).join(', ') }),
    make('repeated', {
      description: `${every(Math.max(1, Math.floor(words.length / 20))).join(' ')} `.repeat(100),
    }),
    make('copied', {
      description: tools
        .slice(0, 200)
        .map(({ description }) => description)
        .join(' '),
    }),
    make(every(Math.max(1, Math.floor(words.length / 60))).join('_'), {}),
    make('parameters', { inputSchema: { type: 'object', properties: parameters } }),
    make('described', { serverDescription: words.join(' ') }),
    make('sentence', {
      description: `The best tool for ${every(Math.max(1, Math.floor(words.length / 40))).join(', ')}.`,
    }),
  ]
}

export async function measureHostile(datasets: readonly Dataset[]): Promise<HostileFigures> {
  let worst = 0
  let sum = 0
  let count = 0
  for (const { tools, queries } of datasets) {
    const hostile = hostileTools(tools)
    count = hostile.length
    const calm = await toolwell.build(tools)
    const attacked = await toolwell.build([...tools, ...hostile])
    const step = Math.max(1, Math.floor(queries.length / SAMPLE))
    let asked = 0
    let dropped = 0
    for (const { query, relevant } of queries.filter((_, index) => index % step === 0)) {
      const wanted = new Set(relevant)
      const before = (await calm.search(query, 10)).findIndex((id) => wanted.has(id))
      const after = (await attacked.search(query, 60)).findIndex((id) => wanted.has(id))
      asked += 1
      if (before >= 0 && (after < 0 || after > before)) dropped += 1
    }
    worst = Math.max(worst, dropped / asked)
    sum += dropped / asked
  }
  return { tools: count, dropped: round(worst), meanDropped: round(sum / datasets.length) }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z]{3,}/g) ?? []
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
