import { describe, expect, it } from 'vitest'
import { createHybridSearcher } from '../../src/search/hybrid.js'
import type { SearchDocument } from '../../src/search/searcher.js'

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
    expect((await searcher.rank({ text: 'tune the cat', must: [] }))[0]).toMatchObject({
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

  it('fails where the embedding does, so that the caller can fall back', async () => {
    const searcher = createHybridSearcher({ embed: async () => [] })
    searcher.update({ put: documents })
    await expect(searcher.rank({ text: 'cat', must: [] })).rejects.toThrow('0 vectors')
  })
})
