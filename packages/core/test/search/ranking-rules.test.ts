/** Promises of the ranking beyond single words: misspelt names, concepts, hostile tools, limits, explanations. */
import { describe, expect, it } from 'vitest'
import { createLexicalSearcher } from '../../src/search/lexical.js'
import type { SearchDocument } from '../../src/search/searcher.js'
import { clearCoverage } from '../../src/search/tuning.js'

function documentFor(id: string, more: Partial<SearchDocument> = {}): SearchDocument {
  const [server = '', name = ''] = id.includes('/') ? id.split('/') : ['', id]
  const empty = { aliases: [], domain: '', hint: '', snippet: '', title: '', description: '', parameters: '' }
  return { id, name, server, ...empty, ...more }
}

function searcherOf(documents: readonly SearchDocument[]) {
  const searcher = createLexicalSearcher()
  searcher.update({ put: documents })
  return searcher
}

const catalogue = [
  documentFor('tracker/create_issue', { description: 'Opens an issue in a project.' }),
  documentFor('tracker/close_issue', { description: 'Closes an issue.' }),
  documentFor('sky/forecast', { description: 'Weather forecast for a place.' }),
  documentFor('mail/send_message', { description: 'Sends an e-mail to recipients.' }),
  documentFor('shop/track_parcel', { description: 'Says where a shipment is.' }),
]

describe('a request for an action', () => {
  const few = searcherOf([
    documentFor('files/delete_file', { description: 'Deletes a file.' }),
    documentFor('database/run_query', { description: 'Runs a query and returns the rows.' }),
  ])
  const coverage = (text: string) => few.rank({ text, must: [] })[0]?.coverage

  it.each(['delete a row', 'delete a plant', 'remove the old row'])(
    'is not covered by the action alone, even in a small catalogue: "%s"',
    (text) => {
      expect(coverage(text)).toBeLessThan(clearCoverage)
    },
  )

  it('is covered by the action and its object', () => {
    expect(coverage('delete a file')).toBe(1)
    expect(coverage('remove the file')).toBeGreaterThanOrEqual(clearCoverage)
  })
})

describe('what a tool does to things', () => {
  /** Alike in every word but the verb; the wrong one says the noun once more. */
  const flags = ['get_flag', 'create_flag', 'update_flag', 'delete_flag'].map((name) =>
    documentFor(`toggles/${name}`, { description: 'Works on a flag.' }),
  )
  const loud = documentFor('toggles/archive', { description: 'Deletes a flag. A flag, and old flags.' })
  const first = (text: string, documents = [...flags, loud]) =>
    searcherOf(documents).rank({ text, must: [] })[0]?.id

  it.each([
    ['show the flag', 'get_flag'],
    ['Please can you list every flag', 'get_flag'],
    ['which flag', 'get_flag'],
    ['turn off a flag', 'update_flag'],
    ['change the flag', 'update_flag'],
    ['new flag', 'create_flag'],
    ['get rid of a flag', 'delete_flag'],
  ])('decides where other words do not: "%s"', (text, name) => {
    expect(first(text)).toBe(`toggles/${name}`)
  })

  it('is read from the description where the name does not say it', () => {
    const silent = [
      documentFor('a/flags', { description: 'Removes flags.' }),
      documentFor('b/flags', { description: 'Lists flags.' }),
    ]
    expect(first('delete flags', silent)).toBe('a/flags')
    expect(first('show flags', silent)).toBe('b/flags')
  })

  it.each([
    ['is not read from a noun', 'the new flag'],
    ['is not read from what somebody is doing', "I'm deleting a flag"],
    ['is not read from what a thing is like', 'running flag'],
    ['is not read from a word that means too much', 'make a flag'],
    ['is not read from a story', 'delete flag one two three four five six seven'],
  ])('%s', (_, text) => {
    const scores = searcherOf([...flags]).explain(text, flags[0] as SearchDocument)
    expect(scores.effect).toBeUndefined()
  })

  it('shows in an explanation, and an exact name still comes first', () => {
    const searcher = searcherOf(flags)
    expect(searcher.explain('list a flag', flags[3] as SearchDocument).effect).toBe(0.6)
    expect(searcher.explain('list a flag', flags[0] as SearchDocument).effect).toBeUndefined()
    expect(first('list what delete_flag does')).toBe('toggles/delete_flag')
  })

  it('makes an answer less clear', () => {
    const [right, wrong] = ['delete_flag', 'get_flag'].map(
      (name) =>
        searcherOf([documentFor(`toggles/${name}`)]).rank({ text: 'erase the flag', must: [] })[0]?.coverage,
    )
    expect(wrong).toBeLessThan(right as number)
  })
})

