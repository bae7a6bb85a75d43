import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { Problem } from '../src/shared/problem.js'
import { defineVerb } from '../src/shared/verb.js'
import { misbehaving } from './support/home.js'
import { folderWith, issueTools, toolwell } from './support/run.js'

const verb = (run: () => Promise<0 | 1 | 2>) =>
  defineVerb({
    name: 'try',
    summary: 'Tries.',
    usage: ['[WORDS]'],
    takesWords: true,
    flags: {
      colour: { type: 'string', valueHint: 'NAME', alias: 'c', description: 'Which.' },
      fast: { type: 'boolean', description: 'Now.' },
      safe: { type: 'boolean', default: true, description: 'Without a net.' },
    },
    examples: [{ line: 'toolwell try', about: 'tries' }],
    exits: { 0: 'Done.', 2: 'Not done.' },
    run,
  })
const done = verb(async () => 0)

describe('the manual', () => {
  it('prints the commands to standard output when asked, and to standard error if none is given', async () => {
    const asked = await toolwell(['--help'], { version: '1.2.3' })
    expect(asked).toMatchObject({ code: 0, errors: '' })
    expect(asked.output).toContain('toolwell 1.2.3')
    expect(asked.output).toContain('toolwell COMMAND --help')
    expect(asked.output).toMatch(/^ {2}search {2}/m)
    expect(await toolwell([], { version: '1.2.3' })).toEqual({ code: 2, output: '', errors: asked.output })
    expect(await toolwell(['help'], { version: '1.2.3' })).toEqual(asked)
  })

  it.each([
    [['search', '--help']],
    [['search', '-h', '--limit']],
    [['help', 'search']],
    [['--help', 'search']],
  ])('of a command has usage, every flag, examples and exit codes: %j', async (words) => {
    const { code, output, errors } = await toolwell(words)
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    for (const flag of ['catalog', 'limit', 'no-cutoff', 'explain', 'why', 'batch', 'json', 'help'])
      expect(output).toContain(`--${flag}`)
    expect(output).toMatch(/Examples\n {2}# .*\n {2}toolwell search "/)
    expect(output).toMatch(/Exit codes\n {2}0 {2}.*\n {2}1 {2}.*\n {2}2 {2}/)
  })

  it('shows every command with its usage, and no line that ends in a blank', async () => {
    const { output } = await toolwell(['--help'])
    const names = [...output.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(10)
    for (const name of names) {
      const manual = (await toolwell([name, '--help'])).output
      expect(manual).toMatch(new RegExp(`\nUsage\n {2}toolwell ${name} \\S`))
      expect(manual).not.toMatch(/[ \t]$/m)
    }
  })

  it('has examples that the command takes', async () => {
    const { output } = await toolwell(['search', '--help'])
    const examples = output.slice(output.indexOf('Examples'))
    const lines = [...examples.matchAll(/^ {2}toolwell (.*)$/gm)].map(([, line]) => line)
    expect(lines.length).toBeGreaterThanOrEqual(4)
    const tools = issueTools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool }))
    const folder = folderWith({
      'tools.jsonl': issueTools,
      'servers/forge.json': { tools: issueTools.slice(0, 2) },
      'queries.jsonl': [{ query: 'issue' }],
      'asked.jsonl': [{ query: 'issue', tools: ['create_issue'] }],
      'toolwell.json': { mcpServers: { forge: misbehaving({ tools }) } },
    })
    for (const line of lines) {
      const words = [...(line ?? '').replace(/ > .*/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare ?? '',
      )
      const env = {
        XDG_CACHE_HOME: join(folder, 'cache'),
        XDG_DATA_HOME: join(folder, 'data'),
        XDG_STATE_HOME: join(folder, 'state'),
      }
      const { code, errors } = await toolwell(words, { folder, env })
      // update_issue is not in this catalogue, which is an answer too.
      expect([line, code, errors]).toEqual([line, words.includes('--why') ? 1 : 0, ''])
    }
  })

  it('is not asked for behind a double dash', async () => {
    expect(await toolwell(['try', '--', '--help'], { verbs: [done] })).toMatchObject({ code: 0, output: '' })
  })

  it('prints the version', async () => {
    expect(await toolwell(['--version'], { version: '1.2.3' })).toEqual({
      code: 0,
      output: '1.2.3\n',
      errors: '',
    })
  })
})

