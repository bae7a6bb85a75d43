import { readFileSync } from 'node:fs'
import { createLexicalSearcher } from '@toolwell/core'
import { createDocument } from '@toolwell/core/internal'
import { describe, expect, it } from 'vitest'
import { bytesOf, folderWith, issueTools, toolwell } from './support/run.js'

/** Results of a query for issues, as `id name server`. */
async function found(folder: string, catalog: string, query = 'issue', ...flags: string[]) {
  const { code, output, errors } = await toolwell(
    ['search', query, '--catalog', catalog, '--json', '--limit', '20', ...flags],
    {
      folder,
    },
  )
  const matches = output === '' ? [] : JSON.parse(output).matches
  return {
    code,
    errors,
    tools: matches
      .map(({ id, name, server }: { id: unknown; name: string; server: string }) => `${id} ${name} ${server}`)
      .sort(),
  }
}

const both = issueTools.slice(0, 2)
const plain = both.map(({ name, description }) => ({ name, description }))
const clean = { code: 0, errors: '' }

describe('a catalogue', () => {
  it('is a file with one tool on each line; ids are those of the lines', async () => {
    const folder = folderWith({ 'tools.jsonl': issueTools })
    expect(await found(folder, 'tools.jsonl')).toEqual({
      ...clean,
      tools: ['1 create_issue forge', 'close close_issue forge'],
    })
    expect((await found(folder, 'tools.jsonl', 'weather')).tools).toEqual([
      'sky/weather_today weather_today sky',
    ])
    expect((await found(folder, 'tools.jsonl', 'letter')).tools).toEqual(['send_letter send_letter '])
  })

  it.each([
    ['a tools/list result', { tools: plain }],
    ['one in an envelope', { jsonrpc: '2.0', id: 1, result: { tools: plain } }],
  ])('is %s, named after its file', async (_, content) => {
    const folder = folderWith({
      'forge.json': content,
      'deep/forge.v2.json': JSON.stringify(content, null, 2),
    })
    const tools = ['forge/close_issue close_issue forge', 'forge/create_issue create_issue forge']
    expect(await found(folder, 'forge.json')).toEqual({ ...clean, tools })
    expect((await found(folder, 'deep/forge.v2.json')).tools[0]).toBe(
      'forge.v2/close_issue close_issue forge.v2',
    )
  })

  it('is a bare list of tools', async () => {
    const folder = folderWith({ 'forge.json': JSON.stringify(plain, null, 2) })
    expect((await found(folder, 'forge.json')).tools).toHaveLength(2)
  })

  it('may hold several results, one on each line', async () => {
    const folder = folderWith({
      'all.jsonl': [
        { server: 'a', tools: plain },
        { server: 'b', tools: plain },
      ],
    })
    const { tools } = await found(folder, 'all.jsonl')
    expect(tools).toEqual([
      'a/close_issue close_issue a',
      'a/create_issue create_issue a',
      'b/close_issue close_issue b',
      'b/create_issue create_issue b',
    ])
  })

  it('is a folder of such files, which name the servers of tools that name none', async () => {
    const folder = folderWith({
      'forge.json': { tools: plain },
      'other.jsonl': [...plain, { name: 'list_issues', description: 'Lists issues.', server: 'own' }],
      'third.ndjson': [{ name: 'merge_issue', description: 'Merges an issue into another.' }],
      'notes.txt': 'not read',
      'inner/more.json': { tools: plain },
    })
    expect(await found(folder, '.')).toEqual({
      ...clean,
      tools: [
        'forge/close_issue close_issue forge',
        'forge/create_issue create_issue forge',
        'other/close_issue close_issue other',
        'other/create_issue create_issue other',
        'own/list_issues list_issues own',
        'third/merge_issue merge_issue third',
      ],
    })
  })

  it('skips other data in the folder, and says so', async () => {
    const folder = folderWith({ 'tools.jsonl': both, 'queries.jsonl': [{ query: 'issue', relevant: [] }] })
    const { code, errors, tools } = await found(folder, '.')
    expect({ code, errors }).toEqual({
      code: 0,
      errors: 'toolwell: queries.jsonl contains no tools and was skipped.\n',
    })
    expect(tools).toHaveLength(2)
  })

  it('comes from standard input', async () => {
    const pieces = [
      '{"name":"create_',
      'issue","descri',
      'ption":"Opens an issue: 問',
      '題"}\n\n{"name":"b"}',
    ]
    const { code, output } = await toolwell(['search', 'issue', '--catalog', '-'], { input: bytesOf(pieces) })
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('Opens an issue: 問題') })
  })

  it('may begin with a byte order mark, end its lines as Windows does, and hold empty ones', async () => {
    const lines = both.map((tool) => JSON.stringify(tool)).join('\r\n\r\n')
    const folder = folderWith({
      'tools.jsonl': `\ufeff\r\n${lines}\r\n`,
      'list.json': `\ufeff${JSON.stringify({ tools: plain }, null, 2).replaceAll('\n', '\r\n')}`,
    })
    expect((await found(folder, 'tools.jsonl')).tools).toHaveLength(2)
    expect((await found(folder, 'list.json')).tools).toHaveLength(2)
  })

  it('says that pages are missing, unless they follow', async () => {
    const [first, second] = plain
    const folder = folderWith({
      'forge.json': { result: { tools: [first], nextCursor: 'abc' } },
      'pages.jsonl': [{ tools: [first], nextCursor: 'abc' }, { tools: [second] }],
    })
    expect(await found(folder, 'forge.json')).toMatchObject({
      code: 0,
      errors:
        'toolwell: forge.json ends with a nextCursor: the following pages of that server are missing.\n',
    })
    expect(await found(folder, 'pages.jsonl')).toEqual({
      ...clean,
      tools: ['pages/close_issue close_issue pages', 'pages/create_issue create_issue pages'],
    })
  })

  it('keeps tools of one name on several servers apart', async () => {
    const folder = folderWith({ 'a.json': { tools: plain }, 'b.json': { tools: plain } })
    const { tools } = await found(folder, '.', 'create_issue')
    expect(tools.filter((tool: string) => tool.includes('create_issue'))).toEqual([
      'a/create_issue create_issue a',
      'b/create_issue create_issue b',
    ])
  })

  it('takes the first of tools with one id, and names the others', async () => {
    const folder = folderWith({
      'tools.jsonl': [...both, { id: 'close', name: 'close_door', description: 'Closes a door, no issue.' }],
    })
    const { errors, tools } = await found(folder, 'tools.jsonl')
    expect(tools).toEqual(['1 create_issue forge', 'close close_issue forge'])
    expect(errors).toBe(
      'toolwell: Skipped tools with a repeated id:\n  tools.jsonl:3: the id "close" is already in use.\n',
    )
  })

  it('is ranked as if it had been indexed at once, however large', async () => {
    const tools = Array.from({ length: 20_000 }, (_, index) => ({
      name: `${['create', 'list', 'close'][index % 3]}_${['issue', 'branch', 'mail', 'note', 'file'][index % 5]}_${index % 97}`,
      description: `Works on part ${index % 1013} of group ${index % 31}.`,
      server: `server${index % 211}`,
      id: `t${index}`,
    }))
    const folder = folderWith({ 'tools.jsonl': tools })
    const searcher = createLexicalSearcher()
    searcher.update({
      put: tools.map(({ id, server, ...tool }) =>
        createDocument({ id, tool: { ...tool, inputSchema: {}, source: server } }),
      ),
    })
    const text = 'close the issue 13 in part 500 of server7'
    const { output } = await toolwell(
      ['search', text, '--catalog', 'tools.jsonl', '--json', '--no-cutoff', '--limit', '50'],
      { folder },
    )
    const ids = JSON.parse(output).matches.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(searcher.rank({ text, must: [], limit: 50 }).map(({ id }) => id))
  })
})

