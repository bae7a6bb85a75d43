/** The stored format: what version 1 wrote must load, mean the same and grow in the format of today. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell, type Tool } from '@toolwell/core'
import { openaiChat } from '@toolwell/core/openai-chat'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'

const fixture = new URL('../packages/core/test/fixtures/ledger-v1.jsonl', import.meta.url)

const tools: readonly Tool[] = [
  { name: 'read', description: 'Read a file.', inputSchema: { type: 'object' } },
  { name: 'memory_graph', description: 'Inspect records.', inputSchema: { type: 'object' }, defer: true },
]

let lines: readonly string[] = []

beforeAll(async () => {
  lines = (await readFile(fixture, 'utf8')).split('\n').slice(0, -1)
})

/** A folder with these lines as the ledger `old`, and a Toolwell on it. */
async function stored(given: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'toolwell-format-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'old.jsonl')
  const text = given.map((line) => `${line}\n`).join('')
  if (text !== '') await writeFile(file, text)
  const store = jsonlStore(folder)
  const open = () => createToolwell({ tools, store, mode: 'on', delivery: 'append' }).open({ id: 'old' })
  return { open, store, text, read: () => readFile(file, 'utf8') }
}

/** What the ledger says after its first lines: up to and including the one that holds the event. */
async function inspectAfter(event: number) {
  const end = lines.findIndex((line) => JSON.parse(line).events.at(-1).id >= event)
  const { open } = await stored(lines.slice(0, end + 1))
  return (await open()).inspect()
}

describe('a ledger line', () => {
  it('carries the version of its format', async () => {
    const { open, read } = await stored([])
    const conversation = await open()
    await conversation.begin({ requestId: '1', anchor: 'a', wire: 'openai-chat' })
    await conversation.load(['memory_graph'])
    const written = (await read()).split('\n').slice(0, -1)
    expect(written.length).toBeGreaterThan(1)
    for (const line of written)
      expect(JSON.parse(line)).toEqual({
        v: 3,
        sum: expect.stringMatching(/^[0-9a-f]{8}$/),
        events: expect.any(Array),
      })
  })

  it('of a newer version is refused and left as it is', async () => {
    const { open, read, text } = await stored([...lines, '{"v":4,"events":[]}'])
    await expect(open()).rejects.toMatchObject({ code: 'ledger-too-new', data: { found: 4, known: 3 } })
    expect(await read()).toBe(text)
  })
})

describe('a ledger of version 1', () => {
  it('holds every kind of event', () => {
    const kinds = lines.flatMap((line) =>
      JSON.parse(line).events.map((event: { kind: string }) => event.kind),
    )
    expect([...new Set(kinds)].sort()).toEqual([
      'activated',
      'announced',
      'call-failed',
      'call-started',
      'call-succeeded',
      'cleared',
      'compacted',
      'deactivated',
      'measured',
      'opened',
      'redefined',
      'requested',
      'restored',
      'searched',
      'suspended',
    ])
  })

  it('loads event by event, and reading changes no byte', async () => {
    const { open, read, store, text } = await stored(lines)
    const conversation = await open()
    conversation.inspect()
    const written = lines.flatMap(
      (line) => JSON.parse(line).events as { id: number; anchor: string; kind: string }[],
    )
    expect(await store.read('old')).toEqual(written)
    const today: Record<string, string> = { opened: 'frozen', activated: 'loaded', deactivated: 'unloaded' }
    expect(conversation.events.map(({ id, anchor, kind }) => [id, anchor, kind])).toEqual(
      written.map(({ id, anchor, kind }) => [id, anchor, today[kind] ?? kind]),
    )
    expect(JSON.stringify(conversation.events)).not.toMatch(/"(?:tail|active|aside)":/)
    expect(await read()).toBe(text)
  })

  it('replays a search that loaded a tool', async () => {
    expect(await inspectAfter(8)).toMatchObject({
      mode: 'on',
      delivery: 'append',
      loadedLazyTools: ['memory_graph'],
      loadedAtTurn: { memory_graph: 1 },
      searchHistory: [{ turn: 1, query: 'memory graph', loaded: ['memory_graph'] }],
      aliasUses: { sf_memory_graph: 1 },
      pendingCalls: [],
      protectedToolNames: ['tool_search'],
      line: 'active 1 (memory_graph) · 2 deferred · 287 of 1.2k tokens',
    })
  })

  it('replays a call that a crash left open', async () => {
    expect((await inspectAfter(10)).pendingCalls).toEqual(['github/create_issue'])
  })

  it('replays a suspension and its end', async () => {
    const suspended = await inspectAfter(16)
    expect(suspended.suspended).toEqual({ 'github/create_issue': 'unavailable' })
    expect(suspended.loadedLazyTools).toEqual(['memory_graph'])
    const restored = await inspectAfter(18)
    expect(restored.suspended).toEqual({})
    expect(restored.loadedLazyTools).toHaveLength(2)
  })

  it('replays an eviction and a compaction', async () => {
    const { loadedLazyTools, searchHistory, accounting } = await inspectAfter(22)
    expect(loadedLazyTools).toHaveLength(1)
    expect(loadedLazyTools).not.toContain('memory_graph')
    expect(searchHistory.map(({ query }) => query)).toEqual(['memory graph', 'select:kubernetes \u2028 日誌'])
    expect(accounting).toMatchObject({ requests: 3, metaRequests: 1, measured: 1 })
  })

  it('replays a fresh start that keeps what was measured', async () => {
    expect(await inspectAfter(24)).toMatchObject({
      mode: 'on',
      loadedLazyTools: [],
      searchHistory: [],
      suspended: {},
      aliasUses: { sf_memory_graph: 1 },
      accounting: {
        requests: 3,
        measured: 1,
        provider: { inputTokens: 264, cachedTokens: 0, outputTokens: 18 },
      },
    })
  })

  it('gives a request it began the same definitions again, whatever the catalogue says now', async () => {
    const { open, read, text } = await stored(lines)
    const conversation = await open()
    const view = await conversation.begin({
      requestId: 'request-2',
      anchor: 'call_8fK2',
      wire: 'openai-chat',
    })
    const [opened, , , searched] = lines.map((line) => JSON.parse(line).events)
    const sent = [opened[0].eager[0].definition, opened[0].metaTools[0], searched[1].tool.definition]
    expect(JSON.stringify(view.tools)).toBe(JSON.stringify(sent))
    expect(await read()).toBe(text)
  })

  it('grows at its end', async () => {
    const { open, read, text } = await stored(lines)
    const conversation = await open()
    await conversation.begin({ requestId: 'request-8', anchor: 'message-15', wire: 'openai-chat' })
    expect((await read()).slice(0, text.length)).toBe(text)
    expect((await open()).inspect()).toEqual(conversation.inspect())
    expect(conversation.inspect().accounting.requests).toBe(4)
  })

  it('goes on in the format of today, behind the lines that were there', async () => {
    const { open, read } = await stored(lines)
    const conversation = await open()
    await conversation.begin({ requestId: 'request-8', anchor: 'message-15', wire: 'openai-chat' })
    const versions = (await read())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).v)
    expect([...new Set(versions)]).toEqual([1, 3])
  })
})

