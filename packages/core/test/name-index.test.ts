/** The name lookup, compared with a simple table of every spelling of every tool. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { foldName, toolId } from '../src/base/names.js'
import { createCatalogue, type Entry } from '../src/catalogue/catalogue.js'

const TIERS = ['name', 'short', 'alias'] as const
type Tier = (typeof TIERS)[number]

function spellings({ id, wireName, source, tool }: Entry): [string, Tier][] {
  const { name, aliases = [] } = tool
  const own: [string, Tier][] =
    source === ''
      ? [[name, 'name']]
      : [name, `mcp__${source}__${name}`, ...['/', '.', ':', '__'].map((joint) => source + joint + name)].map(
          (key) => [key, 'short'],
        )
  const others = aliases.flatMap((alias): [string, Tier][] => [
    [alias, 'alias'],
    ...(source === '' ? [] : ([[toolId(source, alias), 'alias']] as [string, Tier][])),
  ])
  return [[id, 'name'], [wireName, 'name'], ...own, ...others]
}

/** Exact before folded, better tiers first; two of the best are ambiguous. */
function expected(asked: string, entries: readonly Entry[]): string {
  const ways = [
    (key: string) => key === asked,
    (key: string) => foldName(key) !== '' && foldName(key) === foldName(asked),
  ]
  for (const fits of ways) {
    const best = new Map<string, Tier>()
    for (const entry of entries)
      for (const tier of TIERS)
        if (!best.has(entry.id) && spellings(entry).some(([key, own]) => own === tier && fits(key)))
          best.set(entry.id, tier)
    for (const tier of TIERS) {
      const ids = [...best].flatMap(([id, own]) => (own === tier ? [id] : [])).sort()
      if (ids.length > 0) return ids.length === 1 ? `found ${ids[0]}` : `ambiguous ${ids.join(' ')}`
    }
  }
  return 'none'
}

const word = fc.stringMatching(/^[aA_\-./:%Σσé1]{1,4}$/).filter((text) => text.trim() !== '')
const tool = fc.record({ name: word, aliases: fc.option(fc.uniqueArray(word, { maxLength: 2 })) })
const catalogues = fc.dictionary(word, fc.uniqueArray(tool, { maxLength: 4, selector: ({ name }) => name }), {
  maxKeys: 4,
})

it('finds by any spelling what a table of all spellings finds, also after tools have left', () => {
  fc.assert(
    fc.property(catalogues, catalogues, word, (before, after, stray) => {
      const catalogue = createCatalogue()
      for (const sources of [before, after]) {
        for (const name of catalogue.sources.keys()) if (!(name in sources)) catalogue.removeSource(name)
        for (const [source, tools] of Object.entries(sources))
          catalogue.setSource(source, {
            tools: tools.map(({ name, aliases }) => ({
              name,
              description: '',
              inputSchema: { type: 'object' },
              ...(aliases ? { aliases } : {}),
            })),
          })
        const entries = [...catalogue.entries()]
        const asked = new Set([stray, ...entries.flatMap((entry) => spellings(entry).map(([key]) => key))])
        for (const key of [...asked]) asked.add(key.toUpperCase()).add(`${key}-`)
        for (const key of asked) {
          const found = catalogue.resolve(key, () => true)
          const shown =
            found.kind === 'found'
              ? `found ${found.entry.id}`
              : found.kind === 'ambiguous'
                ? `ambiguous ${found.entries.map(({ id }) => id).join(' ')}`
                : found.kind
          expect([key, shown]).toEqual([key, expected(key, entries)])
        }
      }
    }),
    { numRuns: runs(100) },
  )
})