describe('a misspelt name', () => {
  it.each([
    'craete_issue',
    'create_isue',
    'tracker/create_isue',
    'please call craete_issue now',
    'createIsssue',
  ])('in "%s" finds the tool first', (text) => {
    expect(searcherOf(catalogue).rank({ text, must: [] })[0]?.id).toBe('tracker/create_issue')
  })

  it('means the word of more tools if two words are as near', () => {
    const own = [
      documentFor('draw/align_elements', { description: 'Moves shapes to one line.' }),
      documentFor('tracker/assign_ticket', { description: 'Gives a ticket to somebody.' }),
      documentFor('board/assign_member', { description: 'Gives a card to somebody.' }),
    ]
    const ranked = searcherOf(own).rank({ text: 'asign it', must: [] })
    expect(ranked.map(({ id }) => id).sort()).toEqual(['board/assign_member', 'tracker/assign_ticket'])
  })
})

describe('concepts', () => {
  it.each([
    ['do I need an umbrella tomorrow', 'sky/forecast'],
    ['open a bug ticket', 'tracker/create_issue'],
    ['where is my package', 'shop/track_parcel'],
  ])('lead from "%s" to %s', (text, id) => {
    expect(searcherOf(catalogue).rank({ text, must: [] })[0]?.id).toBe(id)
  })

  it('stand in for a word that no tool holds', () => {
    const own = [
      documentFor('office/list_events', { description: 'Lists the events of a calendar.' }),
      documentFor('press/broadcast', { description: 'Sends a text, for example tomorrow.' }),
      documentFor('press/archive', { description: 'Old texts.' }),
    ]
    const [best] = searcherOf(own).rank({ text: 'agenda for tomorrow', must: [] })
    expect(best?.id).toBe('office/list_events')
  })

  it('of reading are asked for by a question', () => {
    const own = ['create_event', 'delete_event', 'list_events'].map((name) => documentFor(`office/${name}`))
    expect(searcherOf(own).rank({ text: 'which event', must: [] })[0]?.id).toBe('office/list_events')
    expect(searcherOf(own).rank({ text: 'what', must: [] })).toEqual([])
  })

  it.each([
    ['open a bug report', 'tracker/create_issue'],
    ['log in to the shop', 'shop/login'],
    ['get rid of a parcel', 'shop/delete_parcel'],
  ])('of words that belong together: %s', (text, id) => {
    const own = [
      ...catalogue,
      documentFor('shop/login', { description: 'Begins a session.' }),
      documentFor('shop/read_log', { description: 'What happened in the shop.' }),
      documentFor('shop/delete_parcel', { description: 'Deletes a parcel.' }),
      documentFor('office/sales_report', { description: 'Makes a report.' }),
    ]
    expect(searcherOf(own).rank({ text, must: [] })[0]?.id).toBe(id)
  })

  it('count less than the word itself', () => {
    const searcher = searcherOf([
      documentFor('a', { description: 'Shows a photo.' }),
      documentFor('b', { description: 'Shows a picture.' }),
    ])
    expect(searcher.rank({ text: 'picture', must: [] }).map(({ id }) => id)).toEqual(['b', 'a'])
  })
})

describe('hostile tools', () => {
  const words = catalogue
    .flatMap(({ name, description }) => `${name} ${description}`.split(/\W+|_/))
    .filter(Boolean)
  const hostile = [
    documentFor('evil/a', { description: Array.from({ length: 40 }, () => words.join(' ')).join(' ') }),
    documentFor('evil/b', {
      description: Array.from(
        { length: 3000 },
        (_, number) => `${words[number % words.length]} w${number}`,
      ).join(' '),
    }),
    documentFor(`evil/${words.join('_')}`),
    documentFor('evil/c', { parameters: words.join(' ').repeat(20), parameterNames: words.join(' ') }),
    documentFor('evil/d', { serverDescription: words.join(' ').repeat(20) }),
  ]

  it.each([
    ['open an issue in the project', 'tracker/create_issue'],
    ['weather for this place', 'sky/forecast'],
    ['send an e-mail', 'mail/send_message'],
    ['where is the shipment', 'shop/track_parcel'],
  ])('do not displace the right one for "%s"', (text, id) => {
    expect(searcherOf([...hostile, ...catalogue]).rank({ text, must: [] })[0]?.id).toBe(id)
  })
})

