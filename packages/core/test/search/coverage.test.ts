/** How much of what was asked for an answer accounts for: what tells an answer from the nearest there is. */
import { describe, expect, it } from 'vitest'
import { createDocument } from '../../src/search/document.js'
import { createLexicalSearcher } from '../../src/search/lexical.js'
import { clearCoverage } from '../../src/search/tuning.js'

const described: Readonly<Record<string, string>> = {
  'cloud/delete_image': 'Deletes an image of a container.',
  'cloud/resize_disk': 'Resizes a disk.',
  'git/rename_branch': 'Renames a branch.',
  'mail/track_domain': 'Tracks whether mails of a domain are opened.',
  'sky/get_weather': 'The weather in a city.',
  'files/read_file': 'Reads a file.',
  'notes/write_note':
    'Writes a note. Notes can be printed, and a printer is chosen in the settings of the notes.',
}

const searcher = createLexicalSearcher()
searcher.update({
  put: Object.entries(described).map(([id, description]) => {
    const [source = '', name = ''] = id.split('/')
    return createDocument({ id, tool: { name, description, inputSchema: {}, source } })
  }),
})

function coverageOf(text: string, id?: string): number {
  const ranked = searcher.rank({ text, must: [] })
  return (id === undefined ? ranked[0] : ranked.find((hit) => hit.id === id))?.coverage ?? 0
}

describe('coverage of a brief request', () => {
  it.each(['rename a branch', 'read a file', 'delete an image', 'what is the weather'])(
    '"%s" is clear to the tool that does it',
    (text) => {
      expect(coverageOf(text)).toBeGreaterThan(clearCoverage)
    },
  )

  it.each(['resize an image', 'rename a dog', 'water a branch', 'paint the disk'])(
    '"%s" is not clear to a tool that holds half of it, however loudly',
    (text) => {
      expect(coverageOf(text)).toBeLessThan(clearCoverage)
    },
  )

  it('counts no word of a tool for two of the request: who tracks a domain tracks no parcel', () => {
    expect(coverageOf('track my parcel', 'mail/track_domain')).toBeLessThan(clearCoverage)
  })

  it('does not need literals: they are values', () => {
    expect(coverageOf('rename the branch "juggling zebras"')).toBe(coverageOf('rename the branch'))
  })

  it('counts less what a tool says in passing', () => {
    expect(coverageOf('printer', 'notes/write_note')).toBeLessThan(coverageOf('note', 'notes/write_note'))
  })

  it('is 1 for a tool named in full, and 0 for an empty request', () => {
    expect(coverageOf('rename_branch')).toBe(1)
    expect(coverageOf('please show me')).toBe(0)
  })
})

describe('coverage of a long request', () => {
  it('needs no tool that holds all of its words', () => {
    const text =
      'I have to prepare a trip with my colleagues and would like you to find the weather for the city of our meeting, so that everybody can pack'
    expect(coverageOf(text, 'sky/get_weather')).toBeGreaterThan(coverageOf(text, 'git/rename_branch'))
    expect(coverageOf(text, 'sky/get_weather')).toBeLessThanOrEqual(1)
  })
})
