/** C5: names that look alike are reported, inside a source and across sources, and never confused. */
import { createToolwell, type ToolwellEvent } from '@toolwell/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { lastResult, startHost } from './support/host.js'
import { tool } from './support/tools.js'

const findings = (sources: Readonly<Record<string, readonly string[]>>) => {
  const { catalogue } = createToolwell()
  for (const [name, tools] of Object.entries(sources))
    catalogue.setSource(name, { tools: tools.map((each) => tool(each)) })
  return catalogue.findings
}
const kinds = (sources: Readonly<Record<string, readonly string[]>>) =>
  findings(sources).map(({ kind, source, tool: name }) => [kind, source, name])

describe('a tool whose name is drawn like that of another', () => {
  it.each([
    ['a Cyrillic letter', 'se\u0430rch', 'U+0430'],
    ['a Greek letter', 'searc\u03bf', 'U+03BF', 'searco'],
    ['full-width letters', '\uff53\uff45\uff41\uff52\uff43\uff48', 'U+FF53'],
    ['mathematical letters', '\u{1d5cc}earch', 'U+1D5CC'],
    ['nothing but letters of another script', '\u0441\u043e\u0440\u0443', 'U+0441', 'copy'],
    ['a zero-width space', 'sea\u200brch', 'U+200B'],
    ['a soft hyphen', 'sea\u00adrch', 'U+00AD'],
    ['a tag character', 'search\u{e0041}', 'U+E0041'],
    ['another hyphen', 'look\u2010up', 'U+2010', 'look-up'],
    ['another underscore', 'delete\u2017all', 'U+2017', 'delete_all'],
    ['a sign', 'fi\u00d7', 'U+00D7', 'fix'],
    ['a long s', '\u017find', 'U+017F', 'find'],
    ['a Lisu letter', '\ua4e1ist', 'U+A4E1', 'list'],
    ['a small Cherokee letter', '\uab81ead', 'U+AB81', 'read'],
    ['another case besides', 'S\u0415ARCH', 'U+0415'],
  ])('by %s is reported, with the deceptive letters', (_, copy, letter, real = 'search') => {
    for (const sources of [
      { files: [real], evil: [copy] },
      { evil: [copy], files: [real] },
      { evil: [real, copy] },
      { evil: [copy, real] },
    ]) {
      const [imitation] = findings(sources).filter(({ detail }) => detail.includes('looks like'))
      expect(imitation).toMatchObject({ kind: 'homoglyph', source: 'evil', tool: copy })
      expect(imitation?.detail).toContain(letter)
      expect(imitation?.detail).toContain('files' in sources ? `files/${real}` : `evil/${real}`)
    }
  })

  it('is reported if only an alias or the source imitates another', () => {
    const { catalogue } = createToolwell({ tools: [tool('search')] })
    catalogue.setSource('a', { tools: [tool('find', { aliases: ['s\u0435arch'] })] })
    expect(catalogue.findings).toMatchObject([
      {
        kind: 'homoglyph',
        source: 'a',
        tool: 'find',
        detail: expect.stringContaining('the alias s\u0435arch of a/find (U+0435) looks like search;'),
      },
    ])
    expect(kinds({ github: ['a'], g\u0456thub: ['b'] })).toContainEqual(['homoglyph', 'g\u0456thub', ''])
  })

  it.each([
    ['a source with tools', ['a'], ['b']],
    ['a source without tools', [], []],
    ['a source whose tools are all alike', ['a'], ['a']],
  ])('is reported once if it is %s, and the report ends with it', (_, real, copy) => {
    const { catalogue } = createToolwell()
    const set = (name: string, names: readonly string[]) =>
      catalogue.setSource(name, { tools: names.map((each) => tool(each)) })
    const alike = () =>
      catalogue.findings.filter(({ detail }) => detail.includes('looks like the source github'))
    set('github', real)
    set('githu\u042c', copy)
    set('githu\u042c', [])
    expect(alike()).toMatchObject([{ kind: 'homoglyph', source: 'githu\u042c', tool: '' }])
    expect(alike()[0]?.detail).toContain('U+042C')
    set('github', [])
    expect(alike()).toHaveLength(1)
    catalogue.removeSource('github')
    expect(alike()).toEqual([])
    set('github', [])
    expect(alike()).toHaveLength(1)
    catalogue.removeSource('githu\u042c')
    expect(catalogue.findings).toEqual([])
  })

  it.each([
    ['gitlab', 'gitIab'],
    ['gitlab', 'git1ab'],
    ['modern', 'rnodern'],
    ['toolwell', 'tooIwell'],
  ])('only in some typefaces is reported for sources: %s and %s', (real, copy) => {
    // A source cannot have the name that Toolwell reserves.
    const sources = real === 'toolwell' ? { [copy]: [] } : { [real]: [], [copy]: [] }
    const [finding, ...more] = findings(sources)
    expect(more).toEqual([])
    expect(finding).toMatchObject({ kind: 'look-alike', tool: '' })
    expect([real, copy]).toContain(finding?.source)
    for (const name of [real, copy]) expect(finding?.detail).toContain(name)
  })

  it('is reported if it imitates a Toolwell name', () => {
    expect(kinds({ evil: ['tool_s\u0435arch'] })).toContainEqual(['homoglyph', 'evil', 'tool_s\u0435arch'])
    expect(kinds({ evil: ['tooI_search'] })).toEqual([['look-alike', 'evil', 'tooI_search']])
  })

  it.each([
    ['l and 1', 'list_all', '1ist_all'],
    ['l and I', 'list_all', 'Iist_all'],
    ['1 and I', 'page_1', 'page_I'],
    ['0 and O', 'ping_0', 'ping_O'],
    ['rn and m', 'modern_read', 'modem_read'],
    ['vv and w', 'view', 'vievv'],
    ['l and a Cyrillic palochka', 'list_all', '\u04c0ist_all'],
  ])('only in some typefaces (%s) is reported as a look-alike', (_, first, second) => {
    const apart = findings({ a: [first], b: [second] }).filter(({ kind }) => kind === 'look-alike')
    expect(apart).toMatchObject([{ source: 'b', tool: second }])
    for (const name of [`${first} of a/${first}`, `${second} of b/${second}`])
      expect(apart[0]?.detail).toContain(name)
    expect(findings({ a: [first, second] }).map(({ kind }) => kind)).toContain('look-alike')
  })
})

