/** Servers are changed in place: every byte that does not belong to them stays. */
import fc from 'fast-check'
import { stringify as stringifyToml } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import type { Change, Table } from '../src/connect/edit/change.js'
import { changeServers, sourceOf, valueAfter } from '../src/connect/edit/change-servers.js'
import { Refusal } from '../src/connect/edit/refusal.js'
import { parseClient } from '../src/import/parse-client.js'
import type { Fields, Shape } from '../src/import/shapes.js'

const ours = { command: '/opt/node', args: ['/opt/toolwell.mjs', 'serve', '--stdio'] }
const add: Change['add'] = [{ name: 'toolwell', value: ours }]
const JSON_TABLE: Table = { path: ['mcpServers'], isList: false }
const TOML_TABLE: Table = { path: ['mcp_servers'], isList: false }
const YAML_TABLE: Table = { path: ['extensions'], isList: false }
const LIST: Table = { path: ['mcpServers'], isList: true }

describe('JSON with comments', () => {
  const change = (text: string, remove: string[] = [], added = add) =>
    changeServers(text, 'json', JSON_TABLE, { remove, add: added })

  it('keeps comments, blanks, unknown keys and the way it is indented', () => {
    const text = `// mine
{
\t"theme" : "dark", // stays
\t"mcpServers": {
\t\t/* first */
\t\t"a": { "command": "a" }, // of a
\t\t"b": { "command": "b" }
\t\t// the end
\t},
\t"other": [1,2 , 3],
}
`
    expect(change(text, ['a'])).toBe(`// mine
{
\t"theme" : "dark", // stays
\t"mcpServers": {
\t\t/* first */
\t\t// of a
\t\t"b": { "command": "b" },
\t\t"toolwell": {
\t\t\t"command": "/opt/node",
\t\t\t"args": [
\t\t\t\t"/opt/toolwell.mjs",
\t\t\t\t"serve",
\t\t\t\t"--stdio"
\t\t\t]
\t\t}
\t\t// the end
\t},
\t"other": [1,2 , 3],
}
`)
  })

  it.each([
    ['{}', '{\n  "mcpServers": {\n    "toolwell": 1\n  }\n}'],
    ['', '{\n  "mcpServers": {\n    "toolwell": 1\n  }\n}\n'],
    ['{"a":1}', '{"a":1, "mcpServers": {"toolwell":1}}'],
    ['{"mcpServers":{}}', '{"mcpServers":{"toolwell": 1}}'],
    ['{"mcpServers":{"x":{}}}', '{"mcpServers":{"toolwell": 1}}'],
    ['{\n  "mcpServers": {}\n}', '{\n  "mcpServers": {\n    "toolwell": 1\n  }\n}'],
    ['{\n  "mcpServers": {"x": {}}\n}', '{\n  "mcpServers": {\n    "toolwell": 1\n  }\n}'],
    ['{\n  "mcpServers": { "y": 2 }\n}', '{\n  "mcpServers": { "y": 2,\n    "toolwell": 1\n  }\n}'],
    [
      '{\n  "mcpServers": {\n    "y": 2 // c\n  }\n}',
      '{\n  "mcpServers": {\n    "y": 2, // c\n    "toolwell": 1\n  }\n}',
    ],
    [
      '{\r\n    "mcpServers": {\r\n        "x": 1,\r\n        "y": 2,\r\n    },\r\n}\r\n',
      '{\r\n    "mcpServers": {\r\n        "y": 2,\r\n        "toolwell": 1,\r\n    },\r\n}\r\n',
    ],
    ['\uFEFF{"mcpServers":{"y":2}}', '\uFEFF{"mcpServers":{"y":2, "toolwell": 1}}'],
  ])('%j becomes %j', (before, after) => {
    expect(change(before, ['x'], [{ name: 'toolwell', value: 1 }])).toBe(after)
  })

  it('leaves no comma behind that strict JSON would refuse', () => {
    const text = '{ "mcpServers": { "a": 1, "b": 2, "c": 3 } }'
    for (const gone of [['a'], ['b'], ['c'], ['a', 'c'], ['b', 'c'], ['a', 'b', 'c']])
      expect(() => JSON.parse(change(text, gone, []))).not.toThrow()
    expect(change(text, ['c'], [])).toBe('{ "mcpServers": { "a": 1, "b": 2 } }')
    expect(change(text, ['b', 'c'], [])).toBe('{ "mcpServers": { "a": 1 } }')
  })

  it.each([
    ['{ "mcpServers": [] }', '"mcpServers" is not an object'],
    ['{ "mcpServers": { "a": 1, "a": 2 } }', '"a" appears twice'],
    ['{ "mcpServers": ', 'a value is missing'],
  ])('%s is refused: %s', (text, message) => {
    expect(() => change(text)).toThrow(Refusal)
    expect(() => change(text)).toThrow(message)
  })
})