describe('words that are wrong', () => {
  it.each([
    [['serach'], 'Unknown command "serach". Did you mean search?', 'toolwell --help'],
    [['zzz'], 'Unknown command "zzz". Known: serve, ', 'toolwell --help'],
    [['constructor'], 'Unknown command "constructor". Known: serve, ', 'toolwell --help'],
    [['search', 'a', '--catlog', 'b'], 'Unknown flag --catlog. Did you mean --catalog?', 'search --help'],
    [['search', 'a', '--no-cutof'], 'Unknown flag --no-cutof. Did you mean --no-cutoff?', 'search --help'],
    [['search', 'a', '--cutoff'], 'Unknown flag --cutoff. Did you mean --no-cutoff?', 'search --help'],
    [['search', 'a', '--no-json'], 'Unknown flag --no-json. Did you mean --json?', 'search --help'],
    [
      ['search', 'a', '--zzzzzzzz=1'],
      'Unknown flag --zzzzzzzz. Put text that begins with "-"',
      'search --help',
    ],
    [['token', 'new'], 'Unexpected argument "new". Did you mean --new?', 'token --help'],
    [['status', 'extra'], 'Unexpected argument "extra". status takes flags only.', 'status --help'],
    [['stop', 'it', 'now'], 'Unexpected argument "it now". stop takes flags only.', 'stop --help'],
    [['serve', 'now'], 'Unexpected argument "now". serve takes flags only.', 'serve --help'],
    [['doctor', 'jsn'], 'Unexpected argument "jsn". Did you mean --json?', 'doctor --help'],
    [['inspect', 'x'], 'Unexpected argument "x".', 'inspect --help'],
    [['lock', 'x'], 'Unexpected argument "x". To approve a server or tool, write:', 'lock --help'],
    [['import', 'x'], 'Unexpected argument "x". To import from one client, write', 'import --help'],
    [['search', 'a', '-x'], 'Unknown flag -x.', 'search --help'],
    [['search', 'a', '--json=1'], '--json takes no value. Write only --json.', 'search --help'],
    [['search', 'a', '--catalog'], '--catalog needs a value. Write --catalog PATH.', 'search --help'],
    [['search', 'a', '--catalog='], '--catalog needs a value.', 'search --help'],
    [['search', 'a', '--catalog', '--explain'], '--catalog needs a value.', 'search --help'],
    [['search', '--catalog', 'b'], 'The query is missing.', 'search --help'],
    [['search', ' \t', '--catalog', 'b'], 'The query is missing.', 'search --help'],
    [
      ['search', 'a', '--catalog', 'b', '--limit', '0'],
      '--limit "0" is not a valid number of matches.',
      'search --help',
    ],
    [
      ['search', 'a', '--catalog', 'b', '--limit', '1e3'],
      '--limit "1e3" is not a valid number',
      'search --help',
    ],
    [
      ['search', 'a', '--catalog', 'b', '--batch', 'c'],
      '--batch and a query cannot be combined.',
      'search --help',
    ],
    [
      ['search', '--why', 'a', '--catalog', 'b', '--batch', 'c'],
      '--batch and --why cannot be combined.',
      'search --help',
    ],
    [['search', '--catalog', '-', '--batch', '-'], 'cannot both read standard input', 'search --help'],
  ])('%j end with 2 and %j', async (words, message, manual) => {
    const { code, output, errors } = await toolwell(words)
    expect({ code, output }).toEqual({ code: 2, output: '' })
    expect(errors).toContain(message)
    expect(errors).toMatch(new RegExp(`See: .*${manual}\\n$`))
  })

  it('are distinguished from values and from words after a double dash', async () => {
    const take = (...words: string[]) => toolwell(['try', ...words], { verbs: [done] })
    expect(await take('--colour', '-', '--fast', '--no-safe', '-c', 'red', '--colour=-red')).toMatchObject({
      code: 0,
    })
    expect(await take('--', '--colur')).toMatchObject({ code: 0 })
  })
})

describe('an end', () => {
  it('is reported with its fix if the user can fix it', async () => {
    const verbs = [verb(() => Promise.reject(new Problem('It is late.', 'Come earlier.')))]
    expect(await toolwell(['try'], { verbs })).toEqual({
      code: 2,
      output: '',
      errors: 'toolwell: It is late. Come earlier.\n',
    })
  })

  it('is reported with its stack if it is a bug in the command', async () => {
    const verbs = [verb(() => Promise.reject(new TypeError('undefined is no function')))]
    const { code, errors } = await toolwell(['try'], { verbs })
    expect(code).toBe(2)
    expect(errors).toMatch(/bug in toolwell.*\nTypeError: undefined is no function\n {4}at /)
  })

  it('is quiet where nobody reads any more', async () => {
    const folder = folderWith({ 'tools.jsonl': issueTools })
    const words = ['search', 'issue', '--catalog', 'tools.jsonl']
    expect(await toolwell(words, { folder, closesAfter: 0 })).toEqual({ code: 0, output: '', errors: '' })
  })
})

describe('colours', () => {
  const folder = () => folderWith({ 'tools.jsonl': issueTools })
  const words = ['search', 'issue', '--catalog', 'tools.jsonl']
  const colour = '\u001b['

  it('are for screens', async () => {
    expect((await toolwell(words, { folder: folder(), screen: { output: 80 } })).output).toContain(colour)
    expect((await toolwell(words, { folder: folder(), screen: { errors: 80 } })).output).not.toContain(colour)
    expect((await toolwell(['--help'], { screen: { output: 80 } })).output).toContain(colour)
    expect((await toolwell(['--help'])).output).not.toContain(colour)
    expect((await toolwell(['zzz'], { screen: { errors: 80 } })).errors).toContain(colour)
  })

  it.each([{ NO_COLOR: '1' }, { NO_COLOR: 'no' }, { TERM: 'dumb' }])('are skipped with %j', async (env) => {
    const { output } = await toolwell(words, { folder: folder(), screen: { output: 80 }, env })
    expect(output).not.toContain(colour)
    expect(output).toContain('create_issue')
  })
})

