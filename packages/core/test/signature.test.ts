/** A schema as one line: good enough to call the tool from, as a bridge shows what it offers. */
import { describe, expect, it } from 'vitest'
import { writeShortSignature, writeSignature } from '../src/tool/signature.js'
import type { JsonSchema } from '../src/tool/tool.js'

const place = {
  type: 'object',
  properties: { lat: { type: 'number' }, alt: { type: 'number' } },
  required: ['lat'],
}
const of = (properties: Record<string, unknown>) => ({ type: 'object', properties, $defs: { Place: place } })
const reference = { $ref: '#/$defs/Place' }

describe('a signature', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['a reference', of({ at: reference }), '(at?: { lat: number, alt?: number })'],
    [
      'a list of references',
      of({ at: { type: 'array', items: reference } }),
      '(at?: { lat: number, alt?: number }[])',
    ],
    [
      'a reference among branches',
      of({ at: { anyOf: [reference, { type: 'string' }] } }),
      '(at?: { lat: number, alt?: number } | string)',
    ],
    [
      'what all of is one',
      of({ at: { allOf: [reference], default: 1 } }),
      '(at?: { lat: number, alt?: number } = 1)',
    ],
    [
      'what all of are several',
      of({ at: { allOf: [reference, { properties: { name: { type: 'string' } }, required: ['name'] }] } }),
      '(at?: { lat: number, alt?: number, name: string })',
    ],
    [
      'a root that refers',
      { type: 'object', $ref: '#/$defs/Place', $defs: { Place: place } },
      '(lat: number, alt?: number)',
    ],
    [
      'a root of branches',
      {
        type: 'object',
        properties: { all: { type: 'boolean' } },
        anyOf: [
          { properties: { q: { type: 'string' }, page: { type: 'number' } }, required: ['q', 'page'] },
          { properties: { id: { type: 'number' }, page: { type: 'number' } }, required: ['id', 'page'] },
        ],
      },
      '(q?: string, page: number, id?: number, all?: boolean)',
    ],
    [
      'a reference to itself',
      { type: 'object', properties: { node: { $ref: '#' } } },
      '(node?: { node?: object })',
    ],
    ['references in a circle', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, '()'],
  ] satisfies [string, JsonSchema, string][])('of %s', (_, schema, expected) => {
    expect(writeSignature('tool', schema)).toBe(`tool${expected}`)
  })

  it('that is short says what has to be given, wherever the schema says it', () => {
    expect(writeShortSignature('tool', { $ref: '#/$defs/Place', $defs: { Place: place } })).toBe(
      'tool(lat: number, …)',
    )
  })

  it('of branches within branches without end is made', () => {
    const schema = { anyOf: Array.from({ length: 1000 }, () => ({ $ref: '#' })), type: 'object' }
    expect(writeSignature('tool', of({ at: schema }))).toMatch(/^tool\(at\?: /)
  })
})
