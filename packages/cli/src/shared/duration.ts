/** Reads durations in flags: `30m`, `12h`, `30d`, `2w`. */
import { usageProblem } from './problem.js'

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}
/** A hundred years. Dates far beyond cannot be written. */
const LONGEST = 36_525 * 86_400_000

/** Returns milliseconds. `flag` is for the error. */
export function readDuration(text: string, flag: string): number {
  const [, number = '', unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? []
  const milliseconds = Number(number) * (UNITS[unit] ?? 0)
  if (milliseconds > 0 && milliseconds <= LONGEST) return milliseconds
  throw usageProblem(
    `${flag} ${JSON.stringify(text)} is not a duration.`,
    `Write a number and a unit (s, m, h, d or w), for example ${flag} 30d.`,
  )
}
