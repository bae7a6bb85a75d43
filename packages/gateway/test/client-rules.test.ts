/** The permission rules that a bridge hands over: a denied tool does not exist for its client. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type ClientRules, identifyProgram, writeRules } from '@toolwell/gateway/bridge'
import { describe, expect, it, vi } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { entry, type Started, startGateway, temporary } from './support/gateway.js'
import { openWire } from './support/stdio-wire.js'

const mcpServers = {
  files: entry(
    oddServer('files', {
      tools: ['read_file', 'write_file', 'write.all'].map((name) => describedTool(name)),
    }),
    {
      readOnly: ['*'],
    },
  ),
  notes: entry(oddServer('notes', { tools: [describedTool('write_file')] }), { readOnly: ['*'] }),
}
const FIXTURE = fileURLToPath(new URL('support/conformance-server.mjs', import.meta.url))
const ALL = ['files__read_file', 'files__write_file', 'notes__write_file']

type Rules = Partial<ClientRules>

/** A server of the client, by its name there. */
const own = (name: string, ...program: string[]) => ({ name, program })

async function openRules(started: Started, path: '/mcp' | '/mcp/all', rules: Rules | undefined) {
  const whole: ClientRules = { prefix: '', separator: '__', layers: [], own: {}, ...rules }
  const wire = await openWire(started, path, rules ? { 'X-Toolwell-Rules': writeRules(whole) } : {})
  let id = 0
  const ask = async (method: string, params: object) => {
    const { result, error } = (await wire.ask({ id: ++id, method, params })) as {
      result?: { tools?: { name: string }[]; content?: { text: string }[] }
      error?: { message: string }
    }
    return {
      result: result ?? {},
      tools: result?.tools ?? [],
      text: result?.content?.map(({ text }) => text).join('') ?? error?.message ?? '',
    }
  }
  await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'a-client', version: '1' },
  })
  wire.say({ method: 'notifications/initialized' })
  return {
    ask,
    list: async () => (await ask('tools/list', {})).tools.map(({ name }) => name),
    call: async (name: string, input: object) => (await ask('tools/call', { name, arguments: input })).text,
  }
}

/** The tools that a client can list, find, select and call in each way. */
async function reach(started: Started, rules: Rules | undefined) {
  const [few, every] = [await openRules(started, '/mcp', rules), await openRules(started, '/mcp/all', rules)]
  const [search = '', read = '', run = ''] = await few.list()
  const filter = async (isReached: (name: string) => Promise<boolean>) => {
    const reached: string[] = []
    for (const name of ALL) if (await isReached(name)) reached.push(name)
    return reached
  }
  const isShown = async (name: string, query: string) =>
    (await few.call(search, { query })).includes(`"name":"${name}"`)
  const isRun = async (answer: Promise<string>) => (await answer) === '{}'
  return {
    listed: (await every.list()).filter((name) => ALL.includes(name)),
    found: await filter((name) => isShown(name, name.replaceAll('_', ' '))),
    selected: await filter((name) => isShown(name, `select:${name}`)),
    suggested: await filter(async (name) =>
      (await few.call(search, { query: `select:${name.slice(0, -1)}` })).includes(name),
    ),
    run: await filter((name) => isRun(few.call(run, { name, arguments: {} }))),
    read: await filter((name) => isRun(few.call(read, { name, arguments: {} }))),
    direct: await filter((name) => isRun(few.call(name, {}))),
    prefixed: await filter((name) => isRun(few.call(run, { name: `mcp__toolwell__${name}`, arguments: {} }))),
    all: await filter((name) => isRun(every.call(name, {}))),
  }
}

const without = (...names: string[]) => ALL.filter((name) => !names.includes(name))

