/** Cost of the gateway: per call compared with bare proxies and other gateways, at the start, in memory, with many clients. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createToolwell, type Tool } from '@toolwell/core'
import type { GatewayReport } from '@toolwell/gateway'
import { askDaemon, DAEMON_FLAGS, findDaemon, readToken } from '@toolwell/gateway/bridge'
import { connectServers, diskCache, diskFirstUse, loadConfig } from '@toolwell/mcp'
import { dealtOut, definitionOf } from './as-servers.ts'
import { atSize, loadCorpus } from './data.ts'
import { cpuOf, httpClient, megabytesOf, quantile, startProgram, startSilent } from './gateway/measure.ts'
import { atMost, print, printLines } from './lines.ts'
import type { BenchOptions } from './run.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const SCRIPT = here('../packages/cli/bin/toolwell.mjs')
const UPSTREAM = here('./gateway/upstream.mjs')
const RUNNING = { command: process.execPath, args: [UPSTREAM], idle: false }
const BARE = here('./gateway/bare-proxy.mjs')
const PEERS = here('./peers/node_modules/')

const ROUNDS = 24
const CALLS = 50
const STARTS = 7
const COUNTS = [3, 20, 71]

export async function benchGateway({ data }: BenchOptions): Promise<object> {
  const { tools, origin } = await loadCorpus(data)
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-bench-gateway-'))
  try {
    const calls = await benchCalls(folder)
    const crowd = await benchCrowd(folder)
    const clients = await benchClients(folder)
    const start = await benchStart(tools, folder)
    const lines = [...calls.lines, ...crowd.lines, ...clients.lines, ...start.lines]
    printLines(lines)
    return {
      tools: origin,
      calls: calls.rows,
      crowd: crowd.figures,
      clients: clients.figures,
      start: start.figures,
      lines,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A gateway as the command runs it, with one config. */
export async function startGateway(folder: string, name: string, config: object) {
  const home = join(folder, name)
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'toolwell.json'), JSON.stringify(config))
  const env = Object.fromEntries(
    ['CONFIG', 'CACHE', 'STATE', 'DATA'].map((each) => [`XDG_${each}_HOME`, join(home, each)]),
  )
  const state = join(home, 'gateway')
  const program = await startProgram(
    [SCRIPT, 'serve', '--config', join(home, 'toolwell.json'), '--folder', state, '--port', '0'],
    env,
    (line) => line.startsWith('The gateway listens on'),
  )
  const [, url = ''] = /on (\S+)\/mcp/.exec(program.said) ?? []
  return { ...program, url, state, env, headers: { Authorization: `Bearer ${readToken(state)}` } }
}

interface Path {
  readonly name: string
  readonly pid: number
  call(n: number): Promise<unknown>
}

/** The same calls over each path in alternating rounds, so that other load affects all equally. */
async function measured(paths: readonly Path[], rounds: number, calls: number) {
  const rows = paths.map(({ name }) => ({ name, times: [] as number[], cpu: 0 }))
  for (const path of paths) for (let n = 0; n < 20; n++) await path.call(n)
  for (let round = 0; round < rounds; round++)
    for (const [at] of paths.entries()) {
      const index = (at + round) % paths.length
      const [path, row] = [paths[index], rows[index]]
      if (!path || !row) continue
      const cpu = cpuOf(path.pid) + process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6
      for (let n = 0; n < calls; n++) {
        const started = performance.now()
        await path.call(n)
        row.times.push(performance.now() - started)
      }
      row.cpu += cpuOf(path.pid) + process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6 - cpu
    }
  return rows.map(({ name, times, cpu }) => ({
    name,
    p10: quantile(times, 0.1),
    p50: quantile(times, 0.5),
    cpu: (cpu * 1000) / times.length,
  }))
}

