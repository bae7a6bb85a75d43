/** Questions of running calls in PostgreSQL, so that any replica can take their answers. */
import type { Database } from '@toolwell/postgres/internal'
import type { QuestionStore } from './storage.js'

export function questionTable({ schema, query }: Database): QuestionStore {
  return {
    async open(replica, handle, key) {
      await query(
        `with old as (delete from ${schema}.questions where seen_at < now() - interval '1 hour')
         insert into ${schema}.questions (handle, key, replica) values ($1, $2, $3) on conflict do nothing`,
        [handle, key, replica],
      )
    },
    async listen(replica) {
      const rows = await query(
        `update ${schema}.questions set seen_at = now() where replica = $1 and outcome is null
         returning handle, answer`,
        [replica],
      )
      return rows.flatMap(({ handle, answer }) =>
        answer === null ? [] : [{ handle: String(handle), answer: JSON.parse(String(answer)) as unknown }],
      )
    },
    async end(handle, outcome) {
      await query(`update ${schema}.questions set outcome = $2, seen_at = now() where handle = $1`, [
        handle,
        JSON.stringify(outcome),
      ])
    },
    async forget(handle) {
      await query(`delete from ${schema}.questions where handle = $1 and answer is null`, [handle])
    },
    async answer(handle, key, answer) {
      const text = JSON.stringify(answer)
      // The same answer counts as given: the statement may run twice.
      const rows = await query(
        `update ${schema}.questions set answer = $3 where handle = $1 and key = $2
         and (answer is null or answer = $3) returning handle`,
        [handle, key, text],
      )
      return rows.length > 0
    },
    async read(handle) {
      const [row] = await query(
        `select outcome, seen_at < now() - interval '15 seconds' as is_lost
         from ${schema}.questions where handle = $1`,
        [handle],
      )
      if (!row) return { isLost: true }
      const isLost = row.is_lost === true
      return row.outcome === null ? { isLost } : { outcome: JSON.parse(String(row.outcome)), isLost }
    },
  }
}