describe('a denied tool is not listed, found, selected, suggested or called', () => {
  it.each<[string, Rules, string[]]>([
    ['by its full name', { layers: [[['deny', 'files__write_file']]] }, ['files__write_file']],
    ['in another case', { layers: [[['deny', 'Files__Write_File']]] }, ['files__write_file']],
    ['by its server', { layers: [[['deny', 'files']]] }, ['files__read_file', 'files__write_file']],
    [
      'by its server with a wildcard',
      { layers: [[['deny', 'files__*']]] },
      ['files__read_file', 'files__write_file'],
    ],
    [
      'on every server',
      { layers: [[['deny', '*__write_file']]] },
      ['files__write_file', 'notes__write_file'],
    ],
    ['by its name and server', { layers: [[['deny', 'write_file', 'files']]] }, ['files__write_file']],
    [
      'by a list of allowed tools',
      {
        layers: [
          [
            ['deny', '*', 'files'],
            ['allow', 'read_file', 'files'],
          ],
        ],
      },
      ['files__write_file'],
    ],
    [
      'with one underscore',
      { separator: '_', layers: [[['deny', 'files_write_file']]] },
      ['files__write_file'],
    ],
    [
      'by the name of the gateway',
      { separator: '_', layers: [[['deny', 'toolwell_files__write_file']]] },
      ['files__write_file'],
    ],
    [
      'by the name that the server had in the client',
      { own: { files: own('my files'), notes: own('notes') }, layers: [[['deny', 'my_files__write_file']]] },
      ['files__write_file'],
    ],
    [
      'by a wildcard before the server',
      { prefix: 'mcp__', layers: [[['deny', 'm*files__write_file']]] },
      ['files__write_file'],
    ],
    [
      'if a rule allows the gateway',
      {
        prefix: 'mcp_',
        separator: '_',
        layers: [
          [
            ['deny', 'mcp_files_write_file'],
            ['allow', 'mcp_toolwell_*'],
            ['allow', '*', 'toolwell'],
          ],
        ],
      },
      ['files__write_file'],
    ],
    [
      'if an allow rule differs in case',
      {
        layers: [
          [
            ['deny', 'files__write_file'],
            ['allow', 'Files__*'],
            ['ask', 'FILES__WRITE_FILE'],
          ],
        ],
      },
      ['files__write_file'],
    ],
    [
      'if an allow rule has the later name of its server',
      {
        own: { files: own('docs'), notes: own('notes') },
        layers: [
          [
            ['deny', 'docs__write_file'],
            ['allow', 'files__*'],
          ],
        ],
      },
      ['files__write_file'],
    ],
    ['by any layer', { layers: [[['deny', 'files__write_file']], [['allow', '*']]] }, ['files__write_file']],
  ])('%s', async (_, rules, denied) => {
    const started = await startGateway({ mcpServers })
    const rest = without(...denied)
    expect(await reach(started, rules)).toEqual({
      listed: rest,
      found: rest,
      selected: rest,
      suggested: rest,
      run: rest,
      read: rest,
      direct: rest,
      prefixed: rest,
      all: rest,
    })
    // Other clients of the same gateway keep every tool.
    expect(await reach(started, undefined)).toMatchObject({
      listed: ALL,
      run: ALL,
    })
  })
})

