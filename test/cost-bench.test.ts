/** The cost bench: what must hold whatever the prices are, and that the docs show the figures that are committed. */
import { readFileSync } from 'node:fs'
import { estimate, type Tool, type ToolwellOptions } from '@toolwell/core'
import { anthropicProtocol, chatProtocol, googleProtocol, responsesProtocol } from '@toolwell/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { applyCache } from '../bench/cost/cache.ts'
import { chooseTools } from '../bench/cost/catalogue.ts'
import { drawChart } from '../bench/cost/chart.ts'
import { type ConversationFile, loadConversations, readConversation } from '../bench/cost/conversation.ts'
import { COST_PAGES, fillDocs } from '../bench/cost/docs.ts'
import { type CostFigures, measurePattern, type PatternFigures } from '../bench/cost/figures.ts'
import { providers } from '../bench/cost/providers.ts'
import { createPieceMaker } from '../bench/cost/rendering.ts'
import { createWell, replayConversation } from '../bench/cost/replay.ts'
import { wires } from '../bench/cost/wires/index.ts'
import type { Body, WireName } from '../bench/cost/wires/wire.ts'
import { loadCorpus } from '../bench/data.ts'

const WIRES = Object.keys(wires) as WireName[]

const talk = (tools: number, turns: object[]): ConversationFile =>
  readConversation('made-up', {
    about: 'Made up.',
    catalogue: { tools, own: 4, servers: ['*'] },
    system: 1_200,
    turns,
  })

/** Three deferred tools, found in two searches. */
const searching = talk(120, [
  { user: 40, steps: ['0: 300', '20: 400'], answer: 60 },
  { user: 40, steps: ['40: 400, 60: 300'], answer: 60 },
  { user: 40, steps: ['20: 400'], answer: 60 },
])
const silent = talk(120, [{ user: 40, answer: 60 }])

const pieces = createPieceMaker((text) => estimate.count(text))
let corpus: readonly Tool[] = []
let figures: PatternFigures

beforeAll(async () => {
  corpus = (await loadCorpus(undefined)).tools
  figures = await measurePattern(searching, chooseTools(corpus, searching.catalogue), pieces)
})

const record = (file: ConversationFile, options: ToolwellOptions, wire: WireName) => {
  const catalogue = chooseTools(corpus, file.catalogue)
  return replayConversation(file, catalogue, createWell(catalogue, options), wires[wire], pieces)
}

describe('a conversation with two searches', () => {
  it.each(WIRES)('keeps its prefix with bridge and native on %s', async (wire) => {
    for (const delivery of ['bridge', 'native'] as const) {
      const { requests, searches } = await record(searching, { mode: 'on', delivery }, wire)
      expect(searches).toBe(2)
      for (const [index, { rendering }] of requests.entries()) {
        const before = requests[index - 1]?.rendering.pieces ?? []
        expect(rendering.pieces.slice(0, before.length)).toEqual(before)
      }
    }
  })

  it('loses it with every list that is made anew', () => {
    for (const { name, rule } of providers) {
      const { strategies } = figures.providers[name] ?? {}
      const bridge = strategies?.bridge
      for (const form of ['mutation-first', 'mutation-sorted']) {
        const mutation = strategies?.[form]
        expect(mutation?.searches).toBe(2)
        if (rule.kind === 'none') continue
        expect(mutation?.total).toBeGreaterThan(bridge?.total ?? Number.NaN)
        expect(mutation?.cacheHits).toBeLessThan(bridge?.cacheHits ?? Number.NaN)
      }
    }
  })

  it('costs less with deferral than with every tool, and with auto as little', () => {
    for (const { name } of providers) {
      const { strategies, breakEven } = figures.providers[name] ?? {}
      expect(strategies?.bridge?.total).toBeLessThan(1)
      expect(breakEven).toBeLessThan(figures.deferredTokens)
      expect(breakEven).toBeGreaterThan(figures.surfaceTokens)
      expect(strategies?.auto?.total).toBeLessThanOrEqual(1)
    }
  })

  it('has an eager run without searches, and auto that stays off is that run', async () => {
    const eager = await record(searching, { mode: 'off' }, 'anthropic')
    const off = await record(searching, { mode: 'auto', costs: { threshold: 1e9 } }, 'anthropic')
    expect(eager).toMatchObject({ searches: 0, mode: 'off', delivery: 'eager' })
    expect(eager.requests.map(({ isSearch }) => isSearch)).toEqual(Array(7).fill(false))
    expect(off.requests.map(({ rendering }) => rendering)).toEqual(
      eager.requests.map(({ rendering }) => rendering),
    )
  })

  it.each(WIRES)('sends what a strict server takes on %s', async (wire) => {
    for (const delivery of ['bridge', 'append', 'native'] as const) {
      const { requests } = await record(searching, { mode: 'on', delivery }, wire)
      for (const { body } of requests) expect(violation(wire, body)).toBeUndefined()
    }
  })
})

