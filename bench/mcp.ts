/** Cost of servers: time until the catalogue can be searched and until they are listed, memory, and time per call. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createToolwell, type Tool } from '@toolwell/core'
import {
  connectServers,
  defineServer,
  diskCache,
  diskFirstUse,
  memoryCache,
  memoryFirstUse,
  type ServerConfig,
} from '@toolwell/mcp'
import { bySource, definitionOf } from './as-servers.ts'
import { atSize, loadCorpus } from './data.ts'
import { atMost, print, printLines } from './lines.ts'
import { benchReload } from './mcp/reload.ts'
import type { BenchOptions } from './run.ts'

const COUNTS = [3, 20, 71]
const STARTS = 7
const CALLS = 5000
const ROUNDS = 25
const HEALTHY = 6
const TROUBLED_ROUNDS = 15

setFlagsFromString('--expose_gc')
const collect = runInNewContext('gc') as () => void
const require = createRequire(import.meta.url)
const odd = fileURLToPath(new URL('../packages/mcp/test/support/odd-server.mjs', import.meta.url))

export async function benchMcp({ data }: BenchOptions): Promise<object> {
  const { tools, origin } = await loadCorpus(data)
  print(`Tools: ${origin}. Medians.\n`)
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-bench-'))
  try {
    const start = await benchStart(tools, folder)
    const listing = await benchListing(folder)
    const memory = await benchMemory(tools)
    const call = await benchCall()
    const trouble = await benchTrouble()
    const reload = await benchReload()
    print(
      `\na new config with ${reload.underWay} calls under way: in use after ${reload.milliseconds.toFixed(0)} ms, ${reload.lost} lost, ${reload.doubled} run twice, ${reload.restarted} untouched servers started again`,
    )
    const hostile = benchHostile(folder)
    const lines = [
      atMost(
        'catalogue of 71 cached servers against 3',
        ratio(start.at(-1)?.filledMilliseconds, start[0]?.filledMilliseconds),
        1.5,
      ),
      atMost(
        'first search over 71 cached servers against 3',
        ratio(start.at(-1)?.milliseconds, start[0]?.milliseconds),
        1.5,
      ),
      atMost('processes started for it', Math.max(...start.map(({ started }) => started)), 0),
      atMost('a call through the source against the bare client', call.ratio, 1.1),
      atMost(
        'call of a healthy server among troubled ones, compared with among healthy ones',
        trouble.ratio,
        1.1,
      ),
      atMost(
        'listing ten servers at once against one after the other',
        ratio(listing.together, listing.oneByOne),
        1,
      ),
      atMost('calls lost or run twice by a new config', reload.lost + reload.doubled, 0),
      atMost('untouched servers that a new config starts again', reload.restarted, 0),
      atMost('seconds of the processor to list a hostile server and search it', hostile.searched / 1000, 2),
      atMost('tools of it above a limit that are not skipped', 2 - hostile.unusable.length, 0),
    ]
    printLines(lines)
    return { tools: origin, start, listing, memory, call, trouble, reload, hostile, lines }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** From process start to an answered search, with a full cache. */
async function benchStart(corpus: readonly Tool[], folder: string) {
  const groups = bySource(corpus, Math.max(...COUNTS))
  const script = fileURLToPath(new URL('./mcp/start.mjs', import.meta.url))
  const cache = diskCache({ folder })
  const firstUse = diskFirstUse({ folder: join(folder, 'first-use') })
  for (const [name, tools] of groups)
    cache.write(defineServer(name, { command: 'not-started', cwd: '/' }), definitionOf(tools))
  const names = [...groups.keys()]
  // Marks the cache as reviewed, as after a real listing.
  const file = `${folder}/toolwell.json`
  const config = names.map((name) => defineServer(name, { command: 'not-started', cwd: '/' }, { file }))
  const reviewing = connectServers(createToolwell().catalogue, config, { cache, firstUse, logs: false })
  await reviewing.settled(600_000)
  await reviewing.close()
  const once = (count: number) => {
    const parameters = [script, folder, JSON.stringify(names.slice(0, count))]
    const { stdout, stderr } = spawnSync(process.execPath, parameters, { encoding: 'utf8' })
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout) as {
      filled: number
      milliseconds: number
      started: number
      found: boolean
      tools: number
    }
  }
  // The very first search builds the index for the measured starts.
  const unindexed = COUNTS.map(once)
  print('from the start of the process to an answered search, warm cache')
  print(' servers   tools     filled   answered   processes   without a kept index')
  // In turn, so that other load affects all equally.
  const runs = Array.from({ length: STARTS }, () => COUNTS.map(once))
  return COUNTS.map((servers, index) => {
    const own = runs.flatMap((run) => run[index] ?? [])
    const [first] = own
    const row = {
      servers,
      tools: first?.tools ?? 0,
      /** When every tool is in the catalogue. */
      filledMilliseconds: median(own.map(({ filled }) => filled)),
      /** When the first search is answered, including the index. */
      milliseconds: median(own.map(({ milliseconds }) => milliseconds)),
      started: Math.max(...own.map(({ started }) => started)),
      /** The same without a stored index, once. */
      unindexedMilliseconds: unindexed[index]?.milliseconds ?? Number.NaN,
    }
    print(
      `${pad(servers, 8)}${pad(row.tools, 8)}${pad(row.filledMilliseconds.toFixed(0), 11)}${pad(row.milliseconds.toFixed(0), 11)}${pad(row.started, 12)}${pad(row.unindexedMilliseconds.toFixed(0), 23)}`,
    )
    return row
  })
}

