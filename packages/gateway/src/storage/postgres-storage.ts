/** Everything that the replicas of a gateway share, in PostgreSQL. An entry point. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { FirstUse, FirstUseStore, LoginStore, ServerConfig } from '@toolwell/mcp'
import {
  type Login,
  loginFingerprint,
  type ReadOnlyStore,
  type ReadOnlyTools,
  trustScope,
} from '@toolwell/mcp/internal'
import { openClient, openDatabase, postgresResults } from '@toolwell/postgres/internal'
import { auditTable } from './audit-table.js'
import { callStatsTable } from './call-stats-table.js'
import { questionTable } from './question-table.js'
import { type Kind, SharedCopy } from './shared-copy.js'
import type { GatewayStorage, TokenRecord, TokenStore } from './storage.js'

export interface PostgresStorageOptions {
  /** `postgres://user:password@host/database` */
  readonly connectionString: string
  /** Default: `toolwell_data`. */
  readonly schema?: string
  /** Encrypts logins. Without it, no login is kept. */
  readonly key?: string | undefined
  /** Called with a sentence if a login cannot be read. */
  readonly onProblem?: (problem: string) => void
}

export interface SharedStorage {
  readonly storage: GatewayStorage
  readonly firstUse: FirstUseStore
  readonly readOnly: ReadOnlyStore
  readonly logins: LoginStore
  /** Throws unless every approval and login was written. */
  written(): Promise<void>
  /** Writes what is queued, and ends the connections. */
  close(): Promise<void>
}

/** The variable with the key, for sentences. */
export const KEY_VARIABLE = 'TOOLWELL_DATABASE_KEY'

/** Throws if the database cannot be used, with the cause and the fix. */
export async function openPostgresStorage(options: PostgresStorageOptions): Promise<SharedStorage> {
  const { connectionString, schema = 'toolwell_data', key, onProblem = () => undefined } = options
  const { client, transaction, close: disconnect } = openClient({ connectionString })
  const database = openDatabase(client, schema)
  const copy = new SharedCopy(database)
  const stats = callStatsTable(database)
  const audit = auditTable(database)
  try {
    await copy.open()
    await stats.open()
  } catch (error) {
    await disconnect()
    throw error
  }
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= (async () => {
      await Promise.all([audit.flush(), stats.flush(), copy.close().catch(() => undefined)])
      await disconnect()
    })()
    return closing
  }
  return {
    storage: {
      tokens: tokensIn(copy),
      audit,
      results: postgresResults(database),
      stats,
      questions: questionTable(database),
      problem: () => copy.problem,
      close,
    },
    firstUse: valuesIn<FirstUse | undefined>(copy, 'first-use', (seen) =>
      seen === undefined ? undefined : { ...seen, tools: withoutPrototype(seen.tools) },
    ),
    readOnly: valuesIn<ReadOnlyTools>(copy, 'read-only', (tools = {}) => withoutPrototype(tools)),
    logins: loginsIn(copy, transaction, key, onProblem),
    written: () => copy.written(),
    close,
  }
}

function tokensIn(copy: SharedCopy): TokenStore {
  let known: readonly TokenRecord[] = []
  let revision = -1
  return {
    list() {
      if (revision !== copy.revision) known = copy.values('token').map((text) => JSON.parse(text))
      revision = copy.revision
      return known
    },
    add: (token) => copy.put('token', token.name, JSON.stringify(token), (stored) => stored === undefined),
    remove: (name) => copy.put('token', name, undefined, (stored) => stored !== undefined),
  }
}

/** One JSON value for each server. */
function valuesIn<T>(copy: SharedCopy, kind: Kind, decode: (value: T | undefined) => T) {
  const keyOf = (server: ServerConfig) => JSON.stringify([trustScope(server), server.name])
  return {
    read(server: ServerConfig): T {
      const text = copy.get(kind, keyOf(server))
      return decode(text === undefined ? undefined : (JSON.parse(text) as T))
    },
    write: (server: ServerConfig, value: T) => copy.putSoon(kind, keyOf(server), JSON.stringify(value)),
    stamp: (server: ServerConfig) => copy.stamp(kind, keyOf(server)),
  }
}

/** A tool may be called `constructor`. */
const withoutPrototype = <T extends object>(record: T): T => Object.assign(Object.create(null), record)

type Transaction = ReturnType<typeof openClient>['transaction']

function loginsIn(
  copy: SharedCopy,
  transaction: Transaction,
  key: string | undefined,
  onProblem: (problem: string) => void,
): LoginStore {
  const secret = key === undefined ? undefined : createHash('sha256').update(key).digest()
  /** Logins that could not be decrypted, each reported once. */
  const reported = new Set<string>()
  return {
    read(server) {
      const name = loginFingerprint(server)
      const text = copy.get('login', name)
      if (text === undefined || secret === undefined) return undefined
      try {
        return JSON.parse(decrypt(text, secret, name)) as Login
      } catch {
        if (!reported.has(text))
          onProblem(
            `The login of ${server.name} in the database cannot be decrypted: ${KEY_VARIABLE} is not the key that encrypted it.`,
          )
        reported.add(text)
        return undefined
      }
    },
    write(server, login) {
      if (secret === undefined) throw new Error(`set ${KEY_VARIABLE}`)
      const name = loginFingerprint(server)
      copy.putSoon('login', name, encrypt(JSON.stringify(login), secret, name))
    },
    forget: (server) => copy.putSoon('login', loginFingerprint(server), undefined),
    exclusively: (server, work) => copy.exclusively(transaction, 'login', loginFingerprint(server), work),
    stamp: (server) => copy.stamp('login', loginFingerprint(server)),
  }
}

const CIPHER = 'aes-256-gcm'

/** `name` is authenticated, so a row cannot be moved to another server. */
function encrypt(text: string, secret: Buffer, name: string): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv(CIPHER, secret, nonce).setAAD(Buffer.from(name))
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(parts).toString('base64')
}

/** Throws if the key is another one or the text was changed. */
function decrypt(text: string, secret: Buffer, name: string): string {
  const bytes = Buffer.from(text, 'base64')
  const decipher = createDecipheriv(CIPHER, secret, bytes.subarray(0, 12))
  decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8')
}