describe('a conversation without a search', () => {
  it('has no list to change', async () => {
    const measured = await measurePattern(silent, chooseTools(corpus, silent.catalogue), pieces)
    for (const { name } of providers) {
      const { strategies } = measured.providers[name] ?? {}
      expect(strategies?.['mutation-first']?.total).toBe(strategies?.append?.total)
      expect(strategies?.['mutation-sorted']?.searches).toBe(0)
    }
  })
})

describe('a cache', () => {
  const piece = (text: string, tokens: number) => ({ text, tokens, part: 'messages' as const })
  const tools = piece('tools', 2_000)
  const first = piece('first', 1_000)
  const second = piece('second', 500)
  const request = (minute: number, ...list: (typeof tools)[]) => ({
    minute,
    rendering: { pieces: list, marks: [1, list.length] },
  })

  it('by marks reads what was marked and writes the rest', () => {
    const rule = { kind: 'marks', marks: 'all', minimum: 1024, minutes: 5 } as const
    expect(applyCache([request(0, tools, first), request(1, tools, first, second)], rule)).toEqual([
      { read: 0, written: 3_000, plain: 0 },
      { read: 3_000, written: 500, plain: 0 },
    ])
    expect(applyCache([request(0, tools, first), request(1, tools, second)], rule)[1]).toEqual({
      read: 2_000,
      written: 500,
      plain: 0,
    })
  })

  it('with one mark at the end finds nothing shorter', () => {
    const rule = { kind: 'marks', marks: 'last', minimum: 1024, minutes: 30 } as const
    expect(applyCache([request(0, tools, first), request(1, tools, second)], rule)[1]).toEqual({
      read: 0,
      written: 2_500,
      plain: 0,
    })
  })

  it('by prefix reads in whole steps, and nothing below its minimum', () => {
    const rule = { kind: 'prefix', minimum: 1024, step: 128, minutes: 5 } as const
    expect(applyCache([request(0, tools, first), request(1, tools, second)], rule)[1]).toEqual({
      read: 1_920,
      written: 0,
      plain: 580,
    })
    expect(applyCache([request(0, first), request(1, first)], rule)[1]).toMatchObject({ read: 0 })
  })

  it('forgets after its time, unless it was read in between', () => {
    const rule = { kind: 'marks', marks: 'all', minimum: 1024, minutes: 5 } as const
    const reads = (...minutes: number[]) =>
      applyCache(
        minutes.map((minute) => request(minute, tools, first)),
        rule,
      ).map(({ read }) => read)
    expect(reads(0, 6)).toEqual([0, 0])
    expect(reads(0, 4, 8)).toEqual([0, 3_000, 3_000])
  })
})

describe('the committed figures', () => {
  const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  const committed = JSON.parse(read('bench/results/cost.json')) as CostFigures

  it('cover every conversation and every provider', async () => {
    const files = await loadConversations(new URL('../bench/conversations/', import.meta.url))
    expect(committed.patterns.map(({ name }) => name)).toEqual(files.map(({ name }) => name))
    expect(committed.providers).toEqual(JSON.parse(JSON.stringify(providers)))
  })

  it.each(COST_PAGES)('are those of %s', (page) => {
    const text = read(page)
    expect(fillDocs(text, committed)).toBe(text)
  })

  it('are those of the picture', () => {
    expect(drawChart(committed)).toBe(read('docs/images/cost.svg'))
  })
})

/** What the strict endpoint of a wire has against a body. */
function violation(wire: WireName, { tools, system, messages }: Body) {
  const body = JSON.parse(
    JSON.stringify(
      wire === 'anthropic'
        ? { model: 'm', max_tokens: 100, tools, system, messages }
        : wire === 'openai-responses'
          ? { model: 'm', tools, instructions: system, input: messages }
          : wire === 'openai-chat'
            ? { model: 'm', tools, messages }
            : {
                tools: [{ functionDeclarations: tools }],
                systemInstruction: { parts: [{ text: system }] },
                contents: messages,
              },
    ),
  )
  const protocols = {
    anthropic: anthropicProtocol(),
    'openai-responses': responsesProtocol(),
    'openai-chat': chatProtocol(),
    google: googleProtocol(),
  }
  return (protocols[wire].violationOf as (body: unknown, context: object) => unknown)(body, {})
}

it('counts text in messages as the model reads it, without the escapes of JSON', () => {
  const schema = '{"type":"object","properties":{"a":{"type":"string"}}}'
  const { text } = pieces.of('messages', { role: 'tool', content: `Found:\n- ${schema}` })
  expect(text).toBe(`{"role":"tool","content":"Found:\n- ${schema}"}`)
  expect(pieces.of('tools', JSON.parse(schema)).text).toBe(schema)
})
