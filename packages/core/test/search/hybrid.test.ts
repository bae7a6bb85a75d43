import { createToolwell } from '@toolwell/core'
import { describe, expect, it } from 'vitest'
import { createHybridSearcher } from '../../src/search/hybrid.js'
import type { SearchDocument } from '../../src/search/searcher.js'
import { clearCoverage } from '../../src/search/tuning.js'
import { tool } from '../support/tools.js'

function documentFor(id: string, description: string): SearchDocument {
  const empty = { aliases: [], domain: '', hint: '', snippet: '', title: '', parameters: '' }
  return { id, name: id, server: '', ...empty, description }
}

/** Two directions of meaning: animals and machines. */
const meaning = (text: string): number[] => [
  /felid|feline|cat|kitten/i.test(text) ? 1 : 0,
  /engine|motor/i.test(text) ? 1 : 0,
  0.1,
]

describe('the hybrid searcher', () => {
  const documents = [
    documentFor('groom', 'Brushes a feline companion.'),
    documentFor('tune', 'Adjusts a motor.'),
    documentFor('kitten_photos', 'Pictures.'),
  ]

  it('finds by meaning what no word finds, and keeps exact names first', async () => {
    const searcher = createHybridSearcher({ embed: async (texts) => texts.map(meaning) })
    searcher.update({ put: documents })
    expect((await searcher.rank({ text: 'felid', must: [] }))[0]?.id).toBe('groom')
    expect((await searcher.rank({ text: 'tune', must: [] }))[0]).toMatchObject({
      id: 'tune',
      relevance: 1,
    })
  })

  it('embeds a text once, and again only when it changed', async () => {
    const embedded: string[] = []
    const searcher = createHybridSearcher({
      batch: 2,
      embed: async (texts) => {
        embedded.push(...texts)
        return texts.map(meaning)
      },
    })
    searcher.update({ put: documents })
    await searcher.rank({ text: 'cat', must: [] })
    expect(embedded).toHaveLength(documents.length + 1)
    searcher.update({ put: documents, remove: ['tune'] })
    await searcher.rank({ text: 'cat', must: [] })
    expect(embedded).toHaveLength(documents.length + 2)
    searcher.update({ put: [documentFor('tune', 'Adjusts an engine.')] })
    await searcher.rank({ text: 'cat', must: [] })
    expect(embedded).toHaveLength(documents.length + 4)
  })

  it('says what nothing does where a model finds all texts alike', async () => {
    const many = Array.from({ length: 60 }, (_, at) =>
      documentFor(`turn_part_${at}`, `Turns part ${at} of a motor.`),
    )
    const alike = (text: string): number[] => [3, ...meaning(text)]
    const searcher = createHybridSearcher({ embed: async (texts) => texts.map(alike) })
    searcher.update({ put: many })
    const [best] = await searcher.rank({ text: 'turn the pages of a novel', must: [] })
    expect(best?.coverage).toBeLessThan(clearCoverage)
  })

  it.each([
    [
      'of another length for a text',
      (texts: readonly string[]) => texts.map((_, at) => [1, 2, 3].slice(at % 2)),
    ],
    [
      'of another length for the query',
      (texts: readonly string[]) => texts.map((text) => (text === 'cat' ? [1] : [1, 2])),
    ],
    ['without a number', (texts: readonly string[]) => texts.map(() => [])],
  ])('fails with vectors %s', async (_, vectors) => {
    const searcher = createHybridSearcher({ embed: async (texts) => vectors(texts) })
    searcher.update({ put: documents })
    await expect(searcher.rank({ text: 'cat', must: [] })).rejects.toThrow(
      'embed returned vectors of different lengths',
    )
  })

  it('fails where the embedding does, so that the caller can fall back', async () => {
    const searcher = createHybridSearcher({ embed: async () => [] })
    searcher.update({ put: documents })
    await expect(searcher.rank({ text: 'cat', must: [] })).rejects.toThrow('0 vectors')
  })

  it('that does not answer in time is not waited for by the next search', async () => {
    const waiting: (() => void)[] = []
    const searcher = createHybridSearcher({
      timeout: 20,
      batch: 1,
      embed: (texts) => new Promise((done) => waiting.push(() => done(texts.map(() => [1])))),
    })
    const put = ['a', 'b'].map((id) => documentFor(id, 'Brushes a cat.'))
    searcher.update({ put })
    const rank = async () => searcher.rank({ text: 'cat', must: [] })
    await expect(rank()).rejects.toThrow('embed did not answer within 20 ms')
    // It is not asked while it is late.
    await expect(rank()).rejects.toThrow('is paused for a while')
    expect(waiting).toHaveLength(1)
  })

  it.each([{ batch: 0 }, { batch: Number.NaN }, { timeout: 0 }, { weight: -1 }, { embed: 5 }])(
    'refuses %j',
    (options) => {
      const make = () => createHybridSearcher({ embed: async () => [], ...options } as never)
      expect(make).toThrow(Object.keys(options)[0])
    },
  )

  it('gives up an embedding that never answers, and a Toolwell answers by the words alone', async () => {
    const notices: { kind: string; detail?: string }[] = []
    const searcher = createHybridSearcher({ timeout: 20, embed: () => new Promise(() => undefined) })
    const well = createToolwell({
      mode: 'on',
      delivery: 'bridge',
      searcher,
      tools: [tool('brush_cat', { source: 'pets' })],
      onEvent: (event) => notices.push(event),
    })
    const conversation = await well.open({ id: 'slow' })
    await conversation.begin({ requestId: 'r', anchor: 'm', wire: 'none' })
    const input = { value: { query: 'brush a cat' } }
    const [answer] = await conversation.run([{ callId: 'c', anchor: 'c', name: conversation.loader, input }])
    expect(answer?.text).toContain('pets__brush_cat')
    expect(notices).toContainEqual(
      expect.objectContaining({
        kind: 'searcher-failed',
        detail: 'Error: embed did not answer within 20 ms',
      }),
    )
  })

  it('offers what only similarity finds, and loads nothing of it', async () => {
    const well = createToolwell({
      mode: 'on',
      delivery: 'bridge',
      searcher: createHybridSearcher({ embed: async (texts) => texts.map(meaning) }),
      tools: [tool('groom', { source: 'pets', description: 'Brushes a feline companion.' })],
    })
    const conversation = await well.open({ id: 'similar' })
    await conversation.begin({ requestId: 'r', anchor: 'm', wire: 'none' })
    const input = { value: { query: 'felid' } }
    const [answer] = await conversation.run([{ callId: 'c', anchor: 'c', name: conversation.loader, input }])
    expect(answer?.text).toContain('May fit; not loaded')
    expect(conversation.inspect().loadedLazyTools).toEqual([])
  })
})
