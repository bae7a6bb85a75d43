/** How long arguments may take to be checked: 50 milliseconds of the processor for each 10 kB of schema and arguments. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkArguments } from '../../src/schema/validation.js'
import { costlyInput, costlySchema, SCHEMA_CASES } from './schema-cases.js'

const MOST = 50
const PART = 10_000

/** CPU time, not wall time. Measures again if a run looks too long: garbage collection may have disturbed it. */
function costOf(inputSchema: Record<string, unknown>, input: unknown): number {
  const size = JSON.stringify(inputSchema).length + (JSON.stringify(input)?.length ?? 0)
  let best = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 4 && best > MOST; turn++) {
    const before = process.cpuUsage()
    checkArguments({ name: 'x', description: '', inputSchema }, input)
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000 / Math.max(1, size / PART))
  }
  return best
}

it.each(SCHEMA_CASES)('$name', ({ schema, input }) => {
  for (const size of [1000, 10_000, 100_000, 1_000_000])
    expect(costOf(schema, input(size)), `${size} characters`).toBeLessThan(MOST)
})

it('random schemas and arguments', () => {
  let most = 0
  fc.assert(
    fc.property(costlySchema, costlySchema, costlySchema, costlyInput, (a, b, c, input) => {
      const cost = costOf({ properties: { a, b }, $defs: { a, b, c } }, { a: input, b: input })
      most = Math.max(most, cost)
      expect(cost).toBeLessThan(MOST)
    }),
    { numRuns: 20_000 },
  )
  console.log(`the most: ${most.toFixed(1)} ms for 10 kB`)
})
