/** Folders belong to callers: two projects in one program have separate servers, and never see each other's results. */
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToolwell } from '@toolwell/core'
import {
  type Caller,
  connectServers,
  defineServer,
  loadConfig,
  memoryCache,
  memoryFirstUse,
  type ServerConfig,
} from '@toolwell/mcp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { oddServer } from './support/odd-server.js'
import { play } from './support/play.js'
import { eventually } from './support/processes.js'
import { setup } from './support/setup.js'
import { temporary } from './support/temporary.js'

const program = fileURLToPath(new URL('support/odd-server.mjs', import.meta.url))
const MANNERS = JSON.stringify({ more: true })

function folders() {
  const base = realpathSync(temporary())
  const [own, one, two] = ['own', 'one', 'two'].map((name) => {
    const folder = join(base, name)
    mkdirSync(folder)
    return folder
  }) as [string, string, string]
  return { base, own, one, two }
}

/** A config in the form of a file, read for a folder. */
function read(entry: object, workspaceFolder: string): ServerConfig {
  const text = JSON.stringify({
    mcpServers: { odd: { command: process.execPath, args: [program, MANNERS, 'odd'], ...entry } },
  })
  const { servers, problems } = loadConfig({
    files: [{ path: join(workspaceFolder, 'toolwell.json'), text }],
    workspaceFolder,
  })
  expect(problems).toEqual([])
  const [server] = servers
  if (!server) throw new Error('it is a server')
  return server
}

const inFolder = (workspace: string): { caller: Caller } => ({ caller: { workspace } })

describe('two projects', () => {
  it('have separate servers, each started in its folder', async () => {
    const { own, one, two } = folders()
    const { text, report } = await setup([read({}, own)])
    expect(await text('odd', 'cwd', {}, inFolder(one))).toBe(one)
    expect(await text('odd', 'cwd', {}, inFolder(`${two}/`))).toBe(two)
    expect(await text('odd', 'cwd')).toBe(own)
    expect(
      report('odd')
        .running.map(({ workspace }) => workspace)
        .sort(),
    ).toEqual([one, own, two].sort())
    const pids = await Promise.all([1, 2, 3].map(() => text('odd', 'pid', {}, inFolder(one))))
    expect(new Set(pids).size).toBe(1)
  })

  it('have their folder in arguments, environment and envFile', async () => {
    const { own, one, two } = folders()
    for (const folder of [own, one, two]) writeFileSync(join(folder, '.env'), `FROM_FILE=in ${folder}\n`)
    const server = read(
      { env: { WHERE: '${workspaceFolder}' }, envFile: '${workspaceFolder}/.env', cwd: '/' },
      own,
    )
    expect(server.workspace.need).toBe('each')
    const { text } = await setup([server])
    const told = async (env: string, workspace: string) =>
      JSON.parse(await text('odd', 'told', { env }, inFolder(workspace))).env
    expect(await told('WHERE', one)).toBe(one)
    expect(await told('WHERE', two)).toBe(two)
    expect(await told('FROM_FILE', one)).toBe(`in ${one}`)
    expect(await told('FROM_FILE', two)).toBe(`in ${two}`)
  })

  it('in which a server cannot start do not harm each other, and say why', async () => {
    const { own, one, two, base } = folders()
    for (const folder of [own, one]) writeFileSync(join(folder, '.env'), 'A=1\n')
    const { text, servers, report } = await setup([read({ envFile: '${workspaceFolder}/.env' }, own)])
    const refused = (workspace: string) => servers.call('odd', 'pid', {}, inFolder(workspace))
    for (let attempt = 0; attempt < 6; attempt++)
      await expect(refused(two)).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(
          /^odd cannot be used in "[^"]+": .* cannot be used: there is no such file/,
        ),
      })
    await expect(refused(join(base, 'none'))).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await text('odd', 'cwd', {}, inFolder(one))).toBe(one)
    expect(report('odd')).toMatchObject({ state: 'ready', reason: '' })
  })

  it('stay separate in the conversations of one program', async () => {
    const { own, one, two } = folders()
    const well = createToolwell({ mode: 'on', delivery: 'bridge' })
    const servers = connectServers(well.catalogue, [read({}, own)], {
      cache: memoryCache(),
      firstUse: memoryFirstUse(),
      logs: false,
      caller: ({ conversation }) => ({ workspace: conversation === 'first' ? one : two }),
    })
    onTestFinished(() => servers.close())
    await servers.settled(60_000)
    expect(await (await play(well, 'first')).call('odd__cwd', {})).toBe(one)
    expect(await (await play(well, 'second')).call('odd__cwd', {})).toBe(two)
  })

  it('see the roots of their callers', async () => {
    const { own, one, two } = folders()
    const { text } = await setup([read({ cwd: '/' }, own)])
    const caller = (client: string, workspace: string): Caller => ({
      client,
      workspace,
      handlers: { roots: () => [{ uri: `file://${workspace}` }] },
    })
    const pid = (who: Caller) => text('odd', 'pid', {}, { caller: who })
    const ada = caller('ada', one)
    const bob = caller('bob', two)
    expect(JSON.parse(await text('odd', 'roots', {}, { caller: ada })).roots).toEqual([
      { uri: `file://${one}` },
    ])
    expect(JSON.parse(await text('odd', 'roots', {}, { caller: bob })).roots).toEqual([
      { uri: `file://${two}` },
    ])
    expect(await pid(ada)).not.toBe(await pid(bob))
    // In one folder, two clients share a server.
    expect(await pid(ada)).toBe(await pid(caller('eve', one)))
  })
})

