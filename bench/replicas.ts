/** What do gateways that share a database ask of it? Generators drive the storage of the gateway against a real PostgreSQL. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { openPostgresStorage } from '@toolwell/gateway/postgres'
import { type PostgresServer, startPostgres } from '../packages/postgres/test/postgres-server.ts'
import { print } from './lines.ts'

const SECONDS = 10
const CALLS = 3000
const command = fileURLToPath(new URL('../packages/cli/bin/toolwell.mjs', import.meta.url))
const odd = fileURLToPath(new URL('../packages/mcp/test/support/odd-server.mjs', import.meta.url))
const TOOLS = Array.from({ length: 20 }, (_, index) => `tool_${index}`)

type Shared = Awaited<ReturnType<typeof openPostgresStorage>>

/** Commits, and milliseconds of processor time of all processes of the server. Linux only. */
async function readWork({ pool }: PostgresServer) {
  const { rows: processes } = await pool.query('select pid from pg_stat_activity')
  const cpu = processes.map(({ pid }) => Number.parseInt(readFileSync(`/proc/${pid}/schedstat`, 'utf8'), 10))
  const { rows } = await pool.query(
    `select xact_commit::int as commits from pg_stat_database where datname = current_database()`,
  )
  return { commits: rows[0].commits as number, cpu: cpu.reduce((sum, each) => sum + each, 0) / 1e6 }
}

/** The work of the server while `work` runs, and milliseconds of processor time of this process. */
async function measure(server: PostgresServer, work: () => Promise<unknown>) {
  // Statistics of the server are up to a second late.
  await wait(1500)
  const before = await readWork(server)
  const own = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(own)
  await wait(1500)
  const after = await readWork(server)
  return {
    commits: after.commits - before.commits,
    cpu: after.cpu - before.cpu,
    own: (user + system) / 1000,
  }
}

function addCall({ storage }: Shared, number: number): void {
  const [time, tool] = [Date.now(), TOOLS[number % TOOLS.length] ?? '']
  const call = {
    server: 'billing',
    tool,
    client: 'agent',
    outcome: 'ok',
    tokensIn: 80,
    tokensOut: 600,
  } as const
  storage.stats?.recordCall({ ...call, time, project: '', milliseconds: 40, bytesOut: 2400 })
  storage.audit.append({
    ...call,
    time: new Date(time).toISOString(),
    principal: 'agents',
    folder: '',
    milliseconds: 40,
    bytesIn: 320,
    bytesOut: 2400,
    arguments: '0123456789abcdef',
  })
}

