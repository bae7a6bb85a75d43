/** Schemas that a wire refuses are sent as it takes them, shown so in search answers, and turned back before a tool runs. */
import type { Tool } from '@toolwell/core'
import type { ScriptedCall, ScriptedReply } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { fitWire, restoreKeys } from '../src/schema/dialect.js'
import { tool } from './support/tools.js'
import type { WireHarness } from './support/wire-harness.js'
import { anthropicHarness } from './support/wires/anthropic.js'
import { googleHarness } from './support/wires/google.js'
import { openaiChatHarness } from './support/wires/openai-chat.js'
import { openaiResponsesHarness } from './support/wires/openai-responses.js'

const harnesses: readonly WireHarness[] = [
  anthropicHarness,
  openaiResponsesHarness,
  openaiChatHarness,
  googleHarness,
]
const find = (query: string): ScriptedCall => ({ name: 'tool_search', arguments: { query } })
const says = (...calls: ScriptedCall[]): ScriptedReply => ({ calls })

/** A choice at the top, names with brackets and signs, one of them nested, and a schema's address. */
const odd: Tool['inputSchema'] = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    'filter[id]': { type: 'string' },
    $top: { type: 'integer', description: 'How many' },
    where: { type: 'object', properties: { '@type': { type: 'string' } }, required: ['@type'] },
  },
  required: ['$top'],
  anyOf: [{ required: ['filter[id]'] }, { required: ['where'] }],
}

/** The name that a wire sends for a parameter. */
const sent = (wire: string, key: string) => {
  const { keys } = fitWire({ name: 'list', description: '', inputSchema: odd }, wire)
  return [...keys].find(([, original]) => original === key)?.[0] ?? key
}

describe.each(harnesses)('on $name', (harness) => {
  const open = (delivery: WireHarness['deliveries'][number], script: readonly ScriptedReply[]) => {
    const received: unknown[] = []
    const list = tool('list', {
      source: 'odd',
      inputSchema: odd,
      execute: (input) => `list ran ${received.push(input)} times`,
    })
    const options = { tools: [tool('read_file'), list], mode: 'on', delivery } as const
    return { received, opened: harness.open(options, script) }
  }
  const use = (delivery: string, input: object) =>
    delivery === 'bridge'
      ? { name: 'tool_call', arguments: { name: 'odd__list', arguments: input } }
      : { name: 'odd__list', arguments: input }
  const key = (name: string) => sent(harness.name, name)

  it.each(harness.deliveries)(
    'a strict server takes the schema, and the tool gets its own names (%s)',
    async (delivery) => {
      const input = { [key('$top')]: 3, where: { [key('@type')]: 'x' } }
      const { received, opened } = open(delivery, [
        says(find('select:odd__list')),
        says(use(delivery, input)),
        { text: 'done' },
      ])
      const host = await opened
      await host.ask('go')
      expect(received).toEqual([{ $top: 3, where: { '@type': 'x' } }])
      // The address of a dialect tells a model nothing.
      expect(host.requests.at(-1)?.raw).toContain('How many')
      expect(host.requests.at(-1)?.raw).not.toContain('json-schema.org')
    },
  )

  it('takes the own names of the tool as well, from a model that has them from elsewhere', async () => {
    const input = { $top: 3, where: { '@type': 'x' } }
    const { received, opened } = open('bridge', [says(use('bridge', input)), { text: 'done' }])
    await (await opened).ask('go')
    expect(received).toEqual([input])
  })

  it('the rule at the top is checked all the same, and the problem has the names that were sent', async () => {
    const { received, opened } = open('bridge', [
      says(use('bridge', { [key('$top')]: 3 })),
      says(use('bridge', { where: {} })),
      { text: 'done' },
    ])
    const host = await opened
    await host.ask('go')
    expect(received).toEqual([])
    expect(host.requests.at(-1)?.raw).toContain(key('$top'))
  })
})