describe('TOML', () => {
  const text = `# mine
model = "gpt" # stays
[mcp_servers.a]  # of a
command = "a"
# inside
args = [
  "x", # with a comment
  """[mcp_servers.no]""",
]

[mcp_servers.a.env]
K = '''
[mcp_servers.b]
'''

# of the tools
[tools]
web = true
[mcp_servers."b b"]
command = 'b'`

  it('takes out tables with all that is below them, and appends', () => {
    expect(changeServers(text, 'toml', TOML_TABLE, { remove: ['a'], add })).toBe(`# mine
model = "gpt" # stays
# of the tools
[tools]
web = true
[mcp_servers."b b"]
command = 'b'

[mcp_servers.toolwell]
command = "/opt/node"
args = [ "/opt/toolwell.mjs", "serve", "--stdio" ]
`)
  })

  it('gives the text of an entry, and takes it back', () => {
    const source = sourceOf(text, 'toml', TOML_TABLE, 'a')
    expect(source).toContain('# inside')
    expect(source).toContain('[mcp_servers.a.env]')
    const without = changeServers(text, 'toml', TOML_TABLE, { remove: ['a', 'b b'], add: [] })
    const value = (parseClient(text, 'toml', '') as { value: { mcp_servers: { a: Fields } } }).value
      .mcp_servers.a
    const again = changeServers(without, 'toml', TOML_TABLE, {
      remove: [],
      add: [{ name: 'a', value, ...(source === undefined ? {} : { source }) }],
    })
    expect(again).toContain(source)
  })

  it('takes out keys of a table that holds several, and of dotted names', () => {
    const dotted = 'mcp_servers.a.command = "a"\nmcp_servers.b.command = "b"\n\n[mcp_servers]\n'
    expect(() => changeServers(dotted, 'toml', TOML_TABLE, { remove: ['a'], add: [] })).toThrow(Refusal)
    const inside = '[mcp_servers]\na = { command = "a" } # of a\nb.command = "b"\n'
    expect(changeServers(inside, 'toml', TOML_TABLE, { remove: ['a'], add: [] })).toBe(
      '[mcp_servers]\nb.command = "b"\n',
    )
    expect(sourceOf(inside, 'toml', TOML_TABLE, 'a')).toBeUndefined()
  })

  it('does not reach into one value', () => {
    const one = 'x = 1\nmcp_servers = { a = { command = "a" } }\n'
    expect(() => changeServers(one, 'toml', TOML_TABLE, { remove: ['a'], add })).toThrow(
      'mcp_servers is written as one value',
    )
  })
})

