/** A stored index: the next start reuses it, ranks exactly as before, and rejects a part that does not belong. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { shortHash } from '../../src/base/hash.js'
import { createCatalogue, type StoredPart } from '../../src/catalogue/catalogue.js'
import { indexVersion } from '../../src/search/index/segment.js'
import { createRanking } from '../../src/search/ranking.js'
import type { Tool } from '../../src/tool/tool.js'

const lines = (name: string): Record<string, unknown>[] =>
  readFileSync(new URL(`../../../../bench/sample/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
const sample = lines('tools') as unknown as (Tool & { readonly server: string })[]
const queries = [
  ...lines('queries').map(({ query }) => String(query)),
  'read_file',
  'files/write_file and raed_file',
  'dateien auf der festplatte',
]

interface Shelf extends StoredPart {
  bytes: Uint8Array | undefined
  reads: number
  writes: number
}

function shelf(bytes?: Uint8Array): Shelf {
  return {
    bytes,
    reads: 0,
    writes: 0,
    read() {
      this.reads++
      return this.bytes
    },
    write(made) {
      this.writes++
      this.bytes = made
    },
  }
}

const servers = [...new Set(sample.map(({ server }) => server))]
const toolsOf = (server: string) => sample.filter((tool) => tool.server === server)

function fill(shelves?: ReadonlyMap<string, StoredPart>, change: (tool: Tool) => Tool = (tool) => tool) {
  const catalogue = createCatalogue([
    { name: 'bash', description: 'Runs a command.', inputSchema: { type: 'object' } },
  ])
  for (const server of servers) {
    const index = shelves?.get(server)
    const tools = toolsOf(server).map(({ name, description, inputSchema }) =>
      change({ name, description, inputSchema }),
    )
    catalogue.setSource(server, {
      tools,
      description: `The ${server} server`,
      ...(index ? { kept: { index, tokens: shelf() } } : {}),
    })
  }
  const ranking = createRanking(catalogue, undefined)
  const rank = (text: string, must: readonly string[] = []) =>
    ranking({ text, must }, ({ kind }) => {
      throw new Error(kind)
    })
  const all = async () => {
    const answers = []
    for (const query of queries) answers.push(await rank(query))
    answers.push(await rank('file', ['files']), await rank('', ['mail']))
    return answers
  }
  return { catalogue, rank, all }
}

const kept = () => new Map(servers.map((server) => [server, shelf()]))

describe('an index that sources keep', () => {
  it('is built once, and gives every rank, score and relevance of a fresh index', async () => {
    const fresh = await fill().all()
    expect(fresh.flat().length).toBeGreaterThan(500)
    const shelves = kept()
    expect(await fill(shelves).all()).toEqual(fresh)
    for (const each of shelves.values()) expect([each.reads, each.writes]).toEqual([1, 1])
    const second = fill(shelves)
    expect(await second.all()).toEqual(fresh)
    for (const each of shelves.values()) expect([each.reads, each.writes]).toEqual([2, 1])
  })

  it('spares reading the text of the tools, but for that of the first hits', async () => {
    const shelves = kept()
    await fill(shelves).rank('file')
    let looked = 0
    const { rank } = fill(shelves, ({ description, ...tool }) => ({
      ...tool,
      get description() {
        looked++
        return description
      },
    }))
    const before = looked
    expect((await rank('file')).length).toBeGreaterThan(0)
    expect(looked - before).toBeLessThanOrEqual(20)
  })

  it('keeps up when tools change, leave and arrive', async () => {
    const shelves = kept()
    await fill(shelves).rank('file')
    const both = [fill(shelves), fill()]
    for (const { rank } of both) await rank('file')
    for (const [round, server] of servers.entries())
      for (const { catalogue } of both) {
        const tools = toolsOf(server).map(({ name, inputSchema }) => ({
          name,
          description: `Number ${round}`,
          inputSchema,
        }))
        if (round % 3 === 0) catalogue.removeSource(server)
        else catalogue.setSource(server, { tools: tools.slice(round % 2) })
      }
    const [first, second] = await Promise.all(both.map(({ all }) => all()))
    expect(first).toEqual(second)
  })

  it.each([
    ['nothing', () => new Uint8Array()],
    ['a torn one', (bytes: Uint8Array) => bytes.slice(0, -1)],
    ['one that is too long', (bytes: Uint8Array) => Uint8Array.of(...bytes, 0)],
    ['one of another version', (bytes: Uint8Array) => bytes.with(4, (bytes[4] ?? 0) + 1)],
    ['one of other tools', (bytes: Uint8Array) => bytes.with(8, (bytes[8] ?? 0) ^ 1)],
    ['something else', () => new TextEncoder().encode('{"not":"an index"}'.repeat(10))],
  ])('is rebuilt if %s is stored', async (_, damage) => {
    const shelves = kept()
    const fresh = await fill(shelves).all()
    const damaged = new Map(
      servers.map((name) => [name, shelf(damage(shelves.get(name)?.bytes as Uint8Array))]),
    )
    expect(await fill(damaged).all()).toEqual(fresh)
    for (const [name, each] of damaged) expect(each.bytes).toEqual(shelves.get(name)?.bytes)
  })

  it('may be read from the middle of something larger', async () => {
    const shelves = kept()
    const fresh = await fill(shelves).all()
    const inside = new Map(
      servers.map((name) => {
        const bytes = shelves.get(name)?.bytes as Uint8Array
        return [name, shelf(Uint8Array.of(1, 2, 3, ...bytes).subarray(3))]
      }),
    )
    expect(await fill(inside).all()).toEqual(fresh)
    for (const each of inside.values()) expect(each.writes).toBe(0)
  })

  it('costs no search when it cannot be kept', async () => {
    const broken: StoredPart = {
      read: () => {
        throw new Error('no folder')
      },
      write: () => {
        throw new Error('no room')
      },
    }
    const shelves = new Map(servers.map((server) => [server, broken]))
    expect(await fill(shelves).all()).toEqual(await fill().all())
  })

  it('is not used for tools that have other names from elsewhere', async () => {
    const shelves = kept()
    const aliased = fill(shelves, (tool) => ({ ...tool, aliases: [`old_${tool.name}`] }))
    expect((await aliased.rank('old_read_file'))[0]?.id).toBe('files/read_file')
    for (const each of shelves.values()) expect([each.reads, each.writes]).toEqual([0, 0])
  })

  it('has a version that goes up with every change of what is indexed', async () => {
    const shelves = kept()
    await fill(shelves).rank('file')
    const bytes = servers.map((server) => Buffer.from(shelves.get(server)?.bytes ?? []).toString('base64'))
    // Another hash: increase indexVersion in segment.ts, then write both here.
    expect([indexVersion, shortHash(bytes.join('\n'))]).toEqual([9, '02b9b87278221472'])
  })
})
