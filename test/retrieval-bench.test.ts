/** The retrieval bench: its figures, what must hold on the bundled sample, and that the docs show what is committed. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { drawRetrieval } from '../bench/retrieval/chart.ts'
import { measureCutOff } from '../bench/retrieval/cut-off.ts'
import { type Dataset, loadDatasets } from '../bench/retrieval/datasets.ts'
import { fillSearchDocs, SEARCH_PAGES } from '../bench/retrieval/docs.ts'
import { hostileTools, measureHostile } from '../bench/retrieval/hostile.ts'
import { figuresOf } from '../bench/retrieval/metrics.ts'
import { toolwell } from '../bench/retrieval/toolwell.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8')

describe('figures of one ranking', () => {
  const same = (id: string) => id

  it('are those of the textbook', () => {
    const figures = figuresOf(['x', 'a', 'y', 'b'], ['a', 'b', 'c'], same)
    expect(figures).toMatchObject({ r1: 0, r3: 1 / 3, r5: 2 / 3, hit1: 0, hit3: 1, mrr: 1 / 2 })
    const gain = 1 / Math.log2(3) + 1 / Math.log2(5)
    const ideal = 1 + 1 / Math.log2(3) + 1 / Math.log2(4)
    expect(figures.ndcg10).toBeCloseTo(gain / ideal, 10)
  })

  it('count variants of one tool once', () => {
    const variant = (id: string) => id.split('#')[0] ?? id
    expect(figuresOf(['x#1', 'x#2', 'x#3', 'a#2'], ['a#1'], variant)).toMatchObject({ mrr: 1 / 2, hit3: 1 })
  })
})

describe('on the bundled sample', () => {
  let sample: Dataset
  beforeAll(async () => {
    const [found] = await loadDatasets(`${root}/bench`)
    if (!found) throw new Error('bench/sample is missing')
    sample = found
  })

  it('every query asks for tools that exist', () => {
    const ids = new Set(sample.tools.map(({ id }) => id))
    expect(ids.size).toBe(sample.tools.length)
    for (const { relevant } of sample.queries) for (const id of relevant) expect(ids).toContain(id)
  })

  it('the default cut-off loses no right tool', () => {
    const figures = measureCutOff([sample])
    expect(figures.hit5).toBeGreaterThan(0.7)
    expect(figures.hit5Lost).toBeLessThanOrEqual(0.02)
  })

  it('hostile tools rank above the right one in at most one query of twenty', async () => {
    const { overtaken } = await measureHostile([sample])
    expect(overtaken).toBeLessThanOrEqual(0.05)
  })

  it('no hostile tool displaces a name, alone, behind its server or inside a sentence', async () => {
    const shadows = sample.tools.map((tool) => ({
      ...tool,
      id: `hostile/${tool.name}_tool`,
      server: 'hostile',
      name: `${tool.name}_tool`,
      description: `${tool.name} ${tool.server} ${tool.description} `.repeat(20),
    }))
    const index = await toolwell.build([...hostileTools(sample.tools), ...shadows, ...sample.tools])
    for (const { id, name, server } of sample.tools.filter(({ name }) => name.includes('_')))
      for (const query of [
        name,
        `${server}/${name}`,
        `please use ${name} for the report`,
        `${server}__${name}`,
      ])
        expect((await index.search(query, 1))[0], query).toBe(id)
  })
})

describe('the committed figures', () => {
  const results = ['retrieval', 'scale'].map((name) => `bench/results/${name}.json`)

  it('are those of the docs and the chart', () => {
    expect(results.filter((file) => !existsSync(`${root}/${file}`))).toEqual([])
    const [retrieval, scale] = results.map((file) => JSON.parse(read(file)))
    for (const page of SEARCH_PAGES) expect(fillSearchDocs(read(page), { retrieval, scale })).toBe(read(page))
    expect(drawRetrieval(retrieval)).toBe(read('docs/images/retrieval.svg'))
  })

  it('reach every minimum', () => {
    for (const file of results)
      for (const { what, holds } of JSON.parse(read(file)).lines)
        expect([what, holds ?? true]).toEqual([what, true])
  })
})
