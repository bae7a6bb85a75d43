/** How the cost of a request grows: with what changed, or with the catalogue? */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  type Conversation,
  createToolwell,
  estimate,
  loadTokenizer,
  type Tool,
  type Toolwell,
} from '@toolwell/core'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { replay } from '../packages/core/src/ledger/fold.ts'
import { atSize, loadCorpus } from './data.ts'
import type { BenchOptions } from './run.ts'

const SIZES = [100, 1_000, 10_000]
const ACTIVE = [0, 24, 200]
const EAGER = 10
const WIRE = 'openai-chat'

setFlagsFromString('--expose_gc')
const collect = runInNewContext('gc') as () => void

export async function benchSurface({ data }: BenchOptions): Promise<object> {
  const { tools, origin } = await loadCorpus(data)
  print(`Tools: ${origin}. Medians; each figure after a warm-up.\n`)
  const begin = await benchBegin(tools)
  const fold = await benchFold(tools)
  const replay = await benchReplay(tools)
  const memory = await benchMemory(tools)
  const tokenizer = await benchTokenizer(tools)
  const lines = verdicts(begin, fold, replay)
  print('\nLines')
  for (const { what, figure, limit, holds } of lines)
    print(`  ${holds ? 'ok  ' : 'MISS'} ${what}: ${figure.toFixed(2)} (limit ${limit})`)
  if (lines.some(({ holds }) => !holds)) process.exitCode = 1
  return { tools: origin, begin, fold, replay, memory, tokenizer, lines }
}

interface BeginRow {
  readonly tools: number
  readonly active: number
  readonly openMilliseconds: number
  readonly beginMicroseconds: number
  /** What a host pays that filters and converts its whole list for every request. */
  readonly rebuildMicroseconds: number
}

/** Begin after one load, at an equal eager and loaded set. */
async function benchBegin(corpus: readonly Tool[]): Promise<BeginRow[]> {
  const rows: BeginRow[] = []
  await beginAt(corpus, 1_000, 24) // the first run of anything is slower than all others
  print('begin after a load (append), 10 eager tools')
  print('   tools  loaded     freeze      begin   rebuild all')
  for (const size of SIZES)
    for (const active of ACTIVE) {
      if (active + EAGER + 1 > size) continue
      const row = await beginAt(corpus, size, active)
      rows.push(row)
      print(
        `${pad(size, 8)}${pad(active, 8)}${pad(`${row.openMilliseconds.toFixed(1)} ms`, 11)}${pad(`${row.beginMicroseconds.toFixed(0)} µs`, 11)}${pad(`${row.rebuildMicroseconds.toFixed(0)} µs`, 14)}`,
      )
    }
  return rows
}

async function beginAt(corpus: readonly Tool[], size: number, active: number): Promise<BeginRow> {
  const { well, all } = createWell(corpus, size)
  const conversation = await well.open({ id: 'bench' })
  const opened = performance.now()
  await conversation.begin({ requestId: 'first', anchor: 'a', wire: WIRE })
  const openMilliseconds = round(performance.now() - opened)
  const deferred = [...well.catalogue.entries()]
    .filter((entry) => entry.source !== '')
    .map((entry) => entry.id)
  await conversation.load(deferred.slice(0, active))
  const beginMicroseconds = await timeBegin(conversation, deferred[active] as string)
  return {
    tools: size,
    active,
    openMilliseconds,
    beginMicroseconds,
    rebuildMicroseconds: timeRebuild(all, active),
  }
}

function createWell(corpus: readonly Tool[], size: number): { well: Toolwell; all: Tool[] } {
  const all = atSize(corpus, size)
  const own = all.slice(0, EAGER).map(({ source: _, ...tool }, index) => ({ ...tool, name: `own_${index}` }))
  const well = createToolwell({ tools: own, mode: 'on', delivery: 'append' })
  const bySource = new Map<string, Tool[]>()
  for (const tool of all.slice(EAGER))
    bySource.set(tool.source ?? 'x', [...(bySource.get(tool.source ?? 'x') ?? []), tool])
  for (const [name, members] of bySource) well.catalogue.setSource(name, { tools: members })
  return { well, all }
}

/** One tool goes up and down; the request after each change is timed. */
async function timeBegin(conversation: Conversation, id: string): Promise<number> {
  const times: number[] = []
  for (let turn = 0; turn < 400; turn++) {
    if (turn % 2 === 0) await conversation.load([id])
    else await conversation.unload([id])
    const start = performance.now()
    await conversation.begin({ requestId: `r${turn}`, anchor: `m${turn}`, wire: WIRE })
    if (turn >= 100) times.push((performance.now() - start) * 1000)
  }
  return median(times)
}

