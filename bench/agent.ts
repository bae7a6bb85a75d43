/** Token cost of tools in a real agent: pi with this extension, pi with another extension, and other agents. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadTokenizer, type Tool } from '@toolwell/core'
import {
  type Api,
  extensionFile,
  inModules,
  openHome,
  wires,
} from '../packages/pi/test/support/pi-process.ts'
import { prefixOf } from '../packages/pi/test/support/prefix.ts'
import {
  AGENTS,
  type Agent,
  BARE,
  type Servers,
  type Task,
  WITH_ADAPTER,
  WITH_TOOLWELL,
} from './agent/agents.ts'
import { fillDocs } from './agent/docs.ts'
import { PUBLISHED } from './agent/published.ts'
import { GENERATED, loadCorpus } from './data.ts'
import type { BenchOptions } from './run.ts'

const TURNS = 10
const MANY = 501
const CACHED = 20
const STARTS = 7

const print = (line: string) => process.stdout.write(`${line}\n`)
const listedServer = fileURLToPath(new URL('./agent/listed-server.mjs', import.meta.url))

/** Three of the ten turns need a new tool. Queries are short, because the other extension matches any of their words. */
const TASKS: Readonly<Record<number, Task>> = {
  1: { query: 'knowledge graph', server: 'memory', tool: 'read_graph', input: {} },
  4: { query: 'echo', server: 'everything', tool: 'echo', input: { message: 'hello' } },
  7: {
    query: 'allowed directories',
    server: 'filesystem',
    tool: 'list_allowed_directories',
    input: {},
  },
}

interface Tokens {
  readonly tools: number
  readonly system: number
  readonly messages: number
  readonly total: number
}

interface Row {
  readonly agent: string
  readonly first: Tokens
  readonly tenth: Tokens
  /** Requests of the ten turns and their tokens. */
  readonly requests: number
  readonly all: number
}

interface Line {
  readonly what: string
  readonly figure: number
  readonly limit: number
  readonly holds: boolean
}

const atMost = (what: string, figure: number, limit: number): Line => ({
  what,
  figure,
  limit,
  holds: figure <= limit,
})

export interface AgentFigures {
  readonly tools: string
  readonly listed: number
  readonly agents: readonly Row[]
  readonly published: typeof PUBLISHED
  readonly growth: { readonly tools: number; readonly tokens: number; readonly more: number }
  readonly prefixes: readonly { readonly api: Api; readonly requests: number; readonly broken: number }[]
  readonly start: {
    readonly one: number
    readonly many: number
    readonly servers: number
    readonly ratio: number
  }
  readonly lines: readonly Line[]
}

