/** The other half of the trust boundary: what comes back from disks, from providers and over the wire. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell, type LedgerEvent, type LedgerStore, type Tool, ToolwellError } from '@toolwell/core'
import * as anthropic from '@toolwell/core/anthropic'
import * as google from '@toolwell/core/google'
import * as chat from '@toolwell/core/openai-chat'
import * as responses from '@toolwell/core/openai-responses'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import fc from 'fast-check'
import { assert, type Boundary, define, host, tool, wire } from './boundaries.js'
import { hostileJson, hostileText, mutation, plain } from './texts.js'

const TOOLS = (): Tool[] => [
  tool('read_file'),
  tool('create_issue', { source: 'tracker' }),
  tool('close_issue', { source: 'tracker' }),
]

/** The files of real ledgers, one for each delivery, made once. */
let sampled: Promise<readonly string[]> | undefined
async function sample(delivery: 'append' | 'bridge' | 'native'): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-sample-'))
  const files = jsonlStore(folder)
  const store: LedgerStore = {
    read: (_, from) => files.read('thread', from),
    append: (_, expected, added) => files.append('thread', expected, added),
  }
  const { WIRES } = await import('./wires.js')
  const on = WIRES[1]
  if (!on) throw new Error('there is no such wire')
  const played = await host(on, { tools: TOOLS(), delivery, store, limits: { maxLoaded: 2 } })
  await played.run(
    { name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } },
    { name: 'read_file', arguments: {} },
  )
  played.well.catalogue.setSource('late', { tools: [tool('later', { alwaysLoad: true })] })
  await played.run(
    { name: 'tracker__close_issue', arguments: { value: 7 } },
    { name: 'nobody', arguments: {} },
  )
  const after = [on.user('Summary.'), ...played.messages.slice(-2)]
  await played.line.compact(played.messages, after)
  played.messages.splice(0, played.messages.length, ...after)
  played.well.catalogue.removeSource('late')
  await played.conversation.unload(['tracker__create_issue'])
  await played.begin()
  await played.conversation.clear()
  const text = readFileSync(join(folder, 'thread.jsonl'), 'utf8')
  rmSync(folder, { recursive: true })
  return text
}
const samples = () => {
  sampled ??= Promise.all((['append', 'bridge', 'native'] as const).map(sample))
  return sampled
}

async function refusal(attempt: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await attempt()
    return undefined
  } catch (error) {
    assert(
      ToolwellError.is(error),
      `not a documented error: ${error instanceof Error ? error.stack : String(error)}`,
    )
    return (error as ToolwellError).code
  }
}

const KNOWN = ['ledger-corrupt', 'ledger-too-new']

