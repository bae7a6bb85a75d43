/** Approving needs a person at a terminal. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { homeWith, misbehaving } from './support/home.js'
import { script, toolwell } from './support/run.js'

const echo = { name: 'echo', description: 'Echoes.', inputSchema: { type: 'object' } }
const serving = (description: string) => ({
  mcpServers: {
    odd: misbehaving({
      tools: [
        { ...echo, description },
        { ...echo, name: 'other' },
      ],
    }),
  },
})

/** A home in which a tool has changed, so that it is quarantined. */
async function changedHome() {
  const home = homeWith({ 'conf.json': serving('Echoes.') })
  await home.run(['inspect', '--config', 'conf.json'])
  writeFileSync(join(home.folder, 'conf.json'), JSON.stringify(serving('Echoes twice.')))
  const quarantined = async () => {
    const { output } = await home.run(['inspect', '--json', '--config', 'conf.json'])
    return Object.keys(JSON.parse(output).servers[0].quarantined)
  }
  expect(await quarantined()).toEqual(['echo'])
  return { ...home, quarantined }
}

const APPROVING = [
  ['approve'],
  ['approve', 'odd/echo'],
  ['approve', '--yes', 'odd/echo'],
  ['approve', '--yes', 'odd/echo', '--json'],
  ['approve', '--read-only'],
  ['approve', '--read-only', 'odd/echo'],
  ['lock', '--approve', 'odd/echo'],
  ['lock', '--approve-all'],
]

describe('without a terminal', () => {
  it('no process approves, whatever its input and variables', async () => {
    const { start, folder, quarantined } = await changedHome()
    const env = { CI: '1', FORCE_COLOR: '1', FORCE_TTY: '1', TOOLWELL_YES: '1', TERM: 'xterm' }
    for (const words of [
      ...APPROVING.map((each) => [...each, '--config', 'conf.json']),
      ['serve', '--trust', '.'],
    ]) {
      const { code, output, errors } = await start(words, { input: 'y\ny\nall\n', env })
      expect({ words, code }).toEqual({ words, code: 2 })
      expect(output + errors).toMatch(
        /Approving needs a terminal[\s\S]*Automation commits toolwell\.lock instead/,
      )
    }
    expect(await quarantined()).toEqual(['echo'])
    expect(existsSync(join(folder, 'toolwell.lock'))).toBe(false)
    expect(readdirSync(join(folder, 'home/.local'), { recursive: true }).join()).not.toMatch(
      /projects|read-only/,
    )
  }, 120_000)

  it.each([
    { output: 100, input: false },
    { errors: 100, input: true },
  ])('of standard input and output, both count: %j', async (screen) => {
    const { folder } = homeWith({ 'conf.json': serving('Echoes.') })
    for (const words of [...APPROVING, ['serve', '--trust', '.']]) {
      const { code, output, errors } = await toolwell(words, { folder, screen, input: 'y\n' })
      expect(code).toBe(2)
      expect(output + errors).toContain('Approving needs a terminal')
    }
  })

  it('neither does an agent that runs commands in a terminal', async () => {
    const { atTerminal, folder, quarantined } = await changedHome()
    writeFileSync(join(folder, 'toolwell.json'), JSON.stringify(serving('Echoes.')))
    for (const words of [...APPROVING, ['serve', '--trust', '.'], ['token', 'add', 'x'], ['dashboard']]) {
      const given =
        words[0] === 'approve' || words[0] === 'lock' ? [...words, '--config', 'conf.json'] : words
      const { code, errors } = await atTerminal(given, { input: 'y\ny\n', env: { GEMINI_CLI: '1' } })
      expect({ words, code }).toEqual({ words, code: 2 })
      expect(errors).toContain('needs a person, and GEMINI_CLI is set, so an agent runs this command.')
    }
    expect(await quarantined()).toEqual(['echo'])
  }, 60_000)

  it.each(['CODEX_THREAD_ID', 'COPILOT_AGENT', 'COPILOT_CLI', 'GOOSE_TERMINAL'])(
    '%s means an agent, too',
    async (name) => {
      const { atTerminal } = homeWith({ 'toolwell.json': serving('Echoes.') })
      const { code, errors } = await atTerminal(['serve', '--trust', '.'], { env: { [name]: '1' } })
      expect({ code, errors }).toMatchObject({ code: 2, errors: expect.stringContaining(`${name} is set`) })
    },
  )

  it('lists what waits as JSON, and revokes', async () => {
    const { run } = await changedHome()
    const { code, output } = await run(['approve', '--json', '--config', 'conf.json'])
    expect({ code, names: JSON.parse(output).pending.map((each: { name: string }) => each.name) }).toEqual({
      code: 1,
      names: ['odd/echo'],
    })
    const revoked = await run(['approve', '--read-only', '--revoke', 'odd/other', '--config', 'conf.json'])
    expect(revoked).toMatchObject({ code: 0 })
  }, 60_000)
})

