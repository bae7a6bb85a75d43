/** What does it cost that nothing is lost, and does anything hold a process up? */
import { constants } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Conversation, createToolwell, type LedgerEvent, loadTokenizer, type Tool } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { checkArguments } from '../packages/core/src/schema/validation.ts'
import { SCHEMA_CASES } from '../packages/core/test/hostile/schema-cases.ts'
import { atSize, loadCorpus } from './data.ts'
import { createLines, printLines } from './retrieval/lines.ts'
import type { BenchOptions } from './run.ts'

const APPENDS = 400
const EVENTS = 100_000
const TOOLS = 10_000
const HISTORIES = [200, 2000]
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
    add(`open of ${EVENTS} events, ms`, opening.milliseconds, { goal: 60, atMost: true })
    add('begin at 2,000 messages, times 200', begin.growth, { goal: 3, atMost: true })
    add(`longest hold while opening ${TOOLS} tools, ms`, holds.beginMilliseconds, { goal: 50, atMost: true })
    add(`longest hold in the first search, ms`, holds.searchMilliseconds, { goal: 50, atMost: true })
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
      const bytes = Buffer.from(`{"v":3,"sum":"00000000","events":${JSON.stringify([event(at)])}}\n`)
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

async function benchOpen(folder: string) {
  const place = join(folder, 'open')
  const store = jsonlStore(place)
  for (let at = 0; at < EVENTS; at += 1000)
    await store.append(
      'thread',
      at,
      Array.from({ length: 1000 }, (_, index) => event(at + index)),
    )
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++)
    times.push(await timed(() => createToolwell({ store: jsonlStore(place) }).open({ id: 'thread' })))
  const milliseconds = median(times)
  print(`open of ${EVENTS} events: ${shown(milliseconds)}`)
  return { events: EVENTS, milliseconds }
}

/** The same message objects with every request, as a host keeps them, and equal ones that were read anew. */
async function benchBegin(tools: readonly Tool[]) {
  const rows = []
  for (const count of HISTORIES) {
    const well = createToolwell({ tools: [...tools], mode: 'on', delivery: 'bridge' })
    const adapter = openaiChat(await well.open({ id: `history ${count}` }))
    const messages = Array.from({ length: count }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `Message ${index} of a conversation that goes on and on.`,
    }))
    const same: number[] = []
    const fresh: number[] = []
    for (let round = 0; round < 20; round++) {
      messages.push(
        { role: 'user', content: `And ${round}?` },
        { role: 'assistant', content: `And ${round}.` },
      )
      const user = { role: 'user' as const, content: `Go on, ${round}.` }
      same.push(await timed(() => adapter.begin([...messages, user])))
      const copy = structuredClone(messages)
      fresh.push(
        await timed(() => adapter.begin([...copy, { role: 'user', content: `Once more, ${round}.` }])),
      )
    }
    rows.push({ messages: count, sameMilliseconds: median(same), freshMilliseconds: median(fresh) })
    print(
      `begin at ${count} messages: ${shown(median(same))}; with equal messages read anew: ${shown(median(fresh))}`,
    )
  }
  const [few, many] = rows
  return { rows, growth: (many?.sameMilliseconds ?? 0) / (few?.sameMilliseconds ?? 1) }
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
    const started = processorTime()
    const well = createToolwell({ tools: all })
    create.push(processorTime() - started)
    let conversation: Conversation | undefined
    begin.push(
      await longestHold(async () => {
        conversation = await well.open({ id: 'holds' })
        await conversation.begin({ requestId: 'r', anchor: 'm', wire: WIRE })
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
