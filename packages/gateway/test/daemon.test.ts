/** One daemon per folder: its file, token and port, and what happens to later starts. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createNetServer } from 'node:net'
import { join } from 'node:path'
import { type DaemonOptions, PortInUse, runDaemon, trustedProjects } from '@toolwell/gateway'
import {
  askDaemon,
  defaultGatewayFolder,
  FolderProblem,
  findDaemon,
  readToken,
  replaceToken,
  tokenFileIn,
} from '@toolwell/gateway/bridge'
import { memoryCache, memoryFirstUse } from '@toolwell/mcp'
import { defaultTrustFolder } from '@toolwell/mcp/internal'
import { describe, expect, it, onTestFinished } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { createProof } from '../src/bridge/folder.js'
import { readStartTime } from '../src/bridge/processes.js'
import { type Identity, PROTOCOL } from '../src/bridge/protocol.js'
import { openClient } from './support/clients.js'
import { entry, temporary } from './support/gateway.js'

function options(folder: string, more: Partial<DaemonOptions> = {}): DaemonOptions {
  const config = join(folder, 'toolwell.json')
  if (!existsSync(config)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(config, JSON.stringify({ mcpServers: { odd: entry(oddServer('odd')) } }))
  }
  return {
    folder: join(folder, 'state'),
    startedBy: 'person',
    version: '1.0.0',
    port: 0,
    files: () => [{ path: config }],
    env: process.env,
    connect: { cache: memoryCache(), firstUse: memoryFirstUse(), logs: false },
    ...more,
  }
}

async function serving(given: DaemonOptions) {
  const started = await runDaemon(given)
  if (started.kind !== 'serving') throw new Error('another one serves')
  onTestFinished(() => started.daemon.close())
  return started.daemon
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('a daemon', () => {
  it('keeps its folder, token and file for its user alone, and takes the file with it', async () => {
    const given = options(temporary())
    const daemon = await serving(given)
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
    expect(mode(given.folder)).toBe('700')
    expect(mode(tokenFileIn(given.folder))).toBe('600')
    expect(mode(join(given.folder, 'daemon.json'))).toBe('600')
    expect(readFileSync(join(given.folder, 'daemon.json'), 'utf8')).not.toContain(daemon.token)
    const client = await openClient('v2 modern', `${daemon.url}/mcp`, {
      Authorization: `Bearer ${daemon.token}`,
    })
    expect((await client.list()).map(({ name }) => name)).toContain('find_tools')
    await daemon.close()
    expect(existsSync(join(given.folder, 'daemon.json'))).toBe(false)
    expect(readToken(given.folder)).toBe(daemon.token)
  })

  it('is the only one of many that start at the same moment', async () => {
    const given = options(temporary())
    const started = await Promise.all(Array.from({ length: 8 }, () => runDaemon(given)))
    const daemons = started.flatMap((each) => (each.kind === 'serving' ? [each.daemon] : []))
    for (const daemon of daemons) onTestFinished(() => daemon.close())
    expect(daemons).toHaveLength(1)
    for (const each of started)
      if (each.kind === 'another') expect(each.file.instance).toBe(daemons[0]?.file.instance)
  })

  it('replaces a daemon that died without cleaning up', async () => {
    const given = options(temporary())
    mkdirSync(given.folder, { recursive: true })
    readToken(given.folder)
    for (const old of [
      'no JSON',
      '{}',
      JSON.stringify({ pid: 2 ** 30, port: 9, instance: 'x', key: 'k', version: '0', protocol: PROTOCOL }),
      // Other programs may have the port and the process id.
      JSON.stringify({
        pid: process.pid,
        port: 9,
        instance: 'x',
        key: 'k',
        version: '0',
        protocol: PROTOCOL,
      }),
      // These ports cannot be reached.
      ...[99_999, -1, 0, 7.5].map((port) =>
        JSON.stringify({ pid: process.pid, port, instance: 'x', key: 'k', version: '0', protocol: PROTOCOL }),
      ),
    ]) {
      writeFileSync(join(given.folder, 'daemon.json'), old)
      expect((await findDaemon(given.folder)).kind).toBe('none')
      const daemon = await serving(given)
      expect((await findDaemon(given.folder)).kind).toBe('running')
      await daemon.close()
    }
  })

  it('is not trusted if it does not know the token, and does not receive it', async () => {
    const folder = temporary()
    const token = readToken(folder)
    const seen: string[] = []
    const stranger = createServer((request, response) => {
      seen.push(`${request.url} ${JSON.stringify(request.headers)}`)
      response.end(
        JSON.stringify({ toolwell: 'gateway', instance: 'x', version: '1', protocol: 1, proof: 'made up' }),
      )
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void stranger.close())
    await new Promise((resolve) => stranger.once('listening', resolve))
    const { port } = stranger.address() as AddressInfo
    writeFileSync(
      join(folder, 'daemon.json'),
      JSON.stringify({ pid: process.pid, port, instance: 'x', key: 'k', version: '1', protocol: 1 }),
    )
    expect((await findDaemon(folder)).kind).toBe('none')
    expect(seen).toHaveLength(1)
    expect(seen.join()).not.toContain(token)
  })

  it('counts as present if it does not answer', async () => {
    const folder = temporary()
    readToken(folder)
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    onTestFinished(() => {
      silent.closeAllConnections()
      silent.close()
    })
    await new Promise((resolve) => silent.once('listening', resolve))
    const { port } = silent.address() as AddressInfo
    const file = { pid: process.pid, port, instance: 'x', key: 'k', version: '1', protocol: 1 }
    const write = (more: object) =>
      writeFileSync(join(folder, 'daemon.json'), JSON.stringify({ ...file, ...more }))
    write({ start: readStartTime(process.pid) })
    expect((await findDaemon(folder, 200)).kind).toBe('silent')
    // Another process now has the id.
    for (const start of [undefined, 'x-1', readStartTime(process.ppid)]) {
      write({ start })
      expect(await findDaemon(folder, 200)).toEqual({ kind: 'none', stranger: process.pid })
    }
    // Signalling 0 would reach the whole process group.
    write({ pid: 0 })
    expect(await findDaemon(folder, 200)).toEqual({ kind: 'none' })
  })

  it.each(['HTTP/1.1 200 OK\r\n\r\n', 'HTTP/1.1 200 OK\r\nX: '])(
    'is not there if a program on its port drips bytes without end, after %j',
    async (head) => {
      const folder = temporary()
      readToken(folder)
      const dripping = createNetServer((socket) => {
        socket.on('error', () => undefined)
        socket.write(head)
        const drip = setInterval(() => socket.write('.'), 20)
        socket.on('close', () => clearInterval(drip))
      }).listen(0, '127.0.0.1')
      onTestFinished(() => void dripping.close())
      await new Promise((resolve) => dripping.once('listening', resolve))
      const { port } = dripping.address() as AddressInfo
      const file = { pid: 2 ** 30, port, instance: 'x', key: 'k', version: '1', protocol: PROTOCOL }
      writeFileSync(join(folder, 'daemon.json'), JSON.stringify(file))
      expect(await findDaemon(folder, 200)).toEqual({ kind: 'none' })
    },
  )

  it('exits if its file cannot be written', async () => {
    const given = options(temporary(), { port: await freePort() })
    mkdirSync(join(given.folder, 'daemon.json'), { recursive: true, mode: 0o700 })
    await expect(runDaemon(given)).rejects.toThrow(FolderProblem)
    await expect(fetch(`http://127.0.0.1:${given.port}/identity`)).rejects.toThrow()
    // The port is free again.
    rmSync(join(given.folder, 'daemon.json'), { recursive: true })
    await serving(given)
  })

  it('accepts a new token at once, and refuses the old one', async () => {
    const given = options(temporary())
    const daemon = await serving(given)
    const list = (token: string) =>
      fetch(`${daemon.url}/status`, { headers: { Authorization: `Bearer ${token}` } }).then(
        ({ status }) => status,
      )
    expect(await list(daemon.token)).toBe(200)
    const fresh = replaceToken(given.folder)
    expect(await list(fresh)).toBe(200)
    expect(await list(daemon.token)).toBe(401)
    expect((await findDaemon(given.folder)).kind).toBe('running')
  })

  it('says so if its port is in use; a daemon started by a bridge takes another', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    await expect(runDaemon(options(temporary(), { port }))).rejects.toThrow(PortInUse)
    const daemon = await serving(options(temporary(), { port, startedBy: 'bridge' }))
    expect(daemon.file.port).not.toBe(port)
    expect(daemon.file.takenPort).toBe(port)
    expect((await serving(options(temporary(), { startedBy: 'bridge' }))).file.takenPort).toBe(undefined)
  })

  it('that had to move refuses the token, which HTTP clients send to the program on its port', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const given = options(temporary(), { port, startedBy: 'bridge' })
    const daemon = await serving(given)
    for (const path of ['/status', '/stop', '/mcp']) {
      const headers = { Authorization: `Bearer ${readToken(given.folder)}` }
      const answer = await fetch(`${daemon.url}${path}`, { method: 'POST', headers })
      expect(answer.status).toBe(401)
      expect(await answer.text()).toMatch(
        new RegExp(`Another program uses port ${port}.*replace the token.*toolwell token --new`),
      )
    }
    const found = await findDaemon(given.folder)
    if (found.kind !== 'running') throw new Error('it is not running')
    expect(await askDaemon(found, 'GET', '/status')).toMatchObject({ instance: daemon.file.instance })
  })

  it.each(['port', 'instance'] as const)('proves its %s, so that no proof can be passed on', async (what) => {
    const given = options(temporary())
    const daemon = await serving(given)
    const relay = createServer(async ({ url }, response) => {
      const identity = await fetch(`${daemon.url}${url}`).then((answer) => answer.json() as Promise<Identity>)
      response.end(JSON.stringify({ ...identity, instance: what === 'port' ? identity.instance : 'x' }))
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void relay.close())
    await new Promise((resolve) => relay.once('listening', resolve))
    const { port } = relay.address() as AddressInfo
    const other = what === 'port' ? { port } : { port, instance: 'x' }
    const path = join(given.folder, 'daemon.json')
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...other }))
    expect((await findDaemon(given.folder)).kind).toBe('none')
  })

  it('is not believed if it knows only the token that HTTP clients send', async () => {
    const given = options(temporary())
    const daemon = await serving(given)
    const { port, instance } = daemon.file
    const file = readFileSync(join(given.folder, 'daemon.json'), 'utf8')
    await daemon.close()
    const stranger = createServer(({ url = '' }, response) => {
      const challenge = new URL(url, 'http://x').searchParams.get('challenge') ?? ''
      const proof = createProof(daemon.token, { port, instance, challenge })
      response.end(JSON.stringify({ instance, proof }))
    }).listen(port, '127.0.0.1')
    onTestFinished(() => void stranger.close())
    await new Promise((resolve) => stranger.once('listening', resolve))
    writeFileSync(join(given.folder, 'daemon.json'), file)
    expect((await findDaemon(given.folder)).kind).toBe('none')
  })

  it('says what to do where its folder cannot be used', async () => {
    const folder = temporary()
    writeFileSync(join(folder, 'state'), 'a file')
    await expect(runDaemon(options(folder))).rejects.toThrow(/--folder/)
    // Root can write everywhere.
    if (process.getuid?.() === 0) return
    const locked = temporary()
    chmodSync(locked, 0o500)
    await expect(runDaemon(options(join(locked, 'x')))).rejects.toThrow(/--folder/)
  })

  it('keeps the mode of an existing folder, and rejects a folder that others can write to', async () => {
    const given = options(temporary())
    const mode = () => statSync(given.folder).mode & 0o777
    mkdirSync(given.folder)
    chmodSync(given.folder, 0o755)
    const daemon = await serving(given)
    expect(mode()).toBe(0o755)
    await daemon.close()
    for (const open of [0o777, 0o775]) {
      chmodSync(given.folder, open)
      await expect(runDaemon(given)).rejects.toThrow(/Other users can write.*--folder.*chmod go-w/)
      expect(mode()).toBe(open)
    }
    // A folder for all users, such as /tmp, should not be closed to them.
    chmodSync(given.folder, 0o1777)
    await expect(runDaemon(given)).rejects.toThrow(/is shared by all users\. Choose a private folder/)
  })

  it('stops when it is asked, and its servers with it', async () => {
    const given = options(temporary())
    const daemon = await serving(given)
    const client = await openClient('v2 modern', `${daemon.url}/mcp`, {
      Authorization: `Bearer ${daemon.token}`,
    })
    await client.list()
    const pid = Number(await client.text('run_tool', { name: 'odd__pid', arguments: {} }))
    expect(pid).toBeGreaterThan(0)
    const found = await findDaemon(given.folder)
    if (found.kind !== 'running') throw new Error('it is not running')
    expect(await askDaemon(found, 'POST', '/stop')).toEqual({ stopping: true })
    expect(await daemon.stopped).toBe('asked')
    expect(() => process.kill(pid, 0)).toThrow()
    expect((await findDaemon(given.folder)).kind).toBe('none')
  })

  it('started by a bridge stops when idle; started by a person it does not', async () => {
    let now = 1000
    const given = (startedBy: 'bridge' | 'person') =>
      options(temporary(), { startedBy, idle: 50, now: () => now })
    const [bridged, person] = [await serving(given('bridge')), await serving(given('person'))]
    now += 1000
    expect(await bridged.stopped).toBe('idle')
    expect((await fetch(`${person.url}/identity`)).status).toBe(200)
  })

  it('started by a bridge stops if it only gets status requests', async () => {
    let now = 1000
    const given = options(temporary(), { startedBy: 'bridge', idle: 50, now: () => now })
    const daemon = await serving(given)
    const { port } = daemon.file
    now += 49
    const headers = { Authorization: `Bearer ${daemon.token}` }
    expect((await fetch(`http://127.0.0.1:${port}/status`, { headers })).status).toBe(200)
    now += 1
    expect(await daemon.stopped).toBe('idle')
  })

  it('that a bridge started ends when its folder is gone, for nobody would find it', async () => {
    const given = options(temporary(), { startedBy: 'bridge' })
    const daemon = await serving(given)
    rmSync(given.folder, { recursive: true })
    expect(await daemon.stopped).toBe('idle')
  })

  it('does not delete the file of its successor', async () => {
    const given = options(temporary())
    const first = await serving(given)
    rmSync(join(given.folder, 'daemon.json'))
    const second = await serving(given)
    await first.close()
    const found = await findDaemon(given.folder)
    expect(found.kind === 'running' && found.file.instance).toBe(second.file.instance)
  })
})

describe('projects', () => {
  it('are trusted by name and content', async () => {
    const folder = temporary()
    const path = join(folder, 'toolwell.json')
    const projects = trustedProjects(join(folder, 'state'))
    expect(projects.add(path)).toBe(false)
    writeFileSync(path, '{"mcpServers":{}}')
    expect(projects.readTrusted(path)).toBeUndefined()
    expect(projects.add(path)).toBe(true)
    expect(projects.readTrusted(path)).toBe('{"mcpServers":{}}')
    expect(trustedProjects(join(folder, 'state')).readTrusted(path)).toBe('{"mcpServers":{}}')
    writeFileSync(path, '{"mcpServers":{"evil":{"command":"sh"}}}')
    expect(projects.readTrusted(path)).toBeUndefined()
  })

  it('are kept in one place for every client', () => {
    for (const env of [{}, { XDG_STATE_HOME: join('/', 'state') }])
      expect(defaultTrustFolder(env)).toBe(defaultGatewayFolder(env))
  })

  it('are refused by name and content too, and a yes replaces a no', () => {
    const folder = temporary()
    const path = join(folder, '.mcp.json')
    writeFileSync(path, '{}')
    const projects = trustedProjects(join(folder, 'state'))
    const answer = (isTrusted: boolean) => {
      const file = projects.read(path)
      if (file) projects.remember(file, isTrusted)
      return projects.read(path)?.isTrusted
    }
    expect(projects.read(path)?.isTrusted).toBeUndefined()
    expect(answer(false)).toBe(false)
    expect(projects.readTrusted(path)).toBeUndefined()
    expect(answer(true)).toBe(true)
    expect(answer(false)).toBe(false)
    writeFileSync(path, '{ }')
    expect(projects.read(path)?.isTrusted).toBeUndefined()
    expect(projects.read(join(folder, 'none.json'))).toBeUndefined()
  })

  it.skipIf(process.platform === 'win32')('are not believed where others may write', () => {
    const folder = temporary()
    const path = join(folder, 'toolwell.json')
    const state = join(folder, 'state')
    writeFileSync(path, '{}')
    const projects = trustedProjects(state)
    projects.add(path)
    expect(projects.readTrusted(path)).toBe('{}')
    chmodSync(state, 0o777)
    expect(projects.readTrusted(path)).toBeUndefined()
  })
})