/** A new server with one word of 5 MB, a schema nested 10,000 deep, and 5,000 tools. */
function benchHostile(folder: string) {
  const place = join(folder, 'hostile')
  mkdirSync(place)
  const tool = (name: string, description: string) => ({
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: `Where ${name} looks.` },
        mode: { enum: ['a', 'b'] },
      },
    },
  })
  const many = Array.from({ length: 5000 }, (_, index) =>
    tool(
      `tool_${index}`,
      `Tool number ${index}, which does thing ${index} to a file, a message or an issue.`,
    ),
  )
  const deep = `${'{"type":"object","properties":{"a":'.repeat(10_000)}{}${'}}'.repeat(10_000)}`
  const list = join(place, 'list.json')
  // Too deep for JSON.stringify.
  writeFileSync(
    list,
    `[${JSON.stringify(tool('word', 'a'.repeat(5 * 1024 * 1024)))},{"name":"deep","inputSchema":${deep}},${JSON.stringify(many).slice(1)}`,
  )
  const script = fileURLToPath(new URL('./mcp/hostile.mjs', import.meta.url))
  // Best of three: other load only makes processor time longer.
  const runs = Array.from({ length: 3 }, (_, run) => {
    const own = join(place, String(run))
    const { stdout, stderr } = spawnSync(process.execPath, [script, own, odd, list], { encoding: 'utf8' })
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout) as {
      listed: number
      searched: number
      tools: number
      unusable: readonly string[]
    }
  })
  const best = runs.reduce((one, other) => (other.searched < one.searched ? other : one))
  print(
    `\na hostile server: ${best.listed.toFixed(0)} ms of processor time until it is listed, ${best.searched.toFixed(0)} until it is searched, ${best.tools} tools; skipped: ${best.unusable.join('; ')}`,
  )
  return best
}

