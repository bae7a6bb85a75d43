/** An index of many tools is made in pieces: others have their turn, the ranking is the same, and what changes meanwhile is found. */
import { createLexicalSearcher, createToolwell, type Tool } from '@toolwell/core'
import { createDocument } from '@toolwell/core/internal'
import { expect, it, vi } from 'vitest'
import { tool } from '../support/tools.js'

const VERBS = ['create', 'list', 'export', 'archive', 'merge', 'search']
const NOUNS = ['invoice', 'ticket', 'branch', 'bucket', 'contact', 'pipeline', 'dashboard']

const many = (count: number): Tool[] =>
  Array.from({ length: count }, (_, index) => {
    const [verb, noun] = [VERBS[index % 6], NOUNS[index % 7]]
    return tool(`${verb}_${noun}_${index}`, {
      source: `server${index % 40}`,
      description: `Can ${verb} one ${noun} of area ${index % 97}, with all that belongs to it.`.repeat(
        1 + (index % 3),
      ),
    })
  })

it('ranks as an index that was made at once', async () => {
  const documents = many(2500).map((each) =>
    createDocument({ id: `${each.source}/${each.name}`, tool: each, serverDescription: '' }),
  )
  const [atOnce, filled] = [createLexicalSearcher(), createLexicalSearcher()]
  atOnce.update({ put: documents })
  await filled.fill(documents)
  for (const text of [
    'export an invoice',
    'archive_ticket_9',
    'area 13 pipelines',
    'merge branchs',
    'nothing like it',
  ])
    expect(filled.rank({ text, must: [], limit: 50 }), text).toEqual(
      atOnce.rank({ text, must: [], limit: 50 }),
    )
  const [first, second] = documents
  if (!first || !second) throw new Error('no documents')
  for (const searcher of [atOnce, filled])
    searcher.update({ put: [{ ...first, name: 'renamed_thing' }], remove: [second.id] })
  for (const text of ['renamed thing', 'list ticket'])
    expect(filled.rank({ text, must: [], limit: 50 })).toEqual(atOnce.rank({ text, must: [], limit: 50 }))
})

it('makes names ready one after the other where the clock says so, and a lookup meanwhile finds them all', async () => {
  const tools = many(60)
  const { catalogue } = createToolwell({ tools })
  const found = ({ source, name }: Tool) => catalogue.resolve(`${source}/${name}`, () => true).kind
  let now = 0
  // Every look at the clock finds that a piece is done.
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000))
  const given = vi.spyOn(globalThis, 'setImmediate')
  try {
    await catalogue.prepareNames()
    expect(given).toHaveBeenCalledTimes(tools.length)
    catalogue.setSource('sky', { tools: many(9) })
    const preparing = catalogue.prepareNames()
    expect(tools.map(found)).toEqual(tools.map(() => 'found'))
    catalogue.removeSource('sky')
    await preparing
    expect(catalogue.resolve('sky/list_ticket_1', () => true).kind).toBe('none')
  } finally {
    clock.mockRestore()
    given.mockRestore()
  }
})

it('lets others have their turn in the first request and the first search, and finds what came meanwhile', async () => {
  const toolwell = createToolwell({ tools: many(6000), mode: 'on', delivery: 'bridge' })
  const conversation = await toolwell.open({ id: 'a' })
  let turns = 0
  let isOver = false
  const beat = () => {
    turns++
    if (!isOver) setTimeout(beat)
  }
  setTimeout(beat)
  await conversation.begin({ requestId: 'r', anchor: 'm', wire: 'openai-chat' })
  const before = turns
  const searched = conversation.run([
    { callId: 'c', anchor: 'c', name: 'tool_search', input: { value: { query: 'calibrate the telescope' } } },
  ])
  setTimeout(() =>
    toolwell.catalogue.setSource('sky', {
      tools: [tool('calibrate_telescope', { description: 'Calibrates the telescope.' })],
    }),
  )
  const [answer] = await searched
  isOver = true
  expect(turns - before).toBeGreaterThan(2)
  expect(answer?.text).toContain('sky__calibrate_telescope')
})
