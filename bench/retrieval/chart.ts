/** Draws bench/results/retrieval.json: one bar per engine, mean nDCG@10. Plain SVG for light and dark pages. */
import type { RetrievalResult } from '../retrieval.ts'

const width = 720
const rowHeight = 30
const left = 170
const barRoom = width - left - 150

export function drawRetrieval({ engines }: Pick<RetrievalResult, 'engines'>): string {
  const rows = [...engines].sort((first, second) => second.mean.ndcg10 - first.mean.ndcg10)
  const height = rows.length * rowHeight + 60
  const bars = rows.map(({ engine, mean, p50Milliseconds }, index) => {
    const y = 44 + index * rowHeight
    const length = Math.round(mean.ndcg10 * barRoom)
    const own = engine === 'toolwell'
    return [
      `  <text x="${left - 10}" y="${y + 15}" text-anchor="end"${own ? ' font-weight="bold"' : ''}>${engine}</text>`,
      `  <rect x="${left}" y="${y}" width="${length}" height="20" rx="3" fill="${own ? '#2f7d5b' : '#9aa5ad'}"/>`,
      `  <text x="${left + length + 8}" y="${y + 15}">${mean.ndcg10.toFixed(3)}  ·  ${p50Milliseconds.toFixed(2)} ms</text>`,
    ].join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#6b7680" role="img" aria-label="Mean nDCG@10 by search engine">
  <text x="${left}" y="24" font-size="14">Mean nDCG@10 over the datasets, and median time per query</text>
${bars.join('\n')}
</svg>
`
}