/** The usual alternative: walk the whole registry for each request, keep what is visible, convert it. */
function timeRebuild(all: readonly Tool[], active: number): number {
  const shown = new Set(all.slice(0, EAGER + active).map((tool) => `${tool.source}/${tool.name}`))
  const times: number[] = []
  let sink = 0
  for (let turn = 0; turn < 60; turn++) {
    const start = performance.now()
    const tools = all
      .filter((tool) => shown.has(`${tool.source}/${tool.name}`))
      .map(({ name, description, inputSchema }) => ({
        type: 'function',
        function: { name, description, parameters: inputSchema },
      }))
    const cards = all
      .filter((tool) => !shown.has(`${tool.source}/${tool.name}`))
      .map((tool) => `- ${tool.name}: ${tool.description.slice(0, 100)}`)
    sink += tools.length + cards.join('\n').length
    if (turn >= 10) times.push((performance.now() - start) * 1000)
  }
  return sink > 0 ? median(times) : 0
}

/** Nanoseconds per event for a short and a long ledger: equal means O(1). */
async function benchFold(
  corpus: readonly Tool[],
): Promise<{ events: number; nanosecondsPerEvent: number }[]> {
  print('\nfolding one event, by length of the ledger')
  const rows = []
  for (const length of [1_000, 10_000, 100_000]) {
    const { events } = await longLedger(corpus, length)
    const times: number[] = []
    for (let pass = 0; pass < 9; pass++) {
      collect()
      // Short ledgers are folded more often, so that every pass folds as many events.
      const repeats = 100_000 / length
      const start = performance.now()
      for (let each = 0; each < repeats; each++) replay(events)
      times.push(((performance.now() - start) * 1e6) / (events.length * repeats))
    }
    const row = { events: events.length, nanosecondsPerEvent: median(times) }
    rows.push(row)
    print(`${pad(row.events, 8)} events ${pad(`${row.nanosecondsPerEvent.toFixed(0)} ns`, 9)} each`)
  }
  return rows
}

