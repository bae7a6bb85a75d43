/** Checks docs/compatibility/conformance.md: it is made of the saved results, and nothing is lost through the gateway. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { type Conformance, conformancePage } from './support/conformance-page.js'

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
const saved = JSON.parse(read('bench/results/conformance.json')) as Conformance

it('shows the saved results of the installed suite', () => {
  const { version } = createRequire(import.meta.url)('@modelcontextprotocol/conformance/package.json')
  expect(saved.suite).toBe(version)
  expect(conformancePage(saved)).toBe(read('docs/compatibility/conformance.md'))
})

it('has no scenario that passes directly and fails where all tools are listed', () => {
  const scenarios = Object.values(saved.revisions).flatMap((each) => Object.entries(each))
  expect(scenarios.length).toBeGreaterThan(60)
  expect(scenarios.filter(([, { direct, all }]) => direct[1] === 0 && all[1] > 0)).toEqual([])
})
