/** Fills the search tables of the docs from the committed figures. Never edit the text between the marks by hand. */
import { readFile, writeFile } from 'node:fs/promises'
import type { RetrievalResult } from '../retrieval.ts'
import type { ScaleFigures } from '../scale.ts'
import type { NewcomerFigures } from './newcomer.ts'

export interface SearchFigures {
  readonly retrieval: RetrievalResult
  readonly scale: ScaleFigures
}

/** Pages with search tables. */
export const SEARCH_PAGES = ['docs/concepts/how-search-ranks.md', 'docs/reference/measurements.md']

const MARK = /(<!-- search: ([a-z-]+) -->\n)[\s\S]*?(<!-- end -->)/g

export function fillSearchDocs(text: string, { retrieval, scale }: SearchFigures): string {
  const blocks: Readonly<Record<string, string>> = {
    engines: enginesTable(retrieval),
    datasets: datasetsTable(retrieval),
    newcomer: newcomerTable(retrieval),
    requests: requestsTable(retrieval),
    scale: scaleTable(scale),
  }
  return text.replace(MARK, (_, start: string, name: string, end: string) => {
    const block = blocks[name]
    if (block === undefined)
      throw new Error(`Unknown mark "search: ${name}" in ${SEARCH_PAGES.join(' or ')}.`)
    return `${start}\n${block}\n\n${end}`
  })
}

/** Fills the pages with one file of results replaced by newer figures. Returns their paths. */
export async function writeSearchDocs(newer: Partial<SearchFigures>): Promise<string[]> {
  const stored = async (name: string) =>
    JSON.parse(await readFile(new URL(`../results/${name}.json`, import.meta.url), 'utf8'))
  const figures: SearchFigures = {
    retrieval: newer.retrieval ?? (await stored('retrieval')),
    scale: newer.scale ?? (await stored('scale')),
  }
  for (const path of SEARCH_PAGES) {
    const page = new URL(`../../${path}`, import.meta.url)
    await writeFile(page, fillSearchDocs(await readFile(page, 'utf8'), figures))
  }
  return SEARCH_PAGES
}

function enginesTable({ engines }: RetrievalResult): string {
  const rows = [...engines].sort((first, second) => second.mean.ndcg10 - first.mean.ndcg10)
  return markdown(
    ['engine', 'nDCG@10', 'R@5', 'Hit@5', 'set up as'],
    rows.map(({ engine, about, mean }) => [
      engine === 'toolwell' ? `**${engine}**` : engine,
      ...[mean.ndcg10, mean.r5, mean.hit5].map(three),
      about,
    ]),
  )
}

function datasetsTable({ engines }: RetrievalResult): string {
  const [ours, other] = ['toolwell', 'sqlite-fts5'].map((name) =>
    engines.find(({ engine }) => engine === name),
  )
  return markdown(
    ['dataset', 'queries', 'nDCG@10', 'FTS5', 'R@5', 'FTS5', 'Hit@3', 'FTS5'],
    Object.entries(ours?.datasets ?? {}).map(([name, row]) => {
      const their = other?.datasets[name]
      return [
        name,
        String(row.queries),
        three(row.ndcg10),
        three(their?.ndcg10 ?? 0),
        three(row.r5),
        three(their?.r5 ?? 0),
        three(row.hit3),
        three(their?.hit3 ?? 0),
      ]
    }),
  )
}

function newcomerTable({ newcomer = [] }: RetrievalResult): string {
  const rows = ({ queries, ...figures }: NewcomerFigures) => [
    [
      `\`${queries}\`, a tool fits`,
      String(figures.met),
      three(figures.first),
      three(figures.three),
      three(figures.wrongly),
    ],
    [`\`${queries}\`, no tool fits`, String(figures.absent), '', '', three(figures.told)],
  ]
  return markdown(
    ['queries', 'number', 'right tool first', 'among three', '"Nothing clearly does this"'],
    newcomer.flatMap(rows),
  )
}

function requestsTable({ requests = [] }: RetrievalResult): string {
  return markdown(
    [
      'request',
      'number',
      'right tool first',
      'loaded',
      'shown',
      'at least named',
      '"Nothing clearly does this"',
    ],
    requests.map(({ kind, requests: count, first, loaded, shown, named, unclear }) => [
      kind,
      String(count),
      ...(kind === 'no tool fits' ? ['', '', '', ''] : [first, loaded, shown, named].map(three)),
      three(unclear),
    ]),
  )
}

function scaleTable({ rows }: ScaleFigures): string {
  return markdown(
    ['engine', 'tools', 'build', 're-index of 50', 'p50', 'p95', 'memory'],
    rows.map((row) => [
      row.engine,
      row.tools.toLocaleString('en'),
      `${(row.buildMilliseconds / 1000).toFixed(2)} s`,
      `${row.reindexMilliseconds.toFixed(1)} ms`,
      `${row.p50Milliseconds.toFixed(2)} ms`,
      `${row.p95Milliseconds.toFixed(2)} ms`,
      row.memoryMegabytes === undefined ? 'outside JavaScript' : `${row.memoryMegabytes.toFixed(0)} MB`,
    ]),
  )
}

function three(value: number): string {
  return value.toFixed(3).replace(/^0/, '')
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
