/** Secrets that are named in a config instead of written into it: read at every start, and known to the server alone. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineServer, loadConfig } from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { collectKeys } from './support/key-collector.js'
import { describedTool, oddServer } from './support/odd-server.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

/** A program that writes its environment variable KEY into a file, says it, and ends. */
function keyed(folder: string, key: string, more: object = {}) {
  const script = `fs.appendFileSync(process.env.OUT, process.env.KEY + '\\n'); console.error('Error: ' + process.env.KEY); process.exit(3)`
  return {
    command: process.execPath,
    args: ['-e', script],
    env: { KEY: key, OUT: join(folder, 'out') },
    ...more,
  }
}

const gotten = (folder: string) => readFileSync(join(folder, 'out'), 'utf8').trim().split('\n')

describe('a reference in a config', () => {
  it.each([
    ['${file:key.txt}', 'fr0m-a-file'],
    ['${cmd:printf fr0m; printf -- -a-command}', 'fr0m-a-command'],
    ['${env:MY_KEY}', 'fr0m-a-variable'],
    ['Bearer ${file:key.txt}', 'Bearer fr0m-a-file'],
  ])('%s reaches the server and nobody else', async (reference, value) => {
    const folder = temporary()
    writeFileSync(join(folder, 'key.txt'), 'fr0m-a-file\n')
    const file = join(folder, 'toolwell', 'toolwell.json')
    const own = { XDG_CONFIG_HOME: folder, MY_KEY: 'fr0m-a-variable' }
    const mcpServers = { s: keyed(folder, reference.replace('key.txt', '../key.txt')) }
    const config = loadConfig({
      files: [{ path: file, text: JSON.stringify({ mcpServers }) }],
      env: own,
      workspaceFolder: folder,
    })
    expect(config.problems).toEqual([])
    const { servers, events } = await setup(config.servers)
    expect(gotten(folder)[0]).toBe(value)
    expect(JSON.stringify([servers.inspect(), events])).not.toContain('fr0m')
    expect(servers.inspect()[0]?.reason).toContain('***')
  })

  it('is read again at every start', async () => {
    const folder = temporary()
    writeFileSync(join(folder, 'key'), 'first-0ne')
    const server = defineServer('s', keyed(folder, `\${file:${join(folder, 'key')}}`))
    const { servers } = await setup([server], { now: () => 0 })
    writeFileSync(join(folder, 'key'), 'second-0ne')
    await servers.refresh('s').catch(() => undefined)
    expect([...new Set(gotten(folder))]).toEqual(['first-0ne', 'second-0ne'])
  })

  it.each([
    [
      '${file:/no/such/file}',
      /file of a \$\{file:…\} in its config cannot be used \(there is no such file\)/,
    ],
    ['${cmd:echo t00-much-said >&2; exit 4}', /command of a \$\{cmd:…\} in its config failed \(4\)/],
    ['${cmd:true}', /printed nothing/],
  ])('that gives nothing is said without its words: %s', async (reference, reason) => {
    const folder = temporary()
    const { report } = await setup([defineServer('s', keyed(folder, reference))])
    expect(report('s')).toMatchObject({ state: 'failed', reason: expect.stringMatching(reason) })
    expect(report('s').reason).not.toContain('t00-much')
  })

  it('of a project waits for approval, and a variable cannot bring in another reference', async () => {
    const folder = temporary()
    const text = (key: string) => JSON.stringify({ mcpServers: { s: keyed(folder, key) } })
    const load = (key: string) =>
      loadConfig({
        files: [{ path: join(folder, 'toolwell.json'), text: text(key) }],
        env: { SLY: '${cmd:touch /tmp/never}', XDG_CONFIG_HOME: join(folder, 'home') },
        workspaceFolder: folder,
      })
    const { report } = await setup(load('${cmd:echo h1dden-one}').servers)
    expect(report('s').reason).toContain('toolwell approve s')
    expect(() => gotten(folder)).toThrow()
    expect(load('${SLY}').problems).toMatchObject([{ message: 'the value of SLY contains a reference' }])
  })
})

/** The header a remote server of a project gets, and the report about it. */
async function sent(
  project: string,
  key: string,
  { env = {}, own = false }: { env?: Record<string, string>; own?: boolean } = {},
) {
  const { url, gotten } = await collectKeys()
  const text = JSON.stringify({ mcpServers: { s: { url, headers: { key } } } })
  const { servers, problems } = loadConfig({
    files: [{ path: join(project, 'toolwell.json'), text, own }],
    env: { XDG_CONFIG_HOME: join(project, '..', 'home'), ...env },
    workspaceFolder: project,
  })
  expect(problems).toEqual([])
  const { report } = await setup(servers)
  return { gotten: [...new Set(gotten)], reason: report('s').reason }
}