async function benchCalls(folder: string) {
  const stops: (() => Promise<unknown>)[] = []
  try {
    const upstream = await startProgram([UPSTREAM, 'http'])
    const url = `http://127.0.0.1:${upstream.said}/mcp`
    const bareHttp = await startProgram([BARE, 'http', url])
    const bareStdio = await startProgram([BARE, 'stdio', UPSTREAM])
    const gateway = await startGateway(folder, 'calls', {
      mcpServers: { web: { url }, local: RUNNING },
    })
    stops.push(upstream.stop, bareHttp.stop, bareStdio.stop, gateway.stop)
    const open = async (at: string, isModern: boolean, headers = {}) => {
      const client = await httpClient(at, isModern, headers)
      stops.push(() => client.close())
      await client.listTools()
      return client
    }
    const plain = (client: Client, name: string) => (n: number) => client.callTool({ name, arguments: { n } })
    const through = (client: Client, name: string) => (n: number) =>
      client.callTool({ name: 'run_tool', arguments: { name, arguments: { n } } })
    const direct = await open(url, true)
    const modern = await open(`${gateway.url}/mcp`, true, gateway.headers)
    const at = (port: string) => `http://127.0.0.1:${port}/mcp`
    const http = await measured(
      [
        { name: 'direct HTTP', pid: upstream.pid, call: plain(direct, 'echo') },
        {
          name: 'bare proxy HTTP to HTTP',
          pid: bareHttp.pid,
          call: plain(await open(at(bareHttp.said), true), 'echo'),
        },
        { name: 'gateway HTTP to HTTP', pid: gateway.pid, call: through(modern, 'web__echo') },
        {
          name: 'bare proxy HTTP to stdio',
          pid: bareStdio.pid,
          call: plain(await open(at(bareStdio.said), true), 'echo'),
        },
        { name: 'gateway HTTP to stdio', pid: gateway.pid, call: through(modern, 'local__echo') },
      ],
      ROUNDS,
      CALLS,
    )
    const slow = await measured(
      [
        { name: 'direct, 50 ms', pid: upstream.pid, call: plain(direct, 'slow') },
        { name: 'gateway, 50 ms', pid: gateway.pid, call: through(modern, 'web__slow') },
      ],
      6,
      15,
    )
    const legacy = await open(`${gateway.url}/mcp`, false, gateway.headers)
    const peers = await startPeers(stops, open)
    const others = await measured(
      [
        ...peers.map(({ name, pid, client }) => ({ name, pid, call: plain(client, 'echo') })),
        { name: 'gateway, older protocol', pid: gateway.pid, call: through(legacy, 'local__echo') },
      ],
      ROUNDS,
      CALLS,
    )
    const rows = [...http, ...slow, ...others]
    print('calls, one after the other          p10 ms   p50 ms   CPU ms (client and proxy)')
    for (const { name, p10, p50, cpu } of rows)
      print(
        `  ${name.padEnd(32)}${p10.toFixed(2).padStart(8)}${p50.toFixed(2).padStart(9)}${cpu.toFixed(2).padStart(9)}`,
      )
    const of = (name: string) => rows.find((row) => row.name === name) ?? { p10: Number.NaN, cpu: Number.NaN }
    const against = (what: string, mine: string, theirs: string, limit: number) => [
      atMost(`${what}, p10`, of(mine).p10 / of(theirs).p10, limit),
      atMost(`${what}, CPU`, of(mine).cpu / of(theirs).cpu, limit),
    ]
    const faster = [...others]
      .filter(({ name }) => !name.startsWith('gateway') && !name.endsWith('no logs'))
      .sort((a, b) => a.p10 - b.p10)[0]
    return {
      rows,
      lines: [
        ...against(
          'HTTP to HTTP against the bare proxy',
          'gateway HTTP to HTTP',
          'bare proxy HTTP to HTTP',
          1.15,
        ),
        ...against(
          'HTTP to stdio against the bare proxy',
          'gateway HTTP to stdio',
          'bare proxy HTTP to stdio',
          1.15,
        ),
        atMost(
          'a tool of 50 ms against direct, p10',
          of('gateway, 50 ms').p10 / of('direct, 50 ms').p10,
          1.1,
        ),
        ...(faster
          ? against(`against the faster peer (${faster.name})`, 'gateway, older protocol', faster.name, 1.2)
          : []),
      ],
    }
  } finally {
    for (const stop of stops.reverse()) await stop().catch(() => undefined)
  }
}

