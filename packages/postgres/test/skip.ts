import { binaries, pooler } from './postgres-server.ts'

/** True if tests must be skipped. In CI they fail instead. */
export const withoutPostgres = binaries === undefined && process.env.CI === undefined
/** True if tests with PgBouncer must be skipped. */
export const withoutPooler = withoutPostgres || pooler === undefined

if (withoutPostgres)
  console.warn(
    'SKIPPED: there is no PostgreSQL on this machine. Install it (initdb must be on the PATH) to run these tests.',
  )
else if (withoutPooler)
  console.warn(
    'SKIPPED: this machine does not have PgBouncer. Install it (pgbouncer must be on the PATH) to run tests behind a pooler.',
  )
