/** How long hostile text may take: eight times the text takes about eight times as long, never sixty-four times. */
import { expect, it } from 'vitest'
import { LONG_TEXTS } from './long-texts.js'

const GROWTH = 8
/** Between linear and quadratic, with room for a busy machine. */
const MOST = 30
/** Milliseconds of the processor below which a figure says nothing. */
const LEAST = 4

/** Time of the processor, not of the clock: a busy machine takes longer, and does not do more. */
async function timeOf(work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 3; turn++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}

/** Grows the text until it takes long enough to be measured, or is as long as anyone would send. */
async function expectLinear(
  work: (size: number) => Promise<unknown>,
  [least, most]: readonly [number, number],
): Promise<void> {
  let size = least
  await work(size)
  let small = await timeOf(() => work(size))
  while (small < LEAST && size * GROWTH < most) {
    size *= 2
    small = await timeOf(() => work(size))
  }
  const large = await timeOf(() => work(size * GROWTH))
  // Measures again if the growth looks too steep: garbage collection may have disturbed the first run.
  if (large / Math.max(small, LEAST) >= MOST) small = Math.max(small, await timeOf(() => work(size)))
  const again = large / Math.max(small, LEAST) >= MOST ? await timeOf(() => work(size * GROWTH)) : large
  expect(
    again / Math.max(small, LEAST),
    `${size} took ${small} ms, ${size * GROWTH} took ${again} ms`,
  ).toBeLessThan(MOST)
}

it.each(LONG_TEXTS)('$name', async ({ prepare, sizes }) => expectLinear(await prepare(), sizes))
