/** Draws the figures: total cost relative to eager, one row per conversation, on a logarithmic scale. */
import type { CostFigures, PatternFigures } from './figures.ts'
import { figuresOf } from './goals.ts'

/** The provider in the chart: it has the most particular cache. */
const PROVIDER = 'anthropic'
const WIDTH = 880
const LEFT = 232
const RIGHT = 24
const TOP = 104
const ROW = 21
const TICKS = [0.03, 0.05, 0.1, 0.25, 0.5, 1, 2, 5]
const FROM = 0.03
const TO = 6

/** Distinct in form and colour, drawn in this order. */
const SERIES = [
  { name: 'mutation-first', title: 'list made anew, newest first', draw: cross },
  { name: 'append', title: 'append', draw: triangle },
  { name: 'bridge', title: 'bridge', draw: ring },
  { name: 'native', title: 'native', draw: diamond },
  { name: 'auto', title: 'auto', draw: dot },
] as const

const STYLE = `
  text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f }
  .quiet { fill: #57606a } .title { font-size: 15px; font-weight: 600 } .number { text-anchor: middle }
  .grid { stroke: #8c959f; stroke-opacity: .35 } .even { stroke: #57606a; stroke-width: 1.5 } .stripe { fill: #8c959f; fill-opacity: .09 }
  .auto { fill: #0969da; stroke: #0969da } .bridge { fill: none; stroke: #1a7f37; stroke-width: 2 } .native { fill: none; stroke: #8250df; stroke-width: 2 }
  .append { fill: #bf8700; stroke: #bf8700 } .mutation-first { fill: none; stroke: #cf222e; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .quiet { fill: #9da7b3 } .even { stroke: #9da7b3 }
    .auto { fill: #58a6ff; stroke: #58a6ff } .bridge { stroke: #3fb950 } .native { stroke: #bc8cff }
    .append { fill: #d29922; stroke: #d29922 } .mutation-first { stroke: #ff7b72 }
  }`

export function drawChart(figures: CostFigures): string {
  const { patterns } = figures
  const title = figures.providers.find(({ name }) => name === PROVIDER)?.title ?? PROVIDER
  const bottom = TOP + patterns.length * ROW
  const shown = SERIES.filter(({ name }) =>
    patterns.some((pattern) => figuresOf(pattern, PROVIDER).strategies[name]),
  )
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${bottom + 44}" viewBox="0 0 ${WIDTH} ${bottom + 44}" role="img" aria-labelledby="title about">`,
    `<title id="title">Total cost of ${patterns.length} conversations relative to sending every tool</title>`,
    `<desc id="about">${about(patterns)}</desc>`,
    `<style>${STYLE}\n</style>`,
    `<text class="title" x="16" y="26">Total cost relative to sending every tool in every request</text>`,
    `<text class="quiet" x="16" y="46">${title}: input, output, cache reads and writes; logarithmic; less is better</text>`,
    ...legend(shown),
    ...axis(bottom),
    ...patterns.flatMap((pattern, index) => row(pattern, index, shown)),
    '</svg>',
  ].join('\n')}\n`
}

function row(pattern: PatternFigures, index: number, shown: readonly (typeof SERIES)[number][]): string[] {
  const y = TOP + index * ROW + ROW / 2
  const { strategies } = figuresOf(pattern, PROVIDER)
  return [
    ...(index % 2 === 0
      ? [`<rect class="stripe" x="0" y="${y - ROW / 2}" width="${WIDTH}" height="${ROW}"/>`]
      : []),
    `<text x="16" y="${y + 4}">${pattern.name.replaceAll('-', ' ').slice(3)}</text>`,
    ...shown.flatMap(({ name, draw }) => {
      const figure = strategies[name]
      return figure ? [draw(place(figure.total), y, name)] : []
    }),
  ]
}

function legend(shown: readonly (typeof SERIES)[number][]): string[] {
  let x = 20
  return [...shown].reverse().flatMap(({ name, title, draw }) => {
    const at = x
    x += 34 + title.length * 7
    return [draw(at, 70, name), `<text x="${at + 11}" y="74">${title}</text>`]
  })
}

function axis(bottom: number): string[] {
  return TICKS.flatMap((tick) => {
    const x = place(tick)
    return [
      `<line class="${tick === 1 ? 'even' : 'grid'}" x1="${x}" y1="${TOP - 4}" x2="${x}" y2="${bottom + 4}"/>`,
      `<text class="quiet number" x="${x}" y="${TOP - 9}">${tick * 100} %</text>`,
      `<text class="quiet number" x="${x}" y="${bottom + 20}">${tick * 100} %</text>`,
    ]
  })
}

function about(patterns: readonly PatternFigures[]): string {
  const totals = patterns.map((pattern) => figuresOf(pattern, PROVIDER).strategies.auto?.total ?? 1)
  const percent = (value: number) => `${(value * 100).toFixed(1)} %`
  return `With auto the cheapest conversation costs ${percent(Math.min(...totals))} of eager, the most expensive ${percent(Math.max(...totals))}.`
}

/** Horizontal position in tenths, so that the file does not change with the last digit. */
function place(value: number): number {
  const share = Math.log(Math.min(TO, Math.max(FROM, value)) / FROM) / Math.log(TO / FROM)
  return tenth(LEFT + share * (WIDTH - LEFT - RIGHT))
}

const tenth = (value: number) => Math.round(value * 10) / 10

function dot(x: number, y: number, name: string): string {
  return `<circle class="${name}" cx="${x}" cy="${y}" r="4"/>`
}

function ring(x: number, y: number, name: string): string {
  return `<circle class="${name}" cx="${x}" cy="${y}" r="6.5"/>`
}

function diamond(x: number, y: number, name: string): string {
  return `<path class="${name}" d="M${tenth(x - 6)} ${y}L${x} ${y - 6}L${tenth(x + 6)} ${y}L${x} ${y + 6}Z"/>`
}

function triangle(x: number, y: number, name: string): string {
  return `<path class="${name}" d="M${tenth(x - 5)} ${y + 4}L${x} ${y - 5}L${tenth(x + 5)} ${y + 4}Z"/>`
}

function cross(x: number, y: number, name: string): string {
  return `<path class="${name}" d="M${tenth(x - 5)} ${y - 5}L${tenth(x + 5)} ${y + 5}M${tenth(x - 5)} ${y + 5}L${tenth(x + 5)} ${y - 5}"/>`
}
