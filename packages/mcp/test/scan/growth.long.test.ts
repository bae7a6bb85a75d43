/** How the time of a scan grows with the text. Measured, so for the long tier alone. */
import { expect, it } from 'vitest'
import { createScanner } from '../../src/trust/scan/scan.ts'
import { LONG_TEXTS } from './long-texts.ts'
import { tool } from './support.ts'

it.each(Object.entries(LONG_TEXTS))('takes time in proportion to its size: %s', (_, text) => {
  const time = (size: number) => {
    // Of this process alone: a busy machine makes the clock run on.
    const started = process.cpuUsage()
    createScanner().scanTool('server', tool(text(size)))
    const { user, system } = process.cpuUsage(started)
    return (user + system) / 1000
  }
  time(9000)
  const least = (size: number) => Math.min(time(size), time(size))
  // As much as can be measured: what is slow shows in a smaller text, what is fast needs the full size.
  const size = [9000, 30_000].find((each) => least(each) >= 15) ?? 90_000
  const small = Math.max(5, least(size))
  // Ten times the text; a hundredfold time would be quadratic. The margin allows for other work of the runtime.
  expect(time(size * 10)).toBeLessThan(small * 45)
})
