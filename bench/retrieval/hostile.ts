/** Tools that try to match every query, and their effect on the rank of the right one. */
import type { BenchTool, Dataset } from './datasets.ts'
import { toolwell } from './toolwell.ts'

export interface HostileFigures {
  readonly tools: number
  /** Share of queries in which a hostile tool ranks above a right tool from the first ten. */
  readonly overtaken: number
  /** The same in the worst dataset. */
  readonly worst: number
  /** Share of queries whose first right tool drops for any reason. Hostile tools also make words less rare. */
  readonly dropped: number
  readonly datasets: Readonly<Record<string, { readonly overtaken: number; readonly dropped: number }>>
}

/** Repetition, thousands of keywords, descriptions of other tools, stuffed names, parameters and server descriptions. */
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
  const figures: Record<string, { overtaken: number; dropped: number }> = {}
  let tools = 0
  for (const dataset of datasets) {
    const hostile = hostileTools(dataset.tools)
    tools = hostile.length
    const calm = await toolwell.build(dataset.tools)
    const attacked = await toolwell.build([...dataset.tools, ...hostile])
    let overtaken = 0
    let dropped = 0
    for (const { query, relevant } of dataset.queries) {
      const wanted = new Set(relevant)
      const before = (await calm.search(query, 10)).findIndex((id) => wanted.has(id))
      if (before < 0) continue
      const found = await attacked.search(query, 60)
      const after = found.findIndex((id) => wanted.has(id))
      const ahead = after < 0 ? found : found.slice(0, after)
      if (ahead.some((id) => id.startsWith('hostile/'))) overtaken += 1
      if (after < 0 || after > before) dropped += 1
    }
    const count = dataset.queries.length
    figures[dataset.name] = { overtaken: round(overtaken / count), dropped: round(dropped / count) }
  }
  const all = Object.values(figures)
  const mean = (share: (each: { overtaken: number; dropped: number }) => number) =>
    round(all.reduce((sum, each) => sum + share(each), 0) / Math.max(1, all.length))
  return {
    tools,
    overtaken: mean((each) => each.overtaken),
    worst: Math.max(...all.map((each) => each.overtaken)),
    dropped: mean((each) => each.dropped),
    datasets: figures,
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z]{3,}/g) ?? []
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