/** Ten real servers from npm, without a cache. */
async function benchListing(folder: string) {
  const real = (name: string, index: number): ServerConfig => {
    const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`)
    const program = join(dirname(manifest), 'dist', 'index.js')
    const args = name === 'filesystem' ? [program, folder] : [program]
    const env: Record<string, string> =
      name === 'memory' ? { MEMORY_FILE_PATH: join(folder, `${index}.json`) } : {}
    return defineServer(`${name}${index}`, { command: process.execPath, args, env })
  }
  const kinds = ['everything', 'filesystem', 'memory', 'sequential-thinking']
  const config = Array.from({ length: 10 }, (_, index) => real(kinds[index % kinds.length] ?? '', index))
  const list = async (concurrency: number) => {
    const { catalogue } = createToolwell()
    const started = performance.now()
    const servers = connectServers(catalogue, config, {
      cache: memoryCache(),
      firstUse: memoryFirstUse(),
      logs: false,
      concurrency,
    })
    await servers.settled(600_000)
    const milliseconds = performance.now() - started
    const listed = servers.inspect().filter(({ state }) => state === 'cached').length
    await servers.close()
    if (listed !== config.length)
      throw new Error(`only ${listed} of ${config.length} servers could be listed`)
    return milliseconds
  }
  const together = median([await list(8), await list(8), await list(8)])
  const oneByOne = median([await list(1), await list(1), await list(1)])
  print(
    `\nlisting ten real servers: ${together.toFixed(0)} ms at once, ${oneByOne.toFixed(0)} ms one after the other`,
  )
  return { together, oneByOne }
}

async function benchMemory(corpus: readonly Tool[]) {
  const size = 2500
  const cache = memoryCache()
  const firstUse = memoryFirstUse()
  const groups = bySource(atSize(corpus, size), 71)
  const config = [...groups].map(([name, tools]) => {
    const server = defineServer(name, { command: 'not-started' })
    // Parsed from JSON, so that no object is shared with the corpus.
    cache.write(server, JSON.parse(JSON.stringify(definitionOf(tools))))
    return server
  })
  const reviewing = connectServers(createToolwell().catalogue, config, { cache, firstUse, logs: false })
  await reviewing.settled(600_000)
  await reviewing.close()
  const { catalogue } = createToolwell()
  collect()
  const before = process.memoryUsage().heapUsed
  const servers = connectServers(catalogue, config, { cache, firstUse, logs: false })
  await servers.settled(600_000)
  collect()
  const kilobytes = (process.memoryUsage().heapUsed - before) / 1024
  const tools = catalogue.size
  print(
    `\nmemory: ${(kilobytes / 1024).toFixed(1)} MB for ${tools} tools of ${config.length} servers, besides their definitions`,
  )
  void servers.close()
  return { tools, servers: config.length, kilobytes }
}

/** The same server behind the SDK's client and behind ours, alternating calls. */
async function benchCall() {
  const args = [odd, '{}', 'bench']
  const bare = new Client({ name: 'bench', version: '1' })
  await bare.connect(new StdioClientTransport({ command: process.execPath, args }))
  await bare.listTools()
  const { catalogue } = createToolwell()
  const servers = connectServers(catalogue, [defineServer('odd', { command: process.execPath, args })], {
    cache: memoryCache(),
    firstUse: memoryFirstUse(),
    logs: false,
  })
  await servers.settled(60_000)
  const through = catalogue.get('odd/echo')?.tool.execute
  const input = { text: 'x'.repeat(200) }
  const timed = async (work: () => unknown) => {
    const started = performance.now()
    await work()
    return (performance.now() - started) * 1000
  }
  const callBare = () => bare.callTool({ name: 'echo', arguments: input })
  const callSource = () => through?.(input, { callId: 'bench' })
  // Alternates, with each first equally often, so that load affects single rounds only.
  const round = async () => {
    const times = { bare: [] as number[], source: [] as number[] }
    for (let call = 0; call < CALLS / ROUNDS; call++) {
      const isFirst = call % 2 === 0
      if (isFirst) times.bare.push(await timed(callBare))
      times.source.push(await timed(callSource))
      if (!isFirst) times.bare.push(await timed(callBare))
    }
    return { bare: median(times.bare), source: median(times.source) }
  }
  for (let warm = 0; warm < 3; warm++) await round()
  const rounds = []
  for (let count = 0; count < ROUNDS; count++) rounds.push(await round())
  await bare.close()
  await servers.close()
  const bareMicroseconds = median(rounds.map((each) => each.bare))
  const sourceMicroseconds = median(rounds.map((each) => each.source))
  print(
    `\na call: ${bareMicroseconds.toFixed(0)} µs with the bare client, ${sourceMicroseconds.toFixed(0)} µs through the source`,
  )
  return {
    bareMicroseconds,
    sourceMicroseconds,
    ratio: median(rounds.map((each) => each.source / each.bare)),
  }
}

/** Latency of healthy servers alone, and with as many dead, mute or dying ones. Alternating rounds. */
async function benchTrouble() {
  const server = (name: string, manners: object) =>
    defineServer(name, { command: process.execPath, args: [odd, JSON.stringify(manners), 'bench'] })
  const healthy = Array.from({ length: HEALTHY }, (_, index) => server(`healthy${index}`, {}))
  const troubled = [
    server('dead', { diesAtStart: 'no' }),
    server('mute', { mute: true, ignoresProbe: true }),
    server('flapping', { diesEvery: 50 }),
  ]
  // The same number of healthy servers with the same calls, so that only the trouble differs.
  const calm = troubled.map((_, index) => server(`calm${index}`, {}))
  const open = async (config: readonly ServerConfig[]) => {
    const servers = connectServers(createToolwell().catalogue, config, {
      cache: memoryCache(),
      firstUse: memoryFirstUse(),
      logs: false,
      connectTimeout: 5000,
    })
    await servers.settled(60_000)
    for (const { name } of healthy) await servers.call(name, 'echo', {})
    return servers
  }
  const alone = await open([...healthy, ...calm])
  const beside = await open([...healthy, ...troubled])
  const drive = async (servers: typeof alone, others: readonly ServerConfig[]) => {
    const times: number[] = []
    let isOver = false
    const disturbance = others.map(async ({ name }) => {
      while (!isOver) {
        await servers.call(name, 'echo', {}).catch(() => undefined)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })
    for (let round = 0; round < 60; round++)
      for (const { name } of healthy) {
        const started = performance.now()
        await servers.call(name, 'echo', { round })
        times.push((performance.now() - started) * 1000)
      }
    isOver = true
    await Promise.all(disturbance)
    return median(times)
  }
  await drive(alone, calm)
  const rounds = []
  for (let round = 0; round < TROUBLED_ROUNDS; round++)
    rounds.push({ alone: await drive(alone, calm), beside: await drive(beside, troubled) })
  await Promise.all([alone.close(), beside.close()])
  const aloneMicroseconds = median(rounds.map((round) => round.alone))
  const besideMicroseconds = median(rounds.map((round) => round.beside))
  print(
    `\nhealthy servers: ${aloneMicroseconds.toFixed(0)} µs per call among healthy ones, ${besideMicroseconds.toFixed(0)} µs among troubled ones`,
  )
  // Compares neighbouring rounds, so that other load affects both.
  const ratio = median(rounds.map((round) => round.beside / round.alone))
  return { aloneMicroseconds, besideMicroseconds, ratio }
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
}

function ratio(a: number | undefined, b: number | undefined): number {
  return (a ?? Number.NaN) / (b ?? Number.NaN)
}

function pad(value: number | string, width: number): string {
  return String(value).padStart(width)
}
