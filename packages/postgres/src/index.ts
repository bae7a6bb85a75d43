/** The entry point of `@toolwell/postgres`. */
export type { PostgresClient } from './database.js'
export { type PostgresOptions, type PostgresStore, postgresStore } from './postgres-store.js'
export { schemaSql } from './schema.js'
