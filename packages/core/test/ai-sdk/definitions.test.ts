/** The parts of a definition that reach the wire through the SDK: `strict` and examples, for SDK tools and others. */
import { defineTool, type Tool } from '@toolwell/core'
import { importTools } from '@toolwell/core/ai-sdk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../support/tools.js'
import { calls, majors, said, search, startHost } from './support.js'

const inputSchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const
const examples = [{ city: 'Oslo' }]

const deliveries = {
  chat: ['eager', 'append'],
  responses: ['eager', 'append', 'native'],
  anthropic: ['eager', 'append', 'native'],
} as const
const cases = majors.flatMap(({ major, sdk }) =>
  (['chat', 'responses', 'anthropic'] as const).flatMap((wire) =>
    deliveries[wire].flatMap((delivery) =>
      (['written for the SDK', 'of a source'] as const).map((kind) => ({ major, sdk, wire, delivery, kind })),
    ),
  ),
)

describe.each(cases)('AI SDK $major over $wire, $delivery, tools $kind', (given) => {
  const { major, sdk, wire, delivery, kind } = given

  /** One eager tool and one deferred tool. */
  async function made(strict: boolean): Promise<readonly Tool[]> {
    const own = { weather: {}, forecast: { source: 'met' } }
    if (kind === 'of a source')
      return Object.entries(own).map(([name, more]) =>
        tool(name, { inputSchema, ...(strict ? { strict, inputExamples: examples } : {}), ...more }),
      )
    const written = sdk.tool({
      description: 'The weather.',
      inputSchema: sdk.jsonSchema(inputSchema),
      ...(strict ? { strict, inputExamples: examples.map((input) => ({ input })) } : {}),
      execute: () => 'rain',
    })
    return importTools(
      { weather: written, forecast: { ...written } },
      sdk.asSchema,
      (name) => own[name as keyof typeof own],
    )
  }
  const script =
    delivery === 'eager' ? [said(), said()] : [calls(search('select:met__forecast')), said(), said()]
  const count = (raw: string, mark: string) => raw.split(mark).length - 1

  it('carries strict and examples', async () => {
    const options = { tools: await made(true), mode: 'on', delivery } as const
    const host = await startHost({ major, wire, script, options })
    await host.ask('How is the weather?')
    expect(new Set(host.statuses())).toEqual(new Set([200]))
    const raw = host.raw(-1)
    expect(count(raw, '"strict":true')).toBe(2)
    if (wire === 'anthropic') expect(count(raw, '"input_examples":[{"city":"Oslo"}]')).toBe(2)
  })

  it('keeps them as they were sent when the owner takes them away', async () => {
    const options = { tools: await made(true), mode: 'on', delivery } as const
    const host = await startHost({ major, wire, script, options })
    await host.ask('How is the weather?')
    const before = host.toolsJson(-1)
    const own = await made(false)
    for (const source of ['', 'met'])
      host.well.catalogue.setSource(source, { tools: own.filter((each) => (each.source ?? '') === source) })
    const other = await startHost({
      major,
      wire,
      script: [said()],
      well: host.well,
      conversation: host.conversation,
    })
    other.messages.push(...host.messages)
    await other.ask('And now?')
    expect(other.toolsJson(-1)).toBe(before)
  })
})

const topLevels: readonly (readonly [string, Tool['inputSchema']])[] = [
  ['without a type', { properties: { city: { type: 'string' } } }],
  [
    'of alternatives',
    defineTool({
      name: 'any',
      description: 'Any.',
      inputSchema: z.discriminatedUnion('by', [
        z.object({ by: z.literal('city'), city: z.string() }),
        z.object({ by: z.literal('code'), code: z.number() }),
      ]),
    }).inputSchema,
  ],
]
const wires = ['chat', 'responses', 'anthropic', 'google'] as const
const untyped = majors.flatMap(({ major }) => wires.map((wire) => ({ major, wire })))

describe.each(untyped)('AI SDK $major over $wire, while every tool is sent', ({ major, wire }) => {
  it.each(topLevels)('a schema %s is sent as the object that servers want', async (_, schema) => {
    const tools = [tool('weather', { inputSchema: schema })]
    const host = await startHost({ major, wire, script: [said()], options: { tools, mode: 'off' } })
    await host.ask('How is the weather?')
    expect(host.statuses()).toEqual([200])
  })
})