/** Other installed gateways in front of the same server, with their defaults; one of them also without its log. */
async function startPeers(
  stops: (() => Promise<unknown>)[],
  open: (url: string, isModern: boolean) => Promise<Client>,
) {
  if (!existsSync(PEERS)) {
    print('Other gateways are not installed: npm ci --prefix bench/peers\n')
    return []
  }
  const server = `${process.execPath} ${UPSTREAM}`
  const supergateway = (...more: string[]) => {
    const words = ['--stdio', server, '--outputTransport', 'streamableHttp', '--stateful', ...more]
    return (port: string) => [join(PEERS, 'supergateway/dist/index.js'), ...words, '--port', port]
  }
  const kinds = [
    { name: 'supergateway', words: supergateway() },
    { name: 'supergateway, no logs', words: supergateway('--logLevel', 'none') },
    {
      name: 'mcp-proxy',
      words: (port: string) => [
        join(PEERS, 'mcp-proxy/dist/bin/mcp-proxy.mjs'),
        ...['--host', '127.0.0.1', '--port', port, '--', process.execPath, UPSTREAM],
      ],
    },
  ]
  const peers: { name: string; pid: number; client: Client }[] = []
  for (const [index, { name, words }] of kinds.entries()) {
    const port = String(18_411 + index)
    const program = startSilent(words(port))
    stops.push(program.stop)
    let client: Client | undefined
    for (let round = 0; !client && round < 200; round++)
      client = await open(`http://127.0.0.1:${port}/mcp`, false).catch(async () => {
        await new Promise((resolve) => setTimeout(resolve, 100))
        return undefined
      })
    if (client) peers.push({ name, pid: program.pid, client })
    else print(`${name} did not answer.`)
  }
  return peers
}

/**
 * Unmeasured calls of each client. Meanwhile connections open, of which a busy Node accepts one per turn of its loop, and code is
 * compiled.
 */
const WARM = 30

/** A hundred clients at once: every call gets exactly one answer, its own. */
async function benchCrowd(folder: string) {
  const gateway = await startGateway(folder, 'crowd', {
    mcpServers: { local: { ...RUNNING, cwd: folder } },
  })
  const clients = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      httpClient(`${gateway.url}/mcp`, index % 2 === 0, gateway.headers),
    ),
  )
  try {
    const call = async (client: Client, name: string, n: number) => {
      const { content } = await client.callTool({
        name: 'run_tool',
        arguments: { name: `local__${name}`, arguments: { n } },
      })
      return (content as { text?: string }[])[0]?.text
    }
    await Promise.all(clients.map((client) => client.listTools()))
    const [counter] = clients
    if (!counter) throw new Error('no clients')
    const times: number[] = []
    let answered = 0
    let wrong = 0
    // Each client has its own pace, so that the bench does not create bursts.
    await Promise.all(
      clients.map(async (client, index) => {
        for (let n = 0; n < WARM + 100; n++) {
          const started = performance.now()
          const own = String(index * 1000 + n)
          if ((await call(client, 'echo', Number(own))) !== own) wrong++
          answered++
          if (n >= WARM) times.push(performance.now() - started)
        }
      }),
    )
    // Clients of the other protocol generation get a separate process if the server speaks both.
    const [, other] = clients
    const counts = [
      Number(await call(counter, 'count', 0)),
      other ? Number(await call(other, 'count', 0)) : 0,
    ]
    const report = (await status(gateway.state)).counts
    const figures = {
      calls: times.length,
      wrong,
      answered,
      run: report.calls,
      counts,
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
    }
    print(
      `\n100 clients, ${times.length} calls: ${wrong} wrong; p50 ${figures.p50.toFixed(1)} ms, p99 ${figures.p99.toFixed(1)} ms`,
    )
    const asked = clients.length * (WARM + 100)
    const ran = counts.reduce((sum, each) => sum + each, 0)
    return {
      figures,
      lines: [
        atMost('calls lost or answered wrongly, of 10,000 from 100 clients', wrong + (asked - answered), 0),
        atMost('calls that ran twice or never', Math.abs(ran - asked), 0),
        atMost('p99 against p50 of 100 clients', figures.p99 / figures.p50, 3),
      ],
    }
  } finally {
    await Promise.all(clients.map((client) => client.close().catch(() => undefined)))
    await gateway.stop()
  }
}

