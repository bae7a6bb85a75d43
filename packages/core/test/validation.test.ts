/** Arguments are checked against any schema in bounded time, and a call that is undecided by then does not run. */
import { Validator } from '@cfworker/json-schema'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import { checkArguments } from '../src/schema/validation.js'
import { costlyInput, costlySchema, SCHEMA_CASES } from './hostile/schema-cases.js'
import { tool } from './support/tools.js'
import { openaiChatHarness } from './support/wires/openai-chat.js'

type Schema = Record<string, unknown>
const check = (inputSchema: Schema, input: unknown) =>
  checkArguments({ name: 'x', description: '', inputSchema }, input)
const kindOf = (schema: Schema, value: unknown) =>
  check({ type: 'object', properties: { a: schema } }, { a: value }).kind

describe('whatever the schema and the arguments', () => {
  it.each(SCHEMA_CASES)('$name: $kind', ({ schema, input, kind }) => {
    const verdict = check(schema, input(10_000))
    expect(verdict.kind).toBe(kind)
    if (verdict.kind !== 'valid') expect(verdict.problems.join('\n').length).toBeLessThan(3000)
  })

  it('a text of any length is read to its end', () => {
    const text = 'x'.repeat(20_000_000)
    const schema = { type: 'string', pattern: '^x*$', maxLength: 20_000_000, format: 'email' }
    expect(kindOf({ ...schema, format: 'none' }, text)).toBe('valid')
    expect(kindOf({ ...schema, format: 'none' }, `${text}x`)).toBe('invalid')
  })

  it('an answer comes, for random ones', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(costlySchema, costlySchema, costlySchema, costlyInput, (a, b, c, input) => {
        seen.add(check({ properties: { a, b }, $defs: { a, b, c } }, { a: input, b: input }).kind)
      }),
      { numRuns: runs(1500) },
    )
    expect([...seen]).toEqual(expect.arrayContaining(['valid', 'invalid']))
  })
})

describe('arguments that could not be checked to the end', () => {
  it('run nothing, and the model and the host learn it', async () => {
    const ran: unknown[] = []
    const { schema: inputSchema = {}, input } = SCHEMA_CASES.find(({ kind }) => kind === 'undecided') ?? {}
    const costly = tool('costly', { inputSchema, execute: (given: unknown) => `ran ${ran.push(given)}` })
    const host = await openaiChatHarness.open({ tools: [costly], mode: 'off' }, [
      { calls: [{ name: 'costly', arguments: input?.(10_000) as object }] },
      { text: 'ok' },
    ])
    await host.ask('go')
    expect(ran).toEqual([])
    expect(host.requests[1]?.raw).toContain('could not be checked in a reasonable time')
    expect(host.events).toContainEqual(expect.objectContaining({ kind: 'schema-unusable', tool: 'costly' }))
  })
})

