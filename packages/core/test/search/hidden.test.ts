/** Tools that may not be seen: every answer is, to the last bit, what it would be without them. */
import { readFileSync } from 'node:fs'
import { createToolwell, type Tool, type Toolwell } from '@toolwell/core'
import { createHybridSearcher } from '@toolwell/core/hybrid'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLong, runs } from '../../../../test/setup/tier.js'
import { createDocument } from '../../src/search/document.js'
import { createLexicalSearcher } from '../../src/search/lexical.js'
import { createExamplesIndexes } from '../../src/usage/examples.js'

const lines = (name: string): Record<string, unknown>[] =>
  readFileSync(new URL(`../../../../bench/sample/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
const sample = (lines('tools') as unknown as (Tool & { readonly server: string })[]).map(
  ({ name, description, inputSchema, server }): Tool => ({ name, description, inputSchema, source: server }),
)
const queries = [
  ...lines('queries').map(({ query }) => String(query)),
  'read_file',
  'files/write_file and raed_file',
  'open the calendar, then send the notes by mail, and also find the file that holds the budget',
]

const words =
  'file read mail send cron job list bank zebra delete photo office in Oslo repo again letters announce'.split(
    ' ',
  )
const phrase = (least: number, most: number) =>
  fc.array(fc.constantFrom(...words), { minLength: least, maxLength: most }).map((chosen) => chosen.join(' '))
const catalogue = fc
  .array(
    fc.record({
      name: phrase(1, 3),
      server: fc.constantFrom('a', 'b', 'office', 'mail'),
      description: phrase(0, 12),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((rows) =>
    rows.map(({ name, server, description }, at) => ({
      id: `${server}/${at}`,
      tool: { name: name.replaceAll(' ', '_'), description, inputSchema: {}, source: server } as Tool,
    })),
  )

describe('what may not be seen', () => {
  it('changes no rank, score, relevance or coverage of what may', () => {
    const case_ = fc.record({
      tools: catalogue,
      hidden: fc.array(fc.nat(29), { maxLength: 20 }),
      queries: fc.array(phrase(1, 14), { minLength: 1, maxLength: 4 }),
      uses: fc.array(fc.tuple(fc.nat(29), phrase(1, 6)), { maxLength: 8 }),
      must: fc.option(fc.constantFrom(...words)),
    })
    fc.assert(
      fc.property(case_, ({ tools, hidden, queries, uses, must }) => {
        const isHidden = (id: string) => hidden.some((at) => tools[at]?.id === id)
        const seen = tools.filter(({ id }) => !isHidden(id))
        const everything = createLexicalSearcher()
        everything.update({ put: tools.map(createDocument) })
        const without = createLexicalSearcher()
        without.update({ put: seen.map(createDocument) })
        const createIndex = createExamplesIndexes()
        const learnedOf = (some: typeof tools) => {
          const examples = createIndex()
          const of = (id: string) =>
            uses.filter(([at]) => tools[at]?.id === id).map(([, query]) => examples.hashWords(query))
          examples.put(some.map(({ id }) => [id, of(id)]))
          return [examples.index]
        }
        const [all, some] = [learnedOf(tools), learnedOf(seen)]
        const fresh = createLexicalSearcher()
        fresh.update({ put: tools.map(createDocument) })
        for (const text of queries) {
          const query = { text, must: must === null ? [] : [must] }
          const answer = everything.rank({ ...query, learned: all, hidden: isHidden })
          expect(answer).toEqual(without.rank({ ...query, learned: some }))
          // And nothing of it stays behind.
          expect(everything.rank({ ...query, learned: all })).toEqual(fresh.rank({ ...query, learned: all }))
        }
      }),
      { numRuns: runs(100) },
    )
  })

  it('comes back where looking for it fails', () => {
    const searcher = createLexicalSearcher()
    searcher.update({
      put: sample.map((tool) => createDocument({ id: `${tool.source}/${tool.name}`, tool })),
    })
    const before = searcher.rank({ text: 'read a file', must: [] })
    let asked = 0
    const hidden = () => {
      asked += 1
      if (asked > 5) throw new Error('no')
      return true
    }
    expect(() => searcher.rank({ text: 'read a file', must: [], hidden })).toThrow('no')
    expect(searcher.rank({ text: 'read a file', must: [] })).toEqual(before)
  })

  it('changes no byte of an answer', async () => {
    const servers = [...new Set(sample.map(({ source }) => source))]
    for (const denied of servers.slice(0, isLong ? 4 : 1)) {
      const seen = sample.filter(({ source }) => source !== denied)
      const policy = ({ source }: { source: string }) => source !== denied
      const [behindPolicy, without] = [
        createToolwell({ tools: sample, mode: 'on', policy }).direct(),
        createToolwell({ tools: seen, mode: 'on' }).direct(),
      ]
      for (const query of queries)
        expect(await behindPolicy.search({ query })).toEqual(await without.search({ query }))
    }
  })

  const text = async (well: Toolwell, query: string) => (await well.direct().search({ query })).text
  const files = (name: string, description: string) => ({
    name,
    description,
    inputSchema: { type: 'object' },
    source: 'files',
  })

  it.each([
    ['in the middle of successors', 'mid', 'DEPRECATED: use mid.', 'DEPRECATED: use end.'],
    ['as the first of two successors', 'mid', 'DEPRECATED: use mid or use end.', 'Gives text.'],
  ])('succeeds nothing %s', async (_, denied, first, second) => {
    const tools = [
      files('read_file', `Reads a file. ${first}`),
      files('mid', second),
      files('end', 'Gives text.'),
    ]
    const seen = tools.filter(({ name }) => name !== denied)
    const policy = ({ name }: { name: string }) => name !== denied
    expect(await text(createToolwell({ tools, mode: 'on', policy }), 'read a file')).toBe(
      await text(createToolwell({ tools: seen, mode: 'on' }), 'read a file'),
    )
  })

  it('is known to a policy by its id, also where its definition cannot be used', async () => {
    const asked = new Set<string>()
    const policy = ({ id }: { id: string }) => {
      asked.add(id)
      return id !== 'files/broken'
    }
    const well = createToolwell({ mode: 'on', policy })
    const broken = { ...files('broken', 'Reads a file.'), inputSchema: 'none' as never }
    well.catalogue.setSource('files', { tools: [files('other', 'Paints.'), broken] })
    expect(await text(well, 'read a file')).not.toContain('broken')
    expect([...asked].filter((id) => id.startsWith('files/b'))).toEqual(['files/broken'])
  })

  it('ends no wait for a server that connects', async () => {
    const policy = ({ source }: { source: string }) => source !== 'files'
    const well = createToolwell({ mode: 'on', policy, tools: [files('find_gold', 'Finds gold.')] })
    well.catalogue.setSource('late', { tools: [], state: 'connecting' })
    const answer = text(well, 'select:find_gold')
    setTimeout(() => well.catalogue.setSource('late', { tools: [files('find_gold', 'Finds gold.')] }), 20)
    expect(await answer).toContain('late__find_gold')
  })

  it('is not asked for where it waits for approval: it is counted, and changes no other answer', async () => {
    const many = Array.from({ length: 50 }, (_, at) => files(`invoice_${at}`, 'Pays a customer invoice.'))
    const own = [
      { ...files('send_invoice', 'Sends an invoice.'), source: 'office' },
      { ...files('list_customers', 'Lists customers.'), source: 'office' },
    ]
    const [held, without] = [
      createToolwell({ tools: own, mode: 'on' }),
      createToolwell({ tools: own, mode: 'on' }),
    ]
    held.catalogue.setSource('files', { tools: many, quarantined: many.map(({ name }) => name) })
    const waiting = 'Tools of "files" that may fit wait for approval: 50.'
    const loaded = async (well: Toolwell, query: string) =>
      (await text(well, query)).split('\n').find((line) => line !== waiting)
    for (const query of ['send an invoice', 'customer invoice', 'customers', 'pay a customer'])
      expect(await loaded(held, query)).toBe(await loaded(without, query))
    expect((await text(held, 'pay an invoice for lunch')).replace(`${waiting}\n`, '')).not.toContain(
      'files__',
    )
    expect(await text(held, 'pay an invoice for lunch')).toContain(waiting)
  })

  it('changes no answer by meaning', async () => {
    const embed = async (texts: readonly string[]) =>
      texts.map((text) => [text.length % 7, text.length % 5, text.split('a').length])
    const [denied] = sample.map(({ source }) => source)
    const ask = async (tools: readonly Tool[], hidden?: (id: string) => boolean) => {
      const searcher = createHybridSearcher({ embed })
      searcher.update({
        put: tools.map((tool) => createDocument({ id: `${tool.source}/${tool.name}`, tool })),
      })
      return Promise.all(
        ['read a file', 'zzz'].map((text) =>
          searcher.rank({ text, must: [], ...(hidden ? { hidden } : {}) }),
        ),
      )
    }
    expect(await ask(sample, (id) => id.startsWith(`${denied}/`))).toEqual(
      await ask(sample.filter(({ source }) => source !== denied)),
    )
  })

  it('is asked of a policy a few times for each tool, however long the query', async () => {
    let asked = 0
    const policy = () => {
      asked += 1
      return true
    }
    const direct = createToolwell({ tools: sample, mode: 'on', policy }).direct()
    await direct.search({ query: 'read a file' })
    asked = 0
    await direct.search({ query: 'read a file' })
    expect(asked).toBeLessThan(4 * sample.length)
  })
})