describe('YAML', () => {
  it('takes out and puts in whole lines', () => {
    const text = `# mine
GOOSE_MODE: auto  # stays
extensions:
  # of a
  a:
    cmd: a
    args: [x]   # inside
    note: |
      two
      lines
  # of b
  b: {cmd: b}

  c:
    cmd: c
other: 1
`
    expect(changeServers(text, 'yaml', YAML_TABLE, { remove: ['a', 'c'], add })).toBe(`# mine
GOOSE_MODE: auto  # stays
extensions:
  # of a
  toolwell:
    command: "/opt/node"
    args:
      - "/opt/toolwell.mjs"
      - "serve"
      - "--stdio"
  # of b
  b: {cmd: b}

other: 1
`)
  })

  it.each([
    ['', 'extensions:\n  toolwell: 1\n'],
    ['a: 1', 'a: 1\nextensions:\n  toolwell: 1\n'],
    ['extensions:\na: 1\n', 'extensions:\n  toolwell: 1\na: 1\n'],
    ['extensions: # none\na: 1\n', 'extensions: # none\n  toolwell: 1\na: 1\n'],
    ['extensions: {}\na: 1\n', 'extensions: \n  toolwell: 1\na: 1\n'],
    ['extensions: {}', 'extensions: \n  toolwell: 1\n'],
    ['extensions:\r\n    x: 1\r\n', 'extensions:\r\n    toolwell: 1\r\n'],
  ])('%j becomes %j', (before, after) => {
    const change = { remove: ['x'], add: [{ name: 'toolwell', value: 1 }] }
    expect(changeServers(before, 'yaml', YAML_TABLE, change)).toBe(after)
  })

  it('leaves an empty collection where the last entry goes', () => {
    const change = { remove: ['x'], add: [] }
    expect(changeServers('extensions:\n  x: 1\n', 'yaml', YAML_TABLE, change)).toBe('extensions: {}\n')
    expect(changeServers('mcpServers:\n- name: x\n  url: y\n', 'yaml', LIST, change)).toBe('mcpServers: []\n')
  })

  it('changes lists by the name of their members', () => {
    const text = 'mcpServers:\n  - name: a # one\n    url: x\n  -\n    name: b\n    url: y\n  # end\n'
    expect(changeServers(text, 'yaml', LIST, { remove: ['b'], add })).toBe(
      'mcpServers:\n  - name: "toolwell"\n    command: "/opt/node"\n    args:\n      - "/opt/toolwell.mjs"\n      - "serve"\n      - "--stdio"\n  - name: a # one\n    url: x\n  # end\n',
    )
  })

  it.each([
    ['extensions: {a: 1}\n', 'written in one line in brackets'],
    ['{extensions: {a: 1}}\n', 'written as one value in brackets'],
    ['extensions: [a]\n', 'is not an object'],
    ['extensions: &x\n  a: 1\nother: *x\n', 'is an anchor'],
    ['extensions:\n  a: &x {b: 1}\nother: *x\n', 'cannot be changed without changing more'],
    ['a: 1\n...\n', 'cannot be changed without changing more'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => changeServers(text, 'yaml', YAML_TABLE, { remove: ['a'], add })).toThrow(message)
  })
})

