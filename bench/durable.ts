/** What does it cost that nothing is lost, and does anything hold a process up? */
import { constants } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Conversation,
  createToolwell,
  type LedgerEvent,
  loadTokenizer,
  type Tool,
  type Toolwell,
} from '@toolwell/core'
import { anthropic } from '@toolwell/core/anthropic'
import { google } from '@toolwell/core/google'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses } from '@toolwell/core/openai-responses'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { checkArguments } from '../packages/core/src/schema/validation.ts'
import { SCHEMA_CASES } from '../packages/core/test/hostile/schema-cases.ts'
import { atSize, loadCorpus } from './data.ts'
import { createLines, printLines } from './retrieval/lines.ts'
import type { BenchOptions } from './run.ts'

const APPENDS = 400
const EVENTS = 100_000
const TOOLS = 10_000
/** Every request reads its whole history. Goals in milliseconds. */
const HISTORIES = [
  { messages: 200, goal: 15 },
  { messages: 2000, goal: 60 },
]
const ROUNDS = 5
const WIRE = 'openai-chat'

const print = (line: string) => process.stdout.write(`${line}\n`)
const shown = (milliseconds: number) => `${milliseconds.toFixed(2)} ms`
const sorted = (times: readonly number[]) => [...times].sort((one, other) => one - other)
const median = (times: readonly number[]) => sorted(times)[times.length >> 1] ?? 0

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const event = (id: number): LedgerEvent => ({
  id,
  anchor: `message-${id}`,
  kind: 'searched',
  query: `export the invoices of ${id}`,
  loaded: ['billing/export'],
  dropped: [],
  missed: false,
  tokens: 120,
})