/** Opening a stored conversation against parsing its lines and doing nothing with them. */
async function benchReplay(
  corpus: readonly Tool[],
): Promise<{ events: number; openMilliseconds: number; parseMilliseconds: number; ratio: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'toolwell-bench-'))
  try {
    const { events } = await longLedger(corpus, 10_000)
    const store = jsonlStore(folder)
    for (let at = 0; at < events.length; at += 4) await store.append('long', at, events.slice(at, at + 4))
    const [file] = await readdir(folder)
    const path = join(folder, file as string)
    const open: number[] = []
    const parse: number[] = []
    for (let pass = 0; pass < 15; pass++) {
      const well = createToolwell({ store: jsonlStore(folder) })
      let start = performance.now()
      await well.open({ id: 'long' })
      open.push(performance.now() - start)
      start = performance.now()
      for (const line of (await readFile(path, 'utf8')).split('\n')) if (line !== '') JSON.parse(line)
      parse.push(performance.now() - start)
    }
    const openMilliseconds = round(median(open))
    const parseMilliseconds = round(median(parse))
    const ratio = round(openMilliseconds / parseMilliseconds)
    print(
      `\nreplaying ${events.length} events from JSONL: ${openMilliseconds} ms; JSON.parse of its lines alone: ${parseMilliseconds} ms; ${ratio}×`,
    )
    return { events: events.length, openMilliseconds, parseMilliseconds, ratio }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A conversation in which every turn searches, calls and asks again. */
async function longLedger(corpus: readonly Tool[], length: number) {
  const { memoryStore } = await import('@toolwell/core')
  const store = memoryStore()
  const own = createWell(corpus, 300)
  const well = createToolwell({
    tools: own.well.catalogue.hostTools,
    mode: 'on',
    delivery: 'append',
    store,
    limits: { maxLoaded: 24 },
  })
  well.catalogue.setSource('s', {
    tools: atSize(corpus, 290).map((tool, index) => ({ ...tool, source: 's', name: `t${index}` })),
  })
  const source = await well.open({ id: 'source' })
  await source.begin({ requestId: 'r', anchor: 'm', wire: WIRE })
  const call = (name: string, value: object, id: string) => ({
    callId: id,
    anchor: id,
    name,
    input: { value },
  })
  for (let turn = 0; turn < 60; turn++) {
    await source.run([call('tool_search', { query: `select:s/t${turn}` }, `s${turn}`)])
    await source.run([call(`s/t${turn}`, {}, `c${turn}`)], { execute: () => 'ok' })
    await source.begin({ requestId: `r${turn}`, anchor: `m${turn}`, wire: WIRE })
  }
  const template = source.events.slice(2)
  const events = [...source.events]
  while (events.length < length) {
    const next = template[(events.length - 2) % template.length]
    if (!next) break
    const requestId = next.kind === 'requested' ? { requestId: `x${events.length}` } : {}
    events.push({ ...next, ...requestId, id: events.length, anchor: `${next.anchor}-${events.length}` })
  }
  return { events: events.slice(0, length) }
}

/** Heap per tool, definitions included, after the first request. */
async function benchMemory(
  corpus: readonly Tool[],
): Promise<{ tools: number; bytesPerTool: number; definitionBytes: number }[]> {
  print('\nheap per tool after freezing (on top of the definitions themselves)')
  const rows = []
  for (const size of SIZES) {
    const all = atSize(corpus, size).map((tool) => JSON.parse(JSON.stringify(tool)) as Tool)
    const definitionBytes = Math.round(JSON.stringify(all).length / size)
    collect()
    const before = process.memoryUsage().heapUsed
    const well = createToolwell({ tools: [], mode: 'on' })
    const bySource = new Map<string, Tool[]>()
    for (const tool of all)
      bySource.set(tool.source ?? 'x', [...(bySource.get(tool.source ?? 'x') ?? []), tool])
    for (const [name, members] of bySource) well.catalogue.setSource(name, { tools: members })
    const conversation = await well.open({ id: 'memory' })
    await conversation.begin({ requestId: 'r', anchor: 'm', wire: WIRE })
    collect()
    const bytesPerTool = Math.round((process.memoryUsage().heapUsed - before) / size)
    rows.push({ tools: size, bytesPerTool, definitionBytes })
    print(
      `${pad(size, 8)} tools ${pad(bytesPerTool, 8)} bytes each (a definition is ${definitionBytes} bytes of JSON)`,
    )
    if (conversation.events.length === 0) throw new Error('nothing was opened')
  }
  return rows
}

async function benchTokenizer(corpus: readonly Tool[]) {
  const tokenizer = await loadTokenizer()
  const texts = corpus.map(({ name, description, inputSchema }) =>
    JSON.stringify({ name, description, inputSchema }),
  )
  const sum = (count: (text: string) => number) => texts.reduce((total, text) => total + count(text), 0)
  const real = sum((text) => tokenizer.count(text))
  const guessed = sum((text) => estimate.count(text))
  print(
    `\n${texts.length} definitions: ${real} tokens by ${tokenizer.name}, ${guessed} by the estimate (${(guessed / real).toFixed(2)}×)`,
  )
  return {
    definitions: texts.length,
    tokenizer: tokenizer.name,
    tokens: real,
    estimate: guessed,
    ratio: round(guessed / real),
  }
}

function verdicts(
  begin: readonly BeginRow[],
  fold: readonly { nanosecondsPerEvent: number }[],
  replay: { ratio: number },
) {
  const time = (tools: number, active: number) =>
    begin.find((row) => row.tools === tools && row.active === active)?.beginMicroseconds ?? Number.NaN
  const line = (what: string, figure: number, limit: number) => ({
    what,
    figure: round(figure),
    limit,
    holds: figure <= limit,
  })
  return [
    line('begin at 10,000 tools against 100, nothing loaded', time(10_000, 0) / time(100, 0), 2),
    line('begin at 10,000 tools against 100, 24 loaded', time(10_000, 24) / time(100, 24), 2),
    line('begin at 10,000 tools against 1,000, 200 loaded', time(10_000, 200) / time(1_000, 200), 2),
    line(
      'one event in a ledger of 100,000 against one of 1,000',
      (fold.at(-1)?.nanosecondsPerEvent ?? 0) / (fold[0]?.nanosecondsPerEvent || 1),
      2,
    ),
    line('replay of 10,000 events against JSON.parse', replay.ratio, 2),
  ]
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return round(sorted[Math.floor(sorted.length / 2)] ?? 0)
}

const round = (value: number) => Math.round(value * 100) / 100
const pad = (value: string | number, width: number) => String(value).padStart(width)
const print = (text: string) => process.stdout.write(`${text}\n`)