/** Random documents: values, comments and blanks in every place that takes them. */
const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,7}$/)
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('#', '"', "'", '//', '[x]', '{', ': ', '- '),
)
const leaf = fc.oneof(text, fc.integer(), fc.boolean(), fc.constantFrom('', ' ', 'é✓', '\\', '\n', '\t'))
const entry: fc.Arbitrary<Record<string, unknown>> = fc.dictionary(
  word,
  fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(word, leaf, { maxKeys: 3 })),
  { minKeys: 1, maxKeys: 4 },
)
const servers = fc.dictionary(word, entry, { maxKeys: 4 })
const blank = fc.constantFrom('', ' ', '  ', '\t')
const remark = fc.stringMatching(/^[ a-z"'{}[\],:#/-]{0,10}$/)

/** A JSON text of this value with comments, blanks and, if wanted, commas at the end. */
function jsonText(value: unknown, pick: (length: number) => number, strict: boolean, depth = 0): string {
  const gap = () =>
    strict
      ? (['', ' ', '\n', '\n\t'][pick(4)] ?? '')
      : (['', ' ', '\n  ', ' // c "x": {\n', '/* , } */', '\n\n\t'][pick(6)] ?? '')
  if (Array.isArray(value))
    return `[${gap()}${value.map((each) => jsonText(each, pick, strict, depth + 1)).join(`${gap()},${gap()}`)}${gap()}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, each]) => `${JSON.stringify(key)}${gap()}:${gap()}${jsonText(each, pick, strict, depth + 1)}`,
    )
    const tail = !strict && members.length > 0 && pick(3) === 0 ? `${gap()},` : ''
    return `{${gap()}${members.join(`${gap()},${gap()}`)}${tail}${gap()}}`
  }
  return JSON.stringify(value)
}

/** Lines of comments and blanks between those of a text that has no text over many lines. */
function remarked(source: string, pick: (length: number) => number): string {
  return source
    .split('\n')
    .flatMap((line) =>
      pick(4) === 0 ? [['', '# a remark: [x]', '   # another'][pick(3)] ?? '', line] : [line],
    )
    .join('\n')
}

function yamlText(whole: Fields, pick: (length: number) => number, isList: boolean): string {
  const indent = ['  ', '    '][pick(2)] ?? '  '
  const value = (each: unknown) => JSON.stringify(each)
  const lines = Object.entries(whole).flatMap(([key, each]) => {
    if (key !== 'servers') return [`${key}: ${value(each)}`]
    const table = Object.entries(each as Record<string, Record<string, unknown>>)
    if (table.length === 0) return [`servers:${[' {}', '', ' # none'][isList ? 1 : pick(3)]}`]
    return [
      'servers:',
      ...table.flatMap(([name, fields]) => [
        isList ? `${indent}- name: ${value(name)}` : `${indent}${value(name)}:`,
        ...Object.entries(fields)
          .filter(([field]) => !isList || field !== 'name')
          .map(
            ([field, inner]) => `${indent}  ${value(field)}: ${value(inner)}${pick(3) === 0 ? ' # c' : ''}`,
          ),
      ]),
    ]
  })
  return remarked(`${lines.join('\n')}${pick(2) === 0 ? '\n' : ''}`, pick)
}

const documents = fc
  .record({
    before: fc.dictionary(
      word.filter((key) => key !== 'servers'),
      entry,
      { maxKeys: 3 },
    ),
    servers,
    after: fc.dictionary(
      word.filter((key) => key !== 'servers'),
      leaf,
      { maxKeys: 2 },
    ),
    hasTable: fc.boolean(),
    kind: fc.constantFrom('strict', 'json', 'toml', 'yaml', 'list'),
    crlf: fc.boolean(),
    seed: fc.array(fc.nat(59), { minLength: 40, maxLength: 40 }),
    blank,
    remark,
  })
  .map((made) => {
    let at = 0
    const pick = (length: number) => (made.seed[at++ % 40] ?? 0) % length
    const whole: Fields = {
      ...made.before,
      ...(made.hasTable ? { servers: made.servers } : {}),
      ...Object.fromEntries(Object.entries(made.after).filter(([key]) => !(key in made.before))),
    }
    const format: Shape['format'] =
      made.kind === 'strict' ? 'json' : made.kind === 'list' ? 'yaml' : (made.kind as Shape['format'])
    const table: Table = { path: ['servers'], isList: made.kind === 'list' }
    const plain =
      format === 'json'
        ? jsonText(whole, pick, made.kind === 'strict')
        : format === 'toml'
          ? remarked(stringifyToml(whole), pick)
          : yamlText(whole, pick, made.kind === 'list')
    const source = made.crlf && !/[\r]/.test(plain) ? plain.replaceAll('\n', '\r\n') : plain
    return { format, table, source, names: made.hasTable ? Object.keys(made.servers) : [] }
  })
  .filter(({ format, source }) => 'value' in parseClient(source, format, ''))

const readValue = (source: string, format: Shape['format']): Fields => {
  const parsed = parseClient(source, format, '')
  if ('problem' in parsed) throw new Error(parsed.problem.message)
  return parsed.value
}

it('changes random documents as meant, and nothing else in them', () => {
  let done = 0
  fc.assert(
    fc.property(documents, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), (document, choice) => {
      const { format, table, source, names } = document
      const remove = names.filter((_, at) => choice[at])
      const change = { remove, add: names.includes('toolwell') ? [] : add }
      const after = changeServers(source, format, table, change)
      done += 1
      // What the property rests on is parsed here again, by the parsers alone.
      const wanted = valueAfter(readValue(source, format), table, change)
      const plain = (value: Fields) => JSON.parse(JSON.stringify(value))
      const { servers: left = {}, ...others } = plain(readValue(after, format))
      const { servers: right = {}, ...rest } = plain(wanted)
      expect(others).toEqual(rest)
      const byName = (each: unknown) =>
        Array.isArray(each)
          ? Object.fromEntries(each.map((item: { name?: string }) => [item.name, item]))
          : (each ?? {})
      expect(byName(left)).toEqual(byName(right))
      // Comments outside of what goes are all there still.
      const remarks = (each: string) => each.match(/# (?:a remark: \[x\]|none)|\/\* , \} \*\//g)?.length ?? 0
      if (remove.length === 0) expect(remarks(after)).toBe(remarks(source))
      // Taking out again what was put in leaves the same meaning.
      if (remove.length === 0 && change.add.length > 0) {
        const undone = changeServers(after, format, table, { remove: ['toolwell'], add: [] })
        expect(remarks(undone)).toBe(remarks(source))
      }
    }),
    { numRuns: runs(600) },
  )
  expect(done).toBeGreaterThan(0)
})