describe('a tool', () => {
  it('needs a name alone', async () => {
    const folder = folderWith({
      'tools.jsonl': [
        { name: 'fix_issue' },
        {
          id: null,
          name: 'a_issue',
          description: null,
          server: null,
          serverDescription: null,
          inputSchema: null,
        },
        { id: '', name: 'b_issue', description: '', inputSchema: 'no schema' },
      ],
    })
    expect(await found(folder, 'tools.jsonl')).toEqual({
      ...clean,
      tools: ['a_issue a_issue ', 'b_issue b_issue ', 'fix_issue fix_issue '],
    })
  })

  it('may have a schema of megabytes, a deep one, and a recursive one', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`field_${index}`, { description: 'x'.repeat(50) }]),
    )
    const depth = 5000
    const folder = folderWith({
      'tools.jsonl': [
        JSON.stringify({ name: 'large_issue', inputSchema: { type: 'object', properties } }),
        `{"name":"deep_issue","inputSchema":${'{"properties":{"a":'.repeat(depth)}{}${'}}'.repeat(depth)}}`,
        JSON.stringify({
          name: 'round_issue',
          inputSchema: {
            $ref: '#/$defs/node',
            $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } },
          },
        }),
      ].join('\n'),
    })
    const { code, tools } = await found(folder, 'tools.jsonl', 'issue')
    expect({ code, tools: tools.length }).toEqual({ code: 0, tools: 3 })
  })

  it('may add what the library knows of tools: title, aliases, domain, group', async () => {
    const folder = folderWith({
      'tools.jsonl': [
        { name: 'a', title: 'Bake bread', aliases: ['baker'], domain: 'kitchen', group: 'oven' },
        { name: 'b', title: 'Cut bread', domain: 'table' },
      ],
    })
    expect((await found(folder, 'tools.jsonl', 'bake')).tools).toEqual(['a a '])
    expect((await found(folder, 'tools.jsonl', 'baker')).tools).toEqual(['a a '])
    expect((await found(folder, 'tools.jsonl', 'domain:table bread')).tools).toEqual(['b b '])
    expect((await found(folder, 'tools.jsonl', 'group:Oven')).tools).toEqual(['a a '])
  })

  it('cannot steer a terminal', async () => {
    const folder = folderWith({
      'tools.jsonl': [
        {
          name: 'red_issue\u001b[31m',
          description: 'Clears\u001b[2J the issue\u202e\nand more',
          server: 'a\u0007',
        },
      ],
    })
    for (const flags of [[], ['--explain'], ['--why', 'red_issue\u001b[31m']]) {
      const { output } = await toolwell(['search', 'issue', '--catalog', 'tools.jsonl', ...flags], { folder })
      expect(output).toContain('red_issue')
      expect(output).not.toMatch(/[^\P{C}\n]/u)
    }
  })
})

