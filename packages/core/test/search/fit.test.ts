/** How well the rivals of the best fit: what they account for, and what their names say beyond what was asked for. */
import { describe, expect, it } from 'vitest'
import { createDocument } from '../../src/search/document.js'
import { createLexicalSearcher } from '../../src/search/lexical.js'
import type { Ranked } from '../../src/search/searcher.js'
import { selectAnswers } from '../../src/search/select-answers.js'

function searcherOf(tools: Readonly<Record<string, string>>) {
  const searcher = createLexicalSearcher()
  searcher.update({
    put: Object.entries(tools).map(([id, description]) => {
      const [source = '', name = ''] = id.split('/')
      return createDocument({
        id,
        tool: { name, description, source, inputSchema: { type: 'object', properties: {} } },
      })
    }),
  })
  const rank = (text: string, limit = 10) => searcher.rank({ text, must: [], limit })
  return { searcher, rank, ids: (text: string, limit = 10) => rank(text, limit).map(({ id }) => id) }
}

describe('the order of rivals', () => {
  it('puts a name that says no more than what was asked for first', () => {
    const { ids } = searcherOf({
      'api/createMockServerResponse': 'Creates a mock server.',
      'api/createMockServer': 'Creates a mock server.',
    })
    expect(ids('create a mock server')[0]).toBe('api/createMockServer')
  })

  it('holds no word of the server against its tools', () => {
    const { ids } = searcherOf({
      'slack/slack_send_note': 'Sends a note.',
      'other/loud_send_note': 'Sends a note.',
    })
    expect(ids('send a note')[0]).toBe('slack/slack_send_note')
  })

  it('is the same however many are asked for, and its scores fall', () => {
    const { rank, ids } = searcherOf(
      Object.fromEntries(
        Array.from({ length: 60 }, (_, at) => [
          `shop/list_orders_${'of any kind in every shop '
            .slice(0, (at % 6) * 5)
            .trim()
            .replaceAll(' ', '_')}_x${at}`,
          at % 3 === 0 ? 'Lists orders of customers.' : 'Lists orders.',
        ]),
      ),
    )
    const all = rank('list the orders of customers', 60)
    for (const limit of [1, 5, 10, 20, 30])
      expect(ids('list the orders of customers', limit)).toEqual(all.slice(0, limit).map(({ id }) => id))
    for (const [place, hit] of all.entries())
      expect(hit.score).toBeLessThanOrEqual(all[place - 1]?.score ?? Number.POSITIVE_INFINITY)
  })

  it('is explained: what a tool keeps by how well it fits', () => {
    const { searcher, rank } = searcherOf({ 'api/createMockServerResponse': 'Creates a mock server.' })
    const tool = { name: 'createMockServerResponse', description: 'Creates a mock server.', source: 'api' }
    const document = createDocument({
      id: 'api/createMockServerResponse',
      tool: { ...tool, inputSchema: { type: 'object', properties: {} } },
    })
    const { fit, score, words } = searcher.explain('create a mock server', document)
    expect(fit).toBeLessThan(1)
    expect(score / (words * fit)).toBeCloseTo(1, 1)
    expect(score).toBeCloseTo(rank('create a mock server')[0]?.score ?? 0, 5)
  })
})

describe('a request', () => {
  it('that names a product in mixed case is not met by what does not know it', () => {
    const { rank } = searcherOf({ 'mail/send_message': 'Sends a message.' })
    expect(selectAnswers(rank('send a WhatsApp message'), 0.35).unclear).toBe(true)
    expect(selectAnswers(rank('send a message'), 0.35).unclear).toBe(false)
  })

  it('to replace is met by what finds and replaces', () => {
    const { rank } = searcherOf({
      'docs/find_and_replace_words': 'Works through a text.',
      'docs/find_words': 'Works through a text.',
    })
    expect(rank('replace words in a text')[0]?.id).toBe('docs/find_and_replace_words')
  })
})

describe('answers', () => {
  const hit = (score: number, coverage: number): Ranked => ({
    id: `${score}`,
    score,
    relevance: 0.9,
    coverage,
  })
  const idsOf = (hits: readonly Ranked[]) => {
    const { answers, unclear } = selectAnswers(hits, 0.35)
    return [unclear, answers.map(({ id }) => id)]
  }

  it.each([
    ['a clear answer goes first', [hit(10, 0.51), hit(9, 0.6)], [false, ['9', '10']]],
    ['a weaker hit counts if it is clear', [hit(10, 0.9), hit(5, 0.6)], [false, ['10', '5']]],
    ['a weaker hit does not count if it is unclear', [hit(10, 0.9), hit(5, 0.5)], [false, ['10']]],
    ['a hit far below the best does not count', [hit(10, 0.9), hit(4, 0.9)], [false, ['10']]],
    [
      'only the best four decide',
      [hit(10, 0.5), hit(9.4, 0.4), hit(9.3, 0.4), hit(9.2, 0.4), hit(9.1, 0.9)],
      [true, ['10', '9.4', '9.3']],
    ],
    ['the nearest goes first if nothing is clear', [hit(10, 0.3), hit(9, 0.5)], [true, ['9', '10']]],
    ['a hit about something else is not even near', [hit(10, 0.1), hit(9, 0.15)], [false, []]],
    ['no hits give no answers', [], [false, []]],
  ] as const)('%s', (_, hits, expected) => {
    expect(idsOf(hits)).toEqual(expected)
  })
})
