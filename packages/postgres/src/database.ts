/** Queries with retries after lost connections, and errors that say what to do. */
import { randomInt } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { ToolwellError } from '@toolwell/core'
import { quoteSchema, SCHEMA_VERSION, schemaSql } from './schema.js'

export type Row = Readonly<Record<string, unknown>>

/** A Pool or Client of `pg`, or any object with this method. Values are strings, numbers and null. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): PromiseLike<{ readonly rows: readonly Row[] }>
}

export type Query = (text: string, values: unknown[]) => Promise<readonly Row[]>

export interface Database {
  /** The quoted name of the schema. */
  readonly schema: string
  /**
   * Runs one statement, and runs it again if the connection was lost. So a statement may run twice: write only statements for which
   * that does no harm.
   */
  readonly query: Query
}

const ATTEMPTS = 6
const FIRST_WAIT = 50

/** Errors after which the same statement can succeed: the connection, a shutdown, too many connections, a deadlock. */
const TEMPORARY =
  /^(?:08...|57P0[123]|53300|40001|40P01|ECONNRESET|ECONNREFUSED|EPIPE|ETIMEDOUT|CONNECTION_.*)$/

/** Messages of `pg` without a code for a connection that ended or does not answer. */
const ENDED =
  /connection terminated|connection ended|socket hang up|connection error and is not queryable|timeout exceeded when trying to connect|query read timeout/i

/** The cause and the fix for each code that a user can meet. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host name is unknown. Check the host in the connection string.',
  EAI_AGAIN: 'The host name cannot be resolved now. Check the host in the connection string, and DNS.',
  ECONNREFUSED:
    'Nothing answers at this address. Check host and port in the connection string, and that PostgreSQL runs.',
  ETIMEDOUT: 'The server does not answer. Check host, port and firewall.',
  '28P01': 'The password is wrong or missing. Check user and password in the connection string.',
  '28000': 'The server refuses this user. Check the user in the connection string and pg_hba.conf.',
  '3D000': 'The database does not exist. Check its name in the connection string, or run createdb.',
  '42501':
    'The user lacks a right. Grant it, or run the output of `toolwell postgres schema` as the owner of the database and grant the user access to its tables.',
  '25006': 'The server is read-only. Give the address of the primary server.',
  '53100': 'The disk of the server is full. Free space on it.',
  '53200': 'The server is out of memory.',
  '53300':
    'The server has no free connection. Raise max_connections, lower the size of the pools, or use PgBouncer.',
  '57014': 'The statement was cancelled. Raise statement_timeout for this user.',
}

export function openDatabase(client: PostgresClient, schema: string): Database {
  const quoted = quoteSchema(schema)
  let prepared: Promise<void> | undefined

  async function retry(text: string, values?: unknown[]): Promise<readonly Row[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await client.query(text, values)).rows
      } catch (error) {
        if (attempt === ATTEMPTS || !isTemporary(error)) throw explain(error)
        const most = FIRST_WAIT * 2 ** (attempt - 1)
        await wait(randomInt(most / 2, most + 1))
      }
    }
  }

  async function prepare(): Promise<void> {
    const readVersion = async () => Number((await retry(`select version from ${quoted}.version`))[0]?.version)
    let version = await readVersion().catch((error: Error) => {
      // 42P01 and 3F000: the table or its schema is missing.
      if (['42P01', '3F000'].includes(readCode(error.cause))) return 0
      throw error
    })
    if (version < SCHEMA_VERSION) {
      await retry(schemaSql(schema))
      version = await readVersion()
    }
    if (version === SCHEMA_VERSION) return
    throw new ToolwellError(
      'ledger-too-new',
      `The tables in schema ${schema} have version ${version}; this release of @toolwell/postgres knows version ${SCHEMA_VERSION}. Update @toolwell/postgres on this host. Nothing was changed.`,
      { found: version, known: SCHEMA_VERSION },
    )
  }

  return {
    schema: quoted,
    async query(text, values) {
      prepared ??= prepare()
      try {
        await prepared
      } catch (error) {
        prepared = undefined
        throw error
      }
      return retry(text, values)
    },
  }
}

function readCode(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

function isTemporary(error: unknown): boolean {
  const code = readCode(error)
  return code === '' ? ENDED.test(String((error as Error)?.message)) : TEMPORARY.test(code)
}

function explain(error: unknown): ToolwellError {
  // Without a password, `pg` fails before the server does.
  const isWithoutPassword = /client password must be a string/.test(String(error))
  const code = isWithoutPassword ? '28P01' : readCode(error)
  // A name that has several addresses fails with an AggregateError, which has a code and no message.
  const message = (error as Error)?.message || code || 'unknown error'
  const advice = EXPLANATIONS[code] ?? (isTemporary(error) ? `${ATTEMPTS} attempts failed.` : '')
  return new ToolwellError(
    'store-failed',
    `PostgreSQL could not be used: ${message}.${advice === '' ? '' : ` ${advice}`}`,
    { code },
    { cause: error },
  )
}

export interface PostgresOptions {
  /** A Pool or Client of `pg`, or any object with `query(text, values)`. */
  readonly client?: PostgresClient
  /** Creates a Pool of `pg` with this address. `close` ends it. */
  readonly connectionString?: string
  /** The schema of the tables; created if it is missing. Default `toolwell_data`: a user called toolwell would find a schema `toolwell` before `public`. */
  readonly schema?: string
}

