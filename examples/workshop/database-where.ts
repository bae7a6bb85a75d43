/** Conditions on rows, shared by every tool of the database server that selects some. */
import { type Input, objectsIn, textIn } from './input.ts'

export type Value = string | number | boolean | null
export type Row = Record<string, Value>

export function asValue(value: unknown, column: string): Value {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  throw new Error(`Column "${column}" takes a string, number, boolean or null. Correct its value.`)
}

/** Nulls come first; values of different types are ordered by their text. */
export function compareValues(left: Value, right: Value): number {
  if (left === right) return 0
  if (left === null) return -1
  if (right === null) return 1
  if (typeof left === 'number' && typeof right === 'number') return left - right
  return String(left) < String(right) ? -1 : 1
}

/** Builds a predicate out of `where` and `match`; without conditions every row passes. */
export function createPredicate(
  input: Input,
  columns: readonly string[],
  name = 'where',
): (row: Row) => boolean {
  const tests = objectsIn(input, name).map((condition) => {
    const column = textIn(condition, 'column')
    if (!columns.includes(column))
      throw new Error(`There is no column "${column}". Known: ${columns.join(', ')}.`)
    const operator = textIn(condition, 'operator', 'equals')
    return (row: Row) => holds(row[column] ?? null, operator, condition.value, column)
  })
  const any = textIn(input, 'match', 'all') === 'any'
  return (row) =>
    any && tests.length > 0 ? tests.some((test) => test(row)) : tests.every((test) => test(row))
}

function holds(actual: Value, operator: string, expected: unknown, column: string): boolean {
  const values = Array.isArray(expected) ? expected.map((value) => asValue(value, column)) : []
  if (operator === 'in') return values.includes(actual)
  if (operator === 'not_in') return !values.includes(actual)
  if (operator === 'is_null') return actual === null
  if (operator === 'is_not_null') return actual !== null
  if (operator === 'between') {
    const [low = null, high = null] = values
    return actual !== null && compareValues(actual, low) >= 0 && compareValues(actual, high) <= 0
  }
  const value = asValue(expected, column)
  if (operator === 'equals') return actual === value
  if (operator === 'not_equals') return actual !== value
  if (actual === null || value === null) return false
  if (operator === 'contains') return String(actual).toLowerCase().includes(String(value).toLowerCase())
  if (operator === 'starts_with') return String(actual).startsWith(String(value))
  const order = compareValues(actual, value)
  if (operator === 'greater_than') return order > 0
  if (operator === 'at_least') return order >= 0
  if (operator === 'less_than') return order < 0
  if (operator === 'at_most') return order <= 0
  throw new Error(`"${operator}" is not an operator. Use one that the schema lists.`)
}