describe('a tool that is denied on a server of the client is denied on servers of other clients', () => {
  it.each<[string, Rules, object, string[]]>([
    ['by a rule for the tool', { layers: [[['deny', 'files__write_file']]] }, {}, []],
    ['by a rule for the server', { layers: [[['deny', 'files']]] }, {}, []],
    ['by a rule for another tool', { layers: [[['deny', 'files__read_file']]] }, {}, ['write_file']],
    ['by the config of the server', {}, { deny: ['write_file'] }, []],
    ['by a list in the config', {}, { allow: ['read_file'] }, []],
    ['by nothing', {}, {}, ['write_file']],
    [
      'by a rule for a server that is gone',
      { own: { gone: own('gone') }, layers: [[['deny', 'gone__write_file']]] },
      {},
      [],
    ],
    [
      'by a rule for a whole server that is gone',
      { own: { gone: own('gone') }, layers: [[['deny', 'gone']]] },
      {},
      ['write_file'],
    ],
  ])('%s', async (_, rules, config, left) => {
    const started = await startGateway({
      mcpServers: { ...mcpServers, files: { ...mcpServers.files, ...config } },
    })
    const { listed, run } = await reach(started, { own: { files: own('files') }, ...rules })
    const foreign = (names: string[]) => names.filter((name) => name.startsWith('notes__'))
    const expected = left.map((name) => `notes__${name}`)
    expect([foreign(listed), foreign(run)]).toEqual([expected, expected])
  })

  it.each<[string, object | undefined, string[]]>([
    ['listed, with the same tools', { command: process.execPath, args: [FIXTURE] }, []],
    ['not listed', { command: process.execPath, args: ['-e', '0', 'the-package@1.2'] }, []],
    [
      'gone',
      undefined,
      identifyProgram({ command: 'npx', args: ['-y', '@scope/the-package@latest', 'the-package'] }),
    ],
  ])(
    'if the whole server is denied and %s: its copy has no tools, prompts and resources',
    async (_, files, program) => {
      // Imported, so that only the tools and the last word are the same.
      const wrapper = join(temporary(), 'another.mjs')
      writeFileSync(wrapper, `import ${JSON.stringify(pathToFileURL(FIXTURE).href)}`)
      const copy = { command: process.execPath, args: [wrapper, 'the-package'] }
      const started = await startGateway({
        mcpServers: { ...(files ? { files } : {}), copy, notes: mcpServers.notes },
      })
      const offered = async (rules: Rules | undefined) => {
        const { ask, list } = await openRules(started, '/mcp/all', rules)
        const [prompts, resources] = [await ask('prompts/list', {}), await ask('resources/list', {})]
        const prompt = await ask('prompts/get', { name: 'copy__test_simple_prompt', arguments: {} })
        const read = await ask('resources/read', { uri: 'toolwell:copy:test://static-text' })
        const count = (answer: object, key: string) =>
          ((answer as Record<string, unknown[]>)[key] ?? []).length > 0
        return {
          tools: (await list()).some((name) => name.startsWith('copy__')),
          prompts: count(prompts.result, 'prompts'),
          resources: count(resources.result, 'resources'),
          prompt: 'messages' in prompt.result,
          read: 'contents' in read.result,
        }
      }
      const all = { tools: true, prompts: true, resources: true, prompt: true, read: true }
      // A slow machine may not have listed the servers yet.
      await vi.waitFor(async () => expect(await offered(undefined)).toEqual(all), 30_000)
      const rules: Rules = { own: { files: own('files', ...program) }, layers: [[['deny', 'files']]] }
      const none = { tools: false, prompts: false, resources: false, prompt: false, read: false }
      expect(await offered(rules)).toEqual(none)
      expect(await (await openRules(started, '/mcp/all', rules)).list()).toContain('notes__write_file')
      expect(await offered({ ...rules, layers: [[['deny', 'other']]] })).toEqual(all)
    },
  )

  it('but not on another server of the same client', async () => {
    const started = await startGateway({ mcpServers })
    const both = { files: own('files'), notes: own('notes') }
    const layers = [[['deny', 'files__write_file']]] as const
    expect((await reach(started, { own: both, layers })).run).toEqual(without('files__write_file'))
  })
})

it('the last rule of a layer counts', async () => {
  const started = await startGateway({ mcpServers })
  const layers = [
    [
      ['deny', '*'],
      ['allow', 'files__*'],
      ['deny', 'files__write*'],
      ['allow', 'toolwell__*'],
    ],
  ] as const
  expect(await reach(started, { layers })).toMatchObject({
    listed: ['files__read_file'],
    all: ['files__read_file'],
  })
})

it('the read-only tool does not run a tool under an ask rule', async () => {
  const started = await startGateway({ mcpServers })
  const reached = await reach(started, { layers: [[['ask', 'files__write_file']]] })
  expect(reached).toMatchObject({
    listed: ALL,
    found: ALL,
    run: ALL,
    all: ALL,
    read: without('files__write_file'),
  })
})

it('a gateway refuses a client whose rules it cannot read', async () => {
  const started = await startGateway({ mcpServers })
  await expect(openWire(started, '/mcp', { 'X-Toolwell-Rules': 'nonsense' })).rejects.toThrow('400')
})

it('too many rules are an error, not a shorter list', () => {
  const random = () => globalThis.crypto.randomUUID()
  const layers = [Array.from({ length: 1000 }, () => ['deny', random()] as const)]
  expect(() => writeRules({ prefix: '', separator: '_', layers, own: {} })).toThrow(
    'too many permission rules',
  )
})
