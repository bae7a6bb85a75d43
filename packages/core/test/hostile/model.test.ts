/**
 * Random hosts, random models and random accidents, over four wires and two processes: the surface always equals a small
 * reference that shares no code with it. `npm run fuzz` does the same for a million steps.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../test/setup/tier.ts'
import { conversationProperty } from './machine.js'

/** The same conversations on every run: what new ones would find belongs to `npm run fuzz`. */
const seed = Number(process.env.SEED ?? 2026)
const numRuns = Number(process.env.RUNS ?? runs(100))

describe('a conversation', () => {
  it('is at every request what the reference says, whatever host, model and accidents do', async () => {
    let steps = 0
    const property = conversationProperty(40, (taken) => {
      steps += taken
    })
    await fc.assert(property, { numRuns, seed })
    expect(steps).toBeGreaterThan(numRuns * 10)
  }, 300_000)
})
