/** Writes the tables of docs/search-measured.md from the committed figures. Text between the marks is always generated. */
import { readFile, writeFile } from 'node:fs/promises'
import type { HybridFigures } from '../hybrid.ts'
import type { RetrievalResult } from '../retrieval.ts'
import type { ScaleFigures } from '../scale.ts'
import type { TuningFigures } from '../tuning.ts'
import type { Trade } from './cut-off.ts'
import type { Line } from './lines.ts'
import type { NewcomerFigures } from './newcomer.ts'

export interface SearchFigures {
  readonly retrieval: RetrievalResult
  readonly scale: ScaleFigures
  readonly tuning: TuningFigures
  readonly hybrid: HybridFigures
}

const MARK = /(<!-- figures: ([a-z-]+) -->\n)[\s\S]*?(<!-- end -->)/g
const document = new URL('../../docs/search-measured.md', import.meta.url)

export function fillSearchDocs(text: string, figures: SearchFigures): string {
  const blocks = blocksOf(figures)
  return text.replace(MARK, (_, start: string, name: string, end: string) => {
    const block = blocks[name]
    if (block === undefined)
      throw new Error(`docs/search-measured.md wants figures named ${name}; there are none`)
    return `${start}\n${block}\n\n${end}`
  })
}

/** Writes the tables, with newer figures for one file of results. */
export async function writeSearchDocs(newer: Partial<SearchFigures>): Promise<void> {
  const stored = async (name: string) =>
    JSON.parse(await readFile(new URL(`../results/${name}.json`, import.meta.url), 'utf8'))
  const figures: SearchFigures = {
    retrieval: newer.retrieval ?? (await stored('retrieval')),
    scale: newer.scale ?? (await stored('scale')),
    tuning: newer.tuning ?? (await stored('tuning')),
    hybrid: newer.hybrid ?? (await stored('hybrid')),
  }
  await writeFile(document, fillSearchDocs(await readFile(document, 'utf8'), figures))
}

function blocksOf({ retrieval, scale, tuning, hybrid }: SearchFigures): Readonly<Record<string, string>> {
  return {
    lines: linesTable([...retrieval.lines, ...scale.lines]),
    engines: enginesTable(retrieval),
    datasets: datasetsTable(retrieval),
    'cut-off': cutOffTable(retrieval),
    callable: callableTable(retrieval),
    answers: answersTable(retrieval),
    honesty: honestyTable(retrieval),
    newcomer: newcomerTable(retrieval),
    learning: learningTable(retrieval),
    hostile: hostileTable(retrieval),
    tuning: tuningTable(tuning),
    parts: partsTable(tuning),
    scale: scaleTable(scale),
    hybrid: hybridTable(hybrid),
  }
}

function linesTable(lines: readonly Line[]): string {
  return markdown(
    ['figure', 'measured', 'floor', 'goal', ''],
    lines.map(({ what, figure, floor, goal, holds, reached }) => [
      what,
      String(figure),
      floor === undefined ? '–' : String(floor),
      String(goal),
      reached ? 'goal reached' : holds === false ? '**missed**' : holds ? 'holds' : 'not reached',
    ]),
  )
}