/** Processor time and memory of one gateway, the built command, for calls of ten clients. Linux only. */
async function measureGateway(database: string): Promise<{ readonly cpu: number; readonly memory: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-bench-'))
  const config = join(folder, 'toolwell.json')
  const give = { name: 'note', description: 'Notes.', inputSchema: { type: 'object' } }
  const servers = { odd: { command: process.execPath, args: [odd, JSON.stringify({ tools: [give] })] } }
  writeFileSync(config, JSON.stringify({ mcpServers: servers }))
  const words = ['serve', '--port', '0', '--json', '--config', config, '--folder', join(folder, 'state')]
  const child = spawn(process.execPath, [command, ...words], {
    env: { PATH: process.env.PATH, HOME: folder, TOOLWELL_DATABASE: database },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  try {
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    const { url, tokenFile } = JSON.parse(line)
    const headers = { Authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}` }
    const clients = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } })
        await client.connect(
          new StreamableHTTPClientTransport(new URL(`${url}/mcp/all`), { requestInit: { headers } }),
        )
        return client
      }),
    )
    const run = (calls: number) =>
      Promise.all(
        clients.map(async (client) => {
          for (let at = 0; at < calls / clients.length; at++)
            await client.callTool({ name: 'odd__note', arguments: { at } })
        }),
      )
    await run(500)
    const readTicks = () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return Number(fields[11]) + Number(fields[12])
    }
    const before = readTicks()
    await run(CALLS)
    const cpu = ((readTicks() - before) * 10) / CALLS
    const [, memory] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    await Promise.all(clients.map((client) => client.close()))
    return { cpu, memory: Number(memory) / 1024 }
  } finally {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function benchReplicas(): Promise<object> {
  const server = await startPostgres({ max_connections: '400' })
  const { pool } = server
  const open = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => openPostgresStorage({ connectionString: server.url, key: 'key' })),
    )
  try {
    // Two numbers, so that the work of one replica is their difference.
    const idle: object[] = []
    for (const replicas of [20, 100]) {
      const opened = await open(replicas)
      const work = await measure(server, () => wait(SECONDS * 1000))
      const [commits, cpu] = [work.commits / SECONDS, work.cpu / SECONDS]
      const { rows } = await pool.query(
        `select count(*)::int as count from pg_stat_activity where backend_type = 'client backend'`,
      )
      const started = performance.now()
      const token = { name: `t${replicas}`, hash: '0'.repeat(64), createdAt: 0, rights: {} }
      await opened[0]?.storage.tokens.add(token)
      while (opened.some(({ storage }) => storage.tokens.list().every(({ name }) => name !== token.name)))
        await wait(10)
      const lag = performance.now() - started
      idle.push({ replicas, commits, cpu, connections: rows[0].count, lag })
      print(
        `${replicas} idle replicas: ${commits.toFixed(0)} transactions and ${cpu.toFixed(0)} ms of CPU per second, ${rows[0].count} connections; a new token counts on all after ${(lag / 1000).toFixed(1)} s`,
      )
      await Promise.all(opened.map(({ close }) => close()))
    }

    const busy = await open(20)
    let calls = 0
    const work = await measure(server, async () => {
      for (let round = 0; round < SECONDS * 20; round++) {
        for (const shared of busy) for (let at = 0; at < 3; at++) addCall(shared, calls++)
        await wait(50)
      }
      await Promise.all(busy.flatMap(({ storage }) => [storage.audit.flush(), storage.stats?.flush()]))
    })
    const perSecond = calls / SECONDS
    const { rows } = await pool.query(
      'select pg_total_relation_size($1)::float8 / count(*) as bytes, count(*)::int as count from toolwell_data.calls',
      ['toolwell_data.calls'],
    )
    const [{ bytes, count }] = rows
    if (count !== calls) throw new Error(`${calls} calls, ${count} in the log`)
    const call = {
      perSecond,
      transactions: work.commits / calls,
      cpu: work.cpu / calls,
      own: work.own / calls,
      bytes,
    }
    print(
      `20 replicas with ${perSecond.toFixed(0)} calls per second: for each call ${call.transactions.toFixed(2)} transactions, ${call.cpu.toFixed(2)} ms of CPU in PostgreSQL and ${call.own.toFixed(2)} ms in the gateway, ${Math.round(bytes)} bytes of log`,
    )

    // Replicas that call the same tools wait for each other: every write changes the same rows.
    let writes = 0
    const until = performance.now() + SECONDS * 1000
    await Promise.all(
      busy.map(async (shared) => {
        while (performance.now() < until) {
          for (const at of TOOLS.keys()) addCall(shared, at)
          await shared.storage.stats?.flush()
          writes++
        }
      }),
    )
    const sums = { replicas: busy.length, tools: TOOLS.length, perSecond: writes / SECONDS }
    print(`sums of 20 tools, written by 20 replicas at once: ${sums.perSecond.toFixed(0)} writes per second`)
    await Promise.all(busy.map(({ close }) => close()))

    const gateway = { files: await measureGateway(''), database: await measureGateway(server.url) }
    const describe = ({ cpu, memory }: typeof gateway.files) =>
      `${cpu.toFixed(2)} ms of CPU for each call, ${memory.toFixed(0)} MB`
    print(
      `one gateway with files: ${describe(gateway.files)}; with a database: ${describe(gateway.database)}`,
    )
    return { idle, call, sums, gateway }
  } finally {
    await server.stop()
  }
}