describe('a server that does not depend on a folder', () => {
  const need = (entry: object) => read(entry, '/').workspace.need
  const remote = (url: string) => ({ command: undefined, args: undefined, url })

  it.each<[string, object, 'each' | 'none']>([
    ['starts in the folder', {}, 'each'],
    ['has a folder of its own', { cwd: '/' }, 'none'],
    ['names the folder in an argument', { cwd: '/', args: [program, MANNERS, '${workspaceFolder}'] }, 'each'],
    [
      'names it in a header',
      { ...remote('https://a.test/mcp'), headers: { Where: '${workspaceFolderBasename}' } },
      'each',
    ],
    ['is elsewhere', remote('https://a.test/mcp'), 'none'],
    ['is said to', { workspace: false }, 'none'],
    ['is said not to', { workspace: true, cwd: '/' }, 'each'],
  ])('is recognised by its entry: an entry that %s', (_, entry, expected) => {
    expect(need(entry)).toBe(expected)
  })

  it('is known in code too', () => {
    const needOf = (server: ServerConfig) => server.workspace.need
    expect(needOf(defineServer('a', { command: 'x' }))).toBe('each')
    expect(needOf(defineServer('a', { command: 'x', cwd: '/' }))).toBe('none')
    expect(needOf(defineServer('a', { command: 'x' }, { workspace: false }))).toBe('none')
    expect(needOf(defineServer('a', (folder) => ({ command: 'x', args: [folder], cwd: '/' })))).toBe('each')
    expect(needOf(defineServer('a', { url: 'https://a.test' }))).toBe('none')
  })

  it('is shared by all projects', async () => {
    const { own, one, two } = folders()
    const { text } = await setup([read({ workspace: false }, own)])
    const pids = [await text('odd', 'pid', {}, inFolder(one)), await text('odd', 'pid', {}, inFolder(two))]
    expect(new Set(pids).size).toBe(1)
    expect(await text('odd', 'cwd', {}, inFolder(two))).toBe(own)
  })

  it('starts in the folder of its config, or at home for a user config, whichever project reads it', () => {
    const { base, own, one, two } = folders()
    const env = { XDG_CONFIG_HOME: own }
    const started = (file: string, workspaceFolder: string) => {
      const args = ['${workspaceFolder}', '${workspaceFolderBasename}']
      const text = JSON.stringify({ mcpServers: { odd: { command: 'x', args, workspace: false } } })
      const [server] = loadConfig({ files: [{ path: file, text }], env, workspaceFolder }).servers
      if (server?.endpoint.type !== 'stdio') throw new Error('it is a program')
      const { args: given, cwd } = server.endpoint
      return { given, cwd }
    }
    for (const folder of [one, two, base]) {
      expect(started(join(base, 'toolwell.json'), folder)).toEqual({
        given: [base, basename(base)],
        cwd: base,
      })
      expect(started(join(base, '.vscode', 'mcp.json'), folder).cwd).toBe(base)
      expect(started(join(own, 'toolwell', 'toolwell.json'), folder)).toEqual({
        given: [homedir(), basename(homedir())],
        cwd: homedir(),
      })
    }
    // A config may be a text, and its file in no folder.
    expect(started(join(base, 'none', 'toolwell.json'), one).cwd).toBe(one)
  })

  it('receives no folders if the config says that it depends on none', async () => {
    const { own, one, two } = folders()
    const { text } = await setup([read({ workspace: false }, own)])
    const caller = (workspace: string): Caller => ({ workspace, handlers: { roots: () => [] } })
    const told = JSON.parse(await text('odd', 'told', {}, { caller: caller(one) }))
    expect(told.capabilities).toEqual({})
    expect(await text('odd', 'pid', {}, { caller: caller(one) })).toBe(
      await text('odd', 'pid', {}, { caller: caller(two) }),
    )
  })
})