const lines = define(
  'the lines of a ledger on disk',
  'a ledger with any bytes changed is read up to a whole number of lines, or rejected with `ledger-corrupt` or `ledger-too-new`; reading changes no byte; a readable ledger can be continued',
  fc.tuple(fc.nat(3), fc.array(mutation, { minLength: 1, maxLength: 3 })),
  async ([which, changes]) => {
    const whole = (await samples())[which] ?? ''
    const text = changes.reduce((given, apply) => apply(given), whole)
    const folder = mkdtempSync(join(tmpdir(), 'toolwell-lines-'))
    try {
      const file = join(folder, 'thread.jsonl')
      writeFileSync(file, text)
      const before = readFileSync(file)
      const store = jsonlStore(folder)
      const code = await refusal(() => store.read('thread'))
      assert(code === undefined || KNOWN.includes(code), `the code is ${code}`)
      assert(readFileSync(file).equals(before), 'reading a ledger changed it')
      if (code !== undefined) return
      const events = await store.read('thread')
      const sound = before.toString('utf8').split('\n').length - 1
      assert(
        events.every((event, index) => event.id === index),
        'events out of order',
      )
      assert(sound > 0 || events.length === 0, 'events out of nothing')
      const end: LedgerEvent = { id: events.length, anchor: '', kind: 'cleared' }
      await store.append('thread', events.length, [end])
      const again = await jsonlStore(folder).read('thread')
      assert(JSON.stringify(again) === JSON.stringify([...events, end]), 'an append changed what was there')
      await go(inMemory(events))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

/** Opens what a store holds and takes a few steps on it. Either it is refused when it is opened, or it works. */
async function go(store: LedgerStore): Promise<void> {
  const well = createToolwell({ tools: TOOLS(), mode: 'on', store })
  const code = await refusal(async () => {
    const conversation = await well.open({ id: 'thread' })
    conversation.inspect()
    const line = chat.openaiChat(conversation)
    const messages = [{ role: 'user', content: 'Begin.' }]
    const turn = await line.begin(messages, { requestId: 'a new one' })
    const call = {
      id: 'c',
      type: 'function',
      function: { name: 'tool_search', arguments: '{"query":"select:tracker__create_issue"}' },
    }
    await turn.run({ role: 'assistant', content: null, tool_calls: [call] })
    await conversation.unload(['tracker__create_issue'])
    await conversation.compact({ kept: {} })
    await line.begin(messages, { requestId: 'another' })
    await conversation.fork({ id: 'fork' })
    conversation.inspect()
  })
  assert(code === undefined || KNOWN.includes(code), `the code is ${code}`)
}

/** A value in the events replaced, removed or added, at any depth. */
function altered(value: unknown, path: readonly number[], put: unknown): unknown {
  const [step = 0, ...rest] = path
  if (typeof value !== 'object' || value === null || path.length === 0) return put
  if (Array.isArray(value)) {
    if (value.length === 0) return [put]
    const at = step % value.length
    return value.map((each, index) => (index === at ? altered(each, rest, put) : each))
  }
  const keys = Object.keys(value)
  const at = step % (keys.length + 1)
  if (at === keys.length) return plain([...Object.entries(value), ['added', put]])
  return plain(
    Object.entries(value).map(([key, each], index) => [key, index === at ? altered(each, rest, put) : each]),
  )
}

const facts = define(
  'the events in a ledger',
  'a ledger whose events contain anything is opened and continued, or rejected with `ledger-corrupt`',
  fc.tuple(
    fc.nat(3),
    fc.nat(200),
    fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }),
    fc.oneof(hostileJson, fc.constant(undefined)),
  ),
  async ([which, at, path, put]) => {
    const whole = (await samples())[which] ?? ''
    const events = whole
      .split('\n')
      .flatMap((line) => (line === '' ? [] : (JSON.parse(line.slice(9)) as { events: LedgerEvent[] }).events))
    const changed = events.map((event, index) =>
      index === at % events.length ? (altered(event, path, put) as LedgerEvent) : event,
    )
    const stored = JSON.parse(
      JSON.stringify(
        changed.map((event, index) =>
          typeof event === 'object' && event !== null ? { ...event, id: index } : event,
        ),
      ),
    ) as LedgerEvent[]
    await go(inMemory(stored))
  },
)

/** A disk would take its time. */
function inMemory(stored: readonly LedgerEvent[]): LedgerStore {
  const added: LedgerEvent[] = []
  return {
    read: async (ledger) => (ledger === 'thread' ? [...stored, ...added] : []),
    append: async (ledger, _, more) => {
      if (ledger === 'thread') added.push(...(JSON.parse(JSON.stringify(more)) as LedgerEvent[]))
    },
  }
}

/** One text somewhere in a message replaced: what was said, how a tool was called, or the id of a call. */
function misspelt(message: unknown, at: number, put: string): unknown {
  let left = at
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return SPOKEN.has(key) && left-- === 0 ? put : value
    if (Array.isArray(value) && key !== 'tools') return value.map((each) => walk(each, key))
    // Definitions that a provider wrote there are not text.
    if (typeof value !== 'object' || value === null || key === 'tools') return value
    return plain(Object.entries(value).map(([name, each]) => [name, walk(each, name)]))
  }
  return walk(message, '')
}
const SPOKEN = new Set([
  'text',
  'content',
  'name',
  'arguments',
  'output',
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'result',
  'query',
])

