/** Schemas and arguments that cost the most they can: what a hostile server writes, and what a model happens to send. */
import fc from 'fast-check'

type Json = Record<string, unknown>
export interface SchemaCase {
  readonly name: string
  readonly schema: Json
  /** Arguments of about this many characters. */
  readonly input: (size: number) => unknown
  readonly kind: 'valid' | 'invalid' | 'undecided'
}

const string = { type: 'string' }
const of = (a: unknown): Json => ({ type: 'object', properties: { a } })

/** Each definition asks the next one twice. */
function doublings(count: number, last: unknown): Json {
  const $defs: Json = { [`d${count}`]: last }
  for (let at = 0; at < count; at++)
    $defs[`d${at}`] = { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] }
  return { ...of({ $ref: '#/$defs/d0' }), $defs }
}

/** A tree whose nodes may be one of several kinds, each of which looks into the tree again. */
const tree: Json = {
  ...of({ $ref: '#/$defs/node' }),
  $defs: {
    node: {
      anyOf: [
        { type: 'object', properties: { next: { $ref: '#/$defs/node' }, one: string }, required: ['one'] },
        { type: 'object', properties: { next: { $ref: '#/$defs/node' }, two: string }, required: ['two'] },
        { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, additionalProperties: false },
        { type: 'null' },
      ],
    },
  },
}

function nested(levels: number, last: unknown): unknown {
  let value = last
  for (let level = 0; level < levels; level++) value = { next: value }
  return value
}

const many = (size: number) => Math.ceil(size / 5)

export const SCHEMA_CASES: readonly SchemaCase[] = [
  {
    name: 'an address that is not quite one',
    schema: of({ type: 'string', format: 'url' }),
    input: () => ({ a: 'http://notificationserviceproductioneu1:8080/health' }),
    kind: 'valid',
  },
  ...[
    'url',
    'uri',
    'uri-reference',
    'uri-template',
    'email',
    'hostname',
    'ipv6',
    'duration',
    'json-pointer',
  ].map(
    (format): SchemaCase => ({
      name: `a long text that is not a ${format}`,
      schema: of({ type: 'string', format }),
      input: (size) => ({ a: `${'a.'.repeat(size / 2)} {` }),
      kind: 'invalid',
    }),
  ),
  {
    name: 'different items, many',
    schema: of({ type: 'array', uniqueItems: true }),
    input: (size) => ({ a: Array.from({ length: many(size) }, (_, at) => at) }),
    kind: 'valid',
  },
  {
    name: 'different items, each a list of such',
    schema: {
      ...of({ $ref: '#/$defs/list' }),
      $defs: { list: { uniqueItems: true, items: { $ref: '#/$defs/list' } } },
    },
    input: (size) => {
      let value: unknown[] = []
      for (let at = 0; at < Math.min(400, size); at++) value = [at, value]
      return { a: value }
    },
    kind: 'valid',
  },
  {
    name: 'references doubled 22 times, right',
    schema: doublings(22, string),
    input: () => ({ a: 'x' }),
    kind: 'valid',
  },
  {
    name: 'references doubled 22 times, wrong',
    schema: doublings(22, string),
    input: () => ({ a: 1 }),
    kind: 'invalid',
  },
  {
    name: 'references doubled 60 times',
    schema: doublings(60, string),
    input: () => ({ a: 1 }),
    kind: 'invalid',
  },
  {
    name: 'a tree of choices, wrong at its end',
    schema: tree,
    input: () => ({ a: nested(16, 5) }),
    kind: 'invalid',
  },
  {
    name: 'a deep tree of choices, wrong at its end',
    schema: tree,
    input: (size) => ({ a: nested(Math.min(300, many(size)), 5) }),
    kind: 'invalid',
  },
  {
    name: 'every item against every choice',
    schema: of({
      items: { anyOf: [...Array.from({ length: 400 }, (_, at) => ({ const: { at } })), { required: ['x'] }] },
    }),
    input: (size) => ({ a: Array.from({ length: many(size) }, () => ({ x: 1 })) }),
    kind: 'undecided',
  },
  {
    name: 'every key against every pattern',
    schema: of({
      patternProperties: Object.fromEntries(
        Array.from({ length: 300 }, (_, at) => [`^a*a{90}${at}b`, false]),
      ),
    }),
    input: (size) => ({ a: { ['a'.repeat(size)]: 1 } }),
    kind: 'undecided',
  },
  ...[
    '^(a+)+$',
    '^(a|a)*$',
    '^a*a*a*a*a*a*b$',
    `^(${'a|'.repeat(60)}a)a*aaaaab`,
    '(a*)*b',
    '^(?=a*a*$)a*b',
    '(.*)\\1b',
  ].map(
    (pattern): SchemaCase => ({
      name: `a pattern that looks back: ${pattern.slice(0, 20)}`,
      schema: of({ type: 'string', pattern }),
      input: (size) => ({ a: `${'a'.repeat(size)}!` }),
      // Not tried: the tool itself has to look.
      kind: 'valid',
    }),
  ),
  {
    name: 'a pattern that is bound to the start',
    schema: of({ type: 'string', pattern: '^[a-z]*aaaaaaaaaaaaaaaaaaaa9$' }),
    input: (size) => ({ a: 'a'.repeat(size) }),
    kind: 'invalid',
  },
  {
    name: 'what is left over, again and again',
    schema: of({
      allOf: Array.from({ length: 200 }, () => ({ properties: { x: true } })),
      unevaluatedProperties: false,
    }),
    input: (size) => ({
      a: Object.fromEntries(Array.from({ length: many(size) / 2 }, (_, at) => [`k${at}`, 1])),
    }),
    kind: 'invalid',
  },
  {
    name: 'a schema that leads only to itself',
    schema: of({ allOf: [{ $ref: '#/properties/a' }, string] }),
    input: () => ({ a: 1 }),
    kind: 'invalid',
  },
  {
    name: 'a long text',
    schema: of({ type: 'string', minLength: 1, maxLength: 100_000_000, pattern: '^[^\\0]*$' }),
    input: (size) => ({ a: 'x'.repeat(size) }),
    kind: 'valid',
  },
  {
    name: 'a long list',
    schema: of({ items: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } }),
    input: (size) => ({ a: Array.from({ length: many(size) / 2 }, (_, id) => ({ id })) }),
    kind: 'valid',
  },
]