export async function benchDurable({ data }: BenchOptions): Promise<object> {
  const folder = await mkdtemp(join(tmpdir(), 'toolwell-durable-'))
  try {
    const { tools, origin } = await loadCorpus(data)
    const append = await benchAppend(folder)
    const opening = await benchOpen(folder)
    const begin = await benchBegin(tools.slice(0, 100))
    const holds = await benchHolds(tools)
    const validation = benchValidation()
    const tokens = await benchTokens()
    const { lines, add } = createLines()
    add('append, times a bare write and fsync', append.ratio, { goal: 1.5, atMost: true })
    add(`open of ${EVENTS} events, ms`, opening.milliseconds, { goal: 300, atMost: true })
    for (const { messages, goal } of HISTORIES)
      add(`begin with ${messages} messages on the slowest wire, ms`, begin.slowest(messages), {
        goal,
        atMost: true,
      })
    const hold = { floor: 50, goal: 50, atMost: true } as const
    add(`longest hold in createToolwell of ${TOOLS} tools, ms`, holds.createMilliseconds, hold)
    add(`longest hold while opening ${TOOLS} tools, ms`, holds.beginMilliseconds, hold)
    add(`longest hold in the first search, ms`, holds.searchMilliseconds, hold)
    add('checking arguments, the most, ms of the processor for 10 kB', validation.milliseconds, {
      goal: 50,
      atMost: true,
    })
    add('counting a word of 5 million letters, ms', tokens.milliseconds, { goal: 1000, atMost: true })
    printLines(lines)
    return { tools: origin, append, open: opening, begin, holds, validation, tokens, lines }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** In turns, on the same disk: the same bytes by hand, and by the store. */
async function benchAppend(folder: string) {
  const store = jsonlStore(join(folder, 'append'))
  const file = await open(
    join(folder, 'bare.txt'),
    constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
  )
  const bare: number[] = []
  const ours: number[] = []
  try {
    for (let at = 0; at < APPENDS; at++) {
      const head = `{"v":4,"id":"thread","first":${at},"prev":"00000000","key":"000000000000"`
      const bytes = Buffer.from(`\n00000000 ${head},"events":${JSON.stringify([event(at)])}}\n`)
      const byHand = async () => {
        await file.write(bytes)
        await file.datasync()
      }
      bare.push(await timed(byHand))
      ours.push(await timed(() => store.append('thread', at, [event(at)])))
    }
  } finally {
    await file.close()
  }
  const figures = { bareMilliseconds: median(bare), appendMilliseconds: median(ours) }
  const ratio = figures.appendMilliseconds / figures.bareMilliseconds
  print(
    `append: ${shown(figures.appendMilliseconds)}; a bare write and fsync: ${shown(figures.bareMilliseconds)} (${ratio.toFixed(2)} times)`,
  )
  return { ...figures, ratio }
}

/** What a long conversation leaves: requests with their figures, calls, and three searches in ten requests. */
function conversationEvents(from: number): LedgerEvent[] {
  return Array.from({ length: 1000 }, (_, index): LedgerEvent => {
    const id = from + index
    const round = Math.floor(id / 5)
    const at = { id, anchor: `call:call_${round}` }
    const requestId = `history 0.${round}`
    switch (id % 5) {
      case 0:
        return { ...at, anchor: `message:${round}`, kind: 'requested', requestId, tokens: TOKENS }
      case 1:
        return round % 10 < 3
          ? event(id)
          : { ...at, kind: 'measured', requestId, messageTokens: id, inputTokens: id }
      case 2:
        return { ...at, kind: 'call-started', tool: 'files/read', asked: 'read', key: `key of ${round}` }
      case 3:
        return { ...at, kind: 'call-succeeded', tool: 'files/read', asked: 'read' }
      default:
        return { ...at, kind: 'measured', requestId, messageTokens: id, inputTokens: id, cachedTokens: 9 }
    }
  })
}

const TOKENS = {
  eager: 1200,
  loaded: 340,
  cards: 900,
  metaTools: 400,
  section: 120,
  searchResults: 800,
  inserts: 40,
  rewritten: 0,
  everythingEager: 41_000,
}

/** Processor time. The first opening is not counted: the compiler is at work then. */
async function benchOpen(folder: string) {
  const place = join(folder, 'open')
  const store = jsonlStore(place)
  for (let at = 0; at < EVENTS; at += 1000) await store.append('thread', at, conversationEvents(at))
  const open = () => createToolwell({ store: jsonlStore(place) }).open({ id: 'thread' })
  const times: number[] = []
  const walls: number[] = []
  for (let round = 0; round <= 2 * ROUNDS; round++) {
    const started = processorTime()
    walls.push(await timed(open))
    times.push(processorTime() - started)
  }
  const figures = { milliseconds: median(times.slice(1)), wallMilliseconds: median(walls.slice(1)) }
  print(
    `open of ${EVENTS} events: ${shown(figures.milliseconds)} of the processor, ${shown(figures.wallMilliseconds)} by the clock`,
  )
  return { events: EVENTS, ...figures }
}

type Line = {
  begin(messages: readonly object[]): Promise<unknown>
  adopt(thread: never): readonly object[]
}

const LINES: Readonly<Record<string, (conversation: Conversation) => Line>> = {
  'openai-chat': (conversation) => openaiChat(conversation) as unknown as Line,
  anthropic: (conversation) => anthropic(conversation) as unknown as Line,
  google: (conversation) => google(conversation) as unknown as Line,
  'openai-responses': (conversation) => openaiResponses(conversation) as unknown as Line,
}

/** A question, a call, its result and an answer. */
const exchange = (index: number, name: string) => [
  { role: 'user', content: [{ type: 'text', text: `Look at file ${index} and tell me what it says.` }] },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      {
        id: `call_${index}`,
        type: 'function',
        function: { name, arguments: JSON.stringify({ path: `/src/${index}.ts`, lines: [1, index] }) },
      },
    ],
  },
  {
    role: 'tool',
    tool_call_id: `call_${index}`,
    content: `Of ${index}: ${'a line of the file. '.repeat(40)}`,
  },
  { role: 'assistant', content: `File ${index} says that all is well.` },
]

/** Processor time of `begin` in a new conversation with a history that was just parsed, and by size of the catalogue. */
async function benchBegin(tools: readonly Tool[]) {
  const wires: { wire: string; rows: { messages: number; milliseconds: number }[] }[] = []
  for (const wire of Object.keys(LINES)) {
    const rows: { messages: number; milliseconds: number }[] = []
    for (const { messages } of HISTORIES)
      rows.push({ messages, milliseconds: await benchHistory(wire, tools, messages) })
    wires.push({ wire, rows })
    print(
      `begin on ${wire}: ${rows.map((row) => `${shown(row.milliseconds)} at ${row.messages} messages`).join(', ')}`,
    )
  }
  const catalogue = []
  for (const size of [100, 1000, TOOLS]) {
    const milliseconds = await benchHistory(WIRE, atSize(tools, size), 200)
    catalogue.push({ tools: size, milliseconds })
    print(`begin over ${size} tools: ${shown(milliseconds)}`)
  }
  const slowest = (messages: number) =>
    Math.max(
      ...wires.flatMap(({ rows }) =>
        rows.flatMap((row) => (row.messages === messages ? [row.milliseconds] : [])),
      ),
    )
  return { wires, catalogue, slowest }
}

