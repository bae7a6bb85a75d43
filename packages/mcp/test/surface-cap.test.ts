/** One server puts no more into every request than it may, whatever it lists, over every wire and delivery. */
import { defineTool, estimate } from '@toolwell/core'
import {
  connectServers,
  defineServer,
  memoryCache,
  memoryFirstUse,
  type ServerDefinition,
  type ServerOptions,
  type Servers,
} from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { someOf } from '../../../test/setup/tier.ts'
import type { WireHarness } from '../../core/test/support/wire-harness.js'
import { anthropicHarness } from '../../core/test/support/wires/anthropic.js'
import { googleHarness } from '../../core/test/support/wires/google.js'
import { openaiChatHarness } from '../../core/test/support/wires/openai-chat.js'
import { openaiResponsesHarness } from '../../core/test/support/wires/openai-responses.js'

const CAP = 1500
const MARK = { _meta: { 'anthropic/alwaysLoad': true } }
const wires: readonly WireHarness[] = [
  anthropicHarness,
  openaiResponsesHarness,
  googleHarness,
  openaiChatHarness,
]
const settings = wires
  .flatMap((harness) => harness.deliveries.map((delivery) => [harness.name, delivery, harness] as const))
  .map((each, place) => [...each, place] as const)

const many = (tool: (index: number) => object) => Array.from({ length: 300 }, (_, index) => tool(index))
const empty = { type: 'object', properties: {} }

/** Ways to take much room with little of what is counted. */
const GREEDY: Readonly<Record<string, readonly object[]>> = {
  'many small tools': many((index) => ({ name: `t${index}`, inputSchema: empty, ...MARK })),
  'names that have to be made legal': many((index) => ({
    name: `a__é.${index}`,
    inputSchema: empty,
    ...MARK,
  })),
  'long names': many((index) => ({ name: `${'n'.repeat(60)}${index}`, inputSchema: empty, ...MARK })),
  'long descriptions': many((index) => ({
    name: `t${index}`,
    description: `Thing ${index}. ${'Long "words" \\ and\n'.repeat(30)}`,
    inputSchema: empty,
    ...MARK,
  })),
  'other scripts': many((index) => ({
    name: `t${index}`,
    description: `${'工具说明 😀 '.repeat(10)}${index}`,
    inputSchema: empty,
    ...MARK,
  })),
  'fields next to the description': many((index) => ({
    name: `t${index}`,
    title: 'A long title '.repeat(20),
    description: 'Short.',
    inputSchema: empty,
    outputSchema: { type: 'object', properties: { out: { type: 'string', description: 'o'.repeat(300) } } },
    annotations: { title: 'Another title '.repeat(20), readOnlyHint: true },
    ...MARK,
  })),
  'keys that have to be made legal': many((index) => ({
    name: `t${index}`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`/${at}`, {}])),
    },
    ...MARK,
  })),
  'parts that are named many times': many((index) => ({
    name: `t${index}`,
    description: 'Short.',
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 12 }, (_, at) => [`p${at}`, { $ref: '#/$defs/large' }]),
      ),
      $defs: {
        large: { type: 'object', properties: { deep: { type: 'string', description: 'd'.repeat(60) } } },
      },
    },
    ...MARK,
  })),
  'schemas that have to be repaired': many((index) => ({
    name: `t${index}`,
    description: 'Short.',
    inputSchema: {
      type: 'object',
      properties: {
        'a key/with: signs': { type: ['string', 'null'], format: 'x' },
        both: { anyOf: [{ const: 1 }, { $ref: '#/$defs/d' }] },
        items: { type: 'array' },
      },
      $defs: {
        d: { type: 'object', properties: { deep: { type: 'string', description: 'd'.repeat(100) } } },
      },
    },
    ...MARK,
  })),
}

/** The longest instructions: their first line describes the server to a model. */
const instructions = `${'I am the best server of all. '.repeat(400)}\n${'Second line. '.repeat(400)}`

async function sent(
  harness: WireHarness,
  delivery: 'append' | 'bridge' | 'native',
  tools: readonly object[],
  options: ServerOptions,
) {
  const server = defineServer('odd', { command: 'not-started' }, options)
  const cache = memoryCache()
  cache.write(server, {
    tools: tools as ServerDefinition['tools'],
    instructions,
    capabilities: {},
    info: undefined,
    era: 'legacy',
    ttlMs: undefined,
    cacheScope: 'private',
  })
  let servers: Servers | undefined
  const host = await harness.open({ mode: 'on', delivery, tools: [OWN] }, [{ text: 'One.' }], {
    prepare: (well) => {
      const given = tools.length === 0 ? [] : [server]
      servers = connectServers(well.catalogue, given, {
        cache,
        firstUse: memoryFirstUse(),
        logs: false,
        scan: false,
      })
    },
  })
  onTestFinished(() => servers?.close())
  expect(await servers?.settled(100_000)).toEqual([])
  await host.ask('Begin.')
  expect(host.requests.filter(({ violation }) => violation)).toEqual([])
  return { host, report: servers?.inspect()[0] }
}

const OWN = defineTool({
  name: 'own_tool',
  description: 'Of the host.',
  inputSchema: { type: 'object', properties: {} },
  execute: () => 'done',
})

/** Tools that a model reads: hidden declarations are not part of its request. */
function readTools(json: string): object[] {
  const found: object[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { name, defer_loading: isDeferred, function: inner } = value as Record<string, unknown>
    const named = typeof name === 'string' ? name : (inner as { name?: unknown } | undefined)?.name
    if (typeof named === 'string' && named.startsWith('odd')) {
      if (isDeferred !== true) found.push(value)
    } else Object.values(value).forEach(walk)
  }
  walk(JSON.parse(json))
  return found
}

describe.each(settings)('over %s, %s', (_, delivery, harness, place) => {
  it.each(someOf(Object.entries(GREEDY), place))('%s', async (_name, list) => {
    const ways: ServerOptions[] = [{ marks: true }, { alwaysLoad: ['*'] }]
    for (const options of ways) {
      const { host, report } = await sent(harness, delivery, list, options)
      const tools = readTools(host.toolsJson(0))
      const tokens = tools.reduce<number>((sum, tool) => sum + estimate.count(JSON.stringify(tool)), 0)
      expect(tokens, JSON.stringify(options)).toBeLessThanOrEqual(CAP)
      // It is a bound, and not a ban.
      expect(tools.length).toBeGreaterThan(0)
      expect(tools.length + (report?.beyondSurface.length ?? 0)).toBe(300)
    }
    if (delivery === 'native') return
    // And with the list of hidden tools, which has one limit for all servers together.
    const { host: without } = await sent(harness, delivery, [], {})
    const { host } = await sent(harness, delivery, list, { marks: true })
    const beside = estimate.count(host.rendered(0)) - estimate.count(without.rendered(0))
    expect(beside).toBeLessThanOrEqual(2 * CAP + 200)
  })
})
