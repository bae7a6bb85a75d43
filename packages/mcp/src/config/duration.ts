/** Times in a config: milliseconds, or a number with a unit. */

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The longest time that a timer of the platform can hold. */
export const LONGEST = 2 ** 31 - 1

/** Milliseconds, or undefined where the value is no time. */
export function readDuration(value: unknown): number | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) && value > 0 ? Math.min(value, LONGEST) : undefined
  if (typeof value !== 'string') return undefined
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/.exec(value.trim()) ?? []
  const factor = UNITS[unit]
  return amount === undefined || factor === undefined || Number(amount) === 0
    ? undefined
    : Math.min(Number(amount) * factor, LONGEST)
}
