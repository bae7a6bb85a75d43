/** The workspace of a caller decides which server process answers it. */
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type DefinitionCache, diskCache, memoryCache, memoryFirstUse } from '@toolwell/mcp'
import { describe, expect, it } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually, isAlive } from '../../mcp/test/support/processes.js'
import { programOf } from '../../mcp/test/support/real-servers.js'
import { CLIENT_KINDS, listSettled, openClient } from './support/clients.js'
import { authorized, entry, startGateway, temporary } from './support/gateway.js'

function projects(): [string, string] {
  const folder = temporary()
  return ['one', 'two'].map((name) => {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'who.txt'), `I am ${name}.`)
    return realpathSync(join(folder, name))
  }) as [string, string]
}

const inFolder = (folder: string) => ({ ...authorized, 'X-Toolwell-Workspace': encodeURI(folder) })
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is a variable of the config
const files = { command: process.execPath, args: [programOf('filesystem'), '${workspaceFolder}'] }

it.each(CLIENT_KINDS)(
  'a client without a folder gets instructions to name one, and others do not (%s)',
  async (kind) => {
    const [one] = projects()
    const { url } = await startGateway({ mcpServers: { files } })
    for (const path of ['/mcp', '/mcp/all']) {
      const without = await openClient(kind, `${url}${path}`, authorized)
      expect(without.instructions).toContain('add the header X-Toolwell-Workspace')
      const within = await openClient(kind, `${url}${path}`, inFolder(one))
      expect(within.instructions ?? '').not.toContain('X-Toolwell-Workspace')
    }
  },
)

describe('two projects', () => {
  it.each(CLIENT_KINDS)('have separate processes, and never each other’s files (%s)', async (kind) => {
    const [one, two] = projects()
    const { url, gateway } = await startGateway({ mcpServers: { files } })
    const first = await openClient(kind, `${url}/mcp`, inFolder(one))
    const second = await openClient(kind, `${url}/mcp`, inFolder(two))
    const read = (path: string) => ({ name: 'read_text_file', arguments: { path: join(path, 'who.txt') } })
    await first.list()
    expect(await first.text('run_tool', read(one))).toBe('I am one.')
    expect(await second.text('run_tool', read(two))).toBe('I am two.')
    expect(await first.text('run_tool', read(two))).toMatch(/denied|outside/)
    expect(await second.text('run_tool', read(one))).toMatch(/denied|outside/)
    const { serverSets, clients } = await gateway.inspect()
    expect(serverSets).toHaveLength(1)
    expect(serverSets[0]?.workspaces).toEqual([one, two])
    expect(serverSets[0]?.servers[0]?.pids).toHaveLength(2)
    expect(clients.map(({ workspace }) => workspace).sort()).toEqual([one, two])
  })

  it('share what does not depend on a folder', async () => {
    const [one, two] = projects()
    const { url } = await startGateway({
      mcpServers: {
        shared: entry(oddServer('shared'), { cwd: temporary() }),
        each: entry(oddServer('each')),
      },
    })
    const [first, second] = await Promise.all(
      [one, two].map((folder) => openClient('v2 modern', `${url}/mcp`, inFolder(folder))),
    )
    await first?.list()
    const pid = (client: typeof first, server: string) =>
      client?.text('run_tool', { name: `${server}__pid`, arguments: {} })
    expect(await pid(first, 'shared')).toBe(await pid(second, 'shared'))
    expect(await pid(first, 'each')).not.toBe(await pid(second, 'each'))
    expect(await pid(first, 'each')).toBe(await pid(first, 'each'))
  })
})

it('a project is the same one by whichever way it was come to', async () => {
  const [one] = projects()
  const link = join(temporary(), 'link')
  symlinkSync(one, link)
  const { url } = await startGateway({ mcpServers: { odd: entry(oddServer('odd')) } })
  const pids = []
  for (const way of [one, `${one}/`, link]) {
    const client = await openClient('v2 modern', `${url}/mcp`, inFolder(way))
    pids.push(await client.text('run_tool', { name: 'odd__pid', arguments: {} }))
  }
  expect(new Set(pids).size).toBe(1)
})