describe('limits', () => {
  const many = Array.from({ length: 500 }, (_, number) =>
    documentFor(`s/tool_${number}`, { description: 'Common words.' }),
  )

  it('return the same beginning as the whole ranking', () => {
    const searcher = searcherOf([...many, ...catalogue])
    const all = searcher.rank({ text: 'common issue tool', must: [] })
    for (const limit of [1, 7, 100])
      expect(searcher.rank({ text: 'common issue tool', must: [], limit })).toEqual(all.slice(0, limit))
  })

  it('count only what is accepted', () => {
    const hits = searcherOf(many).rank({
      text: 'common',
      must: [],
      limit: 3,
      accept: (id) => id.endsWith('7'),
    })
    expect(hits.map(({ id }) => id)).toEqual(['s/tool_107', 's/tool_117', 's/tool_127'])
  })
})

describe('explain', () => {
  it('takes the score apart by term and field', () => {
    const searcher = searcherOf(catalogue)
    const document = catalogue[0] as SearchDocument
    const explanation = searcher.explain('open an issue', document)
    const [best] = explanation.terms
    expect(best).toMatchObject({ term: 'issue', kind: 'word', tools: 2 })
    expect(Object.keys(best?.fields ?? {})).toEqual(['name', 'lead'])
    const ranked = searcher.rank({ text: 'open an issue', must: [] }).find(({ id }) => id === document.id)
    expect(explanation.score / (ranked?.score ?? 0)).toBeCloseTo(1, 1)
  })
})

describe('bad input', () => {
  it.each([
    '',
    '   ',
    'the of and',
    '🦀🦀',
    '(.*)+[a-z]{2,}\\',
    '\ud800\udc00\ud800',
    'Привет 世界 mail',
    'a'.repeat(100_000),
  ])('is answered: %j', (text) => {
    expect(Array.isArray(searcherOf(catalogue).rank({ text, must: [] }))).toBe(true)
  })
})

describe('tools that say little, or too much', () => {
  const bare = (id: string, more: Partial<SearchDocument> = {}): SearchDocument => ({
    id,
    name: id,
    server: '',
    aliases: [],
    domain: '',
    hint: '',
    snippet: '',
    title: '',
    description: '',
    parameters: '',
    ...more,
  })

  it('are found by name if there is nothing else, and not at all without a name', () => {
    const searcher = searcherOf([bare('rotate_keys'), bare('')])
    expect(searcher.rank({ text: 'rotate the keys', must: [] }).map(({ id }) => id)).toEqual(['rotate_keys'])
  })

  it('cost the same whatever the length of what is not read', () => {
    const long = 'harvest '.repeat(250) + 'moonlight '.repeat(200_000)
    const searcher = searcherOf([
      bare('a', { description: long, parameters: long, hint: long }),
      bare('moonlight_sonata'),
    ])
    expect(searcher.rank({ text: 'moonlight', must: [] })[0]?.id).toBe('moonlight_sonata')
  })

  it.each([
    ['emoji', '🦀🎉', []],
    ['regex characters', '(.*)+[a-z]{2,}\\ rotate', ['rotate_keys']],
    ['lone surrogates', '\ud800 rotate \udfff', ['rotate_keys']],
    ['mixed scripts', 'Привет 世界 rotate keys مرحبا', ['rotate_keys']],
    ['nothing but stop words', 'could you please show me', []],
    ['100 kB', `rotate ${'filler '.repeat(15_000)}`, ['rotate_keys']],
  ])('answer a query of %s', (_, text, ids) => {
    const searcher = searcherOf([bare('rotate_keys'), bare('list_tables', { description: 'Lists tables.' })])
    expect(searcher.rank({ text, must: [] }).map(({ id }) => id)).toEqual(ids)
  })
})
