/** Checks docs/compatibility/seeds.md: it lists every claim with tests that exist. `npm run claims -- --write` runs the tests and writes the page. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { CLAIMS } from './seeds/claims.ts'
import { claimRows, claimsPage } from './seeds/claims-page.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(`${root}${file}`, 'utf8')
const page = read('docs/compatibility/seeds.md')

/** Lists the strings of a file that may be test titles. */
function readTexts(file: string): string[] {
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && node.text !== '') texts.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest))
  return texts
}

/** Every string of the seed suites, treated as a passed test. */
const passed = CLAIMS.flatMap(({ files }) => files).flatMap((file) => {
  const shared = file.startsWith('test/e2e/') ? readTexts('test/e2e/seeds/scenarios.ts') : []
  return [...readTexts(`${file}.test.ts`), ...shared].map((title) => ({ file, title, passed: true }))
})

it('is made of the claims, and every test that they name exists', () => {
  expect(claimsPage(claimRows(CLAIMS, passed))).toBe(page)
  expect(page).not.toMatch(/\| (?:unproven|broken) \|/)
})

it('a claim holds only if every test that it names ran and passed', () => {
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