async function status(state: string): Promise<GatewayReport> {
  const found = await findDaemon(state)
  if (found.kind !== 'running') throw new Error('the gateway is not running')
  return (await askDaemon(found, 'GET', '/status')) as GatewayReport
}

/** Twelve stdio clients in one project with five servers: processes, memory of a bridge, and the end. */
async function benchClients(folder: string) {
  const names = ['a', 'b', 'c', 'd', 'e']
  const gateway = await startGateway(folder, 'clients', {
    mcpServers: Object.fromEntries(
      names.map((name) => [name, { command: process.execPath, args: [UPSTREAM], idle: '3s' }]),
    ),
  })
  const transports = Array.from(
    { length: 12 },
    () =>
      new StdioClientTransport({
        command: process.execPath,
        args: [SCRIPT, 'serve', '--stdio', '--folder', gateway.state],
        env: { PATH: process.env.PATH ?? '', ...gateway.env },
        cwd: folder,
      }),
  )
  const clients = transports.map(() => new Client({ name: 'bench', version: '1' }))
  const bare = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  try {
    for (const [index, client] of clients.entries()) {
      const transport = transports[index]
      if (transport) await client.connect(transport)
      await client.listTools()
    }
    const pids = async () =>
      (await status(gateway.state)).serverSets.flatMap(({ servers }) =>
        servers.flatMap((server) => server.pids),
      )
    await Promise.all(
      clients.flatMap((client) =>
        names.map((name) =>
          client.callTool({ name: 'run_tool', arguments: { name: `${name}__echo`, arguments: { n: 1 } } }),
        ),
      ),
    )
    const processes = (await pids()).length
    const bridge = quantile(
      transports.map(({ pid }) => megabytesOf(pid ?? 0)),
      0.5,
    )
    const node = megabytesOf(bare.pid ?? 0)
    const until = Date.now() + 60_000
    while ((await pids()).length > 0 && Date.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 200))
    const left = (await pids()).length
    print(
      `\n12 stdio clients, 5 servers: ${processes} processes; a bridge ${bridge.toFixed(1)} MB, a bare node ${node.toFixed(1)} MB; ${left} processes after the idle time`,
    )
    return {
      figures: { processes, bridge, node, left },
      lines: [
        atMost('processes of 12 clients and 5 servers', processes, 5),
        atMost('memory of a bridge against a bare node', bridge / node, 1.2),
        atMost('processes of servers after the idle time', left, 0),
      ],
    }
  } finally {
    bare.kill()
    await Promise.all(clients.map((client) => client.close().catch(() => undefined)))
    await gateway.stop()
  }
}

