/** Secrets that are named in a config instead of written into it: read at every start, and known to the server alone. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineServer, loadConfig } from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
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

  it('is read anew at every start', async () => {
    const folder = temporary()
    writeFileSync(join(folder, 'key'), 'first-0ne')
    const server = defineServer('s', keyed(folder, `\${file:${join(folder, 'key')}}`))
    const { servers } = await setup([server], { now: () => 0 })
    writeFileSync(join(folder, 'key'), 'second-0ne')
    await servers.refresh('s').catch(() => undefined)
    expect([...new Set(gotten(folder))]).toEqual(['first-0ne', 'second-0ne'])
  })

  it.each([
    ['${file:/no/such/file}', /file of a \$\{file:…\} in its config cannot be read \(ENOENT\)/],
    ['${cmd:echo t00-much-said >&2; exit 4}', /command of a \$\{cmd:…\} in its config failed \(4\)/],
    ['${cmd:true}', /printed nothing/],
  ])('that gives nothing is said without its words: %s', async (reference, reason) => {
    const folder = temporary()
    const { report } = await setup([defineServer('s', keyed(folder, reference))])
    expect(report('s')).toMatchObject({ state: 'failed', reason: expect.stringMatching(reason) })
    expect(report('s').reason).not.toContain('t00-much')
  })

  it('of a project waits for approval, and a variable brings no reference of its own', async () => {
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
    expect(load('${SLY}').problems).toMatchObject([
      { message: 'the value of SLY holds a reference of its own' },
    ])
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
    expect(problems).toMatchObject([{ message: 'the value of KEY in it holds a reference' }])
  })
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
