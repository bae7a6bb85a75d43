/** A proxy that strips deferral and says nothing is noticed, and the next latch does without it. */
import { createToolwell, type Measurement, type ToolwellEvent } from '@toolwell/core'
import { type AnthropicMessage, type AnthropicReply, anthropic } from '@toolwell/core/anthropic'
import { anthropicProtocol, type ScriptedReply, startScriptedEndpoint } from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { estimate } from '../src/base/tokens.js'
import { createState, type LedgerState, type RequestRecord } from '../src/ledger/fold.js'
import { findNativeFault } from '../src/surface/native-check.js'
import { mixed, server } from './support/tools.js'

const find = (name: string): ScriptedReply => ({
  calls: [{ name: 'tool_search', arguments: { query: `select:${name}` } }],
})
const wide = server('wide', ['one', 'two', 'three', 'four'], { description: 'word '.repeat(400) })
const mark = { cache_control: { type: 'ephemeral' } }

/** A host behind a proxy that does something to each request. */
async function open(
  script: readonly ScriptedReply[],
  strip: (body: Body) => Body,
  figuresOf: (usage: Usage) => Figures = whole,
) {
  const endpoint = await startScriptedEndpoint(anthropicProtocol({ strictReveal: false }), {
    model: [...script, ...Array.from({ length: 20 }, () => ({ text: 'Well.' }))],
  })
  onTestFinished(() => endpoint.close())
  const events: ToolwellEvent[] = []
  const well = createToolwell({
    tools: [...mixed(), ...wide],
    mode: 'on',
    onEvent: (event) => events.push(event),
  })
  const conversation = await well.open({ id: 'a' })
  const wire = anthropic(conversation)
  const messages: AnthropicMessage[] = []
  const step = async () => {
    const turn = await wire.begin(messages, { system: 'Be careful. '.repeat(500) })
    const body = strip({ model: 'scripted', max_tokens: 100, ...mark, ...turn.parts })
    const response = await fetch(`${endpoint.url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(200)
    const reply = (await response.json()) as AnthropicReply & { usage: Usage }
    await conversation.recordRequest({
      requestId: turn.view.requestId,
      messageTokens: estimate.count(JSON.stringify([turn.parts.system, turn.parts.messages])),
      ...figuresOf(reply.usage),
    })
    const ran = await turn.run(reply)
    messages.push({ role: reply.role, content: reply.content }, ...ran.messages)
    return ran.messages.length > 0
  }
  return {
    conversation,
    events,
    endpoint,
    async ask(text: string) {
      messages.push({ role: 'user', content: text })
      while (await step());
    },
    async compact() {
      const after = [{ role: 'user', content: 'Summary.' }]
      await wire.compact(messages, after)
      messages.splice(0, messages.length, ...after)
    },
  }
}

interface Body {
  readonly tools?: readonly { readonly defer_loading?: boolean }[]
  readonly [field: string]: unknown
}

interface Usage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
}

type Figures = Pick<Measurement, 'inputTokens' | 'cachedTokens'>

const whole = (usage: Usage): Figures => ({
  inputTokens: usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens,
  cachedTokens: usage.cache_read_input_tokens,
})

const honest = (body: Body) => body
/** Marks the tools and the system prompt: everything said is then `input_tokens`, and nothing else is. */
const marked = ({ cache_control: _, ...body }: Body): Body => ({
  ...body,
  system: [{ type: 'text', text: body.system, ...mark }],
})
/** Strips the flag: every declared tool is sent in full, and the references on top of it. */
const stripping = (body: Body): Body => ({
  ...body,
  ...(body.tools ? { tools: body.tools.map(({ defer_loading: _, ...tool }) => tool) } : {}),
})

const searches = [find('wide__one'), find('wide__two'), find('wide__three')]

describe('a proxy that strips deferral', () => {
  it('P4: is noticed by what input costs, said at once, and avoided from the next latch on', async () => {
    const host = await open([{ text: 'Well.' }, ...searches], stripping)
    await host.ask('Hello')
    await host.ask('go')
    const { withheld } = host.conversation.inspect()
    expect(withheld).toHaveProperty('native')
    expect(host.events).toContainEqual(
      expect.objectContaining({ kind: 'delivery-unavailable', delivery: 'native' }),
    )
    expect(host.events.filter((event) => event.kind === 'downgraded')).toHaveLength(1)
    // Not in the middle of a history that was written for it.
    expect(host.conversation.inspect().delivery).toBe('native')
    await host.compact()
    await host.ask('again')
    expect(host.conversation.inspect().delivery).toBe('bridge')
    expect(JSON.stringify(host.endpoint.requests.at(-1)?.body)).not.toContain('defer_loading')
  })

  it('P4: is noticed when the model calls what is declared out of its sight', async () => {
    const host = await open([{ calls: [{ name: 'toolwell_reserve', arguments: {} }] }], stripping)
    await host.ask('go')
    expect(host.conversation.inspect().withheld.native).toContain('toolwell_reserve')
  })
})

it('P4: an honest server keeps native delivery, however much is loaded', async () => {
  const host = await open([...searches, find('wide__four'), find('tracker__create_issue')], honest)
  await host.ask('go')
  await host.ask('go on')
  expect(host.conversation.inspect().withheld).toEqual({})
  await host.compact()
  await host.ask('again')
  expect(host.conversation.inspect().delivery).toBe('native')
})

describe('figures that are not all input', () => {
  const asAnthropicSaysThem: readonly (readonly [string, (usage: Usage) => Figures])[] = [
    ['input_tokens alone', (usage) => ({ inputTokens: usage.input_tokens })],
    [
      'input_tokens, with cache_read_input_tokens separate',
      (usage) => ({ inputTokens: usage.input_tokens, cachedTokens: usage.cache_read_input_tokens }),
    ],
  ]
  it.each(asAnthropicSaysThem)(
    'P4: do not make an honest server look like a stripping one: %s',
    async (_name, figures) => {
      const loads = [...searches, find('wide__four')]
      const host = await open(loads, marked, figures)
      await host.ask('Tell me what you can do. '.repeat(150))
      await host.ask('go on')
      expect(host.conversation.inspect().withheld).toEqual({})
    },
  )

  it('are dropped and reported if more is cached than sent', async () => {
    const [, [, figures]] = asAnthropicSaysThem as [unknown, (typeof asAnthropicSaysThem)[number]]
    const host = await open(searches, marked, figures)
    await host.ask('go')
    const told = host.events.flatMap((event) => (event.kind === 'usage-refused' ? [event.detail] : []))
    expect(told.length).toBeGreaterThan(0)
    expect(told[0]).toMatch(
      /the sum of input_tokens, cache_read_input_tokens and cache_creation_input_tokens/,
    )
    const { provider } = host.conversation.inspect().accounting
    expect(provider.cachedTokens).toBeLessThanOrEqual(provider.inputTokens)
  })

  it.each([Number.NaN, -1, '12', Number.POSITIVE_INFINITY])('are left out and told: %s', async (figure) => {
    const host = await open([], honest, () => ({ inputTokens: figure as number, cachedTokens: 0 }))
    await host.ask('go')
    expect(host.events.filter(({ kind }) => kind === 'usage-refused')).toMatchObject([
      { detail: expect.stringContaining('inputTokens') },
    ])
    expect(host.conversation.inspect().accounting.provider.inputTokens).toBe(0)
    const [measured] = host.events.filter((event) => event.kind === 'measured')
    expect(measured).not.toHaveProperty('inputTokens')
  })
})

describe('figures of requests', () => {
  interface Figure {
    /** Tokens of definitions that came in before this request. */
    readonly loaded?: number
    /** Tokens sent before it, as the host counts. */
    readonly said?: number
    /** Tokens the provider counts on top of that. */
    readonly more?: number
    readonly cached?: number
    readonly frozen?: number
  }

  /** The probe's verdict on requests in this order. */
  function told(figures: readonly Figure[], latches = 1, input = 1000): string | undefined {
    let messageTokens = 1000
    let revealed = 0
    let inputTokens = input
    const requests = figures.map(({ loaded = 0, said = 50, more = 0, cached, frozen = 1 }, index) => {
      messageTokens += said
      revealed += loaded
      inputTokens += said + loaded + more
      const tokens = { eager: 0, loaded: 0, cards: 0, metaTools: 0, revealed }
      const cachedTokens = cached === undefined ? {} : { cachedTokens: cached }
      return [String(index), { tokens, frozen, messageTokens, inputTokens, ...cachedTokens }] as const
    })
    const state = createState()
    const byId = new Map(requests as unknown as [string, RequestRecord][])
    return findNativeFault({
      ...state,
      frozen: { delivery: 'native' } as LedgerState['frozen'],
      freezing: { ...state.freezing, count: latches },
      requests: { ...state.requests, byId },
    })
  }
  const twice: Figure = { loaded: 500, more: 500 }
  const loads: Figure = { loaded: 500 }
  const TWICE = /grows by more than was loaded/
  const AGAIN = /read the prompt again/

  it('P4: tell that definitions are counted twice by two loads and one request without', () => {
    expect(told([{}, {}, twice, twice])).toMatch(TWICE)
    expect(told([{}, twice, twice, {}])).toMatch(TWICE)
  })

  it.each<[string, readonly Figure[]]>([
    ['one load', [{}, {}, twice, {}, {}]],
    ['no request without a load to compare with', [{}, twice, twice, twice]],
    ['loads that are counted once as often as twice', [{}, {}, twice, loads, twice, loads]],
    [
      'loads too small to distinguish from noise',
      [{}, {}, { loaded: 150, more: 150 }, { loaded: 150, more: 150 }],
    ],
    [
      'much more than twice: something else came along',
      [{}, {}, { loaded: 500, more: 1600 }, { loaded: 500, more: 1600 }],
    ],
    [
      'images that come with every request',
      [{}, ...Array.from({ length: 4 }, () => [{ more: 500 }, twice]).flat()],
    ],
    [
      'thoughts that are counted in one request and not in the next',
      [{}, {}, twice, { more: -500 }, twice, { more: -500 }],
    ],
    [
      'long messages that the host counts a little low',
      [{}, {}, ...[1, 2].map(() => ({ loaded: 500, said: 4000, more: 600 }))],
    ],
    ['loads of an older latch', [{}, {}, twice, twice, { frozen: 2 }, { frozen: 2 }]],
  ])('P4: tell nothing by %s', (_name, figures) => {
    expect(told(figures, figures.some(({ frozen }) => frozen === 2) ? 2 : 1)).toBeUndefined()
  })

  it('P4: are off without a doubt where long messages are counted a little low and nothing is loaded', () => {
    expect(told([{}, { said: 4000, more: 600 }, twice, twice])).toMatch(TWICE)
  })

  it('P4: prove nothing if the input is incomplete', () => {
    expect(told([{}, {}, loads, loads, loads], 1, 600)).toBeUndefined()
  })

  const cold: Figure = { ...loads, cached: 0 }
  it('P4: tell that the cache is lost with every load', () => {
    expect(told([{ cached: 0 }, { cached: 1000 }, cold, { cached: 1500 }, cold])).toMatch(AGAIN)
    expect(told([{ cached: 0 }, { cached: 1000 }, cold, cold])).toMatch(AGAIN)
    // Loads before the cache had anything tell neither way.
    expect(told([{ cached: 0 }, cold, cold, { cached: 1000 }, cold, { cached: 1500 }, cold])).toMatch(AGAIN)
  })

  it.each<[string, readonly Figure[]]>([
    ['one load', [{ cached: 0 }, { cached: 1000 }, cold, { cached: 1500 }]],
    [
      'loads while the prompt was too short to be cached',
      [{ cached: 0 }, cold, cold, { cached: 0 }, { cached: 2000 }, { cached: 2100 }],
    ],
    [
      'a cache that forgets without a load, too',
      [
        { cached: 0 },
        { cached: 1000 },
        cold,
        { cached: 1500 },
        { cached: 0 },
        { cached: 1500 },
        cold,
        { cached: 1500 },
        { cached: 0 },
      ],
    ],
    [
      'a cache that keeps what it has at other loads',
      [{ cached: 0 }, { cached: 1000 }, cold, { ...loads, cached: 1500 }, cold, { ...loads, cached: 1500 }],
    ],
    [
      'a cache of which only the beginning is used',
      [{ cached: 0 }, { cached: 1000 }, ...[1, 2, 3].map(() => ({ ...loads, said: 20_000, cached: 1000 }))],
    ],
    ['loads whose share of the cache is unknown', [{ cached: 0 }, { cached: 1000 }, loads, loads]],
    [
      'a history that was cut',
      [{ said: 5000, cached: 0 }, { cached: 6000 }, { said: -5000, cached: 0 }, cold, cold],
    ],
    [
      'loads of an older latch',
      [{ cached: 0 }, { cached: 1000 }, cold, { cached: 1500 }, cold, { frozen: 2, cached: 0 }],
    ],
  ])('P4: tell nothing of the cache by %s', (_name, figures) => {
    expect(told(figures, figures.some(({ frozen }) => frozen === 2) ? 2 : 1)).toBeUndefined()
  })
})