const name = fc.constantFrom('a', 'b', 'c')
const short = fc.constantFrom<unknown>(0, 1, 2.5, 'a', 'aaaa!', '', true, null)

/** Schemas of the keywords that multiply work, with references to each other. */
export const costlySchema = fc.letrec<{ schema: unknown }>((tie) => {
  const list = fc.array(tie('schema'), { minLength: 1, maxLength: 4 })
  const map = fc.dictionary(name, tie('schema'), { minKeys: 1, maxKeys: 3 })
  return {
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<unknown>(
        string,
        { type: 'array' },
        { type: 'object' },
        { required: ['a'] },
        { enum: [1, 'a', {}] },
      ),
      fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/$defs/c').map(($ref) => ({ $ref })),
      fc.record({ allOf: list, anyOf: list, oneOf: list }, { requiredKeys: [] }),
      fc.record({ properties: map, additionalProperties: tie('schema') }, { requiredKeys: [] }),
      fc.record(
        { items: tie('schema'), contains: tie('schema'), uniqueItems: fc.boolean() },
        { requiredKeys: [] },
      ),
      fc.record({ not: tie('schema'), if: tie('schema'), else: tie('schema') }, { requiredKeys: [] }),
      fc.record(
        { unevaluatedItems: tie('schema'), unevaluatedProperties: tie('schema') },
        { requiredKeys: [] },
      ),
      fc.record({
        patternProperties: fc.constant({ '^a*$': true, '(a+)+$': string }),
        propertyNames: tie('schema'),
      }),
      fc.constantFrom('^a+$', '(a+)+$', 'a+b+$', '^(a|b)!').map((pattern) => ({ pattern })),
      fc.constantFrom('url', 'uri', 'email', 'date-time', 'hostname').map((format) => ({ format })),
    ),
  }
}).schema

/** Arguments of up to some ten thousand characters: wide, deep, long. */
export const costlyInput = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    short,
    fc.integer({ min: 1, max: 4000 }).map((length) => `${'a'.repeat(length)}!`),
    fc.tuple(fc.integer({ min: 1, max: 500 }), short).map(([length, value]) => Array(length).fill(value)),
    fc.integer({ min: 1, max: 200 }).map((levels) => nested(levels, 1)),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
})).value