describe('a new folder on a gateway that has just started', () => {
  it.each<[string, () => DefinitionCache]>([
    ['on disk', () => diskCache({ folder: temporary() })],
    ['in memory', memoryCache],
  ])('has the whole list at once, and nothing is started (%s)', async (_, cached) => {
    const [one, two] = projects()
    const config = join(temporary(), 'toolwell.json')
    const mcpServers = {
      files,
      plain: entry(oddServer('plain')),
      remembers: entry(oddServer('remembers', { more: true }), {
        env: { WHERE: `\${workspaceFolder}/notes` },
      }),
      placed: entry(oddServer('placed'), { cwd: temporary() }),
      shared: entry(oddServer('shared'), { workspace: false }),
    }
    writeFileSync(config, JSON.stringify({ mcpServers }))
    const connect = { cache: cached(), firstUse: memoryFirstUse() }
    const start = () => startGateway({}, { files: () => [{ path: config }], connect })
    const warm = await start()
    const before = await openClient('v2 modern', `${warm.url}/mcp/all`, inFolder(one))
    const names = (await before.list()).map(({ name }) => name)
    expect(new Set(names.map((name) => name.split('__')[0]))).toEqual(new Set(Object.keys(mcpServers)))
    const digest = await (await openClient('v2 modern', `${warm.url}/mcp`, inFolder(one))).list()
    await warm.gateway.close()
    const cold = await start()
    const after = await openClient('v2 legacy', `${cold.url}/mcp/all`, inFolder(two))
    let told = 0
    await after.onListChanged(() => told++)
    expect((await after.list()).map(({ name }) => name)).toEqual(names)
    expect(await (await openClient('v2 modern', `${cold.url}/mcp`, inFolder(two))).list()).toEqual(digest)
    const servers = async () =>
      (await cold.gateway.inspect()).serverSets.flatMap((serverSet) => serverSet.servers)
    expect((await servers()).map(({ state, starts }) => [state, starts])).toEqual(
      Object.keys(mcpServers).map(() => ['cached', 0]),
    )
    // Its definitions in this folder are compared when it starts, and are the same.
    const read = { name: 'files__read_text_file', arguments: { path: join(two, 'who.txt') } }
    const caller = await openClient('v2 modern', `${cold.url}/mcp`, inFolder(two))
    expect(await caller.text('run_tool', read)).toBe('I am two.')
    expect(told).toBe(0)
    expect(cold.of('server').some(({ event }) => event.kind === 'tools-quarantined')).toBe(false)
  })

  it('quarantines there, too, a tool that is quarantined elsewhere', async () => {
    const [one, two] = projects()
    const list = join(temporary(), 'list.json')
    const config = join(temporary(), 'toolwell.json')
    writeFileSync(list, JSON.stringify([describedTool('read'), describedTool('pid')]))
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: { odd: entry(oddServer('odd', { toolsFrom: list })) } }),
    )
    const connect = { cache: memoryCache(), firstUse: memoryFirstUse() }
    const start = () => startGateway({}, { files: () => [{ path: config }], connect })
    const first = await start()
    await listSettled(await openClient('v2 modern', `${first.url}/mcp`, inFolder(one)))
    writeFileSync(
      list,
      JSON.stringify([describedTool('read', { description: 'EVILWORDS' }), describedTool('pid')]),
    )
    const client = await openClient('v2 modern', `${first.url}/mcp`, inFolder(one))
    await client.text('run_tool', { name: 'odd__pid', arguments: {} })
    await first.gateway.close()
    const second = await start()
    const elsewhere = await openClient('v2 modern', `${second.url}/mcp`, inFolder(two))
    await elsewhere.list()
    expect(await elsewhere.text('find_tools', { query: 'read' })).not.toContain('EVILWORDS')
    expect(await elsewhere.text('run_tool', { name: 'odd__read', arguments: {} })).toContain(
      'only the user decides',
    )
    const [serverSet] = (await second.gateway.inspect()).serverSets
    expect(serverSet?.servers).toMatchObject([{ starts: 0, quarantined: { read: expect.any(String) } }])
  })
})

