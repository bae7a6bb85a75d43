/** Defines a flood of messages: many in a short time, and not many in a long one. */
import { describe, expect, it } from 'vitest'
import { createFlood } from '../src/upstream/incoming.js'

/** How many of so many a second are let through before it is a flood. */
function passed(perSecond: number, seconds: number, { isOfCall = false, perRequest = 0 } = {}): number {
  let time = 0
  const flood = createFlood(() => time)
  for (let count = 0; count < perSecond * seconds; count++) {
    time += 1000 / perSecond
    if (perRequest > 0 && count % perRequest === 0) flood.countRequest()
    if (flood.countMessage(isOfCall)) return count
  }
  return perSecond * seconds
}

describe('messages that nobody asked for', () => {
  it('may come all day, a thousand a second', () => {
    expect(passed(1000, 3600)).toBe(3_600_000)
  })

  it('are a flood when they come faster than they are worth reading', () => {
    expect(passed(50_000, 10)).toBeLessThan(25_000)
    expect(passed(4000, 60)).toBeLessThan(60_000)
  })

  it('are not a flood if they match as many calls by Toolwell', () => {
    expect(passed(20_000, 60, { perRequest: 3 })).toBe(1_200_000)
    expect(passed(20_000, 60, { perRequest: 1000 })).toBeLessThan(60_000)
  })
})

describe('progress that somebody asked for, and logs during a call', () => {
  it('may come faster, and not without end', () => {
    expect(passed(5000, 600, { isOfCall: true })).toBe(3_000_000)
    expect(passed(50_000, 60, { isOfCall: true })).toBeLessThan(100_000)
  })
})