describe("a variable that a project's entry sends to an address", () => {
  const env = { SOME_KEY: 'fr0m-a-variable', HOME: '/a/home' }

  it.each(['${env:SOME_KEY}', '${SOME_KEY}', 'Bearer ${SOME_KEY:-none}'])(
    'waits for approval: %s',
    async (key) => {
      const { gotten, reason } = await sent(temporary(), key, { env })
      expect(gotten).toEqual([])
      expect(reason).toContain('toolwell approve s')
    },
  )

  it.each([
    ['if it is not set, and something else is sent', '${NOT_SET:-none}', 'none'],
    ['if it says nothing about its user', '${HOME}', '/a/home'],
  ])('does not wait %s', async (_, key, value) => {
    expect(await sent(temporary(), key, { env })).toMatchObject({ gotten: [value] })
  })

  it('is sent unasked where the program calls the file its own', async () => {
    expect(await sent(temporary(), '${SOME_KEY}', { env, own: true })).toMatchObject({
      gotten: ['fr0m-a-variable'],
    })
  })

  it.each([
    ['in its address', { url: 'http://127.0.0.1/${SOME_KEY}' }, ['${env:SOME_KEY}']],
    [
      'to where it logs in',
      { url: 'http://127.0.0.1/mcp', oauth: { clientId: 'me', clientSecret: '${SOME_KEY}' } },
      ['${env:SOME_KEY}'],
    ],
    ['not where a program runs: that can read them all', { command: 'x', env: { KEY: '${SOME_KEY}' } }, []],
  ])('waits %s', (_, entry, commands) => {
    const folder = temporary()
    const { servers } = loadConfig({
      files: [{ path: join(folder, '.mcp.json'), text: JSON.stringify({ mcpServers: { s: entry } }) }],
      env,
      workspaceFolder: folder,
    })
    expect(servers).toMatchObject([{ commands }])
    expect(servers[0]?.workspace.in(temporary()).commands).toEqual(commands)
  })
})

describe("a file that a project's entry names", () => {
  /** A project next to a private file, with one file inside it and a link to the private one. */
  function project(): string {
    const folder = join(temporary(), 'project')
    mkdirSync(join(folder, 'keys'), { recursive: true })
    writeFileSync(join(folder, '..', 'private'), 'pr1vate-text')
    writeFileSync(join(folder, 'keys', 'own'), '0wn-text')
    symlinkSync(join(folder, '..', 'private'), join(folder, 'link'))
    symlinkSync(join(folder, '..'), join(folder, 'keys', 'up'))
    return folder
  }

  it.each([
    ['beside it', () => '${file:../private}'],
    ['by its whole path', (folder: string) => `\${file:${join(folder, '..', 'private')}}`],
    ['behind a link', () => '${file:link}'],
    ['behind the link of a folder', () => '${file:keys/up/private}'],
    ['that is not there yet', () => '${file:later}'],
  ])('waits for approval: %s', async (_, reference) => {
    const folder = project()
    const { gotten, reason } = await sent(folder, reference(folder))
    expect(gotten).toEqual([])
    expect(reason).toContain('toolwell approve s')
  })

  it('is read without approval if it belongs to the project', async () => {
    expect(await sent(project(), '${file:keys/own}')).toMatchObject({ gotten: ['0wn-text'] })
  })

  it("is not of the project where the project changes another file's entry", () => {
    const folder = project()
    const text = (entry: object) => JSON.stringify({ mcpServers: { s: entry } })
    const { servers } = loadConfig({
      files: [
        { path: join(folder, '..', '.mcp.json'), text: text({ url: 'http://127.0.0.1/mcp' }) },
        { path: join(folder, 'toolwell.json'), text: text({ headers: { key: '${file:private}' } }) },
      ],
      env: { XDG_CONFIG_HOME: join(folder, '..', 'home') },
      workspaceFolder: folder,
    })
    expect(servers).toMatchObject([{ commands: [`\${file:${join(folder, '..', 'private')}}`] }])
  })
})