describe('a server that names its folder', () => {
  const tools = [
    describedTool('read', {
      description: 'Reads files below {cwd}, also {cwd}/notes.',
      inputSchema: {
        type: 'object',
        properties: { root: { type: 'string', enum: ['{cwd}', '{cwd}/notes'] } },
      },
    }),
    describedTool('pinned', { description: 'Is always there, in {cwd}.' }),
    describedTool('change'),
  ]

  it.each(CLIENT_KINDS)('names to each caller its own (%s)', async (kind) => {
    const [one, two] = projects()
    const list = join(temporary(), 'list.json')
    writeFileSync(list, JSON.stringify(tools))
    const { url, of } = await startGateway({
      mcpServers: {
        odd: entry(oddServer('odd', { toolsFrom: list, instructions: 'Works in {cwd}.' }), {
          alwaysLoad: ['pinned'],
        }),
      },
    })
    const all = [undefined, one, two]
    const heard = new Map<string | undefined, string>()
    for (const folder of [...all, ...all]) {
      const headers = folder === undefined ? authorized : inFolder(folder)
      const client = await openClient(kind, `${url}/mcp`, headers)
      const whole = await openClient(kind, `${url}/mcp/all`, headers)
      const own = folder ?? homedir()
      const read = (root: string) =>
        client.call('run_tool', { name: 'odd__read', arguments: { root, text: `${own}/kept as it is` } })
      const said = [
        JSON.stringify(await listSettled(client)),
        JSON.stringify(await whole.list()),
        await client.text('find_tools', { query: 'read files' }),
        JSON.stringify(await read(`${own}/elsewhere`)),
      ]
      for (const text of said) expect(text).toContain(own)
      expect((await read(own)).content[0]?.text).toBe(
        JSON.stringify({ root: own, text: `${own}/kept as it is` }),
      )
      const text = `\${workspaceFolder}`
      expect(await client.text('run_tool', { name: 'odd__pinned', arguments: { text } })).toBe(
        JSON.stringify({ text }),
      )
      heard.set(folder, said.join())
    }
    for (const [folder, said] of heard)
      for (const other of [one, two]) if (folder !== other) expect(said).not.toContain(other)
    const isQuarantined = of('server').some(({ event }) => event.kind === 'tools-quarantined')
    expect(isQuarantined).toBe(false)
    // A real change is quarantined in both workspaces.
    const evil = describedTool('read', { description: 'EVILWORDS in {cwd}' })
    writeFileSync(list, JSON.stringify([evil, ...tools.slice(1)]))
    const changed = await openClient(kind, `${url}/mcp`, inFolder(two))
    await changed.text('run_tool', { name: 'odd__change', arguments: {} })
    await eventually(
      () => of('server').some(({ event }) => event.kind === 'tools-quarantined'),
      'it is held back',
    )
    for (const folder of [one, two]) {
      const client = await openClient(kind, `${url}/mcp`, inFolder(folder))
      expect(await client.text('run_tool', { name: 'odd__read', arguments: {} })).toContain(
        'only the user decides',
      )
      expect(await client.text('find_tools', { query: 'read files' })).not.toContain('EVILWORDS')
    }
  })
})

describe('a client on HTTP without a folder', () => {
  it('is answered in a sentence how to give one, where a server needs it', async () => {
    const { url } = await startGateway({ mcpServers: { files, other: entry(oddServer('other')) } })
    const client = await openClient('v2 modern', `${url}/mcp`)
    await client.list()
    const answer = await client.call('run_tool', { name: 'files__list_allowed_directories', arguments: {} })
    expect(answer.isError).toBe(true)
    expect(answer.content[0]?.text).toContain('X-Toolwell-Workspace')
    expect(await client.text('run_tool', { name: 'other__echo', arguments: {} })).toBe('{}')
  })
})

