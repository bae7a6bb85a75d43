/** `auto`: one decision before the first request, by what deferral would cost in a typical conversation, or in the worst. */
import { readFileSync } from 'node:fs'
import { type CostOptions, createToolwell, type Tool, type ToolwellOptions } from '@toolwell/core'
import { anthropic } from '@toolwell/core/anthropic'
import { google } from '@toolwell/core/google'
import { openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses } from '@toolwell/core/openai-responses'
import { describe, expect, it } from 'vitest'
import type { CacheRule } from '../src/base/wires.js'
import { computeBreakEven, getCacheRule } from '../src/costs/costs.js'
import { server } from './support/tools.js'

/** Tools of a server, about 250 tokens each. */
const many = (count: number): Tool[] =>
  server(
    'box',
    Array.from({ length: count }, (_, index) => `tool_${index}`),
    { description: 'word '.repeat(180) },
  )

const open = (options: ToolwellOptions) => createToolwell(options).open({ id: 'a' })
const user = [{ role: 'user', content: 'Hello' }]

describe('the break-even size', () => {
  // Every term by hand: 2,000 tokens of growth per request, answers of 600, replies of 100 at five times the price.
  const rule = { read: 0.1, write: 1.25, output: 5, minimum: 1024 }

  it('lies where three searches in ten requests cost as much as the definitions', () => {
    const search = 0.1 * (4000 + 2000 + 10_000) + 600 * (1.25 + 0.5) + 500
    expect(computeBreakEven('typical', { surface: 2000, prompt: 4000 }, rule)).toBe(
      Math.round(2000 + (3 * search) / (1.25 + 0.9)),
    )
  })

  it('frugal: lies where twelve searches in thirteen requests do', () => {
    const search = 0.1 * (4000 + 2000 + 13_000) + 600 * (1.25 + 0.65) + 500
    expect(computeBreakEven('frugal', { surface: 2000, prompt: 4000 }, rule)).toBe(
      Math.round(2000 + (12 * search) / (1.25 + 1.2)),
    )
  })

  it('lies higher where what deferral leaves is too short for the cache', () => {
    const at = (minimum: number) =>
      computeBreakEven('typical', { surface: 1000, prompt: 500 }, { ...rule, minimum })
    // Requests of 1,500 and 3,500 tokens are read at the full price, nine tenths more than from the cache.
    expect(at(4096) - at(1024)).toBe(Math.round((0.9 * (1500 + 3500)) / 2.15))
  })

  it('rises with the prompt, which every search reads again', () => {
    const at = (prompt: number) =>
      computeBreakEven('typical', { surface: 2000, prompt }, getCacheRule('anthropic'))
    expect(at(50_000)).toBeGreaterThan(at(3000) + 5000)
  })
})

/** Tools of about 145 tokens, as five popular servers have 93 of, and of about 70. */
const sized = (count: number, words: number) =>
  server(
    'box',
    Array.from({ length: count }, (_, index) => `tool_${index}`),
    { description: 'word '.repeat(words) },
  )