describe("a command in the user's own entry", () => {
  const load = (folder: string, own: object, project: object) =>
    loadConfig({
      files: [
        { path: join(folder, 'toolwell', 'toolwell.json'), text: JSON.stringify({ mcpServers: { s: own } }) },
        { path: join(folder, 'toolwell.json'), text: JSON.stringify({ mcpServers: { s: project } }) },
      ],
      env: { XDG_CONFIG_HOME: folder },
      workspaceFolder: folder,
    })
  const runs = '${cmd:echo h1dden-one}'

  it.each([
    ['is put there by a project', { command: 'x' }, { env: { KEY: runs } }],
    [
      'is given to what a project names',
      { command: 'x', env: { KEY: runs } },
      { args: ['--to', 'elsewhere'] },
    ],
    ['is sent in headers of a project', { url: 'http://127.0.0.1/mcp' }, { headers: { key: runs } }],
  ])('waits for approval where it %s', (_, own, project) => {
    expect(load(temporary(), own, project).servers).toMatchObject([{ commands: ['echo h1dden-one'] }])
  })

  it('is run where a project only says how the server is treated', () => {
    const { servers } = load(
      temporary(),
      { command: 'x', env: { KEY: runs } },
      { alwaysLoad: true, deny: ['a'] },
    )
    expect(servers).toMatchObject([{ commands: [], alwaysLoad: ['*'] }])
  })

  it('is not brought by a file of variables', () => {
    const folder = temporary()
    writeFileSync(join(folder, '.env'), `A=1\nKEY=${runs}\n`)
    const { problems, servers } = load(folder, { command: 'x', envFile: join(folder, '.env') }, {})
    expect(servers).toEqual([])
    expect(problems).toMatchObject([{ message: 'the value of KEY in it contains a reference' }])
  })
})

it('values of an entry are taken out of definitions, but not for names of tools that it asks for', async () => {
  const names = ['create_issue', 'listPullRequestComments', 'n'.repeat(70)]
  const tools = names.map((name) => describedTool(name, { description: `Or ${names[0]}, with k9x8w7v6u5.` }))
  const toolsFrom = join(temporary(), 'list.json')
  writeFileSync(toolsFrom, JSON.stringify([...tools, describedTool('k9x8w7v6u5')]))
  const { endpoint } = oddServer('odd', { toolsFrom })
  if (endpoint.type !== 'stdio') throw new Error('not a local server')
  const args = [...endpoint.args, '--tools', ...names, '--tools', names.join(','), 'k9x8w7v6u5']
  const { report, servers } = await setup([defineServer('odd', { ...endpoint, args })])
  expect(report('odd').tools).toEqual([...names].sort())
  expect(servers.definition('odd')?.tools[0]?.description).toBe('Or create_issue, with ***.')
  expect(report('odd').unusable).toEqual([
    { entry: 4, name: '***', reason: 'has a value of its config in a name, and is skipped' },
  ])
})

it('a tool that is called like a value of its entry, or with one, is skipped, and its name is hidden', async () => {
  const told: Readonly<Record<string, readonly string[]>> = {
    'Authorization:lumofa_terigo': ['--header', 'Authorization:lumofa_terigo'],
    'api_key=sodira_belanu': ['https://example.com/mcp?api_key=sodira_belanu'],
    'https://example.com/hooks/nimo-leba-mopi': ['https://example.com/hooks/nimo-leba-mopi'],
    'gamoru&delika!': ['Server=db;Password=gamoru&delika!;'],
    'run_rimo-sade-lupo': ['--token', 'rimo-sade-lupo'],
  }
  const kept = ['Search the web', 'create_issue', 'issues/create', 'search.issues']
  const tools = [...kept, ...Object.keys(told)].map((name) => describedTool(name))
  const toolsFrom = join(temporary(), 'list.json')
  writeFileSync(toolsFrom, JSON.stringify(tools))
  const { endpoint } = oddServer('odd', { toolsFrom })
  if (endpoint.type !== 'stdio') throw new Error('not a local server')
  const args = [...endpoint.args, '--tools', 'create_issue', ...Object.values(told).flat()]
  const { report } = await setup([defineServer('odd', { ...endpoint, args })])
  expect(report('odd').tools).toEqual(kept)
  const reason = 'has a value of its config in a name, and is skipped'
  expect(report('odd').unusable).toEqual(
    Object.keys(told).map((_, at) => ({ entry: kept.length + at + 1, name: '***', reason })),
  )
})

it('variables of Gemini are expanded in its own file', () => {
  const file = join(temporary(), '.gemini', 'settings.json')
  const entry = {
    command: 'tavily',
    args: ['$$5'],
    env: { KEY: '$TAVILY_API_KEY', TWO: '${TAVILY_API_KEY}' },
  }
  const { servers, problems } = loadConfig({
    files: [{ path: file, text: JSON.stringify({ mcpServers: { tavily: entry } }) }],
    env: { TAVILY_API_KEY: 'tvly-1234' },
  })
  expect(problems).toEqual([])
  expect(servers[0]?.endpoint).toMatchObject({ args: ['$$5'], env: { KEY: 'tvly-1234', TWO: 'tvly-1234' } })
})