describe('the sources', () => {
  it('touch the process where the command begins, and in the short way of a stdio client', () => {
    const source = fileURLToPath(new URL('../src', import.meta.url))
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    )
    const touching = files.filter((file) =>
      /\b(?:process|console)\./.test(readFileSync(join(source, file), 'utf8')),
    )
    expect(touching.sort()).toEqual(['main.ts', join('serve', 'run-stdio.ts')])
  })
})

describe('what goes wrong where JSON was asked for', () => {
  it.each([
    [['serch', '--json'], 'usage'],
    [['search', 'a', '--json', '--nonsense'], 'usage'],
    [['search', 'a', '--json'], 'no-config'],
    [['search', 'a', '--catalog', 'none.jsonl', '--json'], 'failed'],
    [['search', '--batch', 'none.jsonl', '--catalog', 'tools.jsonl', '--json'], 'failed'],
    [['inspect', '--json'], 'no-config'],
    [['inspect', '--json', '--config', 'broken.json'], 'no-servers'],
    [['doctor', '--json', '--config', 'none.json'], 'no-servers'],
    [['doctor', '--json', '--slow', 'x'], 'usage'],
    [['lock', '--json'], 'no-config'],
    [['lock', '--check', '--json', '--config', 'one.json'], 'no-lock'],
    [['lock', '--approve', 'two', '--json', '--config', 'one.json'], 'unknown-target'],
    [['lock', '--approve', 'one', '--json', '--config', 'one.json'], 'unlisted'],
    [['lock', '--check', '--json', '--config', 'locked/one.json'], 'conflict'],
    [['import', '--json'], 'nothing-found'],
    [['connect', '--json'], 'nothing-found'],
    [['connect', 'no-such-client', '--json'], 'usage'],
    [['undo', 'no-such-client', '--json'], 'usage'],
    [['login', 'one', '--json', '--config', 'one.json'], 'not-remote'],
    [['login', 'two', '--json', '--config', 'one.json'], 'unknown-server'],
    [['login', 'one', '--json', '--config', 'half.json'], 'broken-config'],
    [['logout', 'two', '--json', '--config', 'one.json'], 'unknown-server'],
    [['logout', '--json'], 'usage'],
  ])('%j is one object with the reason %j, the message and the fix', async (words, reason) => {
    const mcpServers = { one: { command: 'no-such-program-anywhere' } }
    const folder = folderWith({
      'tools.jsonl': issueTools,
      'broken.json': '{ "mcpServers": { "one": 7 } }',
      'one.json': { mcpServers },
      'half.json': { mcpServers: { one: 7, three: { command: 'x' } } },
      'locked/one.json': { mcpServers },
      'locked/toolwell.lock': '<<<<<<< ours\n',
    })
    const env = {
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_DATA_HOME: join(folder, 'data'),
      XDG_STATE_HOME: join(folder, 'state'),
    }
    const screen = words.includes('--approve') ? { output: 100 } : {}
    const { code, output, errors } = await toolwell(words, { folder, env, screen })
    expect(code).toBe(2)
    const answer = JSON.parse(output)
    expect(answer).toMatchObject({
      reason,
      message: expect.stringMatching(/\S/),
      fix: expect.stringMatching(/\S/),
    })
    expect(errors).toContain(answer.message)
    expect(errors).toContain(answer.fix)
  })

  it('names the config of another client that lies there', async () => {
    const folder = folderWith({ '.mcp.json': { mcpServers: {} } })
    const env = { XDG_CONFIG_HOME: join(folder, 'config') }
    const { output } = await toolwell(['search', 'a', '--json'], { folder, env })
    expect(JSON.parse(output)).toMatchObject({
      reason: 'no-config',
      fix: 'Use .mcp.json with --config .mcp.json, or import its servers with: toolwell import',
    })
  })

  it('is a fault with its reason if it is a bug, and keeps the exit code of the command', async () => {
    const throwing = (error: Error) =>
      defineVerb({
        ...done,
        flags: { json: { type: 'boolean', description: 'JSON.' } },
        run: async () => {
          throw error
        },
      })
    const faulty = await toolwell(['try', '--json'], { verbs: [throwing(new Error('no such luck'))] })
    expect(faulty.code).toBe(2)
    expect(JSON.parse(faulty.output)).toMatchObject({ reason: 'fault', message: 'Error: no such luck' })
    const options = { reason: 'timeout', exit: 1, details: { waited: 3 } } as const
    const no = throwing(new Problem('Nobody came.', 'Wait.', options))
    const { code, output } = await toolwell(['try', '--json'], { verbs: [no] })
    expect({ code, answer: JSON.parse(output) }).toEqual({
      code: 1,
      answer: { waited: 3, reason: 'timeout', message: 'Nobody came.', fix: 'Wait.' },
    })
    expect((await toolwell(['try', '--', '--json'], { verbs: [no] })).output).toBe('')
  })
})
