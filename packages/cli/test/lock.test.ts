import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { homeWith, misbehaving, poisoned, real } from './support/home.js'
import { toolwell } from './support/run.js'

const WAIT = 240_000
const read = (folder: string) => readFileSync(join(folder, 'toolwell.lock'), 'utf8')
const tool = (name: string, description = 'Does it.') => ({
  name,
  description,
  inputSchema: { type: 'object' },
})

describe('lock', () => {
  it(
    'pins real servers, fits them, and shows what has changed until it is approved',
    async () => {
      const { run, atTerminal, start, folder } = homeWith({
        'toolwell.json': {
          mcpServers: {
            everything: real('everything'),
            memory: real('memory'),
            odd: misbehaving({ changesWhile: 'CHANGED' }),
            off: { command: 'x', enabled: false },
          },
        },
      })
      const none = await run(['lock', '--check'])
      expect(none).toMatchObject({ code: 2, output: '' })
      expect(none.errors).toMatch(/toolwell\.lock does not exist\. Create the lock with: toolwell lock/)

      const first = await start(['lock'])
      expect(first).toMatchObject({ code: 0, errors: '' })
      expect(first.output).toMatch(/toolwell\.lock: 3 servers, \d+ tools\.\n$/)
      expect(await run(['lock', '--check'])).toMatchObject({
        code: 0,
        output: expect.stringMatching(/toolwell\.lock matches: 3 servers/),
      })

      writeFileSync(join(folder, 'CHANGED'), '')
      const before = read(folder)
      const differs = await start(['lock', '--check'])
      expect(differs.code).toBe(1)
      expect(differs.output).toContain(
        '~ odd/echo  changed\n    description\n      - Does echo.\n      + Changed.\n',
      )
      expect(differs.output).toContain('toolwell approve odd/echo')
      expect(read(folder)).toBe(before)
      const json = JSON.parse((await run(['lock', '--check', '--json'])).output)
      expect(json).toMatchObject({
        fits: false,
        locks: [
          {
            changes: [{ kind: 'changed', server: 'odd', tool: 'echo', isPoisoned: false, findings: [] }],
            unlisted: {},
          },
        ],
      })
      // The list above was kept: what the lock does not hold cannot be used.
      const held = JSON.parse((await run(['inspect', '--json'])).output)
      expect(held.servers.find(({ name }: { name: string }) => name === 'odd')).toMatchObject({
        trusted: 'lock',
        quarantined: { echo: expect.stringContaining('differs from toolwell.lock') },
      })

      const approved = await atTerminal(['lock', '--approve', 'odd/echo'])
      expect(approved.code).toBe(0)
      expect(approved.output).toMatch(/\+ Changed\.[\s\S]*Approved as shown/)
      expect(await run(['lock', '--check'])).toMatchObject({ code: 0 })
      expect((await atTerminal(['approve', '--yes', 'odd/echo'])).output).toContain('was already approved')
      // It changes back: that is a change too, and its pin stays until somebody takes it.
      rmSync(join(folder, 'CHANGED'))
      const pinned = read(folder)
      const again = await run(['lock'])
      expect(again.code).toBe(1)
      expect(again.output).toContain('      - Changed.\n      + Does echo.\n')
      expect(again.output).toContain(
        'waits for approval. The user decides: review it, then run in a terminal: toolwell approve odd/echo',
      )
      expect(read(folder)).toBe(pinned)
      expect((await atTerminal(['lock', '--approve', 'o*/ec*'])).code).toBe(0)
      expect(read(folder)).toBe(before)
    },
    WAIT,
  )

  it(
    'shows every line of what is new, also in the middle of a long text',
    async () => {
      // By a file: what a config holds may be hidden.
      const { run, atTerminal, folder } = homeWith({
        'manners.json': { tools: [tool('plain')] },
        'toolwell.json': { mcpServers: { odd: misbehaving({ from: 'manners.json' }) } },
      })
      expect(await run(['lock'])).toMatchObject({ code: 0 })
      const lines = Array.from({ length: 60 }, (_, index) => `Line ${index + 1}.`)
      const long = tool('long', lines.with(29, 'A marker in line 30.').join('\n'))
      writeFileSync(join(folder, 'manners.json'), JSON.stringify({ tools: [tool('plain'), long] }))
      expect((await run(['lock', '--check'])).output).toContain('      + A marker in line 30.\n')
      expect((await atTerminal(['approve', '--yes', 'odd/long'])).output).toContain(
        '      + A marker in line 30.\n',
      )
    },
    WAIT,
  )

  it(
    'adds nothing quarantined to an existing lock without a terminal, where nobody has decided',
    async () => {
      const { run, atTerminal, folder } = homeWith({
        'manners.json': { tools: [tool('plain')] },
        'toolwell.json': { mcpServers: { odd: misbehaving({ from: 'manners.json' }) } },
      })
      expect(await run(['lock'])).toMatchObject({ code: 0 })
      const before = read(folder)
      writeFileSync(join(folder, 'manners.json'), JSON.stringify({ tools: [tool('plain'), tool('fresh')] }))
      const servers = { odd: misbehaving({ from: 'manners.json' }), other: misbehaving({}) }
      writeFileSync(join(folder, 'toolwell.json'), JSON.stringify({ mcpServers: servers }))
      const alone = await run(['lock'])
      expect(alone.code).toBe(1)
      expect(read(folder)).toBe(before)
      expect(alone.output).toContain('+ odd/fresh')
      expect(alone.output).toMatch(/wait for approval\. The user decides: .*in a terminal: toolwell approve /)
      expect(alone.output).not.toContain('excluded')
      const watched = await atTerminal(['lock'])
      expect(watched).toMatchObject({ code: 0 })
      const locked = JSON.parse(read(folder)).servers
      expect([Object.keys(locked.odd.tools), Object.keys(locked.other.tools).length]).toEqual([
        ['fresh', 'plain'],
        12,
      ])
    },
    WAIT,
  )

  it(
    'excludes a tool that looks poisoned until it is approved, and then keeps it',
    async () => {
      const other = { name: 'sub', description: 'Subtracts.', inputSchema: { type: 'object' } }
      const { run, atTerminal, folder } = homeWith({
        'toolwell.json': { mcpServers: { bad: misbehaving({ tools: [poisoned, other] }) } },
      })
      const first = await run(['lock'])
      expect(first.code).toBe(1)
      expect(first.output).toMatch(/excluded: bad\/add\n {4}secrecy in description/)
      expect(JSON.parse(read(folder)).servers.bad.tools).not.toHaveProperty('add')
      expect((await run(['lock', '--check'])).output).toContain('! hard secrecy in description')
      const change = {
        kind: 'added',
        server: 'bad',
        tool: 'add',
        isPoisoned: true,
        findings: [{ severity: 'hard', rule: 'secrecy', where: 'description', why: expect.any(String) }],
      }
      const checked = JSON.parse((await run(['lock', '--check', '--json'])).output)
      expect(checked.locks[0].changes).toMatchObject([change])
      const refused = await atTerminal(['lock', '--approve', 'bad/*'])
      expect(refused.code).toBe(1)
      expect(refused.output).toContain(
        'bad/add is not approved, because the scan has hard findings. To approve anyway, add --despite-findings.',
      )
      expect(JSON.parse(read(folder)).servers.bad.tools).not.toHaveProperty('add')
      const approved = await atTerminal(['lock', '--approve', 'bad/add', '--despite-findings', '--json'])
      expect(approved.code).toBe(0)
      expect(JSON.parse(approved.output).locks[0].approved).toMatchObject([change])
      expect(await run(['lock'])).toMatchObject({ code: 0 })
      expect(JSON.parse(read(folder)).servers.bad.tools).toHaveProperty('add')
    },
    WAIT,
  )

  it(
    'pins what a rule objects to that the config switches off, and doctor is silent about it',
    async () => {
      const { run, folder } = homeWith({
        'toolwell.json': {
          mcpServers: { bad: misbehaving({ tools: [poisoned] }) },
          scan: { rules: { secrecy: 'off' } },
        },
      })
      expect(await run(['lock'])).toMatchObject({ code: 0 })
      expect(JSON.parse(read(folder)).servers.bad.tools).toHaveProperty('add')
      expect((await run(['doctor'])).output).toMatch(/^✓ No definition looks poisoned$/m)
      writeFileSync(join(folder, 'toolwell.json'), '{ "scan": { "rules": { "secrcy": "off" } } }')
      expect((await run(['lock', '--check'])).errors).toContain('Did you mean "secrecy"?')
    },
    WAIT,
  )

  it(
    'begins with everything where one tool is approved and there is no lock',
    async () => {
      const { atTerminal, folder } = homeWith({
        'toolwell.json': { mcpServers: { odd: misbehaving({}), bad: misbehaving({ tools: [poisoned] }) } },
      })
      const { code, output } = await atTerminal(['lock', '--approve', 'bad/add', '--despite-findings'])
      expect(code).toBe(0)
      expect(output).toContain('Approved as shown')
      const { servers } = JSON.parse(read(folder))
      expect([Object.keys(servers.odd.tools).length, Object.keys(servers.bad.tools)]).toEqual([12, ['add']])
    },
    WAIT,
  )

  it(
    'keeps what it holds of a server that cannot be listed, and approves nothing of it',
    async () => {
      const { run, atTerminal, folder } = homeWith({
        'toolwell.json': {
          mcpServers: { odd: misbehaving({}), frail: misbehaving({ diesWhile: 'DEAD' }) },
        },
      })
      expect(await run(['lock'])).toMatchObject({ code: 0 })
      const before = read(folder)
      writeFileSync(join(folder, 'DEAD'), '')
      const checked = await run(['lock', '--check', '--timeout', '120'])
      expect(checked.code).toBe(1)
      expect(checked.output).toMatch(/! frail could not be listed: /)
      const written = await run(['lock', '--timeout', '120'])
      expect(written.code).toBe(1)
      expect(written.output).toContain('not listed, so its pins stay: frail')
      const refused = await atTerminal(['lock', '--approve', 'frail', '--timeout', '120'])
      expect(refused).toMatchObject({ code: 2, output: '' })
      expect(refused.errors).toMatch(/frail could not be listed.*Nothing was changed/)
      expect(read(folder)).toBe(before)
    },
    WAIT,
  )

  it(
    'writes no first lock where no server can be listed',
    async () => {
      const { run, folder } = homeWith({
        'toolwell.json': { mcpServers: { dead: { command: 'no-such-program-anywhere' } } },
      })
      const { code, output } = await run(['lock'])
      expect(code).toBe(1)
      expect(output).toMatch(
        /toolwell\.lock was not written, because no server could be listed\..*\n {2}not listed: dead: /,
      )
      expect(existsSync(join(folder, 'toolwell.lock'))).toBe(false)
      const json = JSON.parse((await run(['lock', '--json'])).output)
      expect(json.locks).toMatchObject([
        { isWritten: false, servers: 0, unlisted: { dead: expect.any(String) } },
      ])
      expect(existsSync(join(folder, 'toolwell.lock'))).toBe(false)
    },
    WAIT,
  )

  it(
    'is next to the config file of each server',
    async () => {
      const { run, start, folder, home } = homeWith({
        'toolwell.json': { mcpServers: { mine: misbehaving({}) } },
        'home/.config/toolwell/toolwell.json': { mcpServers: { yours: misbehaving({}) } },
      })
      // The folders below the home that are used where no variable names others.
      const env = { XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '', XDG_DATA_HOME: '', XDG_STATE_HOME: '' }
      expect(await start(['lock'], { env })).toMatchObject({ code: 0 })
      expect(Object.keys(JSON.parse(read(folder)).servers)).toEqual(['mine'])
      expect(Object.keys(JSON.parse(read(join(home, '.config/toolwell'))).servers)).toEqual(['yours'])
      expect(await run(['lock', '--check'])).toMatchObject({ code: 0 })
      rmSync(join(home, '.config/toolwell/toolwell.lock'))
      // No lock there, so nothing to check there: that is said.
      const checked = await run(['lock', '--check'])
      expect(checked.code).toBe(0)
      expect(checked.output).toMatch(
        /toolwell\.lock matches: 1 server, .*\n.*home.*toolwell\.lock does not exist: yours is not pinned\. Create the lock with: toolwell lock --config .*home.*toolwell\.json\n$/,
      )
      expect(JSON.parse((await run(['lock', '--check', '--json'])).output)).toMatchObject({
        fits: true,
        unpinned: [{ file: join(home, '.config/toolwell/toolwell.lock'), servers: ['yours'] }],
      })
    },
    WAIT,
  )

  it.each([
    ['of a newer version', '{"version": 9, "servers": {}}', /version 9.*Update Toolwell/],
    ['cut off', '{"version": 1, ', /is not JSON.*Restore it/],
    ['in a merge conflict', '<<<<<<< a\n=======\n>>>>>>> b\n', /merge conflict.*git checkout/],
  ])(
    'rejects a lock that is %s, and does not change it',
    async (_, text, message) => {
      const { atTerminal, folder } = homeWith({
        'toolwell.json': { mcpServers: { odd: misbehaving({}) } },
        'toolwell.lock': text,
      })
      for (const words of [['lock'], ['lock', '--check'], ['lock', '--approve', 'odd']]) {
        const { code, output, errors } = await atTerminal(words)
        expect({ code, output }).toEqual({ code: 2, output: '' })
        expect(errors).toMatch(message)
      }
      expect(read(folder)).toBe(text)
    },
    WAIT,
  )

  it(
    'says so if it cannot be written, and leaves nothing behind',
    async () => {
      const { run, folder } = homeWith({ 'conf/toolwell.json': { mcpServers: { odd: misbehaving({}) } } })
      mkdirSync(join(folder, 'conf/toolwell.lock'))
      const { code, output, errors } = await run(['lock', '--config', 'conf/toolwell.json'])
      expect({ code, output }).toEqual({ code: 2, output: '' })
      expect(errors).toMatch(/toolwell\.lock cannot be read/)
      expect(readdirSync(join(folder, 'conf')).sort()).toEqual(['toolwell.json', 'toolwell.lock'])
      expect(existsSync(join(folder, 'toolwell.lock'))).toBe(false)
    },
    WAIT,
  )

  it.each([
    ['nope', /Unknown server "nope"\. Known: odd\./],
    ['odd/nope', /odd has no tool "nope"/],
  ])(
    'approves nothing that is not there: %s',
    async (target, message) => {
      const { atTerminal, folder } = homeWith({ 'toolwell.json': { mcpServers: { odd: misbehaving({}) } } })
      const { code, errors } = await atTerminal(['lock', '--approve', target])
      expect(code).toBe(2)
      expect(errors).toMatch(message)
      expect(existsSync(join(folder, 'toolwell.lock'))).toBe(false)
    },
    WAIT,
  )
})

it.each([
  [['lock', 'github'], 'Unexpected argument "github". To approve a server or tool, write'],
  [['lock', '--check', '--approve', 'a'], '--check and --approve cannot be combined.'],
  [['lock', '--approve'], '--approve needs a value. Write --approve SERVER[/TOOL].'],
  [['lock', '--aprove', 'a'], 'Did you mean --approve?'],
  [['lock', '--timeout', '-1'], '--timeout needs a value.'],
])('%j is refused: %s', async (words, message) => {
  const { code, output, errors } = await toolwell(words)
  expect({ code, output }).toEqual({ code: 2, output: '' })
  expect(errors).toContain(message)
})