/** A user with a config, and projects with trusted configs. */
async function startForUser(own: object, ofProjects: Readonly<Record<string, object>> = {}) {
  const folder = temporary()
  const config = join(folder, 'toolwell', 'toolwell.json')
  const write = (path: string, mcpServers: object) => writeFileSync(path, JSON.stringify({ mcpServers }))
  mkdirSync(join(folder, 'toolwell'))
  write(config, own)
  for (const [project, servers] of Object.entries(ofProjects)) write(join(project, 'toolwell.json'), servers)
  const started = await startGateway(
    {},
    {
      env: { ...process.env, XDG_CONFIG_HOME: folder },
      files: (workspace) => [
        { path: config },
        ...(workspace === undefined ? [] : [{ path: join(workspace, 'toolwell.json'), optional: true }]),
      ],
    },
  )
  const clientIn = (project: string) => openClient('v2 modern', `${started.url}/mcp`, inFolder(project))
  const ask = async (project: string, name: string) =>
    (await clientIn(project)).text('run_tool', { name, arguments: {} })
  return { ...started, write: (path: string, servers: object) => write(path, servers), config, ask, clientIn }
}

describe('a server that is said not to depend on a folder', () => {
  const shared = (name: string) => entry(oddServer(name, { more: true }), { workspace: false })

  it.each([0, 1])('runs in the same folder, whichever project comes first (%i)', async (first) => {
    const both = projects()
    const [one] = both
    const { ask, url } = await startForUser({ users: shared('users') }, { [one]: { own: shared('own') } })
    const inOrder = first === 0 ? both : [...both].reverse()
    for (const project of inOrder) expect(await ask(project, 'users__cwd')).toBe(realpathSync(homedir()))
    const without = await openClient('v2 modern', `${url}/mcp`)
    expect(await without.text('run_tool', { name: 'users__cwd', arguments: {} })).toBe(
      realpathSync(homedir()),
    )
    expect(await ask(one, 'own__cwd')).toBe(one)
  })
})

describe('a server that does not depend on a folder, in projects with separate configs', () => {
  const placed = () => entry(oddServer('placed'), { cwd: temporary() })
  const told = () => entry(oddServer('told'), { workspace: false })
  const own = () => ({ own: entry(oddServer('own'), { cwd: temporary() }) })

  it('is one process for all of them', async () => {
    const [one, two] = projects()
    const third = temporary()
    const users = { placed: placed(), told: told(), each: entry(oddServer('each')) }
    const { ask, gateway } = await startForUser(users, { [one]: own(), [two]: own() })
    const pidsOf = (tool: string, all: readonly string[]) =>
      Promise.all(all.map((project) => ask(project, tool)))
    const all = [one, two, third]
    expect(new Set(await pidsOf('placed__pid', all)).size).toBe(1)
    expect(new Set(await pidsOf('told__pid', all)).size).toBe(1)
    expect(new Set(await pidsOf('each__pid', all)).size).toBe(3)
    // The same name in two projects means two servers.
    expect(new Set(await pidsOf('own__pid', [one, two])).size).toBe(2)
    expect((await gateway.inspect()).serverSets).toHaveLength(3)
  })

  it('outlives a project that no longer has it, or has it in another way', async () => {
    const [one, two] = projects()
    const { ask, write, gateway } = await startForUser({ placed: placed() }, { [one]: own(), [two]: own() })
    const pid = await ask(one, 'placed__pid')
    expect(await ask(two, 'placed__pid')).toBe(pid)
    // Rules of one project apply only there.
    write(join(one, 'toolwell.json'), { placed: { deny: ['echo'] } })
    await expect.poll(() => ask(one, 'placed__echo'), { timeout: 60_000 }).not.toBe('{}')
    expect(await ask(one, 'placed__pid')).toBe(pid)
    expect(await ask(two, 'placed__echo')).toBe('{}')
    write(join(one, 'toolwell.json'), { placed: { env: { OTHER: '1' } } })
    await expect.poll(() => ask(one, 'placed__pid'), { timeout: 60_000 }).not.toBe(pid)
    expect(await ask(two, 'placed__pid')).toBe(pid)
    // The project's servers are closed, and only the user's remain.
    rmSync(join(one, 'toolwell.json'))
    await expect.poll(() => ask(one, 'placed__pid'), { timeout: 60_000 }).toBe(pid)
    const files = async () => (await gateway.inspect()).serverSets.flatMap((serverSet) => serverSet.files)
    await expect.poll(files, { timeout: 60_000 }).not.toContain(join(one, 'toolwell.json'))
    expect(await ask(two, 'placed__pid')).toBe(pid)
  })

  it('is stopped when none of them uses it, and started again for all', async () => {
    const [one, two] = projects()
    const { ask, clientIn, gateway } = await startForUser(
      { placed: { ...placed(), idle: '100ms' } },
      { [one]: own(), [two]: own() },
    )
    const pid = Number(await ask(two, 'placed__pid'))
    const leaving = new AbortController()
    const waiting = (await clientIn(one)).call(
      'run_tool',
      { name: 'placed__wait', arguments: {} },
      { signal: leaving.signal },
    )
    const runningIn = async (project: string) => {
      const { serverSets } = await gateway.inspect()
      const serverSet = serverSets.find(({ workspaces }) => workspaces.includes(project))
      return serverSet?.servers.find(({ name }) => name === 'placed')?.pids
    }
    await expect.poll(() => runningIn(one), { timeout: 60_000 }).toHaveLength(1)
    await expect.poll(() => runningIn(two), { timeout: 60_000 }).toEqual([])
    const [used = 0] = (await runningIn(one)) ?? []
    expect(isAlive(used)).toBe(true)
    expect(Number(await ask(two, 'placed__pid'))).toBe(used)
    leaving.abort()
    await waiting.catch(() => undefined)
    await eventually(() => !isAlive(used) && !isAlive(pid), 'nobody uses it')
    const again = await ask(one, 'placed__pid')
    expect(Number(again)).not.toBe(used)
  })

  it('is there again for all of them when it has ended by itself', async () => {
    const [one, two] = projects()
    const { ask } = await startForUser({ placed: placed() }, { [one]: own(), [two]: own() })
    const pid = await ask(one, 'placed__pid')
    expect(await ask(two, 'placed__pid')).toBe(pid)
    await ask(one, 'placed__die')
    const [first, second] = [await ask(one, 'placed__pid'), await ask(two, 'placed__pid')]
    expect(Number(first)).toBeGreaterThan(0)
    expect(first).not.toBe(pid)
    expect(second).toBe(first)
  })
})