describe('what cannot be read', () => {
  const search = (folder: string, catalog: string, ...flags: string[]) =>
    toolwell(['search', 'issue', '--catalog', catalog, ...flags], { folder })

  it.each([
    ['no.jsonl', 'File not found: no.jsonl. Check the path after --catalog.'],
    ['tools.jsonl/x', 'File not found: tools.jsonl/x. Check the path after --catalog.'],
    ['empty.jsonl', 'empty.jsonl contains no tools. Give a file with one tool on each line, or'],
    ['none.json', 'none.json contains no tools.'],
    ['folder', 'folder contains no .json, .jsonl or .ndjson file. Give a folder with such files.'],
    ['binary.jsonl', 'binary.jsonl is a binary file. Give a JSON or JSONL file.'],
    ['wide.jsonl', 'wide.jsonl is UTF-16. Save it as UTF-8.'],
  ])('%s ends with 2 and %j', async (catalog, message) => {
    const folder = folderWith({
      'tools.jsonl': issueTools,
      'empty.jsonl': ' \n\n',
      'none.json': { tools: [] },
      'folder/notes.txt': '',
      'binary.jsonl': readFileSync(process.execPath).subarray(0, 5000),
      'wide.jsonl': Buffer.from('\ufeff{"name":"a"}', 'utf16le'),
    })
    const { code, output, errors } = await search(folder, catalog)
    expect({ code, output }).toEqual({ code: 2, output: '' })
    expect(errors).toContain(`toolwell: ${message}`)
  })

  const good = JSON.stringify(issueTools[0])
  it.each([
    [
      'a comma too many',
      `${good}\n{"name":"a",}\n`,
      'tools.jsonl:2:13: a comma before "}". Remove the comma.',
    ],
    [
      'a line that is cut off',
      `${good}\n{"name":"a", "descr`,
      'tools.jsonl:2:14: a string that does not end',
    ],
    ['a first line', `{"name":"a"\n${good}\n`, 'tools.jsonl:1:12: the text ends too early.'],
    ['no name', `${good}\n{"description":"a"}`, 'tools.jsonl:2: a tool without a name. Give it a "name".'],
    ['a wrong type', `${good}\n{"name":5}`, 'tools.jsonl:2: "name" is a number. Write a string.'],
    [
      'a wrong id',
      `${good}\n{"name":"a","id":{}}`,
      'tools.jsonl:2: "id" is an object. Write a string or a number,',
    ],
    ['no object', `${good}\n7`, 'tools.jsonl:2: a number instead of a tool.'],
    [
      'no list',
      `${good}\n{"tools":{}}`,
      'tools.jsonl:2: "tools" is not a list. Give the result of tools/list.',
    ],
    ['an error', `${good}\n{"error":{"code":-1}}`, 'tools.jsonl:2: an error response of a server.'],
    ['a member', `${good}\n{"tools":[null]}`, 'tools.jsonl:2, tool 1: null instead of a tool.'],
  ])(
    'refuses a catalogue with %s, naming the line; with --skip-broken searches the rest',
    async (_, text, problem) => {
      const folder = folderWith({ 'tools.jsonl': text })
      const refused = await search(folder, 'tools.jsonl')
      expect(refused).toMatchObject({ code: 2, output: '' })
      expect(refused.errors).toContain(`  ${problem}`)
      expect(refused.errors).toContain('--skip-broken')
      const searched = await search(folder, 'tools.jsonl', '--skip-broken')
      expect(searched).toMatchObject({ code: 0, output: expect.stringContaining('create_issue') })
      expect(searched.errors).toContain(`  ${problem}`)
    },
  )

  it('names the line and column within a document of many lines', async () => {
    const text = JSON.stringify({ tools: plain }, null, 2).replace(
      '"name": "close_issue",',
      '"name": "close_issue"',
    )
    const { errors } = await search(folderWith({ 'forge.json': text }), 'forge.json')
    expect(errors).toContain('  forge.json:9:7: found "\\"" instead of a comma or the end.')
  })

  it('names ten places and counts the others', async () => {
    const folder = folderWith({ 'tools.jsonl': `${good}\n${'{"a":1}\n'.repeat(25)}` })
    const { errors } = await search(folder, 'tools.jsonl')
    expect(errors.match(/tools\.jsonl:\d+: /g)).toHaveLength(10)
    expect(errors).toContain('  and 15 more')
  })
})
