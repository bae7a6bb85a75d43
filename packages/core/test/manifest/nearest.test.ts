import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editDistance, findNearest, foldNames, nearest } from '../../src/base/nearest.js'

describe('nearest', () => {
  it.each([
    ['maxLoade', ['maxLoaded', 'maxTokens'], ['maxLoaded']],
    ['Max-Active', ['max_active', 'maxActives'], ['max_active', 'maxActives']],
    ['serach', ['search', 'select'], ['search']],
    ['graph', ['memory_graph', 'memory_search'], ['memory_graph']],
    ['github.create.issue', ['create_issue', 'close_issue'], ['create_issue']],
    ['b', ['a', 'ab'], ['ab']],
    ['ab', ['abcdef', 'xyab'], []],
    ['kubernetes', ['read', 'write'], []],
    ['___', ['a', '_'], []],
    ['', ['a'], []],
  ])('of %j among %j is %j', (wanted, known, expected) => {
    expect(nearest(wanted, known)).toEqual(expected)
  })

  it('returns at most the limit, best first, ties by code unit, each once', () => {
    const known = ['read_d', 'read_c', 'Read', 'read_b', 'read_b', 'read_a']
    expect(nearest('read', known)).toEqual(['Read', 'read_a', 'read_b'])
    expect(nearest('read', known, 10)).toEqual(['Read', 'read_a', 'read_b', 'read_c', 'read_d'])
    expect(nearest('read', known, 0)).toEqual([])
  })

  it('does not depend on the order of the known names', () => {
    const name = fc.stringMatching(/^[ab_]{1,6}$/)
    fc.assert(
      fc.property(name, fc.array(name, { maxLength: 8 }), (wanted, known) => {
        expect(nearest(wanted, known)).toEqual(nearest(wanted, [...known].reverse()))
      }),
    )
  })

  it('agrees with a plain search for one slip of the keyboard', () => {
    const word = fc.stringMatching(/^[a-e]{3,12}$/)
    fc.assert(
      fc.property(
        word,
        fc.nat(),
        fc.constantFrom('x', ''),
        fc.boolean(),
        (known, place, replacement, swap) => {
          const at = place % (known.length - 1)
          const slip = swap ? `${known[at + 1]}${known[at]}` : `${replacement}${known[at + 1]}`
          expect(nearest(known.slice(0, at) + slip + known.slice(at + 2), [known])).toEqual([known])
        },
      ),
    )
  })

  it('passes over no name that is near enough', () => {
    const word = fc.stringMatching(/^[a-dé語]{1,10}$/u)
    fc.assert(
      fc.property(word, word, (wanted, known) => {
        const furthest = Math.min(
          Math.max(1, Math.floor(wanted.length / 3)),
          Math.max(wanted.length, known.length) - 1,
        )
        if (editDistance(wanted, known, furthest) !== undefined)
          expect(nearest(wanted, [known])).toEqual([known])
      }),
    )
  })

  it('asks for names that are near enough, and only those, whether it may suggest them', () => {
    const asked: string[] = []
    const accept = (name: string) => asked.push(name) > 0 && name !== 'create_issue'
    const known = foldNames(['create_issue', 'create_issues', 'list_files', 'send_message'])
    expect(findNearest('creat_issue', known, 3, accept)).toEqual(['create_issues'])
    expect(asked).toEqual(['create_issue', 'create_issues'])
  })

  it('cuts long names, so that the time stays bounded', () => {
    const long = 'ab'.repeat(500_000)
    expect(nearest(`${long}x`, [`${long}y`, 'other'])).toEqual([`${long}y`])
  })
})
