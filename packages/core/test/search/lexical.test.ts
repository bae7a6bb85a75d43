import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../test/setup/tier.ts'
import { createLexicalSearcher } from '../../src/search/lexical.js'
import type { Ranked, SearchDocument, Searcher } from '../../src/search/searcher.js'
import { defaultCutOff } from '../../src/search/tuning.js'

function documentFor(id: string, more: Partial<SearchDocument> = {}): SearchDocument {
  const [server = '', name = ''] = id.includes('/') ? id.split('/') : ['', id]
  const empty = { aliases: [], domain: '', hint: '', snippet: '', title: '', description: '', parameters: '' }
  return { id, name, server, ...empty, ...more }
}

const catalogue: readonly SearchDocument[] = [
  documentFor('github/create_issue', { description: 'Create a new issue in a repository.', domain: 'code' }),
  documentFor('github/list_issues', { description: 'List the issues of a repository.', domain: 'code' }),
  documentFor('github/merge_pull_request', {
    description: 'Merge a pull request.',
    aliases: ['land_change'],
  }),
  documentFor('slack/post_message', {
    description: 'Post a message to a Slack channel.',
    parameters: 'channel\ntext',
  }),
  documentFor('slack/search', { description: 'Search messages in Slack.' }),
  documentFor('drive/search_files', { description: 'Search files by their content.', hint: 'documents' }),
  documentFor('bing/网页搜索', { description: '使用必应搜索指定的关键词，并返回搜索结果列表' }),
  documentFor('weather', { description: 'Current weather for a city.', parameters: 'city\nunits' }),
]

function searcherOf(documents: readonly SearchDocument[]): Searcher {
  const searcher = createLexicalSearcher()
  searcher.update({ put: documents })
  return searcher
}

function rank(searcher: Searcher, text: string, must: readonly string[] = []): readonly Ranked[] {
  const ranked = searcher.rank({ text, must })
  if (ranked instanceof Promise) throw new Error('the lexical searcher answers at once')
  return ranked
}

const idsOf = (ranked: readonly Ranked[]): string[] => ranked.map(({ id }) => id)
const first = (text: string, must: readonly string[] = []): string | undefined =>
  rank(searcherOf(catalogue), text, must)[0]?.id

