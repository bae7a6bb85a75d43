/** Whether values of JSON are the same, whatever the order of their keys: in one pass, also over very many of them. */
import { type Run, spend } from './run.js'

/** Gives equal values an equal number. Objects and lists are told apart by the numbers of what they hold, so nothing is written out twice. */
export function createNumbering(run: Run): (value: unknown) => number {
  const numbers = new Map<unknown, number>()
  const objects = new Map<object, number>()
  const numbered = (key: unknown): number => {
    const found = numbers.get(key)
    if (found !== undefined) return found
    numbers.set(key, numbers.size)
    return numbers.size - 1
  }
  const numberOf = (value: unknown): number => {
    spend(run, 1)
    // Texts are kept apart from the keys that are made here.
    if (typeof value === 'string') return numbered(`"${value}`)
    if (typeof value !== 'object' || value === null) return numbered(value)
    const known = objects.get(value)
    if (known !== undefined) return known
    const made = Array.isArray(value)
      ? `[${value.map(numberOf).join()}`
      : `{${Object.keys(value)
          .sort()
          .map((key) => `${numberOf(key)}:${numberOf((value as Record<string, unknown>)[key])}`)
          .join()}`
    const number = numbered(made)
    objects.set(value, number)
    return number
  }
  return numberOf
}

export function isEqual(run: Run, one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null) return one === other
  if (typeof other !== 'object' || other === null) return false
  run.numberOf ??= createNumbering(run)
  return run.numberOf(one) === run.numberOf(other)
}