async function benchHistory(wire: string, tools: readonly Tool[], count: number): Promise<number> {
  const well = createToolwell({ tools: [...tools], mode: 'on', delivery: 'bridge' })
  const times: number[] = []
  // The first rounds pay for the compiler.
  for (let round = 0; round < 3 * ROUNDS; round++) {
    const conversation = await well.open({ id: `${wire} ${count} ${round}` })
    const line = LINES[wire]?.(conversation) as Line
    const thread = openaiChat(conversation).thread(
      Array.from({ length: count / 4 }, (_, index) => exchange(index, 'tool_search')).flat(),
    )
    const messages = structuredClone(line.adopt(thread as never)) as object[]
    const started = processorTime()
    await line.begin(messages)
    times.push(processorTime() - started)
  }
  return median(times.slice(ROUNDS))
}

/** The schemas and arguments that cost the most they can: see the tests for what they are. */
function benchValidation() {
  let worst = { case: '', milliseconds: 0 }
  for (const { name, schema, input } of SCHEMA_CASES)
    for (const size of [1000, 10_000, 100_000]) {
      const given = input(size)
      const parts = Math.max(1, (JSON.stringify(schema).length + JSON.stringify(given).length) / 10_000)
      const times = Array.from({ length: 3 }, () => {
        const before = process.cpuUsage()
        checkArguments({ name: 'x', description: '', inputSchema: schema }, given)
        const { user, system } = process.cpuUsage(before)
        return (user + system) / 1000 / parts
      })
      const milliseconds = Math.min(...times)
      if (milliseconds > worst.milliseconds) worst = { case: name, milliseconds }
    }
  print(`checking arguments: at most ${shown(worst.milliseconds)} for 10 kB (${worst.case})`)
  return worst
}

async function benchTokens() {
  const tokenizer = await loadTokenizer()
  const word = 'ab'.repeat(2_500_000)
  const milliseconds = await timed(async () => tokenizer.count(word))
  print(`counting a word of 5 million letters with ${tokenizer.name}: ${shown(milliseconds)}`)
  return { tokenizer: tokenizer.name, milliseconds }
}

/** The longest stretch of work in which nothing else had its turn; the median of several rounds. */
async function benchHolds(tools: readonly Tool[]) {
  const create: number[] = []
  const begin: number[] = []
  const search: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const all = atSize(tools, TOOLS).map((tool) => ({ ...tool }))
    let well: Toolwell | undefined
    create.push(
      await longestHold(() => {
        well = createToolwell({ tools: all })
      }),
    )
    let conversation: Conversation | undefined
    begin.push(
      await longestHold(async () => {
        conversation = await well?.open({ id: 'holds' })
        await conversation?.begin({ requestId: 'r', anchor: 'm', wire: WIRE })
      }),
    )
    const input = { value: { query: 'export an invoice' } }
    search.push(
      await longestHold(() => conversation?.run([{ callId: 'c', anchor: 'c', name: 'tool_search', input }])),
    )
  }
  const createMilliseconds = median(create)
  const beginMilliseconds = median(begin)
  const searchMilliseconds = median(search)
  print(
    `longest hold over ${TOOLS} tools: createToolwell ${shown(createMilliseconds)}, open and begin ${shown(beginMilliseconds)}, first search ${shown(searchMilliseconds)}`,
  )
  return { tools: TOOLS, createMilliseconds, beginMilliseconds, searchMilliseconds }
}

/** In time of the processor, of all threads: a busy machine takes longer, and does not do more. */
const processorTime = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function longestHold(work: () => unknown): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 20))
  let longest = 0
  let last = processorTime()
  let isOver = false
  const beat = () => {
    const now = processorTime()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(beat)
  }
  beat()
  await work()
  await new Promise((resolve) => setTimeout(resolve, 5))
  isOver = true
  return longest
}
