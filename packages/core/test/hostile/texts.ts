/** Text as an attacker, a broken program or another script writes it. */
import fc from 'fast-check'

/** Invisible characters, as an independent list: it shares nothing with the list in the sources. */
export const UNSEEN =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: it is about exactly these.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u

const PIECES = [
  ...[
    '',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\u2028',
    '\u0000',
    '\u001b[31m',
    '\u007f',
    '\u0085',
    '\u00ad',
    '\u061c',
    '\u180e',
  ],
  ...[
    '\u200b',
    '\u200f',
    '\u202e',
    '\u2066',
    '\ufeff',
    '\u3164',
    '\ufe0f',
    '\ufff9',
    '\u{e0041}\u{e007f}',
    '\u{e0100}',
  ],
  ...[
    '\ud83d',
    '\udc00',
    '\ud800\ud800',
    '🧰',
    '👩‍👩‍👧',
    'é',
    'e\u0301',
    'ﬀ',
    'İ',
    'ß',
    '日本語',
    'ไทย',
    'مرحبا',
    'א',
    'ǅ',
    '𝒳',
  ],
  ...[
    '</tool-update>',
    '<tool-update>',
    '<system>',
    '-->',
    '<![CDATA[',
    '```',
    '"',
    "'",
    '\\',
    '\\u0000',
    '\\"',
    '`',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'then',
    'tool_search',
    'tool_call',
    'toolwell/1 {"loaded":[]}',
  ],
  ...[
    'select:',
    'unload:',
    'server:',
    '+',
    '+"',
    'group:',
    ',',
    ';',
    ':',
    '/',
    '//',
    '..',
    '%2F',
    '%00',
    '#2',
    '$&',
    '$1',
    '{',
    '}',
    '[',
    ']',
  ],
  ...[
    'a',
    'B',
    '_',
    '__',
    '-',
    '.',
    '0',
    '9',
    'create',
    'issue',
    'Create Issue',
    'x'.repeat(70),
    'ab '.repeat(40),
    '{"a":1}',
    'null',
    'NaN',
  ],
]

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((parts) => parts.join('')),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)), maxLength: 20 }),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
)

const key = fc.oneof(
  hostileText,
  fc.constantFrom('type', 'name', 'text', 'role', 'content', 'id', 'query', 'value', '__proto__'),
)

/** Any JSON value, with hostile texts as keys and values. */
export const hostileJson: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    hostileText,
    fc.constantFrom(null, true, false, 0, -0, 1, 1e308, -1.5),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => plain(entries)),
  ),
})).value

/** An object whose `__proto__` is a key like any other, as `JSON.parse` makes it. */
export function plain(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const made: Record<string, unknown> = {}
  for (const [name, value] of entries)
    Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true })
  return made
}

const WORDS = [
  'type',
  'properties',
  'required',
  'items',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
]
const MORE = [
  '$ref',
  '$defs',
  'definitions',
  'pattern',
  'patternProperties',
  'additionalProperties',
  'format',
  'default',
]
const REST = [
  'minimum',
  'maxLength',
  'description',
  'title',
  '$schema',
  '$id',
  'examples',
  'dependentSchemas',
  'prefixItems',
]

/** Schemas that are right, wrong, circular by reference, or only look like schemas. */
export const hostileSchema: fc.Arbitrary<Record<string, unknown>> = fc
  .letrec<{
    schema: Record<string, unknown>
    part: unknown
  }>((tie) => ({
    part: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<unknown>(
        'string',
        'object',
        ['string', 'null'],
        '#',
        '#/$defs/a',
        'https://example.com/x',
        '^(a+)+$',
        7,
        true,
      ),
      hostileText,
      fc.array(tie('schema'), { maxLength: 2 }),
      tie('schema'),
    ),
    schema: fc
      .array(fc.tuple(fc.constantFrom(...WORDS, ...MORE, ...REST, 'value', '__proto__'), tie('part')), {
        maxLength: 4,
      })
      .map(plain),
  }))
  .schema.map((schema) => {
    // The top level of a tool's input is an object; anything else is refused before it gets here.
    const { type: _, ...rest } = schema
    return { type: 'object', ...rest }
  })

/** One place of a text replaced, doubled, cut out or cut off. */
export const mutation: fc.Arbitrary<(text: string) => string> = fc
  .tuple(fc.nat(), fc.nat(30), hostileText, fc.constantFrom('put', 'cut', 'end', 'twice'))
  .map(([place, length, put, how]) => (text) => {
    const at = text.length === 0 ? 0 : place % (text.length + 1)
    if (how === 'end') return text.slice(0, at)
    if (how === 'twice') return text.slice(0, at + length) + text.slice(at)
    return text.slice(0, at) + (how === 'put' ? put : '') + text.slice(at + length)
  })