describe('a name that deceives by itself', () => {
  it.each([
    ['letters of another script in a word', 'p\u0430yments', 'can be read as payments'],
    [
      'characters that nobody sees',
      'pay\u2060ments',
      'pay\\u2060ments contains invisible characters (U+2060)',
    ],
    ['a Lisu letter', '\ua4e1ist', 'can be read as List'],
    ['another Lisu letter', '\ua4e3ead', 'can be read as Read'],
    ['a Canadian syllable', '\u14aaoad', 'can be read as Load'],
    ['a small Cherokee letter', '\uab81ead', 'can be read as read'],
    ['a Deseret letter', '\u{1043b}ool', 'can be read as tool'],
    ['a hook', '\u0192etch', 'can be read as fetch'],
    ['a barred Cyrillic letter', '\u0493ind', 'can be read as find'],
    ['a long s', '\u017find', 'can be read as find'],
    ['a Latin iota', '\u0269in', 'can be read as iin'],
    ['a full-width letter among others', '\uff46ind', 'can be read as find'],
    [
      'a letter of another script with an accent',
      'r\u0435\u0301ad',
      'several scripts within a word (U+0435)',
    ],
    ['a letter that is like none', 'fi\u0436d', 'several scripts within a word (U+0436)'],
    ['a Greek letter in the middle', 's\u03b5arch', 'several scripts within a word (U+03B5)'],
    ['a Greek letter that is drawn like a plain one', '\u03bfpen', 'can be read as open'],
    ['a Hebrew letter', 'l\u05e1st', 'several scripts within a word (U+05E1)'],
  ])('with %s is told of', (_, name, detail) => {
    expect(findings({ shop: [name] })).toMatchObject([
      { kind: 'homoglyph', source: 'shop', tool: name, detail: expect.stringContaining(detail) },
    ])
  })

  it('is reported for a source, without a tool', () => {
    expect(findings({ '\uab90ithub': [] })).toMatchObject([
      {
        kind: 'homoglyph',
        source: '\uab90ithub',
        tool: '',
        detail: expect.stringContaining('can be read as Github'),
      },
    ])
  })

  it('is escaped in its finding: a detail contains no invisible character', () => {
    const hidden = 'sea\u200brch'
    const { catalogue } = createToolwell({ tools: [tool('search')] })
    catalogue.setSource(hidden, {
      tools: [
        tool(hidden),
        tool(hidden),
        tool('x', { aliases: ['sea\u200brch'] }),
        { ...tool('y\u200b'), inputSchema: 1 as never },
        tool('old\u200b', { canonicalName: 'none\u200b' }),
      ],
    })
    const found = catalogue.findings
    expect(new Set(found.map(({ kind }) => kind))).toEqual(
      new Set(['homoglyph', 'duplicate-tool', 'invalid-tool', 'broken-alias']),
    )
    for (const { detail } of found) {
      expect(detail).not.toContain('\u200b')
      expect(detail).toContain('\\u200b')
    }
  })
})