describe('ranking', () => {
  it.each([
    ['create an issue on github', 'github/create_issue'],
    ['posting messages in a channel', 'slack/post_message'],
    ['find documents', 'drive/search_files'],
    ['GitHub: listing all issues', 'github/list_issues'],
    ['weather in Paris', 'weather'],
    ['用关键词搜索网页', 'bing/网页搜索'],
  ])('answers "%s" with %s', (text, id) => {
    expect(first(text)).toBe(id)
  })

  it('prefers a match in the name to one in the description and that to one in the parameters', () => {
    const searcher = searcherOf([
      documentFor('c', { parameters: 'invoice' }),
      documentFor('b', { description: 'invoice' }),
      documentFor('a_invoice'),
    ])
    const ranked = rank(searcher, 'invoice overview')
    expect(idsOf(ranked)).toEqual(['a_invoice', 'b', 'c'])
    const [name, prose, parameters] = ranked.map(({ relevance }) => relevance)
    expect(name).toBeGreaterThan(prose as number)
    expect(prose).toBeGreaterThan(parameters as number)
  })

  it('gives keyword stuffing nothing', () => {
    const honest = documentFor('honest/send_mail', { description: 'Send mail to a recipient.' })
    for (const stuffed of ['mail '.repeat(300), 'send mail recipient '.repeat(100)]) {
      const searcher = searcherOf([
        ...catalogue,
        honest,
        documentFor('spam/act', { description: stuffed, parameters: stuffed }),
      ])
      expect(rank(searcher, 'send mail to a recipient')[0]?.id).toBe('honest/send_mail')
    }
    const threefold = documentFor('b', { description: 'mail mail mail' })
    const stuffed = documentFor('a', { description: 'mail '.repeat(400) })
    expect(rank(searcherOf([stuffed, threefold]), 'mail')[0]?.id).toBe('b')
  })

  it('ignores the description beyond its first 2,000 characters', () => {
    const searcher = searcherOf([documentFor('a', { description: `${'x'.repeat(2000)} invoice` })])
    expect(rank(searcher, 'invoice')).toEqual([])
  })

  it('breaks ties by code unit', () => {
    const searcher = searcherOf(
      ['b', 'k', 'é', 'B', 'z'].map((id) => documentFor(id, { description: 'equal words' })),
    )
    expect(idsOf(rank(searcher, 'equal'))).toEqual(['B', 'b', 'k', 'z', 'é'])
  })

  it('answers stop words, blanks and broken text with nothing', () => {
    for (const text of ['', '   ', 'please help me', '\ud800', '\u0000', '???'])
      expect(rank(searcherOf(catalogue), text)).toEqual([])
    expect(rank(createLexicalSearcher(), 'issue')).toEqual([])
  })

  it('reads a huge query within its bounds', () => {
    const text = `issue ${'zzz '.repeat(100_000)}`
    expect(rank(searcherOf(catalogue), text)[0]?.id).toMatch(/^github\//)
    const beyond = `${Array.from({ length: 64 }, (_, number) => `w${number}`).join(' ')} weather2 issue`
    expect(rank(searcherOf(catalogue), beyond)).toEqual([])
  })
})

describe('relevance', () => {
  it('falls with every word that no tool holds, below the cut-off in the end', () => {
    const searcher = searcherOf(catalogue.slice(0, 7))
    const others =
      'ferry crossing harbour tide lighthouse fog pilot cargo customs crew anchor gale reef dredger buoy'.split(
        ' ',
      )
    const relevances = others.map((_, count) => {
      const [best] = rank(searcher, ['content', ...others.slice(0, count)].join(' '))
      expect(best?.id).toBe('drive/search_files')
      return best?.relevance ?? 0
    })
    for (let index = 1; index < relevances.length; index += 1)
      expect(relevances[index]).toBeLessThan(relevances[index - 1] as number)
    expect(relevances[0]).toBeGreaterThan(defaultCutOff)
    expect(relevances.at(-1)).toBeLessThan(defaultCutOff)
  })

  it('finds nothing for a query that shares nothing with any tool', () => {
    for (const text of ['bake a chocolate cake in the city', 'weather balloon volume formula'])
      expect(rank(searcherOf(catalogue.slice(0, 7)), text)).toEqual([])
  })

  it('is high for a long request of which a tool covers the point', () => {
    const [best] = rank(
      searcherOf(catalogue),
      'the build broke again this morning, so would you kindly create an issue in our repository on github for it',
    )
    expect(best?.id).toBe('github/create_issue')
    expect(best?.relevance).toBeGreaterThan(0.6)
  })

  it('stays between 0 and 1', () => {
    const words = fc.constantFrom(
      'create',
      'issue',
      'github',
      'search',
      'slack',
      'unknown',
      '搜索',
      'weather',
      'GitHub',
    )
    fc.assert(
      fc.property(fc.array(words), (text) => {
        for (const { relevance } of rank(searcherOf(catalogue), text.join(' '))) {
          expect(relevance).toBeGreaterThan(0)
          expect(relevance).toBeLessThanOrEqual(1)
        }
      }),
      { numRuns: runs(100) },
    )
  })
})

describe('exact names', () => {
  it.each([
    'slack/search',
    'slack__search',
    'mcp__slack__search',
    'Slack.Search',
    'use `slack/search` to create an issue on github',
    'create_issue like github but with slack__search, please',
  ])('finds the tool named in "%s" with certainty', (text) => {
    const hits = rank(searcherOf(catalogue), text).filter(({ id }) => id === 'slack/search')
    expect(hits).toMatchObject([{ relevance: 1 }])
    expect(rank(searcherOf(catalogue), text).findIndex(({ id }) => id === 'slack/search')).toBeLessThan(2)
  })

  it('finds a name written with other separators, and an alias', () => {
    for (const text of [
      'mergePullRequest',
      'merge-pull-request',
      'merge pull request',
      'land_change',
      'github/land_change',
    ])
      expect(rank(searcherOf(catalogue), text)[0]).toMatchObject({
        id: 'github/merge_pull_request',
        relevance: 1,
      })
  })

  it('cannot be displaced by stuffing or by an alias', () => {
    const words = 'create issue create_issue '.repeat(50)
    const hostile = documentFor('a/evil', {
      aliases: ['create_issue'],
      hint: words,
      title: words,
      description: words,
    })
    for (const text of ['create_issue', 'please create_issue', 'create issue'])
      expect(rank(searcherOf([hostile, ...catalogue]), text)[0]?.id).toBe('github/create_issue')
  })

  it('prefers the spelling that was asked for', () => {
    const searcher = searcherOf([documentFor('a/readFile'), documentFor('b/read_file')])
    expect(idsOf(rank(searcher, 'read_file'))).toEqual(['b/read_file', 'a/readFile'])
    expect(idsOf(rank(searcher, 'use readFile'))).toEqual(['a/readFile', 'b/read_file'])
  })

  it('takes a plain word for a name on its own, but not inside a sentence', () => {
    const searcher = searcherOf(catalogue)
    expect(rank(searcher, 'create a github issue about the weather')[0]?.id).toBe('github/create_issue')
    expect(rank(searcher, 'search files by content')[0]?.id).toBe('drive/search_files')
    expect(rank(searcher, 'search')[0]).toMatchObject({ id: 'slack/search', relevance: 1 })
  })

  it('finds names made of stop words or symbols only when they are the query', () => {
    const searcher = searcherOf([documentFor('help'), documentFor('→'), ...catalogue])
    expect(idsOf(rank(searcher, 'help'))).toEqual(['help'])
    expect(idsOf(rank(searcher, '→'))).toEqual(['→'])
    expect(idsOf(rank(searcher, 'help me please'))).toEqual([])
  })
})

describe('required words', () => {
  it('have to occur in name, alias, server or domain', () => {
    expect(idsOf(rank(searcherOf(catalogue), 'search', ['slack']))).toEqual(['slack/search'])
    expect(idsOf(rank(searcherOf(catalogue), 'issue', ['code', 'list']))).toEqual(['github/list_issues'])
    expect(rank(searcherOf(catalogue), 'weather', ['city'])).toEqual([])
  })

  it('select everything that passes when there is nothing to rank by', () => {
    const ranked = rank(searcherOf(catalogue), 'please', ['GitHub'])
    expect(idsOf(ranked)).toEqual(['github/create_issue', 'github/list_issues', 'github/merge_pull_request'])
    expect(ranked.every(({ relevance }) => relevance === 1)).toBe(true)
  })

  it('accept a phrase in any order and a mixed-case word whole or in parts', () => {
    expect(idsOf(rank(searcherOf(catalogue), '', ['request pull']))).toEqual(['github/merge_pull_request'])
    expect(idsOf(rank(searcherOf(catalogue), '', ['pullRequest']))).toEqual(['github/merge_pull_request'])
  })

  it('apply to exact names too', () => {
    expect(rank(searcherOf(catalogue), 'slack/search', ['github'])).toEqual([])
  })

  it('without a letter ask for nothing', () => {
    expect(rank(searcherOf(catalogue), '', ['!!'])).toEqual([])
    expect(idsOf(rank(searcherOf(catalogue), 'weather', ['!!']))).toEqual(['weather'])
  })
})

describe('updates', () => {
  const word = fc.constantFrom(
    'create',
    'issue',
    'file',
    'search',
    'slack',
    'mail',
    'readFile',
    '搜索',
    'the',
  )
  const words = fc.array(word, { maxLength: 6 }).map((each) => each.join(' '))
  const anyDocument = fc
    .record({
      id: fc.constantFrom('a/x', 'b/x', 'c', 'd/y', 'e', 'f/issue'),
      description: words,
      hint: words,
      aliases: fc.array(word, { maxLength: 2 }),
    })
    .map(({ id, ...more }) => documentFor(id, more))
  const change = fc.record({
    put: fc.array(anyDocument, { maxLength: 4 }),
    remove: fc.array(fc.constantFrom('a/x', 'b/x', 'c', 'd/y', 'unknown'), { maxLength: 3 }),
  })

  it('leave the index as if it were built afresh', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 8 }),
        words,
        fc.array(word, { maxLength: 1 }),
        (changes, text, must) => {
          const searcher = createLexicalSearcher()
          const expected = new Map<string, SearchDocument>()
          for (const { put, remove } of changes) {
            searcher.update({ put, remove })
            rank(searcher, text, must)
            for (const id of remove) expected.delete(id)
            for (const document of put) expected.set(document.id, document)
          }
          expect(rank(searcher, text, must)).toEqual(rank(searcherOf([...expected.values()]), text, must))
        },
      ),
      { numRuns: runs(100) },
    )
  })

  it('give the same answer whatever the order of insertion', () => {
    const shuffled = fc.shuffledSubarray([...catalogue], { minLength: catalogue.length })
    fc.assert(
      fc.property(shuffled, words, (documents, text) => {
        expect(rank(searcherOf(documents), text)).toEqual(rank(searcherOf(catalogue), text))
      }),
      { numRuns: runs(100) },
    )
  })

  it('forget a removed tool', () => {
    const searcher = searcherOf(catalogue)
    searcher.update({ remove: ['weather', 'weather', 'never there'] })
    expect(rank(searcher, 'weather')).toEqual([])
  })

  it('remove before they add', () => {
    const searcher = searcherOf(catalogue)
    searcher.update({ remove: ['weather'], put: [documentFor('weather', { description: 'Forecast.' })] })
    expect(idsOf(rank(searcher, 'forecast'))).toEqual(['weather'])
    expect(rank(searcher, 'city')).toEqual([])
  })
})
