/** docs/compatibility/seeds.md: every claim of the seeds is in it, with tests that exist. `npm run claims -- --write` runs them and writes it. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { CLAIMS } from './seeds/claims.ts'
import { claimRows, claimsPage } from './seeds/claims-page.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(`${root}${file}`, 'utf8')
const page = read('docs/compatibility/seeds.md')

/** Texts of a file, as patterns of the titles that a test framework makes of them. */
function patternsIn(file: string): RegExp[] {
  const patterns: RegExp[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && node.text !== '') {
      const text = node.text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/%[sj]/g, '.*')
      patterns.push(new RegExp(`^${text}$`))
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest))
  return patterns
}

/** The tests that the page names, as if they had run and passed. */
const named = [...page.matchAll(/“(.*?)” in `(.*?)\.test\.ts`/g)].map(([, title = '', file = '']) => ({
  file,
  title: title.replaceAll('\\|', '|'),
  passed: true,
}))

it('is made of the claims and of the tests that it names', () => {
  expect(claimsPage(claimRows(CLAIMS, named))).toBe(page)
  expect(page).not.toMatch(/\| (?:unproven|broken) \|/)
})

describe.each([...new Set(named.map(({ file }) => file))])('%s', (file) => {
  it('has every test that the page names', () => {
    const shared = file.startsWith('test/e2e/') ? patternsIn('test/e2e/seeds/scenarios.ts') : []
    const patterns = [...patternsIn(`${file}.test.ts`), ...shared]
    // A wire that ends a title is left out on the page.
    const exists = (title: string) =>
      patterns.some((pattern) =>
        ['', 'google', ', over google', ' (google)'].some((end) => pattern.test(`${title}${end}`)),
      )
    expect(named.filter((test) => test.file === file && !exists(test.title))).toEqual([])
  })
})

it('a claim holds only where every test that it names ran and passed', () => {
  const seeds = [
    { name: 'A', files: ['a'], claims: [['one', 'does', 'says'] as const, { claim: 'two', not: 'no' }] },
  ]
  const state = (...ran: [string, boolean][]) =>
    claimRows(
      seeds,
      ran.map(([title, passed]) => ({ file: 'a', title, passed })),
    )[0]?.claims.map((row) => row.state)
  expect(state(['does it', true], ['says it', true])).toEqual(['holds', 'not here'])
  expect(state(['does it', true], ['says it', true], ['says it again', false])).toEqual([
    'broken',
    'not here',
  ])
  expect(state(['does it', true])).toEqual(['unproven', 'not here'])
})