describe('auto', () => {
  it.each([
    [
      'anthropic',
      (tools: Tool[], more: ToolwellOptions) =>
        open({ tools, ...more }).then((c) => anthropic(c).begin(user)),
    ],
    [
      'openai-responses',
      (tools: Tool[], more: ToolwellOptions) =>
        open({ tools, ...more }).then((c) => openaiResponses(c).begin(user)),
    ],
    [
      'openai-chat',
      (tools: Tool[], more: ToolwellOptions) =>
        open({ tools, ...more }).then((c) => openaiChat(c).begin(user)),
    ],
    [
      'google',
      (tools: Tool[], more: ToolwellOptions) =>
        open({ tools, ...more }).then((c) => google(c).begin([{ role: 'user', parts: [{ text: 'Hello' }] }])),
    ],
  ] as const)(
    'U2: on %s defers 93 tools of 13,600 tokens but not 20 of 1,400, and neither for a frugal host',
    async (_, begin) => {
      expect((await begin(sized(93, 96), {})).view.mode).toBe('on')
      expect((await begin(sized(20, 20), {})).view.mode).toBe('off')
      expect((await begin(sized(93, 96), { costs: { plan: 'frugal' } })).view.mode).toBe('off')
    },
  )

  it('U2: does not defer a small catalogue, and gives the reason', async () => {
    const conversation = await open({ tools: many(20) })
    const { view, parts } = await openaiChat(conversation).begin(user)
    expect(view.mode).toBe('off')
    expect(parts.tools).toHaveLength(20)
    expect(conversation.inspect().because).toMatch(
      /^\d+ tokens of deferred definitions; deferring them pays from \d+ on$/,
    )
  })

  it.each(['auto', 'on'] as const)(
    'U2: in mode %s says that own tools are sent, however many there are',
    async (mode) => {
      const own = sized(93, 96).map(({ source: _, ...each }) => each)
      const conversation = await open({ tools: own, mode })
      expect((await openaiChat(conversation).begin(user)).view.tools.length).toBeGreaterThanOrEqual(93)
      expect(conversation.inspect().because).toMatch(
        /^nothing is deferred: own tools are eager, unless the option is defer: 'all', or they are given with defer: true or by setSource/,
      )
    },
  )

  it.each(['auto', 'on'] as const)(
    'U2: in mode %s defers a source that is connecting and not yet listed, and the search waits for it',
    async (mode) => {
      const well = createToolwell({ mode })
      well.catalogue.setSource('box', { tools: [], state: 'connecting' })
      const conversation = await well.open({ id: 'a' })
      const chat = openaiChat(conversation)
      const { parts, run } = await chat.begin(user)
      expect(parts.tools?.map(({ function: { name } }) => name)).toEqual(['tool_search', 'tool_call'])
      expect(conversation.inspect().because).toMatch(
        /^"box" is still connecting, and how many tools it has is not known yet/,
      )
      const call = {
        id: 'c1',
        type: 'function',
        function: { name: 'tool_search', arguments: '{"query":"tool_7"}' },
      }
      const reply = { role: 'assistant', content: null, tool_calls: [call] }
      const answered = run({ choices: [{ message: reply }] })
      well.catalogue.setSource('box', { tools: sized(93, 96).map(({ source: _, ...each }) => each) })
      const { messages } = await answered
      expect(messages[0]).toMatchObject({ content: expect.stringContaining('box__tool_7') })
      const next = await chat.begin([...user, reply, ...messages])
      expect(next.parts.tools).toEqual(parts.tools)
    },
  )

  it('U2: a source that is connecting and known decides by what is known of it', async () => {
    const well = createToolwell()
    const tools = sized(20, 20).map(({ source: _, ...each }) => each)
    well.catalogue.setSource('box', { tools, state: 'connecting' })
    const { view } = await openaiChat(await well.open({ id: 'a' })).begin(user)
    expect(view.mode).toBe('off')
  })

  it('U2: a source that policy denies is not waited for', async () => {
    const well = createToolwell({ policy: ({ source }) => source !== 'box' })
    well.catalogue.setSource('box', { tools: [], state: 'connecting' })
    const { view } = await openaiChat(await well.open({ id: 'a' })).begin(user)
    expect(view.mode).toBe('off')
  })

  it('U7: takes the native way where the wire has it, the bridge elsewhere', async () => {
    const tools = many(200)
    const content = [{ role: 'user', parts: [{ text: 'Hello' }] }]
    const views = [
      (await anthropic(await open({ tools })).begin(user)).view,
      (await openaiResponses(await open({ tools })).begin(user)).view,
      (await openaiChat(await open({ tools })).begin(user)).view,
      (await google(await open({ tools })).begin(content)).view,
    ]
    expect(views.map(({ delivery }) => delivery)).toEqual(['native', 'native', 'bridge', 'bridge'])
  })

  it('U2: reads the first messages: what a long prompt makes expensive is not deferred', async () => {
    const tools = many(50)
    const long = [{ role: 'user', content: 'word '.repeat(60_000) }]
    expect((await openaiChat(await open({ tools })).begin(user)).view.mode).toBe('on')
    expect((await openaiChat(await open({ tools })).begin(long)).view.mode).toBe('off')
  })

  it('U2: a threshold of the host decides instead', async () => {
    const tools = many(20)
    expect((await openaiChat(await open({ tools, costs: { threshold: 4000 } })).begin(user)).view.mode).toBe(
      'on',
    )
    expect(
      (await openaiChat(await open({ tools: many(100), costs: { threshold: 1e6 } })).begin(user)).view.mode,
    ).toBe('off')
  })

  it('U2: is latched: a long answer does not change it, nor does a late server', async () => {
    const well = createToolwell({ tools: many(20) })
    const wire = openaiChat(await well.open({ id: 'a' }))
    await wire.begin(user)
    well.catalogue.setSource('late', { tools: many(100) })
    const next = [...user, { role: 'assistant', content: 'Hi' }, { role: 'user', content: 'Go on' }]
    expect((await wire.begin(next)).view.mode).toBe('off')
  })
})

