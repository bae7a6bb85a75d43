/** The shape of a table and the pure steps on its rows: checking, ordering, measuring. */
import { asValue, compareValues, type Row, type Value } from './database-where.ts'
import { type Input, optionalNumber, textIn, textsIn } from './input.ts'

export interface Column {
  name: string
  type: string
  nullable: boolean
  unique: boolean
  default: Value
  description: string
}

export interface Table {
  name: string
  description: string
  columns: Column[]
  primary_key: string | null
  rows: Row[]
}

const patterns: Readonly<Record<string, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d/,
}

export function describe({ rows, ...table }: Table) {
  return { ...table, row_count: rows.length }
}

export function statisticsOf(table: Table) {
  return table.columns.map(({ name }) => {
    const values = table.rows.map((row) => row[name] ?? null).filter((value) => value !== null)
    const sorted = [...values].sort(compareValues)
    return {
      column: name,
      nulls: table.rows.length - values.length,
      distinct: new Set(values).size,
      smallest: sorted[0] ?? null,
      largest: sorted.at(-1) ?? null,
    }
  })
}

export function checked(table: Table, given: Input): Row {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const column = table.columns.find((candidate) => candidate.name === name)
      if (!column) throw new Error(`Table "${table.name}" has no column "${name}". See describe_tables.`)
      const cell = asValue(value, name)
      if (!fitsType(cell, column))
        throw new Error(`Column "${name}" takes ${column.type}, not ${JSON.stringify(cell)}.`)
      return [name, cell]
    }),
  )
}

function fitsType(value: Value, { type, nullable }: Column): boolean {
  if (value === null) return nullable
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'decimal') return typeof value === 'number'
  if (type === 'boolean') return typeof value === 'boolean'
  return typeof value === 'string' && (patterns[type]?.test(value) ?? true)
}

export function complete(table: Table, given: Input): Row {
  const defaults = Object.fromEntries(table.columns.map((column) => [column.name, column.default]))
  return checked(table, { ...defaults, ...given })
}

export function requireUnique(table: Table): void {
  const names = table.columns
    .filter(({ unique, name }) => unique || name === table.primary_key)
    .map(({ name }) => name)
  for (const name of names) {
    const values = table.rows.map((row) => row[name] ?? null).filter((value) => value !== null)
    const twice = values.find((value, index) => values.indexOf(value) !== index)
    if (twice !== undefined)
      throw new Error(`Column "${name}" must be unique, but ${twice} occurs twice. Nothing was written.`)
  }
}

export function requireAtMost(count: number, input: Input): void {
  const limit = optionalNumber(input, 'expected_at_most')
  if (limit !== undefined && count > limit)
    throw new Error(
      `The condition selects ${count} rows, more than ${limit}. Narrow where or raise expected_at_most.`,
    )
}

export function sortRows(rows: Row[], orders: Input[], columns: readonly string[]): Row[] {
  const keys = orders.map((order) => ({
    column: textIn(order, 'column'),
    sign: textIn(order, 'direction', 'ascending') === 'descending' ? -1 : 1,
  }))
  const unknown = keys.find(({ column }) => !columns.includes(column))
  if (unknown && rows.length > 0)
    throw new Error(`Cannot order by "${unknown.column}". Known: ${columns.join(', ')}.`)
  return [...rows].sort((a, b) => {
    for (const { column, sign } of keys) {
      const order = compareValues(a[column] ?? null, b[column] ?? null) * sign
      if (order !== 0) return order
    }
    return 0
  })
}

export function pick(row: Row, select: readonly string[], columns: readonly string[], exactly = false): Row {
  const unknown = select.find((column) => !columns.includes(column))
  if (unknown !== undefined) throw new Error(`There is no column "${unknown}". Known: ${columns.join(', ')}.`)
  const chosen = select.length > 0 || exactly ? select : columns
  return Object.fromEntries(chosen.map((column) => [column, row[column] ?? null]))
}

export function measured(name: string, column: string | undefined, rows: Row[]): Value {
  if (column === undefined) {
    if (name === 'count') return rows.length
    throw new Error(`The function "${name}" needs a column. Add it to the measure.`)
  }
  const values = rows.map((row) => row[column] ?? null).filter((value) => value !== null)
  if (name === 'count') return values.length
  if (name === 'count_distinct') return new Set(values).size
  const sorted = [...values].sort(compareValues)
  if (name === 'smallest') return sorted[0] ?? null
  if (name === 'largest') return sorted.at(-1) ?? null
  const sum = values.reduce<number>((total, value) => total + Number(value), 0)
  if (name === 'sum') return sum
  return values.length === 0 ? null : sum / values.length
}

export function guessType(cells: readonly string[]): string {
  if (cells.length === 0) return 'text'
  if (cells.every((cell) => /^-?\d+$/.test(cell))) return 'integer'
  if (cells.every((cell) => /^-?\d+(\.\d+)?$/.test(cell))) return 'decimal'
  if (cells.every((cell) => cell === 'true' || cell === 'false')) return 'boolean'
  return cells.every((cell) => patterns.date?.test(cell)) ? 'date' : 'text'
}

export function convert(cell: string, type: string, nulls: readonly string[]): Value {
  if (nulls.includes(cell)) return null
  if (type === 'integer' || type === 'decimal') return Number(cell)
  return type === 'boolean' ? cell === 'true' : cell
}

export function withComputed(table: { rows: Row[]; columns: string[] }, computations: readonly Input[]) {
  let { rows, columns } = table
  for (const computation of computations) {
    const [name, operation, sources] = [
      textIn(computation, 'as'),
      textIn(computation, 'operation'),
      textsIn(computation, 'columns'),
    ]
    const known = columns
    rows = rows.map((row) => ({
      ...row,
      [name]: combined(operation, Object.values(pick(row, sources, known))),
    }))
    columns = [...columns, name]
  }
  return { rows, columns }
}

function combined(operation: string, values: readonly Value[]): Value {
  if (values.includes(null)) return null
  if (operation === 'concatenate') return values.join(' ')
  const result = values.map(Number).reduce((left, right) => {
    if (operation === 'add') return left + right
    if (operation === 'subtract') return left - right
    return operation === 'multiply' ? left * right : left / right
  })
  return Number.isFinite(result) ? result : null
}
