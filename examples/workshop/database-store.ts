/** Tables of the database server: one JSON file each below `.database`, with columns and rows. */
import { formatCsv, parseCsv } from './csv.ts'
import {
  checked,
  complete,
  convert,
  describe,
  guessType,
  measured,
  pick,
  requireAtMost,
  requireUnique,
  sortRows,
  statisticsOf,
  type Table,
  withComputed,
} from './database-table.ts'
import { asValue, createPredicate, type Row } from './database-where.ts'
import { flagIn, type Input, numberIn, objectIn, objectsIn, optionalText, textIn, textsIn } from './input.ts'
import type { Store } from './store.ts'

export function createDatabase(store: Store) {
  const fileOf = (name: string) => {
    if (!/^[a-z][a-z0-9_]*$/.test(name))
      throw new Error(`"${name}" is no table name. Use lower case, digits and "_".`)
    return `.database/${name}.json`
  }
  const save = (table: Table) => store.writeJson(fileOf(table.name), table)

  async function load(name: string): Promise<Table> {
    const table = await store.readJson<Table | undefined>(fileOf(name), undefined)
    if (!table)
      throw new Error(`There is no table "${name}". See describe_tables, or create it with create_table.`)
    return table
  }

  const loadFrom = (input: Input) => load(textIn(input, 'table'))
  const namesOf = (table: Table) => table.columns.map(({ name }) => name)

  return {
    async createTable(input: Input) {
      const name = textIn(input, 'name')
      if (await store.exists(fileOf(name))) {
        const mode = textIn(input, 'if_exists', 'fail')
        if (mode === 'keep') return describe(await load(name))
        if (mode === 'fail') throw new Error(`Table "${name}" exists. Use if_exists "keep" or "replace".`)
      }
      const columns = objectsIn(input, 'columns').map((column) => ({
        name: textIn(column, 'name'),
        type: textIn(column, 'type'),
        nullable: flagIn(column, 'nullable', true),
        unique: flagIn(column, 'unique', false),
        default: asValue(column.default, textIn(column, 'name')),
        description: textIn(column, 'description', ''),
      }))
      const key = optionalText(input, 'primary_key') ?? null
      if (key !== null && !columns.some((column) => column.name === key))
        throw new Error(`The primary key "${key}" is not among the columns. Add that column or name another.`)
      const table = {
        name,
        description: textIn(input, 'description', ''),
        columns,
        primary_key: key,
        rows: [],
      }
      await save(table)
      return describe(table)
    },

    async describeTables(input: Input) {
      const wanted = textsIn(input, 'tables')
      const stored = (await store.listFiles('.database')).map((file) => file.replace(/\.json$/, ''))
      const tables = await Promise.all((wanted.length > 0 ? wanted : stored).map(load))
      return {
        tables: tables.map((table) => ({
          ...describe(table),
          ...(flagIn(input, 'include_statistics', false) ? { statistics: statisticsOf(table) } : {}),
          sample: table.rows.slice(0, numberIn(input, 'sample_rows', 0)),
        })),
      }
    },

    async queryRows(input: Input) {
      const table = await loadFrom(input)
      const joined = withComputed(await join(table, objectsIn(input, 'join')), objectsIn(input, 'compute'))
      const found = joined.rows.filter(createPredicate(input, joined.columns))
      const select = textsIn(input, 'select')
      const picked = sortRows(found, objectsIn(input, 'order_by'), joined.columns).map((row) =>
        pick(row, select, joined.columns),
      )
      const seen = new Set<string>()
      const rows = flagIn(input, 'distinct', false)
        ? picked.filter((row) => !seen.has(JSON.stringify(row)) && seen.add(JSON.stringify(row)))
        : picked
      const offset = numberIn(input, 'offset', 0)
      const page = rows.slice(offset, offset + numberIn(input, 'limit', 100))
      if (textIn(input, 'format', 'objects') === 'objects') return { total: rows.length, rows: page }
      const columns = Object.keys(page[0] ?? {})
      return {
        total: rows.length,
        columns,
        rows: page.map((row) => columns.map((column) => row[column] ?? null)),
      }
    },

    async insertRows(input: Input) {
      const table = await loadFrom(input)
      const mode = textIn(input, 'on_conflict', 'fail')
      const counts = { inserted: 0, updated: 0, skipped: 0 }
      for (const given of objectsIn(input, 'rows')) {
        const key = table.primary_key
        const position = key === null ? -1 : table.rows.findIndex((old) => old[key] === given[key])
        if (position >= 0 && mode === 'fail')
          throw new Error(
            `A row with that ${key} exists: ${JSON.stringify(given)}. Use on_conflict "skip" or "update".`,
          )
        if (position >= 0 && mode === 'skip') counts.skipped++
        else if (position >= 0) {
          table.rows[position] = { ...table.rows[position], ...checked(table, given) }
          counts.updated++
        } else {
          table.rows.push(complete(table, given))
          counts.inserted++
        }
      }
      requireUnique(table)
      await save(table)
      return { ...counts, total: table.rows.length }
    },

    async updateRows(input: Input) {
      const table = await loadFrom(input)
      const set = checked(table, objectIn(input, 'set'))
      const increments = Object.entries(objectIn(input, 'increment'))
      const fits = createPredicate(input, namesOf(table))
      const changed = table.rows.filter(fits)
      requireAtMost(changed.length, input)
      for (const row of changed) {
        Object.assign(row, set)
        for (const [column, by] of increments)
          Object.assign(row, checked(table, { [column]: Number(row[column] ?? 0) + Number(by) }))
      }
      requireUnique(table)
      const dryRun = flagIn(input, 'dry_run', false)
      if (!dryRun) await save(table)
      return {
        changed: changed.length,
        written: !dryRun,
        rows: flagIn(input, 'return_rows', false) ? changed : [],
      }
    },

    async deleteRows(input: Input) {
      const table = await loadFrom(input)
      if (objectsIn(input, 'where').length === 0 && !flagIn(input, 'all_rows', false))
        throw new Error('No condition was given. Add one to where, or set all_rows to empty the table.')
      const fits = createPredicate(input, namesOf(table))
      const doomed = table.rows.filter(fits)
      requireAtMost(doomed.length, input)
      const backup = optionalText(input, 'backup_path')
      if (backup !== undefined) await store.writeJson(backup, doomed)
      await save({ ...table, rows: table.rows.filter((row) => !doomed.includes(row)) })
      return { deleted: doomed.length, remaining: table.rows.length - doomed.length }
    },

    async aggregateRows(input: Input) {
      const table = await loadFrom(input)
      const groupBy = textsIn(input, 'group_by')
      const groups = new Map<string, Row[]>()
      for (const row of table.rows.filter(createPredicate(input, namesOf(table)))) {
        const key = JSON.stringify(pick(row, groupBy.length > 0 ? groupBy : [], namesOf(table), true))
        groups.set(key, [...(groups.get(key) ?? []), row])
      }
      const measures = objectsIn(input, 'measures')
      const results = [...groups].map(([key, rows]): Row => {
        const result: Row = JSON.parse(key)
        for (const measure of measures) {
          const [name, column] = [textIn(measure, 'function'), optionalText(measure, 'column')]
          result[textIn(measure, 'as', column === undefined ? name : `${name}_${column}`)] = measured(
            name,
            column,
            rows,
          )
        }
        return result
      })
      const columns = Object.keys(results[0] ?? {})
      const kept = results.length > 0 ? results.filter(createPredicate(input, columns, 'having')) : []
      return {
        groups: sortRows(kept, objectsIn(input, 'order_by'), columns).slice(0, numberIn(input, 'limit', 100)),
      }
    },

    async importCsv(input: Input) {
      const rows = parseCsv(await store.readText(textIn(input, 'path')), textIn(input, 'delimiter', ','))
      const header = flagIn(input, 'has_header', true)
        ? rows.shift()
        : rows[0]?.map((_, index) => `column_${index + 1}`)
      if (!header) throw new Error('The file is empty. Give a file with at least one row.')
      const renames = objectIn(input, 'rename_columns')
      const names = header.map((name) => textIn(renames, name, name.trim()))
      const nulls = 'null_values' in input ? textsIn(input, 'null_values') : ['']
      const types = objectIn(input, 'column_types')
      const typed = names.map((name, index) => {
        const cells = rows.map((row) => row[index] ?? '').filter((cell) => !nulls.includes(cell))
        return textIn(types, name, guessType(cells))
      })
      const name = textIn(input, 'table')
      const append = textIn(input, 'mode', 'create') === 'append'
      if (!append && textIn(input, 'mode', 'create') === 'create' && (await store.exists(fileOf(name))))
        throw new Error(`Table "${name}" exists. Use mode "append" or "replace".`)
      const columns = names.map((column, index) => ({
        name: column,
        type: typed[index] ?? 'text',
        nullable: true,
        unique: false,
        default: null,
        description: '',
      }))
      const key = optionalText(input, 'primary_key') ?? null
      const table = append
        ? await load(name)
        : { name, description: '', columns, primary_key: key, rows: [] as Row[] }
      const typeOf = new Map(table.columns.map((column) => [column.name, column.type]))
      for (const row of rows)
        table.rows.push(
          complete(
            table,
            Object.fromEntries(
              names.map((column, index) => [
                column,
                convert(row[index] ?? '', typeOf.get(column) ?? 'text', nulls),
              ]),
            ),
          ),
        )
      requireUnique(table)
      await save(table)
      return { ...describe(table), imported: rows.length }
    },

    async exportTable(input: Input) {
      const table = await loadFrom(input)
      const select = textsIn(input, 'select')
      const rows = sortRows(
        table.rows.filter(createPredicate(input, namesOf(table))),
        objectsIn(input, 'order_by'),
        namesOf(table),
      ).map((row) => pick(row, select, namesOf(table)))
      const format = textIn(input, 'format', 'csv')
      const columns = select.length > 0 ? select : namesOf(table)
      const cells = rows.map((row) =>
        columns.map((column) => String(row[column] ?? textIn(input, 'null_text', ''))),
      )
      const path = textIn(input, 'path')
      const markdown = [columns, columns.map(() => '---'), ...cells]
        .map((row) => `| ${row.join(' | ')} |\n`)
        .join('')
      const contents: Record<string, string> = {
        csv: formatCsv(
          flagIn(input, 'header', true) ? [columns, ...cells] : cells,
          textIn(input, 'delimiter', ','),
        ),
        json: `${JSON.stringify(rows, null, 2)}\n`,
        json_lines: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
        markdown,
      }
      await store.write(path, contents[format] ?? '')
      return { path, format, rows: rows.length }
    },
  }

  async function join(table: Table, joins: Input[]): Promise<{ rows: Row[]; columns: string[] }> {
    let [rows, columns] = [table.rows, namesOf(table)]
    for (const entry of joins) {
      const other = await load(textIn(entry, 'table'))
      const [own, foreign] = [textIn(entry, 'column'), textIn(entry, 'other_column', textIn(entry, 'column'))]
      const prefixed = (row: Row | undefined) =>
        Object.fromEntries(namesOf(other).map((name) => [`${other.name}.${name}`, row?.[name] ?? null]))
      rows = rows.flatMap((row) => {
        const partners = other.rows.filter((candidate) => candidate[foreign] === row[own])
        if (partners.length > 0) return partners.map((partner) => ({ ...row, ...prefixed(partner) }))
        return textIn(entry, 'kind', 'inner') === 'left' ? [{ ...row, ...prefixed(undefined) }] : []
      })
      columns = [...columns, ...namesOf(other).map((name) => `${other.name}.${name}`)]
    }
    return { rows, columns }
  }
}