export async function benchAgent({ data }: BenchOptions): Promise<AgentFigures> {
  const corpus = await loadCorpus(data)
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-bench-agent-'))
  try {
    const five = fiveServers(folder)
    const count = await counter()
    const agents: Row[] = []
    for (const agent of AGENTS) agents.push(rowOf(agent.name, await tenTurns(agent, five), count))
    const [bare, ours, theirs] = [BARE, WITH_TOOLWELL, WITH_ADAPTER].map(({ name }) =>
      agents.find((row) => row.agent === name),
    )
    const listed = await listedTools(five)
    const many = await tenTurns(WITH_TOOLWELL, {
      ...five,
      ...fromCorpus(corpus.tools, MANY - listed, folder),
    })
    const manyFirst = count(many[0] ?? {})
    const growth = {
      tools: MANY,
      tokens: manyFirst.total,
      more: manyFirst.total - (ours?.first.total ?? 0),
    }
    const prefixes = []
    for (const api of Object.keys(wires) as Api[]) prefixes.push(await prefixesOn(api, five))
    const start = await startTimes(corpus.tools, folder)
    const added = (row: Row | undefined, turn: 'first' | 'tenth') =>
      (row?.[turn].total ?? Number.NaN) - (bare?.[turn].total ?? Number.NaN)
    const lines = [
      atMost(
        'tokens added to the first request against pi-mcp-adapter',
        added(ours, 'first') / added(theirs, 'first'),
        1,
      ),
      atMost(
        'tokens added to turn 10 against pi-mcp-adapter',
        added(ours, 'tenth') / added(theirs, 'tenth'),
        1,
      ),
      atMost(
        'tokens of the first request against the least of agents with MCP',
        (ours?.first.total ?? Number.NaN) / Math.min(...PUBLISHED.map(({ tokens }) => tokens)),
        1,
      ),
      atMost(`tokens more with ${MANY} tools than with ${listed}`, growth.more, 600),
      atMost(
        'requests of ten turns with three loads, on four wires, that do not continue the one before',
        prefixes.reduce((sum, { broken }) => sum + broken, 0),
        0,
      ),
      atMost(`processor until the first request, ${CACHED} cached servers against 1`, start.ratio, 1.2),
    ]
    const figures = {
      tools: corpus.origin,
      listed,
      agents,
      published: PUBLISHED,
      growth,
      prefixes,
      start,
      lines,
    }
    show(figures)
    if (lines.some(({ holds }) => !holds)) process.exitCode = 1
    return figures
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function refuseAgent({ tools }: AgentFigures): string | undefined {
  return tools === GENERATED ? 'the tools are generated ones' : undefined
}

/** Writes the figures into docs/guides/pi.md. */
export async function saveAgent(figures: AgentFigures): Promise<string[]> {
  const file = new URL('../docs/guides/pi.md', import.meta.url)
  writeFileSync(file, fillDocs(readFileSync(file, 'utf8'), figures))
  return ['docs/guides/pi.md']
}

/** Real servers from npm. */
function fiveServers(folder: string): Servers {
  const files = join(folder, 'files')
  mkdirSync(files)
  return {
    everything: inModules('@modelcontextprotocol/server-everything/dist/index.js'),
    filesystem: [...inModules('@modelcontextprotocol/server-filesystem/dist/index.js'), files],
    memory: inModules('@modelcontextprotocol/server-memory/dist/index.js'),
    playwright: inModules('@playwright/mcp/cli.js'),
    devtools: inModules('chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js'),
    thinking: inModules('@modelcontextprotocol/server-sequential-thinking/dist/index.js'),
  }
}

/** Servers of the corpus with at most `most` tools in total, each listed from a file by a small program. */
function fromCorpus(tools: readonly Tool[], most: number, folder: string): Servers {
  const servers: Record<string, readonly string[]> = {}
  let left = most
  for (const [source, listed] of bySource(tools)) {
    if (left <= 0) break
    const some = listed.slice(0, left)
    left -= some.length
    servers[source] = listing(source, some, folder)
  }
  return servers
}

function bySource(tools: readonly Tool[]): Map<string, Tool[]> {
  const groups = new Map<string, Tool[]>()
  for (const tool of tools) {
    const source = (tool.source ?? '').replace(/\W+/g, '_')
    groups.set(source, [...(groups.get(source) ?? []), tool])
  }
  return groups
}

function listing(source: string, tools: readonly Tool[], folder: string): readonly string[] {
  const file = join(folder, `${source}.json`)
  const listed = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  writeFileSync(file, JSON.stringify({ tools: listed }))
  return [listedServer, file]
}

function tenTurns(agent: Agent, servers: Servers, api: Api = 'openai-completions') {
  const turns = Array.from({ length: TURNS }, (_, index) => {
    const task = TASKS[index + 1]
    return [...(task ? agent.replies(task, api) : []), { text: `Turn ${index + 1} is done.` }]
  })
  return agent.play(servers, turns, api)
}

/** Number of listed tools, as the extension counts them. */
async function listedTools(servers: Servers): Promise<number> {
  const home = await openHome('openai-completions', [{ text: 'Done.' }], { servers })
  try {
    const client = home.rpc()
    await client.prompt('Hello.')
    const since = client.all.length
    await client.command('prompt', { message: '/toolwell' })
    const { message } = await client.next(({ method }) => method === 'notify', since)
    const counts = [...String(message).matchAll(/, (\d+) tools/g)].map(([, count]) => Number(count))
    return counts.reduce((sum, count) => sum + count, 0)
  } finally {
    await home.close()
  }
}

async function counter(): Promise<(body: object) => Tokens> {
  const tokenizer = await loadTokenizer()
  return (body) => {
    const { tools: listed = [], messages: all = [] } = body as {
      tools?: readonly object[]
      messages?: readonly { role: string; content: unknown }[]
    }
    const isPrompt = ({ role }: { role: string }) => role === 'system' || role === 'developer'
    const tools = listed.length === 0 ? 0 : tokenizer.count(JSON.stringify(listed))
    const system = tokenizer.count(
      all
        .filter(isPrompt)
        .map(({ content }) => String(content))
        .join('\n'),
    )
    const messages = tokenizer.count(JSON.stringify(all.filter((message) => !isPrompt(message))))
    return { tools, system, messages, total: tools + system + messages }
  }
}

function rowOf(agent: string, bodies: readonly object[], count: (body: object) => Tokens): Row {
  const tokens = bodies.map(count)
  const none = { tools: 0, system: 0, messages: 0, total: 0 }
  return {
    agent,
    first: tokens[0] ?? none,
    tenth: tokens.at(-1) ?? none,
    requests: tokens.length,
    all: tokens.reduce((sum, { total }) => sum + total, 0),
  }
}

async function prefixesOn(api: Api, servers: Servers) {
  const prefixes = (await tenTurns(WITH_TOOLWELL, servers, api)).map((body) => prefixOf(body, api))
  const broken = prefixes.filter((text, index) => !text.startsWith(prefixes[index - 1] ?? '')).length
  return { api, requests: prefixes.length, broken }
}

/** Processor time in milliseconds from the start of pi to its first request, with everything cached. Medians of alternating runs. */
async function startTimes(tools: readonly Tool[], folder: string) {
  const cache = join(folder, 'cache')
  const all = [...bySource(tools)]
    .slice(0, CACHED)
    .map(([source, some]) => [source, listing(source, some, folder)])
  const homes = []
  for (const some of [all.slice(0, 1), all]) {
    const replies = Array.from({ length: STARTS + 2 }, () => ({ text: 'Done.' }))
    const home = await openHome('openai-completions', replies, { servers: Object.fromEntries(some), cache })
    const file = join(home.folder, 'processor')
    const watch = extensionFile(
      home.folder,
      `import { writeFileSync } from 'node:fs'
       export default (pi) => pi.on('before_provider_request', () => {
         const { user, system } = process.cpuUsage()
         writeFileSync(${JSON.stringify(file)}, String((user + system) / 1000))
       })`,
    )
    homes.push({ home, file, watch, times: [] as number[] })
  }
  try {
    // Two unmeasured rounds: the first lists the servers, the second reads the cache.
    for (let round = -2; round < STARTS; round++)
      for (const { home, file, watch, times } of homes) {
        await home.run(['-p', 'Hello.'], { extensions: [watch] })
        if (round >= 0) times.push(Number(readFileSync(file, 'utf8')))
      }
    const [one = 0, many = 0] = homes.map(({ times }) => median(times))
    return { one, many, servers: all.length, ratio: many / one }
  } finally {
    for (const { home } of homes) await home.close()
  }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

function show({ tools, listed, agents, growth, prefixes, start, published, lines }: AgentFigures) {
  const figure = (tokens: number) => tokens.toLocaleString('en').padStart(8)
  print(`Six real servers, ${listed} tools; more tools: ${tools}. Tokens by o200k. The model is scripted.\n`)
  print(`${'agent'.padEnd(44)}   turn 1  turn 10      all  requests`)
  for (const { agent, first, tenth, all, requests } of agents)
    print(`${agent.padEnd(44)} ${figure(first.total)} ${figure(tenth.total)} ${figure(all)}  ${requests}`)
  print('\nFirst request with about as many tools, measured before')
  for (const { agent, tokens, defers } of published)
    print(`${agent.padEnd(44)} ${figure(tokens)}  ${defers ? 'defers' : 'sends every tool'}`)
  print(`\n${growth.tools} tools: ${figure(growth.tokens).trim()} tokens, ${growth.more} more`)
  for (const { api, requests, broken } of prefixes)
    print(`${api.padEnd(44)} ${requests} requests, ${broken} do not continue the one before`)
  print(
    `processor until the first request: ${start.one.toFixed(0)} ms with 1 cached server, ${start.many.toFixed(0)} ms with ${start.servers}`,
  )
  print('\nLines')
  for (const { what, figure: found, limit, holds } of lines)
    print(`  ${holds ? 'ok  ' : 'MISS'} ${what}: ${found.toFixed(2)} (limit ${limit})`)
}
