/** The stored format: what version 1 wrote must load, mean the same and grow for as long as version 1 exists. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolwell, type Tool } from '@toolwell/core'
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
    await conversation.activate(['memory_graph'])
    const written = (await read()).split('\n').slice(0, -1)
    expect(written.length).toBeGreaterThan(1)
    for (const line of written) expect(JSON.parse(line)).toEqual({ v: 1, events: expect.any(Array) })
  })

  it('of a newer version is refused and left as it is', async () => {
    const { open, read, text } = await stored([...lines, '{"v":2,"events":[]}'])
    await expect(open()).rejects.toMatchObject({ code: 'ledger-too-new', data: { found: 2, known: 1 } })
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
    expect(conversation.events).toEqual(lines.flatMap((line) => JSON.parse(line).events))
    expect(await store.read('old')).toEqual(conversation.events)
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
})
