/** Long results and usage examples in PostgreSQL. */
import type { UsageExample, UsageStore } from '@toolwell/core'
import type { KeptContent, ResultStore } from '@toolwell/core/result'
import type { Database } from './database.js'

const RESULT_DAYS = 7
/** PostgreSQL refuses a text of 1 GB. A result of this size is already far too long to be read by a model. */
const MAX_RESULT = 64 * 1024 * 1024
/** The newest examples; older ones are deleted. */
const EXAMPLES = 20_000

const encode = (text: string) => JSON.stringify(text).slice(1, -1)

/** Each write first deletes a few results that are more than seven days old. */
export function postgresResults({ schema, query }: Database): ResultStore {
  return {
    async write(ledger, handle, content) {
      const text = JSON.stringify(content)
      if (text.length > MAX_RESULT) return false
      await query(
        `with old as (
           delete from ${schema}.results where (ledger, handle) in (
             select ledger, handle from ${schema}.results where written_at < now() - interval '${RESULT_DAYS} days' limit 100
           ) and (ledger, handle) <> ($1, $2)
         ) insert into ${schema}.results (ledger, handle, content) values ($1, $2, $3)
         on conflict (ledger, handle) do update set content = excluded.content, written_at = now()`,
        [encode(ledger), encode(handle), text],
      )
      return true
    },
    async read(ledger, handle) {
      const [row] = await query(
        `select content from ${schema}.results
         where ledger = $1 and handle = $2 and written_at >= now() - interval '${RESULT_DAYS} days'`,
        [encode(ledger), encode(handle)],
      )
      return row === undefined ? undefined : (JSON.parse(String(row.content)) as KeptContent)
    },
    async delete(ledger) {
      await query(`delete from ${schema}.results where ledger = $1`, [encode(ledger)])
    },
  }
}

export function postgresUsage({ schema, query }: Database): UsageStore {
  return {
    async read() {
      const rows = await query(`select example from ${schema}.usage order by id desc limit ${EXAMPLES}`, [])
      return rows.map((row) => JSON.parse(String(row.example)) as UsageExample).reverse()
    },
    async append(examples) {
      if (examples.length === 0) return
      const rows = examples.map((example) => ({
        principal: encode(example.principal),
        tool: encode(example.tool),
        example: JSON.stringify(example),
      }))
      await query(
        `insert into ${schema}.usage (principal, tool, example) select principal, tool, example
         from json_to_recordset($1::json) as given (principal text, tool text, example text)`,
        [JSON.stringify(rows)],
      )
      await query(
        `delete from ${schema}.usage where id <= (select max(id) - ${2 * EXAMPLES} from ${schema}.usage)`,
        [],
      )
    },
    async forget({ principal, tool }) {
      await query(
        `delete from ${schema}.usage where ($1::text is null or principal = $1) and ($2::text is null or tool = $2)`,
        [principal === undefined ? null : encode(principal), tool === undefined ? null : encode(tool)],
      )
    },
  }
}
