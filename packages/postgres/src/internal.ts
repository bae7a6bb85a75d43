/** Internal API for other packages of this repository. It may change with any release. */
export { type Database, type OpenClient, openClient, openDatabase, type Query, type Row } from './database.js'
export { postgresResults } from './results-and-usage.js'