interface PoolClient extends PostgresClient {
  release(error?: Error): void
}

interface Pool extends PostgresClient {
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

export interface OpenClient {
  readonly client: PostgresClient
  /** Runs `work` in a transaction. Only with `connectionString`. A lost connection ends it. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A network that swallows packets would otherwise block a query for a quarter of an hour. */
const TIMEOUTS = { connectionTimeoutMillis: 10_000, query_timeout: 60_000, keepAlive: true }

export function openClient({ client, connectionString }: PostgresOptions): OpenClient {
  if ((client === undefined) === (connectionString === undefined))
    throw new ToolwellError(
      'invalid-option',
      'postgresStore needs either client (a Pool of pg) or connectionString ("postgres://user:password@host/database").',
      { path: 'client' },
    )
  if (client !== undefined) {
    if (typeof client?.query !== 'function')
      throw new ToolwellError('invalid-option', 'client needs a method query(text, values).', {
        path: 'client',
      })
    ignoreIdleErrors(client)
    const transaction = () => Promise.reject(new Error('Transactions need a connectionString.'))
    return { client, transaction, close: async () => {} }
  }
  if (!isAddress(connectionString))
    throw new ToolwellError(
      'invalid-option',
      'The connection string is not an address of PostgreSQL. Write postgres://user:password@host:5432/database. If the password has special characters, write them as in URLs: "#" is %23, "@" is %40.',
      { path: 'connectionString' },
    )
  let pool: Promise<Pool> | undefined
  const create = async (): Promise<Pool> => {
    const { default: pg } = await import('pg').catch((cause: unknown) => {
      throw new ToolwellError(
        'invalid-option',
        'connectionString needs the package pg: npm install pg',
        {},
        { cause },
      )
    })
    const created = new pg.Pool({ connectionString, ...TIMEOUTS })
    ignoreIdleErrors(created)
    return created
  }
  const open = () => {
    pool ??= create()
    return pool
  }
  return {
    client: { query: async (text, values) => (await open()).query(text, values) },
    async transaction(work) {
      const used = await (await open()).connect().catch((error: unknown) => {
        throw explain(error)
      })
      const query: Query = async (text, values) => {
        try {
          return (await used.query(text, values)).rows
        } catch (error) {
          throw explain(error)
        }
      }
      try {
        await query('begin', [])
        const done = await work(query)
        await query('commit', [])
        used.release()
        return done
      } catch (error) {
        // The server rolls back when the connection ends.
        used.release(error as Error)
        throw error
      }
    },
    close: async () => {
      const opened = pool
      pool = undefined
      await (await opened)?.end()
    },
  }
}

/** `pg` would connect to its default host with some other texts. */
function isAddress(text: unknown): boolean {
  return (
    typeof text === 'string' && /^postgres(?:ql)?:$/.test(URL.canParse(text) ? new URL(text).protocol : '')
  )
}

/** Without a listener, a Pool ends the process when an idle connection breaks. The next query opens a new connection. */
function ignoreIdleErrors(client: PostgresClient): void {
  const emitter = client as Partial<EventEmitter>
  if (emitter.listenerCount?.('error') === 0) emitter.on?.('error', () => {})
}
