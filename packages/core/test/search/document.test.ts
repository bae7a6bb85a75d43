import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDocument } from '../../src/search/document.js'
import type { JsonSchema, Tool } from '../../src/tool/tool.js'

const tool = (inputSchema: unknown, more: Partial<Tool> = {}): Tool => ({
  name: 'read_file',
  description: 'Reads a file.',
  inputSchema: inputSchema as JsonSchema,
  ...more,
})
const parametersOf = (schema: unknown): string => {
  const { parameterNames, parameters } = createDocument({ id: 'x', tool: tool(schema) })
  return [parameterNames, parameters].filter((part) => part !== '').join('\n')
}

describe('createDocument', () => {
  it('copies what identifies and describes the tool', () => {
    const full = tool(
      { type: 'object' },
      {
        title: 'Read',
        source: 'filesystem',
        domain: 'files',
        aliases: ['cat'],
        searchHint: 'open',
        promptSnippet: 'reads',
        card: 'Reads one file',
      },
    )
    expect(
      createDocument({ id: 'filesystem/read_file', tool: full, serverDescription: 'Local disk.' }),
    ).toEqual({
      id: 'filesystem/read_file',
      name: 'read_file',
      aliases: ['cat'],
      server: 'filesystem',
      domain: 'files',
      hint: 'open',
      snippet: 'reads\nReads one file',
      title: 'Read',
      description: 'Reads a file.',
      parameterNames: '',
      parameters: '',
      serverDescription: 'Local disk.',
    })
  })

  it('leaves missing fields empty and takes the title from the annotations', () => {
    const document = createDocument({ id: 'x', tool: tool({}, { annotations: { title: 'Reader' } }) })
    expect(document).toMatchObject({
      server: '',
      domain: '',
      hint: '',
      snippet: '',
      title: 'Reader',
      aliases: [],
      parameters: '',
    })
  })

  it('collects names, descriptions and string enums of the top level, once each', () => {
    const schema = {
      properties: {
        mode: { description: 'How to read', enum: ['fast', 'slow', 3, 'fast'] },
        range: {
          properties: { start: { description: 'How to read' }, deep: { properties: { deeper: {} } } },
        },
        list: { description: 'p'.repeat(300), items: { properties: { path: {} } } },
      },
    }
    expect(parametersOf(schema).split('\n')).toEqual([
      'mode',
      'range',
      'list',
      'How to read',
      'fast',
      'slow',
      'p'.repeat(200),
    ])
  })

  it('bounds a huge schema', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, number) => [
        `property${number}`,
        { description: `${number} `.repeat(50) },
      ]),
    )
    expect(parametersOf({ properties }).length).toBeLessThanOrEqual(4001)
    const short = Object.fromEntries(Array.from({ length: 1000 }, (_, number) => [`a${number}`, {}]))
    expect(parametersOf({ properties: short }).split('\n')).toHaveLength(200)
  })

  it('looks at no more than 200 properties', () => {
    let looks = 0
    const properties = Object.fromEntries(Array.from({ length: 1000 }, (_, number) => [`a${number}`, {}]))
    const counted = new Proxy(properties, {
      get: (target, key: string) => {
        looks += 1
        return target[key]
      },
    })
    parametersOf({ properties: counted })
    expect(looks).toBe(200)
  })

  it('survives schemas that are not what they should be', () => {
    const cycle: Record<string, unknown> = { description: 'again' }
    cycle.properties = { self: cycle }
    expect(parametersOf(cycle)).toBe('self\nagain')
    expect(parametersOf({ properties: { node: { $ref: '#' } } })).toBe('node')
    for (const properties of [null, 'text', 7, [], ['a'], () => 1])
      expect(parametersOf({ properties })).toBe('')
    for (const schema of [undefined, null, 'x', []]) expect(parametersOf(schema)).toBe('')
    expect(parametersOf({ properties: { a: null, b: true, c: { enum: 'x', description: 5 } } })).toBe(
      'a\nb\nc',
    )
    expect(parametersOf(JSON.parse('{"properties":{"__proto__":{"description":"d"}}}'))).toBe('__proto__\nd')
  })

  it('keeps what it has read when a getter throws', () => {
    const bad = {
      get description(): string {
        throw new Error('no')
      },
    }
    expect(parametersOf({ properties: { good: {}, bad } })).toBe('good\nbad')
  })

  it('never throws and stays within its bounds for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (properties, aliases) => {
        const odd = tool({ properties }, { aliases: aliases as unknown as string[] })
        const document = createDocument({ id: 'x', tool: odd })
        expect(document.parameters.length).toBeLessThanOrEqual(2000)
        expect(document.aliases.every((alias) => typeof alias === 'string')).toBe(true)
      }),
    )
  })
})
