import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseQuery, queryCharacterLimit } from '../../src/search/query.js'
import { quoteName } from '../../src/search/quote-name.js'

const nothing = { select: [], unload: [], must: [], filters: {}, text: '', problems: [] }

describe('lists of names', () => {
  it('reads bare names in order and drops duplicates', () => {
    expect(parseQuery('select:b, a ,b,,server/tool.x')).toEqual({
      ...nothing,
      select: ['b', 'a', 'server/tool.x'],
    })
  })

  it('keeps spaces inside a bare name', () => {
    expect(parseQuery('  SELECT: Read my mail ,b').select).toEqual(['Read my mail', 'b'])
  })

  it('reads unload on its own and after select, in either order', () => {
    expect(parseQuery('unload:a,b')).toEqual({ ...nothing, unload: ['a', 'b'] })
    expect(parseQuery('select:a,b unload:c')).toEqual({ ...nothing, select: ['a', 'b'], unload: ['c'] })
    expect(parseQuery('unload:"c" select:a, b')).toEqual({ ...nothing, select: ['a', 'b'], unload: ['c'] })
  })

  it('does not take a word inside a name for a directive', () => {
    expect(parseQuery('select:xselect:y,unload:z').select).toEqual(['xselect:y', 'unload:z'])
  })

  it('decodes quoted names as JSON', () => {
    expect(parseQuery(String.raw`select:"a,\"b\"\\n", "\u00e9\n" ,c`).select).toEqual([
      'a,"b"\\n',
      'é\n',
      'c',
    ])
  })

  it('treats select as ordinary text when it is not at the start', () => {
    expect(parseQuery('please select:a')).toEqual({ ...nothing, text: 'please select:a' })
  })

  it('reports an empty list', () => {
    expect(parseQuery('select:').problems).toHaveLength(1)
    expect(parseQuery('select: , ,').select).toEqual([])
  })

  it('reads an unclosed quote as a bare name and says so', () => {
    const parsed = parseQuery('select:a,"b c, d')
    expect(parsed.select).toEqual(['a', 'b c', 'd'])
    expect(parsed.problems).toHaveLength(1)
  })

  it('takes what JSON refuses literally and says so', () => {
    const parsed = parseQuery('select:"a\nb","\\q"')
    expect(parsed.select).toEqual(['a\nb', '\\q'])
    expect(parsed.problems).toHaveLength(2)
  })

  it('skips what follows a quoted name without a comma and says so', () => {
    const parsed = parseQuery('select:"a"b,c "d"')
    expect(parsed.select).toEqual(['a', 'c "d"'])
    expect(parsed.problems).toHaveLength(1)
    expect(parseQuery('select:"a" "b"').select).toEqual(['a', 'b'])
  })

  it('gives back any name that is quoted as JSON, alone and in a list', () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({
        unit: fc.constantFrom('"', '\\', ',', ' ', '\n', ':', 'a', '\ud800', '\udc00', 'select:', 'unload:'),
      }),
    )
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 3 }), (names) => {
        expect(parseQuery(`select:${names.map((each) => JSON.stringify(each)).join(',')}`)).toEqual({
          ...nothing,
          select: names,
        })
        expect(parseQuery(`unload:${names.map(quoteName).join(', ')}`).unload).toEqual(names)
      }),
    )
  })

  it('quotes a name only if it has to', () => {
    expect(quoteName('mcp/Server_1.tool-x:y@2')).toBe('mcp/Server_1.tool-x:y@2')
    expect(quoteName('two words')).toBe('"two words"')
    expect(quoteName('')).toBe('""')
    expect(quoteName('Unload:x')).toBe('"Unload:x"')
  })
})

describe('free text', () => {
  it('takes filters and required words from anywhere', () => {
    expect(
      parseQuery('create +git Server:github an +"pull request" issue domain:"soft ware" group:x'),
    ).toEqual({
      ...nothing,
      must: ['git', 'pull request'],
      filters: { server: 'github', domain: 'soft ware', group: 'x' },
      text: 'create an issue',
    })
  })

  it('leaves prose with a space after the colon alone', () => {
    expect(parseQuery('server: maps\ntool: geocode')).toEqual({
      ...nothing,
      text: 'server: maps tool: geocode',
    })
  })

  it('lets the last of two equal filters count and says so', () => {
    const parsed = parseQuery('server:a server:b')
    expect(parsed.filters).toEqual({ server: 'b' })
    expect(parsed.problems).toHaveLength(1)
  })

  it('keeps a lone plus, an inner plus and inner colons as text', () => {
    expect(parseQuery('+ c++ a+b myserver:x +""')).toEqual({ ...nothing, text: '+ c++ a+b myserver:x +""' })
  })

  it('keeps the sign of a figure as text, unless the figure is in quotes', () => {
    const text = 'call +49 30 1234, a die with (-1, 0, +1)'
    expect(parseQuery(text)).toEqual({ ...nothing, text })
    expect(parseQuery('code +2fa +"365"')).toEqual({ ...nothing, must: ['2fa', '365'], text: 'code' })
  })

  it('reads an unclosed quote up to the next space and says so', () => {
    const parsed = parseQuery('find +"two words')
    expect(parsed).toMatchObject({ must: ['two'], text: 'find words' })
    expect(parsed.problems).toHaveLength(1)
  })

  it('separates words at every kind of white space and control character', () => {
    expect(parseQuery('\u0000a\u0007b\u3000c\u00a0d\ue000\u2028').text).toBe('a b c d\ue000')
  })

  it('answers an empty query with nothing', () => {
    for (const empty of ['', '   ', '\n\t\u0000']) expect(parseQuery(empty)).toEqual(nothing)
  })
})

describe('bounds', () => {
  it('cuts a long query and says so, never through a surrogate pair', () => {
    const parsed = parseQuery('a'.repeat(queryCharacterLimit - 1) + '😀'.repeat(10))
    expect(parsed.text).toBe('a'.repeat(queryCharacterLimit - 1))
    expect(parsed.problems).toHaveLength(1)
  })

  it('drops a name that was cut off', () => {
    const parsed = parseQuery(`select:first,${'x'.repeat(queryCharacterLimit)}`)
    expect(parsed.select).toEqual(['first'])
    expect(parseQuery(`select:first,"${'x'.repeat(queryCharacterLimit)}"`).select).toEqual(['first'])
  })

  it('answers any string, the same way each time', () => {
    const hostile = fc.string({
      unit: fc.constantFrom('"', '\\', '+', ',', ' ', 'server:', 'select:', 'a', '\ud83d'),
    })
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), hostile), (raw) => {
        const parsed = parseQuery(raw)
        expect(parseQuery(raw)).toEqual(parsed)
        expect(new Set(parsed.must).size).toBe(parsed.must.length)
      }),
    )
  })
})
