import fc from 'fast-check'
import { describe, it } from 'vitest'
import { runs } from '../../../../test/setup/tier.ts'
import { textBoundaries } from './boundaries.js'
import { storedBoundaries } from './stored.js'

describe('whatever is written in', () => {
  it.each([...textBoundaries, ...storedBoundaries])(
    '$name',
    async ({ property }) => {
      await fc.assert(property, {
        numRuns: Number(process.env.RUNS ?? runs(200)),
        seed: Number(process.env.SEED ?? 2026),
      })
    },
    120_000,
  )
})
