/** A bundle of the core and one wire: its size at the start, without the optional tokenizer. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { benchBundle, refuseBundle } from '../bench/bundle.ts'

it('is at most as heavy as bench/bundle.ts says, without the optional tokenizer', async () => {
  const figures = await benchBundle()
  expect(figures.rows.map(({ wire }) => wire)).toContain('openai-chat')
  // The ranker and the validator are separate chunks.
  for (const { start, later } of figures.rows) {
    expect(start).toBeGreaterThan(30)
    expect(later).toBeGreaterThan(15)
  }
  expect(refuseBundle(figures)).toBeUndefined()
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, least, most] = /loads (\d+) to (\d+) kB \(gzip\) at the start/.exec(readme) ?? []
  const starts = figures.rows.map(({ start }) => start)
  expect(Math.abs(Math.min(...starts) - Number(least))).toBeLessThan(2)
  expect(Math.abs(Math.max(...starts) - Number(most))).toBeLessThan(2)
})

it('says what is too heavy', () => {
  const row = { wire: 'google', start: 86, later: 20, oneFile: 100 }
  expect(refuseBundle({ most: 85, rows: [row], tokenizerInlined: false })).toContain('google')
  expect(refuseBundle({ most: 85, rows: [], tokenizerInlined: true })).toContain('tokenizer')
})