describe('a project with its own config', () => {
  it('has its servers, and no other project has them', async () => {
    const [one, two] = projects()
    const started = await startGateway(
      {},
      {
        files: (workspace) => [
          { path: join(one, '..', 'own.json'), optional: true },
          ...(workspace === undefined ? [] : [{ path: join(workspace, 'toolwell.json'), optional: true }]),
        ],
      },
    )
    writeFileSync(
      join(one, 'toolwell.json'),
      JSON.stringify({ mcpServers: { mine: entry(oddServer('mine')) } }),
    )
    const first = await openClient('v2 legacy', `${started.url}/mcp/all`, inFolder(one))
    const second = await openClient('v2 legacy', `${started.url}/mcp/all`, inFolder(two))
    expect((await first.list()).map(({ name }) => name)).toContain('mine__echo')
    expect(await second.list()).toEqual([])
    let told = 0
    await second.onListChanged(() => told++)
    writeFileSync(
      join(two, 'toolwell.json'),
      JSON.stringify({ mcpServers: { late: entry(oddServer('late')) } }),
    )
    await eventually(() => told > 0, 'the client is notified that its project has servers now')
    expect((await second.list()).map(({ name }) => name)).toContain('late__echo')
  })
})

describe('eras', () => {
  it('a server that speaks both is spoken to as the caller speaks', async () => {
    const { startModern } = await import('../../mcp/test/support/http-servers.js')
    const seen: string[] = []
    const behind = await startModern({
      before: (request) => {
        seen.push(String(request.headers['mcp-protocol-version'] ?? 'none'))
        return false
      },
    })
    const { url } = await startGateway({ mcpServers: { both: { url: behind.url } } })
    for (const kind of CLIENT_KINDS) {
      const client = await openClient(kind, `${url}/mcp`)
      await client.list()
      seen.length = 0
      expect(await client.text('run_tool', { name: 'both__echo', arguments: { question: 'x' } })).toContain(
        'x',
      )
      expect(seen.at(-1)).toBe(kind === 'v2 modern' ? '2026-07-28' : '2025-11-25')
    }
  })
})
