/** Servers are changed in place: every byte that does not belong to them stays. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../test/setup/tier.ts'
import type { Change, Table } from '../src/connect/edit/change.js'
import { Refusal } from '../src/connect/edit/change.js'
import { changeServers, entrySource, valueAfter } from '../src/connect/edit/change-servers.js'
import { parseClient } from '../src/shared/clients/read-client.js'
import type { Fields, Shape } from '../src/shared/clients/shapes.js'
import { randomDocuments, randomEntry } from './support/random-documents.js'

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
    ['{"a":1}', '{"a":1, "mcpServers": {"toolwell": 1}}'],
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
    const source = entrySource(text, 'toml', TOML_TABLE, 'a')
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
    expect(entrySource(inside, 'toml', TOML_TABLE, 'a')).toBeUndefined()
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
    ['extensions: {a: 1}\n', 'in brackets on one line'],
    ['{extensions: {a: 1}}\n', 'one value in brackets'],
    ['extensions: [a]\n', 'is not an object'],
    ['extensions: &x\n  a: 1\nother: *x\n', 'is a YAML anchor'],
    ['extensions:\n  a: &x {b: 1}\nother: *x\n', 'cannot be changed without changing other parts'],
    ['a: 1\n...\n', 'cannot be changed without changing other parts'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => changeServers(text, 'yaml', YAML_TABLE, { remove: ['a'], add })).toThrow(message)
  })
})

const documents = randomDocuments({ keyOf: () => 'servers', entryOf: () => randomEntry })

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
      // The property's expected value is parsed here again, by the parsers alone.
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