describe('share', () => {
  const count = async (entry: object) => {
    const { own, one, two } = folders()
    const callers = callersIn(one, two)
    const { text } = await setup([read(entry, own)])
    const pids: string[] = []
    for (const caller of callers) pids.push(await text('odd', 'pid', {}, { caller }))
    return new Set(pids).size
  }
  const callersIn = (one: string, two: string): Caller[] => [
    { client: 'ada', workspace: one, conversation: '1' },
    { client: 'ada', workspace: two, conversation: '2' },
    { client: 'bob', workspace: one, conversation: '1' },
    { client: 'ada', workspace: one, conversation: '1' },
    // Without a session, what a client does is one conversation.
    { client: 'ada', workspace: one },
    { client: 'ada', workspace: one },
  ]

  it.each([
    ['all', {}, 2],
    ['all', { workspace: false }, 1],
    ['workspace', { workspace: false }, 2],
    ['client', { workspace: false }, 2],
    ['client', {}, 3],
    ['conversation', { workspace: false }, 4],
    ['conversation', {}, 4],
  ] as const)('%s with %j keeps %i servers', async (share, entry, servers) => {
    expect(await count({ share, ...entry })).toBe(servers)
  })
})

describe('what a stateful server kept', () => {
  const stateful = (options = {}) => oddServer('odd', { more: true }, { share: 'client', ...options })
  const ada: Caller = { client: 'ada' }

  it('is reported as lost after an idle stop: once, and only to callers that used it', async () => {
    const { text, servers, events } = await setup([stateful({ idle: 20 })])
    const call = (caller: Caller) => servers.call('odd', 'count', {}, { caller })
    expect(await text('odd', 'count', {}, { caller: ada })).toBe('1')
    const isLost = () => events.some(({ kind }) => kind === 'state-lost')
    await eventually(isLost, 'the server is stopped')
    const bob = await call({ client: 'bob' })
    expect(bob.content).toHaveLength(1)
    const next = await call(ada)
    expect(next.content).toEqual([
      { type: 'text', text: '1' },
      {
        type: 'text',
        text: expect.stringMatching(/^\[odd had not been used for a while and was stopped; .* is gone\.\]$/),
      },
    ])
    expect(next._meta).toMatchObject({ 'toolwell/state-lost': 'idle' })
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'state-lost',
        server: 'odd',
        reason: 'idle',
        owner: { client: 'ada' },
      }),
    )
  })

  it('is said to be gone after it died', async () => {
    const { text, servers } = await setup([stateful()])
    expect(await text('odd', 'count', {}, { caller: ada })).toBe('1')
    expect(await text('odd', 'count', {}, { caller: ada })).toBe('2')
    await servers.call('odd', 'die', {}, { caller: ada }).catch(() => undefined)
    const { content, _meta } = await servers.call('odd', 'count', {}, { caller: ada })
    expect(content).toMatchObject([{ text: '1' }, { text: expect.stringContaining('ended by itself') }])
    expect(_meta).toMatchObject({ 'toolwell/state-lost': 'ended' })
    expect(await text('odd', 'count', {}, { caller: ada })).toBe('2')
  })

  it('is nothing where all share it, or nobody has called it', async () => {
    const { servers, events } = await setup([oddServer('odd', { more: true }, { idle: 20 })])
    await servers.call('odd', 'count', {})
    await eventually(() => servers.inspect()[0]?.state === 'idle', 'the server is idle')
    expect((await servers.call('odd', 'count', {})).content).toHaveLength(1)
    expect(events.some(({ kind }) => kind === 'state-lost')).toBe(false)
  })
})

describe('a folder whose name is a command', () => {
  it('runs nothing', async () => {
    const base = realpathSync(temporary())
    const proof = join(base, 'proof')
    const evil = join(base, '${cmd:touch proof}')
    mkdirSync(evil)
    for (const entry of [{}, { cwd: '/', args: [program, MANNERS, '${workspaceFolder}'] }]) {
      const { servers } = await setup([read(entry, temporary())])
      await expect(servers.call('odd', 'pid', {}, inFolder(evil))).rejects.toMatchObject({
        message: expect.stringMatching(/Rename the folder/),
      })
    }
    expect(() => rmSync(proof)).toThrow()
  })
})