/** A tool without arguments, one with a list of anything, at the top and further down. */
describe.each(harnesses)('on $name', (harness) => {
  const bare = (source?: string) => [
    tool(`${source ?? 'own'}_ping`, { ...(source ? { source } : {}), inputSchema: { type: 'object' } }),
    tool(`${source ?? 'own'}_tag`, {
      ...(source ? { source } : {}),
      inputSchema: {
        type: 'object',
        required: null,
        properties: {
          tags: { type: 'array', items: null },
          deep: { anyOf: [{ type: 'object', properties: { default: { type: ['array', 'null'] } } }] },
          sample: { type: 'string', default: { type: 'array' } },
        },
      },
    }),
  ]

  it.each(harness.deliveries)(
    'a strict server takes what says nothing of its properties or its items (%s)',
    async (delivery) => {
      const tools = [...bare(), ...bare('odd')]
      const script = [says(find('select:odd__odd_ping,odd__odd_tag')), { text: 'done' }]
      const host = await harness.open({ tools, mode: 'on', delivery }, script)
      await host.ask('go')
      expect(host.requests.map(({ violation }) => violation)).toEqual([undefined, undefined])
    },
  )
})

describe('a schema', () => {
  const given = { name: 'list', description: 'Lists', inputSchema: odd }

  it('of OpenAI names its properties and its items, and is otherwise unchanged', () => {
    const properties = { tags: { type: 'array' }, sample: { default: { type: 'array' } } }
    const inputSchema = { type: 'object', properties }
    for (const wire of ['openai-chat', 'openai-responses', 'ai-sdk']) {
      const fit = fitWire({ ...given, inputSchema }, wire)
      expect(fit.tool.inputSchema).toEqual({
        type: 'object',
        properties: { tags: { type: 'array', items: {} }, sample: { default: { type: 'array' } } },
      })
      expect(fit.checked.inputSchema).toBe(inputSchema)
      expect(fitWire({ ...given, inputSchema: { type: 'object' } }, wire).tool.inputSchema).toEqual({
        type: 'object',
        properties: {},
      })
    }
    expect(fitWire({ ...given, inputSchema }, 'anthropic').tool.inputSchema).toBe(inputSchema)
  })

  it('that fits is the very object that was given', () => {
    const plain = { ...given, inputSchema: { type: 'object', properties: { a: {} } } }
    for (const wire of ['anthropic', 'openai-chat', 'openai-responses', 'google', 'none'])
      expect(fitWire(plain, wire).tool).toBe(plain)
  })

  it('fits after it was fitted: the same again', () => {
    for (const wire of ['anthropic', 'openai-chat', 'openai-responses', 'google']) {
      const { tool: once } = fitWire(given, wire)
      expect(fitWire(once, wire).tool).toBe(once)
    }
  })

  it('keeps names apart that cleaning would make alike, and says in a title what they were', () => {
    const inputSchema = { type: 'object', properties: { 'a[b]': {}, 'a{b}': {}, [`x${'y'.repeat(80)}`]: {} } }
    const { tool: fitted, keys } = fitWire({ ...given, inputSchema }, 'anthropic')
    const properties = fitted.inputSchema.properties as Record<string, { title: string }>
    expect(Object.keys(properties)).toHaveLength(3)
    for (const [name, { title }] of Object.entries(properties)) {
      expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/)
      expect(keys.get(name)).toBe(title)
    }
  })

  it('never gives a parameter the name of another', () => {
    const first = [
      ...fitWire({ ...given, inputSchema: { type: 'object', properties: { 'a b': {} } } }, 'anthropic').keys,
    ]
    const [taken = ''] = first[0] ?? []
    const inputSchema = {
      type: 'object',
      properties: {
        'a b': { type: 'string' },
        [taken]: { type: 'number' },
        deep: { properties: { 'a b': {} } },
      },
    }
    const { tool: fitted, keys } = fitWire({ ...given, inputSchema }, 'anthropic')
    const properties = fitted.inputSchema.properties as Record<string, { title?: string; type?: string }>
    expect(Object.keys(properties)).toHaveLength(3)
    expect(properties[taken]).toEqual({ type: 'number' })
    expect(keys.has(taken)).toBe(false)
    expect([...keys.values()]).toEqual(['a b'])
  })

  it('has the names that are sent wherever a parameter is named', () => {
    const inputSchema = {
      type: 'object',
      properties: {
        'a b': { type: 'string' },
        'c/d': {},
        y: { $ref: '#/properties/a%20b' },
        z: { $ref: '#/properties/c~1d' },
      },
      propertyNames: { enum: ['a b', 'c/d', 'y', 'z'] },
      dependentRequired: { 'a b': ['c/d', 'y'] },
      dependentSchemas: { 'c/d': { required: ['a b'] } },
      dependencies: { y: ['a b'], 'a b': { required: ['y'] } },
      patternProperties: { '^x ': { properties: { 'a b': {} } } },
    }
    const { tool: fitted, keys } = fitWire({ ...given, inputSchema }, 'anthropic')
    const [a, c] = ['a b', 'c/d'].map((name) => [...keys].find(([, own]) => own === name)?.[0] ?? '') as [
      string,
      string,
    ]
    expect(fitted.inputSchema).toEqual({
      type: 'object',
      properties: {
        [a]: { title: 'a b', type: 'string' },
        [c]: { title: 'c/d' },
        y: { $ref: `#/properties/${a}` },
        z: { $ref: `#/properties/${c}` },
      },
      propertyNames: { enum: [a, c, 'y', 'z'] },
      dependentRequired: { [a]: [c, 'y'] },
      dependentSchemas: { [c]: { required: [a] } },
      dependencies: { y: [a], [a]: { required: ['y'] } },
      patternProperties: { '^x ': { properties: { [a]: { title: 'a b' } } } },
    })
  })

  it('may have definitions with the names of keywords', () => {
    const inputSchema = {
      type: 'object',
      properties: { 'a b': {} },
      $defs: {
        properties: { type: 'object', properties: { 'a b': {} }, $ref: '#/$defs/required' },
        default: { properties: { 'a b': {} } },
        required: { type: 'string' },
      },
    }
    const { tool: fitted, keys } = fitWire({ ...given, inputSchema }, 'anthropic')
    const [[a = ''] = []] = [...keys]
    expect(keys.size).toBe(1)
    expect(fitted.inputSchema.$defs).toEqual({
      properties: { type: 'object', properties: { [a]: { title: 'a b' } }, $ref: '#/$defs/required' },
      default: { properties: { [a]: { title: 'a b' } } },
      required: { type: 'string' },
    })
  })

  it('says nothing by null, and is sent without it', () => {
    const inputSchema = {
      type: 'object',
      properties: {
        a: { type: 'object', properties: null, required: null, const: null, default: null },
        b: null,
        c: { type: 'array', items: null },
        d: { enum: [null, 1] },
      },
      required: null,
      description: null,
    }
    for (const wire of ['anthropic', 'openai-chat', 'openai-responses', 'google', 'ai-sdk']) {
      const { tool: fitted, checked } = fitWire({ ...given, inputSchema }, wire)
      expect(checked.inputSchema).toEqual({
        type: 'object',
        properties: {
          a: { type: 'object', const: null, default: null },
          b: {},
          c: { type: 'array' },
          d: { enum: [null, 1] },
        },
      })
      expect(fitted.inputSchema).not.toHaveProperty('required')
    }
  })

  it('as data stays unchanged: a default may contain "properties"', () => {
    const inputSchema = {
      type: 'object',
      properties: { $a: { default: { properties: { $b: 1 } }, enum: [{ $b: 1 }] } },
    }
    const { tool: fitted, keys } = fitWire({ ...given, inputSchema }, 'anthropic')
    expect([...keys.values()]).toEqual(['$a'])
    expect(JSON.stringify(fitted)).toContain('"default":{"properties":{"$b":1}}')
  })

  it('of a thousand levels, and arguments of as many, are looked through to a bound', () => {
    let schema: Record<string, unknown> = { type: 'string' }
    let value: unknown = 'x'
    for (let depth = 0; depth < 1000; depth++) {
      schema = { type: 'object', properties: { $a: schema } }
      value = { $a: value }
    }
    const { keys } = fitWire({ ...given, inputSchema: schema }, 'anthropic')
    expect(() => restoreKeys(value, keys)).not.toThrow()
  })
})
