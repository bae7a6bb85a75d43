/** The entry point of `@toolwell/postgres`. */
export type { PostgresClient, PostgresOptions } from './database.js'
export { type PostgresStore, postgresStore } from './postgres-store.js'
export { schemaSql } from './schema.js'