/** From the start, as a bridge does it, to an answered list with a full cache; then a hundred thousand searches and calls. */
async function benchStart(corpus: readonly Tool[], folder: string) {
  // A separate user for each, because every config is reviewed again.
  const homeOf = (count: number) => join(folder, 'start', String(count))
  const groups = dealtOut(atSize(corpus, 2500), Math.max(...COUNTS))
  const names = [...groups.keys()]
  for (const count of COUNTS) {
    const home = homeOf(count)
    mkdirSync(home, { recursive: true })
    const cache = diskCache({ folder: home })
    const firstUse = diskFirstUse({ folder: join(home, 'first-use') })
    const entries = names.slice(0, count).map((name) => [name, { command: 'not-started', cwd: '/' }])
    const write = (name: string, mcpServers: object) =>
      writeFileSync(join(home, `${name}.json`), JSON.stringify({ mcpServers }))
    write(String(count), Object.fromEntries(entries))
    write('running', { ...Object.fromEntries(entries), running: { ...RUNNING, cwd: '/' } })
    const config = loadConfig({ files: [join(home, `${count}.json`)], env: {} })
    for (const server of config.servers)
      cache.write(server, definitionOf(groups.get(server.name) ?? [], { name: 'bench', version: '1' }))
    // Cached definitions count as reviewed, as after a real listing.
    const reviewing = connectServers(createToolwell().catalogue, config, { cache, firstUse, logs: false })
    await reviewing.settled(600_000)
    await reviewing.close()
  }
  const program = here('./gateway/start.mjs')
  const once = (count: number, config = String(count), ...words: string[]) => {
    const parameters = ['--expose-gc', ...DAEMON_FLAGS, program, homeOf(count), config, ...words]
    const { stdout, stderr } = spawnSync(process.execPath, parameters, { encoding: 'utf8' })
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout) as {
      cpu: number
      started: number
      tools: number
      rss: number
      bytes: number
      heapBefore: number
      heapAfter: number
      asked: number
      ran: number
    }
  }
  COUNTS.map((count) => once(count))
  const runs = Array.from({ length: STARTS }, () => COUNTS.map((count) => once(count)))
  const rows = COUNTS.map((servers, index) => {
    const own = runs.flatMap((run) => run[index] ?? [])
    return {
      servers,
      tools: own[0]?.tools ?? 0,
      cpu: quantile(
        own.map(({ cpu }) => cpu),
        0.5,
      ),
      started: Math.max(...own.map(({ started }) => started)),
      bytes: own[0]?.bytes ?? 0,
    }
  })
  print('\nfrom the start to an answered tools/list\n servers   tools   CPU ms   processes   bytes')
  for (const { servers, tools, cpu, started, bytes } of rows)
    print(
      `${String(servers).padStart(8)}${String(tools).padStart(8)}${cpu.toFixed(0).padStart(9)}${String(started).padStart(12)}${String(bytes).padStart(8)}`,
    )
  const [few, , many] = rows
  const each = ((many?.cpu ?? 0) - (few?.cpu ?? 0)) / ((many?.servers ?? 1) - (few?.servers ?? 0))
  // The very first search builds the index and leaves garbage; later starts read the index.
  const most = Math.max(...COUNTS)
  const serve = [program, homeOf(most), String(most), 'serve']
  const firstRss = await searchedRss([...DAEMON_FLAGS, ...serve])
  const laterRss = await searchedRss([...DAEMON_FLAGS, ...serve])
  const plainRss = await searchedRss(serve)
  const long = once(most, 'running', '100000')
  print(
    `\n${long.asked} searches and calls over ${long.tools} tools, of which ${long.ran} ran: heap ${long.heapBefore.toFixed(1)} MB before, ${long.heapAfter.toFixed(1)} MB after; RSS of a gateway that was listed and searched ${laterRss.toFixed(0)} MB, the first time of all ${firstRss.toFixed(0)} MB, without the options of a daemon ${plainRss.toFixed(0)} MB`,
  )
  return {
    figures: { rows, cpuPerServer: each, firstRss, laterRss, plainRss, long },
    lines: [
      atMost('CPU ms of each further cached server, 71 against 3', each, 4),
      atMost('processes started for a list', Math.max(...rows.map(({ started }) => started)), 0),
      atMost('RSS in MB of a daemon at 2,500 tools, after the first search of all', firstRss, 150),
      atMost('RSS in MB of a daemon at 2,500 tools, in a later start', laterRss, 150),
      atMost('MB of heap after 100,000 searches and calls', long.heapAfter - long.heapBefore, 5),
    ],
  }
}

/** Megabytes of a gateway that has answered a list and twenty searches. */
async function searchedRss(words: readonly string[]): Promise<number> {
  const serving = await startProgram(words)
  const client = await httpClient(`http://127.0.0.1:${serving.said}/mcp`, true, {
    Authorization: 'Bearer bench',
  })
  await client.listTools()
  for (let n = 0; n < 20; n++)
    await client.callTool({ name: 'find_tools', arguments: { query: `thing ${n}` } })
  const rss = megabytesOf(serving.pid)
  await client.close()
  await serving.stop()
  return rss
}