describe('prices of the host', () => {
  const tools = many(120)

  it('U7: without a discount for what is cached, an array that grows is the cheapest', async () => {
    const conversation = await open({ tools, costs: { prices: { read: 1, write: 1 } } })
    expect((await openaiChat(conversation).begin(user)).view.delivery).toBe('append')
  })

  it('U2: move the break-even', async () => {
    const least = async (prices: CostOptions['prices'] & {}) => {
      const conversation = await open({ tools, costs: { prices } })
      await openaiChat(conversation).begin(user)
      return Number(conversation.inspect().because?.match(/from (\d+) on/)?.[1])
    }
    expect(await least({ output: 50 })).toBeGreaterThan((await least({})) + 2000)
  })

  it.each([{ read: -1 }, { write: Number.NaN }, { output: '5' }, { cached: 1 }, 3, [], 'cheap'])(
    'are refused where they make no sense: %j',
    (prices) => {
      expect(() => createToolwell({ costs: { prices: prices as never } })).toThrow(/prices/)
    },
  )
})

it('U2: breaks even where the guide says', () => {
  const guide = readFileSync(new URL('../../../docs/reference/options.md', import.meta.url), 'utf8')
  // The built-in estimate counts a tenth more.
  const at = (prompt: number, rule: CacheRule, plan: 'typical' | 'frugal' = 'typical', bridged = false) =>
    1.1 * computeBreakEven(plan, { surface: 2000, prompt, bridged }, rule)
  const [native, bridge] = [getCacheRule('anthropic'), getCacheRule('google')]
  const none = getCacheRule('openai-chat', { read: 1, write: 1 })
  for (const prompt of [3000, 50_000]) {
    const [row = ''] = guide.match(new RegExp(`^\\| ${prompt / 1000},000 \\|.*$`, 'm')) ?? []
    const shown = row.match(/\d+,\d{3}/g)?.map((number) => Number(number.replace(',', '')))
    const computed = [
      prompt,
      at(prompt, native),
      at(prompt, bridge, 'typical', true),
      at(prompt, none),
      at(prompt, native, 'frugal'),
      at(prompt, bridge, 'frugal', true),
    ]
    expect(shown).toHaveLength(computed.length)
    for (const [index, number] of computed.entries()) expect((shown?.[index] ?? 0) / number).toBeCloseTo(1, 1)
  }
})

it('U2: says why this delivery, where it chose', async () => {
  const conversation = await open({ tools: many(3), mode: 'on' })
  await openaiChat(conversation).begin(user)
  expect(conversation.inspect().because).toMatch(/^bridge: /)
  const fixed = await open({ tools: many(3), mode: 'on', delivery: 'append' })
  await openaiChat(fixed).begin(user)
  expect(fixed.inspect().because).toBeUndefined()
})