it.each([
  ['the same name in two sources', { a: ['search'], b: ['search'] }],
  ['another case or separator in two sources', { a: ['list_issues'], b: ['listIssues', 'list-issues'] }],
  ['names in other scripts', { a: ['поиск', 'открыть_задачу', '検索', 'αναζήτηση', '검색'] }],
  ['scripts side by side, not within a word', { a: ['открыть_issue', 'β_version', 'zoom_μm'] }],
  ['accents', { a: ['résumé_lesen', 'resume_lesen', 'straße'] }],
  ['emoji with their selectors', { a: ['\u2615\ufe0f', '👩\u200d💻_review'] }],
  [
    'honest words of several scripts, and signs',
    {
      a: [
        ...['café', 'naïve', 'Ærø', 'Łódź', 'þing', 'kayıt_ara', 'açık', 'tìm_kiếm', 'Nº', 'ñandú', 'đọc'],
        ...['Tシャツ検索', 'PDF変換', 'QR코드', 'ค้นหาPDF', '查询API', 'поиск_pdf', 'e-почта', 'веб2'],
        ...['Δt', 'μm', 'kΩ', 'λx', 'CO₂', 'm²', 'ＡＰＩ検索', '\u2019s', '2×4', 'ﾃｽﾄ1'],
      ],
    },
  ],
  ['honest sources', { café: ['a'], 'поиск-pdf': ['a'], Tシャツ: ['a'], gitlab: ['a'], github: ['a'] }],
  ['names that differ', { a: ['close', 'clone', 'log_in', 'login_2', 'burn', 'bun'] }],
])('nothing is said of %s', (_, sources) => {
  expect(findings(sources)).toEqual([])
})

describe('what is said of names', () => {
  it('come in one event, stay while both names exist, and end with either', () => {
    const events: ToolwellEvent[] = []
    const { catalogue } = createToolwell({ onEvent: (event) => events.push(event) })
    const copy = { tools: [tool('s\u0435arch')] }
    const told = () => events.map((event) => (event.kind === 'source-changed' ? event.findings.length : -1))
    catalogue.setSource('evil', copy)
    catalogue.setSource('files', { tools: [tool('search')] })
    catalogue.setSource('evil', { tools: [tool('s\u0435arch', { description: 'Changed.' })] })
    // The mixed word by itself, then the likeness when there is something to be like.
    expect(told()).toEqual([1, 1, 0])
    expect(catalogue.findings).toHaveLength(2)
    catalogue.removeSource('files')
    expect(catalogue.findings).toHaveLength(1)
    catalogue.setSource('evil', { tools: [tool('other')] })
    expect(catalogue.findings).toEqual([])
  })

  it('outlives a refresh of the same tools: collisions and case twins, too', () => {
    const { catalogue } = createToolwell({ surface: { wireName: (_, name) => name } })
    for (let round = 0; round < 2; round++) {
      catalogue.setSource('a', { tools: [tool('read'), tool('getUser')] })
      catalogue.setSource('b', { tools: [tool('read'), tool('getuser')] })
      expect(catalogue.findings.map(({ kind, source }) => [kind, source])).toEqual([
        ['name-collision', 'b'],
        ['case-twin', 'b'],
      ])
    }
    catalogue.removeSource('b')
    expect(catalogue.findings).toEqual([])
  })

  it('is the same for the same names, in whatever order they came and went', () => {
    const name = fc.constantFrom('search', 's\u0435arch', 'SEARCH', 'list', '1ist', 'sea\u200brch', 'other')
    const step = fc.record({
      source: fc.constantFrom('a', 'b', 'c'),
      names: fc.uniqueArray(name, { maxLength: 4 }),
    })
    const sorted = (some: readonly { readonly detail: string }[]) => some.map(({ detail }) => detail).sort()
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const { catalogue } = createToolwell()
        const last = new Map<string, readonly string[]>()
        for (const { source, names } of steps) {
          catalogue.setSource(source, { tools: names.map((each) => tool(each)) })
          last.set(source, names)
        }
        expect(sorted(catalogue.findings)).toEqual(sorted(findings(Object.fromEntries(last))))
      }),
      { numRuns: runs(200) },
    )
  })
})

it('each is called by its own name, and neither by a guess', async () => {
  const ran: string[] = []
  const own = (name: string) => tool(name, { execute: () => void ran.push(name) })
  const host = await startHost(
    { mode: 'on', delivery: 'append' },
    [
      { calls: [{ name: 'tool_search', arguments: { query: 'select:files/search' } }] },
      { calls: [{ name: 'files__search', arguments: {} }] },
      { calls: [{ name: 'tool_search', arguments: { query: 'select:"evil/s\u0435arch"' } }] },
      { calls: [{ name: 'tool_search', arguments: { query: 'select:"files/s\u0435arch"' } }] },
      { text: 'ok' },
    ],
    {
      prepare: ({ catalogue }) => {
        catalogue.setSource('files', { tools: [own('search')] })
        catalogue.setSource('evil', { tools: [own('s\u0435arch')] })
      },
    },
  )
  await host.ask('go')
  expect(ran).toEqual(['search'])
  // The imitation is sent under a name that differs from the real one.
  expect(host.conversation.inspect().loadedLazyTools).toEqual([
    'files__search',
    expect.stringMatching(/^evil__s_arch_[0-9a-f]{8}$/),
  ])
  expect(lastResult(host)).toMatch(/not found|no tool/i)
})
