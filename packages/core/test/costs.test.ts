/** The cost of definitions is counted once and cached with their source. A later start counts nothing, and ignores a cache entry that does not match. */
import { describe, expect, it } from 'vitest'
import { openaiChat } from '../src/adapters/openai-chat/index.js'
import { createToolwell, type Tool, type ToolwellOptions } from '../src/index.js'
import { markValidated } from '../src/internal.js'

const CHAT_KEY = /^\d+ openai-chat /

interface Shelf {
  bytes: Uint8Array | undefined
  writes: number
  read(): Uint8Array | undefined
  write(bytes: Uint8Array): void
}

const shelf = (): Shelf => ({
  bytes: undefined,
  writes: 0,
  read() {
    return this.bytes
  },
  write(bytes) {
    this.writes++
    this.bytes = bytes
  },
})

const NAMES = ['get_weather', 'get_forecast', 'set_alarm']

/** Opens a conversation over one source, and says which schemas were read for it. */
async function start(tokens: Shelf, options: ToolwellOptions = {}, names = NAMES, source = 'weather') {
  const reads: string[] = []
  const counted: string[] = []
  const tokenizer = options.costs?.tokenizer ?? {
    name: 'by length',
    count: (text: string) => {
      counted.push(text)
      return text.length
    },
  }
  const tools = names.map((name): Tool => {
    const inputSchema = { type: 'object', properties: { [name]: { type: 'string' } } }
    return markValidated({
      name,
      description: `Does ${name}.`,
      get inputSchema() {
        reads.push(name)
        return inputSchema
      },
    })
  })
  const well = createToolwell({
    mode: 'on',
    delivery: 'bridge',
    ...options,
    costs: { ...options.costs, tokenizer },
  })
  well.catalogue.setSource(source, { tools, kept: { index: shelf(), tokens } })
  const conversation = await well.open({ id: 'a' })
  await openaiChat(conversation).begin([{ role: 'user', content: 'x' }], { requestId: 'r' })
  await conversation.recordRequest({ requestId: 'r', messageTokens: 1000 })
  await new Promise((resolve) => setImmediate(resolve))
  const { counterfactual } = conversation.inspect().accounting
  return {
    reads: new Set(reads),
    counterfactual,
    schemasCounted: counted.filter((text) => text.includes('properties":{"get')),
  }
}

describe('what definitions cost', () => {
  it('is kept at the first start, and read at the next: no schema is', async () => {
    const tokens = shelf()
    const first = await start(tokens)
    expect(first.reads).toEqual(new Set(NAMES))
    expect(tokens.writes).toBe(1)
    const second = await start(tokens)
    expect(second.reads).toEqual(new Set())
    expect(second.schemasCounted).toEqual([])
    expect(first.counterfactual).toBeGreaterThan(0)
    expect(second.counterfactual).toBe(first.counterfactual)
    expect(tokens.writes).toBe(1)
  })

  it('is another on another wire, with another tokenizer or other names, and the same file holds them', async () => {
    const tokens = shelf()
    await start(tokens)
    const twice = await start(tokens, {
      costs: { tokenizer: { name: 'twice', count: (text) => 2 * text.length } },
    })
    expect(twice.reads).toEqual(new Set(NAMES))
    expect((await start(tokens)).reads).toEqual(new Set())
    // The same tools under a longer wire name.
    const renamed = await start(tokens, {
      surface: { wireName: (source, name) => `${source}_of_today_${name}` },
    })
    expect(renamed.reads).toEqual(new Set(NAMES))
    expect(renamed.counterfactual).toBeGreaterThan((await start(shelf())).counterfactual)
  })

  it('is not kept where the host changes definitions: nobody can tell into what', async () => {
    const tokens = shelf()
    await start(tokens, { surface: { transformDefinition: () => ({ description: 'Other.' }) } })
    expect(tokens.writes).toBe(0)
  })

  it('counts again what it cannot read, and what joined', async () => {
    const tokens = shelf()
    const { counterfactual } = await start(tokens)
    const good = new TextDecoder().decode(tokens.bytes)
    const changed = (change: (kept: { names: string; costs: unknown[] }) => unknown) => {
      const all = JSON.parse(good)
      const key = Object.keys(all).find((each) => CHAT_KEY.test(each)) ?? ''
      return JSON.stringify({ ...all, [key]: change(all[key]) })
    }
    for (const bad of [
      '',
      'null',
      '[]',
      '7',
      good.slice(0, -3),
      changed(() => null),
      changed(({ names }) => ({ names, costs: 'x' })),
      changed(({ names, costs }) => ({ names, costs: costs.slice(1) })),
      changed(({ names, costs }) => ({ names, costs: costs.map(() => -1) })),
      changed(({ names, costs }) => ({ names, costs: costs.map(() => 0.5) })),
      changed(({ costs }) => ({ names: 'others', costs: costs.map(() => 1) })),
    ]) {
      tokens.bytes = new TextEncoder().encode(bad)
      expect(await start(tokens), bad).toMatchObject({ reads: new Set(NAMES), counterfactual })
    }
    const more = await start(tokens, {}, [...NAMES, 'stop_alarm'])
    expect(more.reads).toContain('stop_alarm')
  })

  it('does without a place that fails', async () => {
    const { counterfactual } = await start(shelf())
    const broken: Shelf = {
      ...shelf(),
      read() {
        throw new Error('gone')
      },
      write() {
        throw new Error('full')
      },
    }
    expect(await start(broken)).toMatchObject({ counterfactual })
  })
})
