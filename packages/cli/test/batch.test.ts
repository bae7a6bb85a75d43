import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadDatasets } from '../../../bench/retrieval/datasets.ts'
import { measure } from '../../../bench/retrieval/measure.ts'
import { figuresOf, meanOf } from '../../../bench/retrieval/metrics.ts'
import { toolwell as engine } from '../../../bench/retrieval/toolwell.ts'
import { bytesOf, folderWith, issueTools, type Setting, toolwell } from './support/run.js'

const words = ['search', '--catalog', 'tools.jsonl', '--batch', 'queries.jsonl']

function batch(queries: unknown, flags: readonly string[] = [], setting: Setting = {}) {
  const folder = folderWith({ 'tools.jsonl': issueTools, 'queries.jsonl': queries })
  return toolwell([...words, ...flags], { ...setting, folder })
}

const linesOf = (output: string) =>
  output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('a batch', () => {
  it('is answered with one line for each query, in order, best match first', async () => {
    const queries = [
      { query: 'create issue' },
      { query: 'brew espresso' },
      { query: '' },
      { query: 'letter', more: 1 },
    ]
    const { code, output, errors } = await batch(queries)
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(linesOf(output)).toEqual([
      {
        query: 'create issue',
        unclear: false,
        matches: [{ id: 1, name: 'create_issue', certainty: 1 }],
      },
      { query: 'brew espresso', unclear: false, matches: [] },
      { query: '', unclear: false, matches: [] },
      {
        query: 'letter',
        unclear: false,
        matches: [{ id: 'send_letter', name: 'send_letter', certainty: 1 }],
      },
    ])
  })

  it('finds what an agent gets, in the same order and with the same verdict', async () => {
    const asked = ['close an issue and write a letter', 'sell a letter', 'create issue']
    const [both, near, ...others] = await Promise.all(
      asked.map(async (query) => {
        const one = await toolwell(['search', query, '--catalog', 'tools.jsonl', '--json'], {
          folder: folderWith({ 'tools.jsonl': issueTools }),
        })
        const { unclear, matches } = JSON.parse(one.output)
        return { query, unclear, ids: matches.map(({ id }: { id: unknown }) => id) }
      }),
    )
    expect(both?.ids).toEqual(['close', 'send_letter'])
    expect(near?.unclear).toBe(true)
    const lines = linesOf((await batch(asked.map((query) => ({ query })))).output)
    expect(
      lines.map(({ query, unclear, matches }) => ({
        query,
        unclear,
        ids: matches.map(({ id }: { id: unknown }) => id),
      })),
    ).toEqual([both, near, ...others])
  })

  it('obeys --limit and --no-cutoff, and takes --explain and --json', async () => {
    const queries = [{ query: 'quartz espresso grinder burr hopper portafilter office' }, { query: 'issue' }]
    const [gold, issue] = linesOf(
      (await batch(queries, ['--no-cutoff', '--limit', '1', '--explain', '--json'])).output,
    )
    expect(gold.matches).toMatchObject([{ name: 'send_letter', explanation: { terms: expect.any(Array) } }])
    expect(issue.matches).toHaveLength(1)
    const [cut] = linesOf((await batch(queries)).output)
    expect(cut.matches).toEqual([])
  })

  it('without any match ends with 1, and without any query says so', async () => {
    expect(await batch([{ query: 'brew espresso' }])).toMatchObject({ code: 1, errors: '' })
    expect(await batch('\n')).toEqual({
      code: 1,
      output: '',
      errors: 'toolwell: queries.jsonl contains no query.\n',
    })
  })

  it('answers a line that cannot be read with an error in its place, and ends with 2', async () => {
    const text = '{"query":"issue"}\n{"query":"iss\n\n{"quary":"issue"}\n"issue"\n{"query":"letter"}'
    const { code, output, errors } = await batch(text)
    expect(code).toBe(2)
    const [first, second, third, fourth, last] = linesOf(output)
    expect(first.matches).toHaveLength(2)
    expect(second).toEqual({
      query: null,
      matches: [],
      line: 2,
      error: expect.stringContaining('does not end'),
    })
    expect(third).toEqual({
      query: null,
      matches: [],
      line: 4,
      error: 'The query is missing. Write { "query": "…" }.',
    })
    expect(fourth).toMatchObject({ query: null, line: 5 })
    expect(last).toMatchObject({ query: 'letter', matches: [{ name: 'send_letter' }] })
    expect(errors).toContain('  queries.jsonl:2:10: a string that does not end')
    expect(errors).toContain('  queries.jsonl:4: The query is missing. Write { "query": "…" }.')
  })

  it('whose file is missing or binary ends with 2', async () => {
    const folder = folderWith({ 'tools.jsonl': issueTools, 'queries.jsonl': new Uint8Array([1, 0, 2]) })
    expect(await toolwell([...words.slice(0, -1), 'no.jsonl'], { folder })).toEqual({
      code: 2,
      output: '',
      errors: 'toolwell: File not found: no.jsonl. Check the path after --batch.\n',
    })
    expect((await toolwell(words, { folder })).errors).toContain('queries.jsonl is a binary file')
    expect((await toolwell([...words.slice(0, -1), '.'], { folder })).errors).toContain('. is a folder.')
  })

  it('is streamed: each query is answered before the next is read', async () => {
    const order: string[] = []
    async function* input() {
      for (const query of ['issue', 'letter', 'weather']) {
        order.push(`asked ${query}`)
        yield* bytesOf([`${JSON.stringify({ query })}\n`])
      }
    }
    const folder = folderWith({ 'tools.jsonl': issueTools })
    await toolwell([...words.slice(0, -1), '-'], {
      folder,
      input: input(),
      onOutput: (text) => order.push(`answered ${JSON.parse(text).query}`),
    })
    expect(order).toEqual(
      ['issue', 'letter', 'weather'].flatMap((query) => [`asked ${query}`, `answered ${query}`]),
    )
  })

  it('is read no further once nobody reads the answers', async () => {
    let isClosed = false
    async function* endless() {
      try {
        for (;;) yield* bytesOf(['{"query":"issue"}\n'])
      } finally {
        isClosed = true
      }
    }
    const folder = folderWith({ 'tools.jsonl': issueTools })
    const run = await toolwell([...words.slice(0, -1), '-'], { folder, input: endless(), closesAfter: 3 })
    expect({ code: run.code, errors: run.errors, isClosed }).toEqual({ code: 0, errors: '', isClosed: true })
    expect(linesOf(run.output)).toHaveLength(3)
  })

  it('shows progress on a screen once it takes more than a second, and wipes it off', async () => {
    const clock = (step: number) => {
      let time = 0
      return () => (time += step)
    }
    const queries = Array.from({ length: 20 }, () => ({ query: 'issue' }))
    const slow = await batch(queries, [], { screen: { errors: 80 }, now: clock(100) })
    expect(slow.errors).toMatch(/^\r\u001b\[KAnswering queries … \d+/)
    expect(slow.errors.endsWith('\r\u001b[K')).toBe(true)
    expect((await batch(queries, [], { screen: { errors: 80 }, now: clock(1) })).errors).toBe('')
    expect((await batch(queries, [], { now: clock(1000) })).errors).toBe('')
  })
})

describe('the ranking of a batch', () => {
  it('equals the ranking that the retrieval benchmark measures', async () => {
    const bench = fileURLToPath(new URL('../../../bench', import.meta.url))
    const [dataset] = (await loadDatasets(bench)).filter(({ name }) => name === 'sample')
    if (!dataset) throw new Error('bench/sample is missing')
    const { output } = await toolwell(
      ['search', '--catalog', 'tools.jsonl', '--batch', 'queries.jsonl', '--no-cutoff', '--limit', '30'],
      { folder: join(bench, 'sample') },
    )
    const groups = new Map(dataset.tools.map((tool) => [tool.id, `${tool.server}\n${tool.name}`]))
    const figures = linesOf(output).map(({ query, matches }, index) => {
      const asked = dataset.queries[index]
      expect(query).toBe(asked?.query)
      const ids = matches.map(({ id }: { id: string }) => id)
      return figuresOf(ids, asked?.relevant ?? [], (id) => groups.get(id) ?? id)
    })
    expect(figures).toHaveLength(dataset.queries.length)
    const measured = (await measure(engine, dataset.tools, dataset.queries)).figures
    expect(meanOf(figures)).toEqual(measured)
    expect(measured.ndcg10).toBeGreaterThan(0.5)
  })
})