describe('a ledger of version 2', () => {
  it('means the same, and goes on in the format of today', async () => {
    const today = await stored([])
    const first = await today.open()
    await first.begin({ requestId: '1', anchor: 'a', wire: 'openai-chat' })
    await first.load(['memory_graph'])
    const written = (await today.read()).trimEnd().split('\n')
    const { open, read } = await stored(
      written.map((line) => JSON.stringify({ v: 2, events: JSON.parse(line).events })),
    )
    const again = await open()
    expect(again.events).toEqual(first.events)
    await again.begin({ requestId: '2', anchor: 'b', wire: 'openai-chat' })
    const versions = (await read())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).v)
    expect([...new Set(versions)]).toEqual([2, 3])
    expect((await open()).events).toEqual(again.events)
  })
})

describe('a ledger whose delivery is gone', () => {
  /** What version 1 wrote for `stub`: every hidden tool declared by its name and one line. */
  const open = { type: 'object', properties: {}, additionalProperties: true }
  const stub = { name: 'memory_graph', description: '"Inspect records."', inputSchema: open }
  const frozen = {
    id: 0,
    anchor: 'a',
    kind: 'opened',
    reason: 'start',
    wire: 'openai-chat',
    mode: 'on',
    delivery: 'stub',
    eager: [],
    tail: [],
    metaTools: [{ name: 'tool_search', description: 'Finds tools.', inputSchema: { type: 'object' } }],
    stubs: [{ id: 'memory_graph', wireName: 'memory_graph', fingerprint: '0', definition: stub }],
    section: '',
    shown: ['memory_graph'],
    sources: {},
    deferred: 1,
    cardTokens: 0,
  }
  const tokens = { eager: 0, active: 0, cards: 0, metaTools: 0, section: 0, searchResults: 0, inserts: 0 }
  const requested = {
    id: 1,
    anchor: 'a',
    kind: 'requested',
    requestId: '1',
    tokens: { ...tokens, rewritten: 0, everythingEager: 0 },
  }
  const suspended = { id: 1, anchor: 'a', kind: 'suspended', tool: 'memory_graph', reason: 'denied' }
  const written = [JSON.stringify({ v: 1, events: [frozen, requested] })]

  it('gives a retry the bytes it had, and latches the next request on the bridge', async () => {
    const conversation = await (await stored(written)).open()
    const retried = await conversation.begin({ requestId: '1', anchor: 'a', wire: 'openai-chat' })
    expect(retried.tools).toEqual([...frozen.metaTools, stub])
    const next = await conversation.begin({ requestId: '2', anchor: 'b', wire: 'openai-chat' })
    expect(next.delivery).toBe('bridge')
    expect(next.tools.map(({ name }) => name)).toEqual(['read', 'tool_search', 'tool_call'])
    const after = await conversation.begin({ requestId: '3', anchor: 'c', wire: 'openai-chat' })
    expect(JSON.stringify(after.tools)).toBe(JSON.stringify(next.tools))
  })

  it('has no bridge before that, and masks what was not to be called', async () => {
    const events = [frozen, suspended, { ...requested, id: 2 }]
    const conversation = await (await stored([JSON.stringify({ v: 1, events })])).open()
    const retried = await conversation.begin({ requestId: '1', anchor: 'a', wire: 'openai-chat' })
    expect(retried.bridge).toBeUndefined()
    expect(retried.masked).toEqual(['memory_graph'])
    const turn = await openaiChat(conversation).begin(
      [
        { role: 'user', content: 'Go.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'x', type: 'function', function: { name: 'make_coffee', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'x', content: 'no' },
      ],
      {},
    )
    expect(JSON.stringify(turn.parts.messages)).not.toContain('"name":"memory_graph"')
  })
})
