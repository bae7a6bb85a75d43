/** What servers cost: until the catalogue can be searched, until they are listed, in memory, and per call. */
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
        'healthy servers beside dead, mute and flapping ones against beside others that are well',
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
      atMost('tools of it beyond a bound that are not left out', 2 - hostile.unusable.length, 0),
    ]
    printLines(lines)
    return { tools: origin, start, listing, memory, call, trouble, reload, hostile, lines }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** From the start of a process to an answered search, every definition in the cache. */
async function benchStart(corpus: readonly Tool[], folder: string) {
  const groups = bySource(corpus, Math.max(...COUNTS))
  const script = fileURLToPath(new URL('./mcp/start.mjs', import.meta.url))
  const cache = diskCache({ folder })
  const firstUse = diskFirstUse({ folder: join(folder, 'first-use') })
  for (const [name, tools] of groups)
    cache.write(defineServer(name, { command: 'not-started', cwd: '/' }), definitionOf(tools))
  const names = [...groups.keys()]
  // A warm cache has been reviewed, as every list is before it is kept.
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
  // The first search of all: what it makes of the tools is kept for the starts that are measured.
  const unindexed = COUNTS.map(once)
  print('from the start of the process to an answered search, warm cache')
  print(' servers   tools     filled   answered   processes   without a kept index')
  // Taken in turn, so that a busy moment of the machine falls on all alike.
  const runs = Array.from({ length: STARTS }, () => COUNTS.map(once))
  return COUNTS.map((servers, index) => {
    const own = runs.flatMap((run) => run[index] ?? [])
    const [first] = own
    const row = {
      servers,
      tools: first?.tools ?? 0,
      /** Every tool is in the catalogue. */
      filledMilliseconds: median(own.map(({ filled }) => filled)),
      /** The first search is answered: what it found had to be indexed before. */
      milliseconds: median(own.map(({ milliseconds }) => milliseconds)),
      started: Math.max(...own.map(({ started }) => started)),
      /** The same, once, where no index had been kept yet. */
      unindexedMilliseconds: unindexed[index]?.milliseconds ?? Number.NaN,
    }
    print(
      `${pad(servers, 8)}${pad(row.tools, 8)}${pad(row.filledMilliseconds.toFixed(0), 11)}${pad(row.milliseconds.toFixed(0), 11)}${pad(row.started, 12)}${pad(row.unindexedMilliseconds.toFixed(0), 23)}`,
    )
    return row
  })
}

/** One word of 5 MB, a schema that is nested 10,000 deep, and 5,000 tools, all of one server that nobody has met. */
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
  // No program here could write it as JSON.
  writeFileSync(
    list,
    `[${JSON.stringify(tool('word', 'a'.repeat(5 * 1024 * 1024)))},{"name":"deep","inputSchema":${deep}},${JSON.stringify(many).slice(1)}`,
  )
  const script = fileURLToPath(new URL('./mcp/hostile.mjs', import.meta.url))
  // The processor's time of a busy machine is longer than it need be, and never shorter.
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
    `\na hostile server: ${best.listed.toFixed(0)} ms of the processor until it is listed, ${best.searched.toFixed(0)} until it is searched, ${best.tools} tools; left out: ${best.unusable.join('; ')}`,
  )
  return best
}

/** Ten real servers from npm, nothing known of them. */
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
    // What a file gives: no object is shared with the corpus.
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

/** The same server behind the SDK's own client and behind ours, call by call in turn. */
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
  // By turns, and each first as often as the other; a round in which the machine was busy counts as one of many.
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

/** The latency of healthy servers alone, and beside as many that are dead, mute or dying. Rounds in turn. */
async function benchTrouble() {
  const server = (name: string, manners: object) =>
    defineServer(name, { command: process.execPath, args: [odd, JSON.stringify(manners), 'bench'] })
  const healthy = Array.from({ length: HEALTHY }, (_, index) => server(`healthy${index}`, {}))
  const troubled = [
    server('dead', { diesAtStart: 'no' }),
    server('mute', { mute: true, ignoresProbe: true }),
    server('flapping', { diesEvery: 50 }),
  ]
  // As many that are well, and called as often: what is measured is their trouble, not their traffic.
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
    `\nhealthy servers: ${aloneMicroseconds.toFixed(0)} µs a call beside others that are well, ${besideMicroseconds.toFixed(0)} µs beside troubled ones`,
  )
  // Of neighbouring rounds: what else the machine does falls on both.
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
