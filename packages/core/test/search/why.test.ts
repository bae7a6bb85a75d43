import { describe, expect, it } from 'vitest'
import { createLexicalSearcher } from '../../src/search/lexical.js'
import type { SearchDocument } from '../../src/search/searcher.js'
import { defaultCutOff } from '../../src/search/tuning.js'

function documentFor(id: string, description = '', more: Partial<SearchDocument> = {}): SearchDocument {
  const [server = '', name = ''] = id.split('/')
  const empty = { aliases: [], domain: '', hint: '', snippet: '', title: '', parameters: '' }
  return { id, name, server, ...empty, description, ...more }
}

const documents = [
  documentFor('tracker/open_ticket', 'Opens a ticket about a fault.', { aliases: ['file_bug'] }),
  documentFor('tracker/close_ticket', 'Closes a ticket.'),
  documentFor('tracker/list_tickets', 'Lists tickets by state.'),
  documentFor('desk/open_ticket', 'Opens a ticket for a customer.'),
  documentFor('sky/forecast', 'Weather of the coming days.'),
]
const searcher = createLexicalSearcher()
searcher.update({ put: documents })
const why = (name: string, text: string, limit = 5, must: readonly string[] = []) =>
  searcher.explainMiss(name, { text, must, limit, cutOff: defaultCutOff })

describe('why a tool was not found', () => {
  it('says that it was, and where', () => {
    expect(why('close_ticket', 'close the ticket')).toMatchObject({ outcome: 'found', rank: 1 })
    expect(why('sky/forecast', 'weather')).toMatchObject({ outcome: 'found', id: 'sky/forecast' })
    expect(why('File-Bug', 'open a ticket')).toMatchObject({ outcome: 'found', id: 'tracker/open_ticket' })
  })

  it('names what an unknown name may have meant', () => {
    expect(why('forcast', 'weather')).toEqual({ outcome: 'unknown-name', nearest: ['forecast'] })
    expect(why('', 'weather')).toEqual({ outcome: 'unknown-name', nearest: [] })
  })

  it('asks which of several is meant', () => {
    expect(why('open_ticket', 'ticket')).toEqual({
      outcome: 'ambiguous-name',
      ids: ['tracker/open_ticket', 'desk/open_ticket'],
    })
  })

  it('tells a query that says nothing from a tool that shares nothing with it', () => {
    expect(why('forecast', 'please show me')).toEqual({ outcome: 'empty-query', id: 'sky/forecast' })
    expect(why('forecast', 'invoice totals')).toEqual({
      outcome: 'no-shared-word',
      id: 'sky/forecast',
      asked: ['invoice', 'totals'],
    })
  })

  it('names the must words it lacks', () => {
    expect(why('forecast', 'weather', 5, ['sky', 'tracker'])).toEqual({
      outcome: 'must-missing',
      id: 'sky/forecast',
      words: ['tracker'],
    })
  })

  it('gives place and words where the cut-off or the limit kept it out', () => {
    const text = 'state funeral seating arrangements protocol'
    expect(searcher.explainMiss('list_tickets', { text, limit: 5, cutOff: 0.95 })).toMatchObject({
      outcome: 'below-cut-off',
      cutOff: 0.95,
      held: ['state'],
      missing: ['funeral', 'seating', 'arrangements', 'protocol'],
    })
    expect(why('list_tickets', 'ticket', 2)).toMatchObject({
      outcome: 'beyond-limit',
      limit: 2,
      held: ['ticket'],
      missing: [],
    })
  })
})

describe('an explanation', () => {
  it('adds up to the score of the ranking, by term and by field', () => {
    const text = 'open a ticket about the fault'
    const [document] = documents
    if (!document) throw new Error('no document')
    const [hit] = searcher.rank({ text, must: [] })
    const explained = searcher.explain(text, document)
    expect(hit?.id).toBe(document.id)
    expect(explained.score).toBeCloseTo(hit?.score ?? 0, 3)
    expect(explained.relevance).toBe(hit?.relevance)
    expect(Math.abs(explained.words - explained.score)).toBeLessThan(0.03 * explained.score)
    for (const { score, fields } of explained.terms)
      expect(Object.values(fields).reduce((sum, each) => sum + each, 0)).toBeCloseTo(score, 6)
    expect(explained.terms.find(({ term }) => term === 'fault')?.fields).toHaveProperty('lead')
    expect(explained.terms.find(({ term }) => term === 'ticket')?.fields).toHaveProperty('name')
  })

  it('says how the query names the tool', () => {
    const named = (text: string) => documents.map((document) => searcher.explain(text, document).name)
    expect(named('close_ticket')[1]).toBe('exact')
    expect(named('closeTicket')[1]).toBe('other-spelling')
    expect(named('use file_bug')[0]).toBe('alias')
    expect(named('close the ticket now')).toEqual([undefined, undefined, undefined, undefined, undefined])
  })
})