function enginesTable({ engines }: RetrievalResult): string {
  const rows = [...engines].sort((first, second) => second.mean.ndcg10 - first.mean.ndcg10)
  return markdown(
    ['engine', 'nDCG@10', 'R@1', 'R@3', 'R@5', 'R@10', 'Hit@5', 'MRR', 'set up as'],
    rows.map(({ engine, about, mean }) => [
      engine === 'toolwell' ? `**${engine}**` : engine,
      ...[mean.ndcg10, mean.r1, mean.r3, mean.r5, mean.r10, mean.hit5, mean.mrr].map(three),
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

const tradeHead = ['right tool', 'nothing, right tools removed', 'nothing, about something else']

function tradeCells({ right, nothingWithoutTools, nothingOffTopic }: Trade): string[] {
  return [three(right), three(nothingWithoutTools), three(nothingOffTopic)]
}

function lineCell(line: number, usual: number): string {
  return line === usual ? `**${line}** (default)` : String(line)
}

function cutOffTable({ cutOff }: RetrievalResult): string {
  return markdown(
    ['cut-off', ...tradeHead],
    cutOff.answers.map((each) => [lineCell(each.cutOff, cutOff.cutOff), ...tradeCells(each)]),
  )
}

function callableTable({ callable }: RetrievalResult): string {
  return markdown(
    [
      'dataset',
      'append, native: loaded',
      'bridge: loaded',
      'bridge: callable',
      'tokens',
      'bridge',
      'wasted',
      'bridge',
    ],
    [...new Set(callable.map(({ dataset }) => dataset))].map((dataset) => {
      const of = (delivery: string) =>
        callable.find((row) => row.dataset === dataset && row.delivery === delivery)
      const [native, bridge] = [of('native'), of('bridge')]
      return [
        dataset,
        three(native?.loaded ?? 0),
        three(bridge?.loaded ?? 0),
        three(bridge?.callable ?? 0),
        whole(native?.answerTokens),
        whole(bridge?.answerTokens),
        whole(native?.wastedTokens),
        whole(bridge?.wastedTokens),
      ]
    }),
  )
}

function answersTable({ answers = [] }: RetrievalResult): string {
  return markdown(
    ['delivery', 'tools', 'queries', 'tokens of the whole answer'],
    answers.map(({ delivery, tools, queries, answerTokens }) => [
      delivery,
      String(tools),
      String(queries),
      whole(answerTokens),
    ]),
  )
}

function honestyTable({ honesty }: RetrievalResult): string {
  return markdown(
    ['line', 'absent needs called unclear', 'answerable queries called so', 'their first words called so'],
    (honesty?.curve ?? []).map(({ line, told, wrongly, wronglyShort }) => [
      lineCell(line, honesty?.default ?? 0),
      three(told),
      three(wrongly),
      three(wronglyShort),
    ]),
  )
}

function newcomerTable({ newcomer = [] }: RetrievalResult): string {
  const rows = ({ queries, ...figures }: NewcomerFigures) => [
    [
      `\`${queries}\`, that a tool meets`,
      String(figures.met),
      three(figures.first),
      three(figures.three),
      three(figures.wrongly),
    ],
    [`\`${queries}\`, that none meets`, String(figures.absent), '', '', three(figures.told)],
  ]
  return markdown(
    ['needs', 'queries', 'right tool first', 'among three', 'told that nothing clearly does this'],
    newcomer.flatMap(rows),
  )
}

function hybridTable({ rows, mean }: HybridFigures): string {
  return markdown(
    ['dataset', 'tools', 'queries', 'words alone', 'words and meaning'],
    [
      ...rows.map(({ dataset, tools, queries, lexical, hybrid }) => [
        dataset,
        String(tools),
        String(queries),
        three(lexical),
        three(hybrid),
      ]),
      ['**mean**', '', '', three(mean.lexical), three(mean.hybrid)],
    ],
  )
}

function learningTable({ learning }: RetrievalResult): string {
  const rows = [...learning.rows, { dataset: '**mean**', asked: 0, ...learning.mean }]
  return markdown(
    [
      'dataset',
      'asked',
      'no use',
      'one of each tool',
      'three',
      'ten',
      'three, as shown',
      'three, 10 % wrong',
      'R@5: none',
      'three',
      'farmed',
    ],
    rows.map(({ dataset, asked, cold, one, three: some, ten, shown, wrong, farmed }) => [
      dataset,
      asked === 0 ? '' : String(asked),
      ...[cold, one, some, ten, shown, wrong].map(({ ndcg10 }) => three(ndcg10)),
      three(cold.r5),
      three(some.r5),
      three(farmed),
    ]),
  )
}

function whole(value = 0): string {
  return value.toFixed(0)
}

function hostileTable({ hostile }: RetrievalResult): string {
  return markdown(
    ['dataset', 'a hostile tool before the right one', 'the right one lower for any reason'],
    Object.entries(hostile.datasets).map(([name, { overtaken, dropped }]) => [
      name,
      three(overtaken),
      three(dropped),
    ]),
  )
}

function tuningTable({ datasets, neutral, default: own, leftOut }: TuningFigures): string {
  return markdown(
    ['dataset', 'neutral weights', 'default', 'chosen without this source', 'the choice'],
    [
      ...Object.entries(datasets).map(([name, row]) => [
        name,
        three(row.neutral),
        three(row.default),
        three(row.leftOut),
        row.chosen,
      ]),
      ['**mean**', three(neutral), three(own), three(leftOut), ''],
    ],
  )
}

function partsTable({ changes }: TuningFigures): string {
  const parts = Object.entries(changes).filter(([what]) => !what.includes('×'))
  return markdown(
    ['without', 'mean nDCG@10'],
    parts.map(([what, change]) => [
      what.replace('without ', ''),
      `${change > 0 ? '+' : ''}${change.toFixed(4)}`,
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
