import { describe, expect, it } from 'vitest'
import { ToolwellError } from '../../src/base/errors.js'
import { type ManifestProblem, readManifest } from '../../src/tool/manifest.js'

const file = 'extension-manifest.json'

function withTools(...tools: unknown[]): unknown {
  return { provides: { tools } }
}

function refusal(input: unknown): {
  readonly message: string
  readonly problems: readonly ManifestProblem[]
} {
  try {
    readManifest(input, { file })
  } catch (error) {
    if (!ToolwellError.is(error)) throw error
    expect(error.code).toBe('invalid-manifest')
    return { message: error.message, problems: error.data.problems as ManifestProblem[] }
  }
  throw new Error('readManifest accepted the manifest')
}

describe('a manifest', () => {
  it('mixes names and objects as the seed document shows', () => {
    const json = `{
"provides": {
"tools": [
"complete_task",
{
"name": "memory_graph",
"lazy": true,
"domain": "memory",
"aliases": [],
"canonicalName": "memory_graph",
"promptSnippet": "Inspect related SF memory records"
}
]
}
}`
    const expected = {
      tools: [
        { name: 'complete_task' },
        {
          name: 'memory_graph',
          defer: true,
          domain: 'memory',
          aliases: [],
          canonicalName: 'memory_graph',
          promptSnippet: 'Inspect related SF memory records',
        },
      ],
    }
    expect(readManifest(json)).toEqual(expected)
    expect(readManifest(JSON.parse(json))).toEqual(expected)
    expect(readManifest(`\ufeff${json}`)).toEqual(expected)
  })

  it('takes the flat list of names it had before', () => {
    expect(readManifest(withTools('read', 'write'))).toEqual({ tools: [{ name: 'read' }, { name: 'write' }] })
  })

  it('reads every field', () => {
    const fields = {
      name: 'graph',
      title: 'Graph',
      description: '',
      inputSchema: { type: 'object', properties: {} },
      domain: 'memory',
      group: 'records',
      aliases: ['old_graph'],
      canonicalName: 'graph',
      searchHint: 'nodes edges',
      card: 'Shows records',
      promptSnippet: 'Show records',
      guidelines: ['Ask first.'],
      risk: 'read',
      insteadOf: 'Not grep.',
      defer: false,
      alwaysLoad: false,
      role: 'todo',
    }
    expect(readManifest(withTools(fields))).toEqual({ tools: [fields] })
  })

  it('ignores what belongs to others: top-level keys and other things provided', () => {
    const manifest = {
      id: 'sf',
      version: 3,
      provides: { commands: ['x'], hooks: {}, tools: [] },
      dependencies: null,
    }
    expect(readManifest(manifest)).toEqual({ tools: [] })
  })

  it('accepts lazy and defer that agree, and a schema without a type', () => {
    const tools = withTools({ name: 'a', lazy: true, defer: true }, { name: 'b', inputSchema: {} })
    expect(readManifest(tools)).toEqual({
      tools: [
        { name: 'a', defer: true },
        { name: 'b', inputSchema: {} },
      ],
    })
  })

  it('accepts chains of deprecated names, and a group named after one of its members', () => {
    const tools = withTools(
      { name: 'oldest', canonicalName: 'old' },
      { name: 'old', canonicalName: 'new' },
      { name: 'new', group: 'new' },
      { name: 'more', group: 'new' },
    )
    expect(readManifest(tools).tools).toHaveLength(4)
  })
})