it.runIf(process.platform === 'linux' && existsSync('/usr/bin/script'))(
  'a process at a pseudo-terminal asks, and approves',
  async () => {
    const { folder, home, quarantined } = await changedHome()
    const command = `'${process.execPath}' '${script}' approve odd/echo --config conf.json`
    const shown = execFileSync('/usr/bin/script', ['-qec', command, '/dev/null'], {
      cwd: folder,
      input: 'y\n',
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        HOME: home,
        ...{ XDG_CONFIG_HOME: join(home, '.config'), XDG_CACHE_HOME: join(home, '.cache') },
        ...{ XDG_DATA_HOME: join(home, '.local/share'), XDG_STATE_HOME: join(home, '.local/state') },
      },
    })
    expect(shown).toMatch(/Approve odd\/echo\? \[y\/n\/all\/quit\]/)
    expect(shown).toContain('1 change approved.')
    expect(await quarantined()).toEqual([])
  },
  60_000,
)

describe('the config of an untrusted folder', () => {
  const VERBS = [
    ['search', 'echo'],
    ['inspect'],
    ['doctor'],
    ['lock'],
    ['lock', '--check'],
    ['approve', '--json'],
    ['approve', '--read-only', '--json'],
    ['login', 'odd'],
  ]
  /** A home with a server that leaves a file when it starts. */
  function cloned() {
    const start = `require('fs').writeFileSync('started', '')`
    const home = homeWith({
      'toolwell.json': { mcpServers: { odd: { command: process.execPath, args: ['-e', start] } } },
    })
    return { ...home, hasStarted: () => existsSync(join(home.folder, 'started')) }
  }

  it('starts nothing without a terminal, in any verb, and says so', async () => {
    const { run, start, hasStarted } = cloned()
    for (const words of VERBS) {
      const { code, errors } = await run(words, { isUntrusted: true, input: 'y\n' })
      expect({ words, code }).toEqual({ words, code: 2 })
      expect(errors).toMatch(/toolwell\.json is not used: you have not trusted it\. .*serve --trust/)
    }
    expect((await start(['inspect'], { isUntrusted: true, input: 'y\n' })).code).toBe(2)
    expect(hasStarted()).toBe(false)
    await run(['inspect'])
    expect(hasStarted()).toBe(true)
  }, 60_000)

  it("does not stop the user's own servers", async () => {
    const { run, home, hasStarted } = cloned()
    mkdirSync(join(home, '.config/toolwell'), { recursive: true })
    writeFileSync(join(home, '.config/toolwell/toolwell.json'), JSON.stringify(serving('Echoes.')))
    const { code, output, errors } = await run(['search', 'echo'], { isUntrusted: true })
    expect({ code, errors }).toEqual({ code: 0, errors: expect.stringContaining('is not used') })
    expect(output).toContain('echo')
    expect(hasStarted()).toBe(false)
  }, 60_000)

  it('is asked about again if the input ended without an answer', async () => {
    const { atTerminal, hasStarted } = cloned()
    const ask = (input: string) => atTerminal(['inspect'], { isUntrusted: true, input })
    expect((await ask('')).output).toContain('Start them?')
    expect(hasStarted()).toBe(false)
    expect((await ask('y\n')).output).toContain('Start them?')
    expect(hasStarted()).toBe(true)
  }, 60_000)

  it('is used by --config, except if the user refused it', async () => {
    const { run, atTerminal, hasStarted } = cloned()
    const named = ['inspect', '--config', 'toolwell.json']
    await atTerminal(['inspect'], { isUntrusted: true, input: 'n\n' })
    const refused = await run(named, { isUntrusted: true })
    expect(refused).toMatchObject({ code: 2, errors: expect.stringContaining('you refused to start') })
    expect(hasStarted()).toBe(false)
    expect((await atTerminal(named, { isUntrusted: true, input: 'y\n' })).output).toContain('Start them?')
    expect(hasStarted()).toBe(true)
    const other = cloned()
    await other.run(named, { isUntrusted: true })
    expect(other.hasStarted()).toBe(true)
  }, 60_000)

  it('is asked about at a terminal, until the answer or the file changes', async () => {
    const { atTerminal, folder, hasStarted } = cloned()
    const ask = (input: string) => atTerminal(['inspect'], { isUntrusted: true, input })
    const refused = await ask('n\n')
    expect(refused.output).toMatch(/odd: .*-e[\s\S]*Start them\? \[y\/N\]/)
    expect((await ask('y\n')).output).not.toContain('Start them?')
    expect(hasStarted()).toBe(false)
    const file = join(folder, 'toolwell.json')
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n`)
    expect((await ask('y\n')).output).toContain('Start them?')
    expect(hasStarted()).toBe(true)
    expect((await ask('')).output).not.toContain('Start them?')
  }, 60_000)
})