describe('formats', () => {
  it.each([
    ['date', '2024-02-29', '2023-02-29'],
    ['time', '23:59:60Z', '22:59:60Z'],
    ['time', '08:30:06.283185+02:00', '08:30:06'],
    ['date-time', '1985-04-12t23:20:50.52z', '1985-04-12'],
    ['duration', 'P4DT12H30M5S', 'P1D2H'],
    ['duration', 'P4W', 'PT'],
    ['email', '"joe bloggs"@example.com', 'joe bloggs@example.com'],
    ['email', 'joe@[IPv6:::1]', 'joe@'],
    ['hostname', 'xn--4gbwdl.xn--wgbh1c', '-a.example'],
    ['ipv4', '192.168.0.1', '192.168.0.01'],
    ['ipv6', '::ffff:192.168.0.1', '1::d6::42'],
    ['ipv6', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7'],
    ['uri', 'urn:oasis:names:specification:docbook:dtd:xml:4.1.2', '//foo.bar/?baz=qux'],
    ['uri', 'http://a/%20', 'http://a/ b'],
    ['url', 'http://notificationserviceproductioneu1:8080/health', 'health'],
    ['uri-reference', '/abc?x#y', 'a b'],
    ['uri-template', 'http://a/{b}/{c}', 'http://a/{b'],
    ['uuid', '2EB8AA08-aa98-11ea-b4aa-73b441d16380', '2eb8aa08-aa98-11ea-b4aa73b441d16380'],
    ['json-pointer', '/foo/a~1b', '/foo/~2'],
    ['relative-json-pointer', '0#', '01/a'],
    ['regex', '^(a)$', '('],
  ])('%s: %s fits and %s does not', (format, right, wrong) => {
    expect(kindOf({ format }, right)).toBe('valid')
    expect(kindOf({ format }, wrong)).toBe('invalid')
  })

  it('that are not known, or not of texts, say nothing', () => {
    expect(kindOf({ format: 'credit-card' }, '?')).toBe('valid')
    expect(kindOf({ format: 'date' }, 5)).toBe('valid')
  })
})

describe('patterns', () => {
  it.each([
    ['^[a-z]+$', 'abc', 'ab1'],
    ['^(?:open|closed)$', 'open', 'opened'],
    ['[0-9]', 'a1', 'ab'],
    ['^\\+?[1-9]\\d{1,14}$', '+4912345', '0049'],
    ['^[^@]+@[^@]+$', 'a@b', 'a@b@c'],
    ['\\p{L}', 'ä', '1'],
  ])('%s takes %s and not %s', (pattern, right, wrong) => {
    expect(kindOf({ pattern }, right)).toBe('valid')
    expect(kindOf({ pattern }, wrong)).toBe('invalid')
  })

  it('that are not tried make no other rule stricter or looser', () => {
    const slow = { pattern: '^(a+)+$' }
    expect(kindOf({ ...slow, type: 'string', maxLength: 3 }, 'bbbb')).toBe('invalid')
    expect(kindOf({ not: slow }, 'a')).toBe('valid')
    expect(kindOf({ not: slow }, 'b')).toBe('valid')
    expect(kindOf({ oneOf: [slow, { type: 'string' }] }, 'a')).toBe('valid')
    expect(kindOf({ oneOf: [{ ...slow, type: 'string' }, { type: 'number' }] }, true)).toBe('invalid')
    expect(kindOf({ if: slow, else: { maxLength: 1 } }, 'bbb')).toBe('valid')
    const named = { patternProperties: { '^(a+)+$': { type: 'string' } }, additionalProperties: false }
    expect(kindOf(named, { b: 'x' })).toBe('valid')
    expect(kindOf({ ...named, properties: { b: { type: 'string' } } }, { b: 1 })).toBe('invalid')
  })
})

describe('errors about wrong arguments', () => {
  const schema = {
    type: 'object',
    properties: { labels: { type: 'array', items: { type: 'string' } }, state: { enum: ['open', 'closed'] } },
    required: ['state'],
    additionalProperties: false,
  }
  it.each([
    [{}, ['(the arguments): "The required property \\"state\\" is missing."']],
    [{ state: 'open', labels: ['a', 5] }, ['"labels/1": "Must be string, not number."']],
    [{ state: 'ajar' }, ['"state": "Must be one of [\\"open\\",\\"closed\\"]."']],
    [{ state: 'open', 'a/b': 1 }, ['"a~1b": "Unexpected argument."']],
    [
      { labels: ['a', 5], other: 1 },
      [
        '(the arguments): "The required property \\"state\\" is missing."',
        '"labels/1": "Must be string, not number."',
        '"other": "Unexpected argument."',
      ],
    ],
  ])('%j', (input, problems) => {
    expect(check(schema, input)).toEqual({ kind: 'invalid', problems })
  })
})

/** The same verdict as another validator, where that one is right and gets to an end. */
describe('beside another validator', () => {
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<unknown>(0, 1, 2, 1.5, 'a', 'ab', '', true, null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
    ),
  })).value
  const { schema: plain } = fc.letrec<{ schema: unknown }>((tie) => {
    const list = fc.array(tie('schema'), { minLength: 1, maxLength: 3 })
    return {
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom('string', 'number', 'integer', 'object', 'array', 'null').map((type) => ({ type })),
        fc.record({ const: value }),
        fc.record({ enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3 }) }),
        fc.record({ minimum: fc.nat(2), multipleOf: fc.constantFrom(1, 0.5) }, { requiredKeys: [] }),
        fc.record(
          { minLength: fc.nat(2), maxLength: fc.nat(2), pattern: fc.constantFrom('^a', 'b$') },
          { requiredKeys: [] },
        ),
        fc.record(
          { items: tie('schema'), prefixItems: list, uniqueItems: fc.boolean() },
          { requiredKeys: [] },
        ),
        fc.record({ contains: tie('schema'), minContains: fc.nat(2) }, { requiredKeys: ['contains'] }),
        fc.record(
          {
            properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
            patternProperties: fc.dictionary(fc.constantFrom('^a', 'b'), tie('schema'), { maxKeys: 2 }),
            additionalProperties: tie('schema'),
            required: fc.constantFrom(['a'], ['b']),
            propertyNames: tie('schema'),
          },
          { requiredKeys: [] },
        ),
        fc.record({ allOf: list, anyOf: list, oneOf: list, not: tie('schema') }, { requiredKeys: [] }),
        fc.record({ if: tie('schema'), else: tie('schema') }),
        fc.constantFrom('#/$defs/a', '#/$defs/b').map(($ref) => ({ $ref })),
      ),
    }
  })

  it('says the same', () => {
    const counts = { valid: 0, invalid: 0 }
    fc.assert(
      fc.property(plain, plain, plain, value, (schema, a, b, input) => {
        const inputSchema = { properties: { x: schema }, $defs: { a, b } } as Schema
        let theirs: boolean
        try {
          theirs = new Validator(structuredClone(inputSchema), '2020-12').validate({ x: input }).valid
        } catch {
          return
        }
        const { kind } = check(inputSchema, { x: input })
        expect(kind).toBe(theirs ? 'valid' : 'invalid')
        counts[theirs ? 'valid' : 'invalid']++
      }),
      { numRuns: runs(6000) },
    )
    expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(200)
  })
})