describe('a malformed manifest', () => {
  const at = '$.provides.tools'
  const shapes: readonly (readonly [
    title: string,
    input: unknown,
    path: string,
    problem: string,
    fix: string,
  ])[] = [
    ['an empty text', '', '$', 'ends too early at line 1, column 1', 'Close what is open'],
    [
      'a text cut off',
      '{"provides": {\n  "tools": ["a"',
      '$',
      'ends too early at line 2, column 16',
      'cut off',
    ],
    [
      'a trailing comma',
      '{"provides": {\n "tools": ["a",\n] } }',
      '$',
      'at line 3, column 1',
      'Remove the comma',
    ],
    [
      'a comment',
      '{\n  // tools\n  "provides": {} }',
      '$',
      'a comment at line 2, column 3',
      'Remove the comment',
    ],
    ['single quotes', "{'provides': 1}", '$', 'found "\'" instead of a key in double quotes', 'Write a key'],
    [
      'a missing comma',
      '{"a": 1\n "b": 2}',
      '$',
      'instead of a comma or the end at line 2, column 2',
      'a comma',
    ],
    ['a missing colon', '{"a" 1}', '$', 'found "1" instead of a colon at line 1, column 6', 'Write a colon'],
    ['an open string', '{"a": "b\n}', '$', 'a string that does not end', 'Correct the string'],
    ['two values', '{} {}', '$', 'found "{" instead of a comma or the end at line 1, column 4', 'Write'],
    ['the wrong bracket', '{"a": [1}', '$', 'found "}" instead of a comma or the end', 'Write'],
    ['a bare word', '{"a": yes}', '$', 'found "y" instead of a value at line 1, column 7', 'Write a value'],
    ['null', null, '$', 'is null, not an object', '{ "provides": { "tools": [] } }'],
    ['nothing', undefined, '$', 'is undefined, not an object', 'provides'],
    ['an array', '["read"]', '$', 'is an array, not an object', 'provides'],
    ['no provides', {}, '$.provides', 'is missing', 'Add "provides"'],
    [
      'a misspelt provides',
      { provide: { tools: [] } },
      '$.provides',
      'is missing',
      'Rename "provide" to "provides"',
    ],
    [
      'provides of the wrong type',
      { provides: [] },
      '$.provides',
      'is an array, not an object',
      'Add "provides"',
    ],
    ['no tools', { provides: {} }, at, 'is missing', 'Give an array'],
    [
      'tools that are an object',
      { provides: { tools: { a: 1 } } },
      at,
      'is an object, not an array',
      'Give an array',
    ],
    [
      'tools that are a name',
      { provides: { tools: 'read' } },
      at,
      'is a string, not an array',
      'Give an array',
    ],
    [
      'a number for a tool',
      withTools('a', 7),
      `${at}[1]`,
      'is a number, not a name or an object',
      "the tool's name",
    ],
    ['null for a tool', withTools(null), `${at}[0]`, 'is null, not a name or an object', "the tool's name"],
    ['an array for a tool', withTools(['a']), `${at}[0]`, 'is an array, not a name', "the tool's name"],
    ['an empty name', withTools(''), `${at}[0]`, 'is an empty name', "the tool's name"],
    ['a blank name', withTools(' '), `${at}[0]`, 'is an empty name', "the tool's name"],
    ['an object without a name', withTools({ lazy: true }), `${at}[0]`, 'has no "name"', 'Add "name"'],
    [
      'a name that is a number',
      withTools({ name: 3 }),
      `${at}[0].name`,
      'is a number, not a string',
      'Give a string',
    ],
    [
      'an empty name in an object',
      withTools({ name: '' }),
      `${at}[0].name`,
      'is "", not a string',
      'Give a string',
    ],
    [
      'a misspelt key',
      withTools({ name: 'a', lazzy: true }),
      `${at}[0].lazzy`,
      'the key "lazzy" is unknown',
      'Rename it to "lazy"',
    ],
    [
      'a key in another case',
      withTools({ name: 'a', canonical_name: 'a' }),
      `${at}[0].canonical_name`,
      'unknown',
      'Rename it to "canonicalName"',
    ],
    [
      'an unknown key',
      withTools({ name: 'a', 'x y': 1 }),
      `${at}[0]["x y"]`,
      'the key "x y" is unknown',
      'Remove it. Known keys: name,',
    ],
    [
      'a key of the prototype',
      '{"provides":{"tools":[{"name":"a","__proto__":{}}]}}',
      `${at}[0].__proto__`,
      'unknown',
      'Remove it',
    ],
    [
      'a title that is a number',
      withTools({ name: 'a', title: 1 }),
      `${at}[0].title`,
      'is a number, not a string',
      'leave the key out',
    ],
    [
      'a description that is null',
      withTools({ name: 'a', description: null }),
      `${at}[0].description`,
      'is null',
      'leave the key out',
    ],
    [
      'a schema that is an array',
      withTools({ name: 'a', inputSchema: [] }),
      `${at}[0].inputSchema`,
      'is an array',
      '"properties": {}',
    ],
    [
      'a schema of another type',
      withTools({ name: 'a', inputSchema: { type: 'string' } }),
      `${at}[0].inputSchema`,
      'is an object, not a JSON Schema whose type is "object"',
      'Give a JSON Schema',
    ],
    [
      'an empty domain',
      withTools({ name: 'a', domain: '' }),
      `${at}[0].domain`,
      'is "", not a string that',
      'Give a string',
    ],
    [
      'a group that is a list',
      withTools({ name: 'a', group: ['x'] }),
      `${at}[0].group`,
      'is an array',
      'Give a string',
    ],
    [
      'aliases that are a name',
      withTools({ name: 'a', aliases: 'b' }),
      `${at}[0].aliases`,
      'is "b", not an array',
      'Give an array',
    ],
    [
      'an alias that is a number',
      withTools('z', { name: 'a', aliases: ['b', 1] }),
      `${at}[1].aliases[1]`,
      'is a number',
      'or remove it',
    ],
    [
      'a canonicalName that is a number',
      withTools({ name: 'a', canonicalName: 1 }),
      `${at}[0].canonicalName`,
      'is a number',
      'Give a string',
    ],
    [
      'a searchHint that is a list',
      withTools({ name: 'a', searchHint: [] }),
      `${at}[0].searchHint`,
      'is an array',
      'Give a string',
    ],
    [
      'a card that is an object',
      withTools({ name: 'a', card: {} }),
      `${at}[0].card`,
      'is an object',
      'Give a string',
    ],
    [
      'a promptSnippet that is true',
      withTools({ name: 'a', promptSnippet: true }),
      `${at}[0].promptSnippet`,
      'is a boolean',
      'Give a string',
    ],
    [
      'guidelines that are a text',
      withTools({ name: 'a', guidelines: 'Be kind.' }),
      `${at}[0].guidelines`,
      'not an array',
      'Give an array',
    ],
    [
      'a guideline that is null',
      withTools({ name: 'a', guidelines: [null] }),
      `${at}[0].guidelines[0]`,
      'is null',
      'or remove it',
    ],
    [
      'an unknown risk',
      withTools({ name: 'a', risk: 'deadly' }),
      `${at}[0].risk`,
      'is "deadly", not one of "read"',
      'Give one of "read", "write", "destructive", "external"',
    ],
    [
      'an insteadOf that is a number',
      withTools({ name: 'a', insteadOf: 2 }),
      `${at}[0].insteadOf`,
      'is a number',
      'Give a string',
    ],
    [
      'a defer that is a text',
      withTools({ name: 'a', defer: 'yes' }),
      `${at}[0].defer`,
      'is "yes", not true or false',
      'Give true or false',
    ],
    [
      'a lazy that is a number',
      withTools({ name: 'a', lazy: 1 }),
      `${at}[0].lazy`,
      'is a number, not true or false',
      'Give true or false',
    ],
    [
      'an alwaysLoad that is null',
      withTools({ name: 'a', alwaysLoad: null }),
      `${at}[0].alwaysLoad`,
      'is null',
      'Give true or false',
    ],
    [
      'an unknown role',
      withTools({ name: 'a', role: 'boss' }),
      `${at}[0].role`,
      'is "boss", not one of "mode-exit"',
      'Give one of "mode-exit"',
    ],
    [
      'lazy against defer',
      withTools({ name: 'a', lazy: true, defer: false }),
      `${at}[0].lazy`,
      'is true, but "defer" is false',
      'Keep one of the two',
    ],
    [
      'one name twice',
      withTools('a', 'b', { name: 'a' }),
      `${at}[2]`,
      `the name "a" is already used by ${at}[0]`,
      'Merge the two entries',
    ],
    [
      'an alias that is the own name',
      withTools({ name: 'a', aliases: ['a'] }),
      `${at}[0].aliases[0]`,
      "the tool's own name",
      'Remove the alias',
    ],
    [
      'an alias claimed by two',
      withTools({ name: 'a', aliases: ['x'] }, { name: 'b', aliases: ['x'] }),
      `${at}[1].aliases[0]`,
      `"x" is already claimed at ${at}[0].aliases[0]`,
      'on one tool only',
    ],
    [
      'an alias listed twice',
      withTools({ name: 'a', aliases: ['x', 'x'] }),
      `${at}[0].aliases[1]`,
      'already claimed',
      'on one tool only',
    ],
    [
      'an alias that is a later name',
      withTools({ name: 'a', aliases: ['b'] }, 'b'),
      `${at}[0].aliases[0]`,
      '"b" is the name of another tool',
      'Rename or remove the alias',
    ],
    [
      'an alias that is an entry too',
      withTools({ name: 'a', aliases: ['b'] }, { name: 'b', canonicalName: 'a' }),
      `${at}[0].aliases[0]`,
      'is the name of another tool',
      'already is one',
    ],
    [
      'a canonicalName of nothing',
      withTools({ name: 'a', canonicalName: 'zebra' }),
      `${at}[0].canonicalName`,
      'no tool "zebra" is in the manifest',
      'Add the tool "zebra"',
    ],
    [
      'a misspelt canonicalName',
      withTools({ name: 'old', canonicalName: 'memory_grpah' }, 'memory_graph'),
      `${at}[0].canonicalName`,
      'no tool "memory_grpah"',
      'Write "memory_graph"',
    ],
    [
      'a circle of canonicalName',
      withTools({ name: 'a', canonicalName: 'b' }, { name: 'b', canonicalName: 'a' }),
      `${at}[0].canonicalName`,
      'leads back to itself: a → b → a',
      'Remove "canonicalName"',
    ],
    [
      'a circle that others lead into',
      withTools(
        { name: 'x', canonicalName: 'a' },
        { name: 'a', canonicalName: 'b' },
        { name: 'b', canonicalName: 'a' },
      ),
      `${at}[1].canonicalName`,
      'a → b → a',
      'Remove "canonicalName"',
    ],
    [
      'a group of one with its own name',
      withTools({ name: 'a', group: 'a' }, { name: 'b', group: 'c' }),
      `${at}[0].group`,
      'the only member of the group',
      'Add "group": "a"',
    ],
  ]
  it.each(shapes)('with %s is refused with its path and the fix', (_, input, path, problem, fix) => {
    const { message, problems } = refusal(input)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toEqual({
      file,
      path,
      message: expect.stringContaining(problem),
      fix: expect.stringContaining(fix),
    })
    expect(message).toBe(`${file}: ${path}: ${problems[0]?.message}. Fix: ${problems[0]?.fix}.`)
  })

  it('is refused once, with all problems in order', () => {
    const { message, problems } = refusal(withTools(3, { name: 'a', risk: 'x', lazi: true }, 'b', 'b'))
    expect(problems.map(({ path }) => path)).toEqual([
      `${at}[0]`,
      `${at}[1].risk`,
      `${at}[1].lazi`,
      `${at}[3]`,
    ])
    expect(message.split('\n')).toHaveLength(4)
  })

  it('shows fifty problems in the message and all of them in the data', () => {
    const { message, problems } = refusal(withTools(...Array.from({ length: 60 }, () => null)))
    expect(problems).toHaveLength(60)
    expect(message.split('\n')).toHaveLength(51)
    expect(message).toContain('… and 10 more')
  })

  it('is called "manifest" where no file is given', () => {
    expect(() => readManifest('x')).toThrow(/^manifest: \$: is not JSON/)
  })

  it('is located wherever its text is cut', () => {
    const json =
      '{"provides": {"tools": ["a", {"name": "b", "n": [-1.5e3, true, null, "\\u00e9\\n"], "o": {}}]}}'
    JSON.parse(json)
    for (let length = 0; length < json.length; length += 1) {
      const { problems } = refusal(json.slice(0, length))
      expect(problems[0]?.message).toMatch(/^is not JSON: .* at line 1, column \d+$/)
    }
  })
})