const histories = define(
  'histories of a provider or a host',
  'with any text of it changed, a strict endpoint takes the request; with any JSON values in it nothing throws; the same history gives the same bytes, and can be imported, moved and compacted',
  fc.tuple(
    fc.array(fc.tuple(fc.nat(60), fc.nat(8), hostileText), { maxLength: 3 }),
    fc.array(fc.tuple(hostileJson, fc.nat(60), fc.array(fc.nat(20), { maxLength: 4 })), { maxLength: 3 }),
    wire,
    fc.constantFrom('append' as const, 'bridge' as const, 'native' as const),
  ),
  async ([texts, values, on, delivery]) => {
    const played = await host(on, { tools: TOOLS(), delivery })
    await played.run(
      { name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } },
      { name: 'read_file', arguments: { value: 'x' } },
    )
    const sound = [...played.messages, on.user('Go on.')]
    const spoken = texts.reduce<unknown[]>(
      (list, [which, at, put]) =>
        list.map((each, index) => (index === which % list.length ? misspelt(each, at, put) : each)),
      sound,
    ) as object[]
    const { parts } = await played.line.begin(spoken, {})
    const refused = on.violationOf(parts)
    assert(
      refused === undefined,
      `a strict endpoint refuses the request: ${refused}\n${JSON.stringify(spoken)}`,
    )
    // Kinds and fields that nobody here knows pass as they are: providers add their own.
    const odd = values.map(([value, which, path]) =>
      which % 2 === 0 ? value : altered(sound[which % sound.length], path, value),
    ) as object[]
    const history = [...spoken, ...odd, on.user('Go on.')]
    const turn = await played.line.begin(history, {})
    const again = await played.line.begin(JSON.parse(JSON.stringify(history)) as object[], {})
    assert(JSON.stringify(again.parts) === JSON.stringify(turn.parts), 'the same history gave other bytes')
    await played.line.importHistory(history)
    await played.line.compact(history, history.slice(-2))
    const { conversation } = await host(on, { tools: TOOLS(), delivery })
    on.open(conversation).adopt(played.line.thread(history))
  },
)

interface Reader {
  readEvents(body: AsyncIterable<Uint8Array>): AsyncIterable<unknown>
  assemble(events: AsyncIterable<unknown>): Promise<{ readonly complete: boolean }>
}
const readers: readonly Reader[] = [anthropic, google, chat, responses]
const streams = define(
  'event streams of a provider',
  'bytes in any pieces give events up to the first invalid JSON, or an error that says that they are not a stream; any events add up to a reply, which says whether it is complete',
  fc.tuple(
    fc.array(fc.tuple(hostileJson, hostileText, fc.nat(3)), { maxLength: 5 }),
    fc.array(fc.nat(200), { maxLength: 5 }),
    fc.constantFrom(...readers),
  ),
  async ([given, cuts, { readEvents, assemble }]) => {
    const text = given
      .map(([value, raw, form]) =>
        form === 0 ? raw : `data: ${form === 1 ? raw : JSON.stringify(value)}\n\n`,
      )
      .join('')
    const bytes = new TextEncoder().encode(text)
    async function* body() {
      const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
      for (const [index, place] of places.slice(1).entries()) yield bytes.slice(places[index], place)
    }
    const events: unknown[] = []
    try {
      for await (const event of readEvents(body())) events.push(event)
    } catch (error) {
      const isDocumented = error instanceof SyntaxError || (ToolwellError.is(error) && events.length === 0)
      assert(isDocumented, `not the documented error: ${String(error)}`)
    }
    const broken = await assemble(readEvents(body()))
    const { complete } = await assemble(
      (async function* () {
        yield* given.map(([value]) => value)
      })(),
    )
    assert(
      typeof complete === 'boolean' && typeof broken.complete === 'boolean',
      'it does not say whether it is complete',
    )
    JSON.stringify(broken)
  },
)

export const storedBoundaries: readonly Boundary[] = [lines, facts, histories, streams]
