/** The command as clients start it: stdio bridges with one daemon behind them. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { askDaemon, readToken, replaceToken, tokenIn } from '@toolwell/gateway/bridge'
import { describe, expect, it } from 'vitest'
import { someOf } from '../../../test/setup/tier.ts'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually, isAlive } from '../../mcp/test/support/processes.js'
import { realServer } from '../../mcp/test/support/real-servers.js'
import { CLIENT_KINDS, openClient, SCRIPT, type StdioWay } from './support/clients.js'
import { entry, temporary } from './support/gateway.js'
import { home } from './support/home.js'

const call = (name: string, input: object = {}) => ['run_tool', { name, arguments: input }] as const

describe.each(CLIENT_KINDS)('a client of %s over stdio', (kind) => {
  it('has three tools, or all, or those of a profile, of one gateway', async () => {
    const { way, daemon, state } = home({
      mcpServers: { everything: entry(realServer('everything')), odd: entry(oddServer('odd')) },
      profiles: { odds: { servers: ['odd'] } },
    })
    const three = await openClient(kind, way())
    const all = await openClient(kind, way('--all'))
    const odds = await openClient(kind, way('--profile', 'odds', '--all'))
    expect((await three.list()).map(({ name }) => name)).toEqual([
      'find_tools',
      'run_read_only_tool',
      'run_tool',
    ])
    // The older SDK reports it only over HTTP.
    if (kind !== 'v1') expect(three.version).toBe(kind === 'v2 modern' ? '2026-07-28' : '2025-11-25')
    expect(await three.text(...call('get-sum', { a: 1, b: 2 }))).toBe('The sum of 1 and 2 is 3.')
    expect((await all.list()).map(({ name }) => name)).toContain('everything__echo')
    expect(await all.text('odd__echo', {})).toBe('{}')
    const names = (await odds.list()).map(({ name }) => name.split('__')[0])
    expect(new Set(names)).toEqual(new Set(['odd']))
    const { file } = await daemon()
    expect(file.startedBy).toBe('bridge')
    for (const pid of [file.pid, three.pid, all.pid])
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toMatch(
        new RegExp(`${file.key}|${readToken(state)}`),
      )
  })
})

describe('bridges', () => {
  it('that start at the same moment share one gateway and one process of each server', async () => {
    const { way, daemon, project } = home({
      mcpServers: Object.fromEntries(['a', 'b', 'c'].map((name) => [name, entry(oddServer(name))])),
    })
    const clients = await Promise.all(Array.from({ length: 6 }, () => openClient('v2 legacy', way())))
    const pids = await Promise.all(
      clients.map(async (client) => {
        await client.list()
        return Promise.all(['a', 'b', 'c'].map((name) => client.text(...call(`${name}__pid`))))
      }),
    )
    expect(new Set(pids.map((each) => each.join())).size).toBe(1)
    const report = (await askDaemon(await daemon(), 'GET', '/status')) as {
      clients: { workspace: string; kind: string }[]
      serverSets: { servers: { pids: number[] }[] }[]
    }
    expect(report.clients.map(({ kind, workspace }) => [kind, workspace])).toEqual(
      Array.from({ length: 6 }, () => ['stdio', project]),
    )
    expect(report.serverSets.flatMap(({ servers }) => servers.flatMap((server) => server.pids))).toHaveLength(
      3,
    )
    await Promise.all(clients.map((client) => client.close()))
    const found = await daemon()
    await expect
      .poll(async () => ((await askDaemon(found, 'GET', '/status')) as typeof report).clients.length, {
        timeout: 60_000,
      })
      .toBe(0)
  })

  it.each(someOf(CLIENT_KINDS, 2))(
    'survive a gateway that is killed: nothing runs twice (%s)',
    async (kind) => {
      const log = join(temporary(), 'log')
      const { way, daemon } = home({ mcpServers: { odd: entry(oddServer('odd', { log })) } })
      const client = await openClient(kind, way())
      await client.list()
      expect(await client.text(...call('odd__echo', { first: 1 }))).toBe('{"first":1}')
      const waiting = client.call(...call('odd__wait', { once: 1 }))
      const calls = () =>
        readFileSync(log, 'utf8')
          .split('\n')
          .filter((line) => line.startsWith('call wait'))
      await eventually(() => calls().length === 1, 'the call is under way')
      const { file } = await daemon()
      process.kill(file.pid, 'SIGKILL')
      const interrupted = await waiting
      expect(interrupted.isError).toBe(true)
      expect(interrupted.content[0]?.text).toContain('Nobody knows whether the tool did its work')
      expect(await client.text(...call('odd__echo', { next: 2 }))).toBe('{"next":2}')
      expect((await client.list()).map(({ name }) => name)).toEqual([
        'find_tools',
        'run_read_only_tool',
        'run_tool',
      ])
      expect((await daemon()).file.pid).not.toBe(file.pid)
      expect(calls()).toHaveLength(1)
    },
  )

  it('restart a killed daemon that a person had started with its config and its port', async () => {
    const { way, daemon, env, project, at } = home({ mcpServers: {} })
    writeFileSync(at('other.json'), JSON.stringify({ mcpServers: { other: entry(oddServer('other')) } }))
    const port = await freePort()
    const serve = spawn(
      process.execPath,
      [SCRIPT, 'serve', '--config', join('..', 'other.json'), '--port', String(port)],
      { env, cwd: project, stdio: 'ignore' },
    )
    const kill = async () => {
      const { file } = await daemon()
      process.kill(file.pid, 'SIGKILL')
      await eventually(() => !isAlive(file.pid), 'it is gone')
    }
    await expect.poll(() => daemon().catch(() => undefined), { timeout: 60_000 }).toBeDefined()
    const client = await openClient('v2 legacy', way())
    expect(await client.text(...call('other__echo', { n: 1 }))).toBe('{"n":1}')
    // The restarted daemon is killed too.
    for (const n of [2, 3]) {
      await kill()
      // Safe requests are repeated, however late the client notices.
      await client.list()
      expect(await client.text(...call('other__echo', { n }))).toBe(`{"n":${n}}`)
      expect((await daemon()).file).toMatchObject({ port, startedBy: 'bridge' })
    }
    // If the daemon cannot start with its old arguments, it is not started with others.
    await kill()
    const kept = readFileSync(at('other.json'), 'utf8')
    rmSync(at('other.json'))
    await expect(client.list()).rejects.toThrow(/File not found: .*other\.json.*toolwell serve/)
    writeFileSync(at('other.json'), kept)
    await client.list()
    // After a stop, any client starts a new daemon with its own arguments.
    const stop = spawn(process.execPath, [SCRIPT, 'stop'], { env, cwd: project, stdio: 'ignore' })
    await new Promise((resolve) => stop.once('exit', resolve))
    await client.list()
    expect(await client.text(...call('other__echo'))).toContain('no tool named')
    expect(serve.exitCode ?? serve.signalCode).not.toBeNull()
  })

  it('request a new gateway if the running one is too old for them', async () => {
    const { way, daemon, state } = home({ mcpServers: { odd: entry(oddServer('odd')) } })
    const first = await openClient('v2 legacy', way())
    await first.list()
    const { file } = await daemon()
    const path = join(state, 'daemon.json')
    writeFileSync(path, JSON.stringify({ ...file, protocol: 0 }))
    const second = await openClient('v2 legacy', way())
    await second.list()
    expect((await daemon()).file.pid).not.toBe(file.pid)
    // Only the person who started this daemon may stop it.
    const now = (await daemon()).file
    for (const [other, words] of [
      [{ protocol: 0, startedBy: 'person' }, 'toolwell stop'],
      [{ protocol: 99 }, 'is newer than'],
    ] as const) {
      writeFileSync(path, JSON.stringify({ ...now, ...other }))
      const { errors } = await raw(way(), ['{"jsonrpc":"2.0","id":1,"method":"ping"}'])
      expect(errors).toContain(words)
    }
    writeFileSync(path, JSON.stringify(now))
  })

  it('say why the gateway does not start, to the client and on standard error', async () => {
    const { way, state } = home({ mcpServers: {} })
    mkdirSync(join(state, '..'), { recursive: true })
    writeFileSync(state, 'a file where the folder should be')
    const { errors, lines } = await raw(way(), [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}',
    ])
    expect(errors).toContain('--folder')
    expect(lines[0]).toContain('was not made')
    rmSync(state)
  })

  it.each(['all', '.', '..', 'nope'])('give no tool to who asks for the profile %j', async (profile) => {
    const { way } = home({ mcpServers: { odd: entry(oddServer('odd')) }, profiles: { few: {} } })
    const { errors, lines } = await raw(way('--profile', profile), [
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    ])
    expect(lines).toEqual([expect.stringMatching(/"id":1,"error":.*refuses this client/)])
    expect(errors).toContain(JSON.stringify(profile))
  })

  // Node's recursive mkdir never ends there.
  it.runIf(process.platform === 'linux')('end where no folder can be made, as serve does', () => {
    const { env, project } = home({ mcpServers: {} })
    for (const words of [['serve', '--stdio'], ['serve', '--port', '0'], ['token']])
      for (const folder of ['/proc/nope', '/proc/nope/state']) {
        const { status, stdout, stderr } = spawnSync(
          process.execPath,
          [SCRIPT, ...words, '--folder', folder],
          {
            env,
            cwd: project,
            encoding: 'utf8',
            timeout: 20_000,
            input: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
          },
        )
        expect(stderr).toContain(`${folder} cannot be used (ENOENT)`)
        const isBridge = words.includes('--stdio')
        expect(status).toBe(isBridge ? 0 : 2)
        if (isBridge) expect(stdout).toContain('-32603')
      }
  })

  it('answer an invalid message, and continue', async () => {
    const { way } = home({ mcpServers: {} })
    const { lines } = await raw(
      way(),
      [
        'not JSON',
        '[]',
        '{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}',
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":"b","method":"no/such"}',
        '{"jsonrpc":"2.0","id":"c","method":"tools/list"}',
      ],
      5,
    )
    expect(lines.slice(0, 2).map((line) => JSON.parse(line).error.code)).toEqual([-32700, -32600])
    const byId = Object.fromEntries(lines.map((line) => [JSON.parse(line).id, line]))
    expect(byId.a).toContain('"protocolVersion":"2025-06-18"')
    expect(byId.b).toContain('-32601')
    expect(byId.c).toContain('find_tools')
  })

  it('keep the token in a file that only the user can read, and out of configs', async () => {
    const { way, state } = home({ mcpServers: {} })
    const client = await openClient('v2 legacy', way())
    await client.list()
    expect(tokenIn(state)).toMatch(/^tw_/)
    expect(existsSync(join(state, 'starting'))).toBe(false)
  })

  it('whose client is gone at once leave nothing that others wait for', async () => {
    const { way, state, env, project } = home({ mcpServers: {} })
    const child = spawn(process.execPath, [SCRIPT, 'serve', '--stdio'], {
      env,
      cwd: project,
      stdio: 'ignore',
    })
    await new Promise((resolve) => child.once('exit', resolve))
    expect(existsSync(join(state, 'starting'))).toBe(false)
    const client = await openClient('v2 legacy', way())
    await client.list()
  })

  it('stay connected while the token is replaced, and come back to the next gateway', async () => {
    const { way, state, daemon } = home({ mcpServers: {} })
    const client = await openClient('v2 legacy', way())
    await client.list()
    replaceToken(state)
    expect(await client.list()).toHaveLength(3)
    const { file } = await daemon()
    process.kill(file.pid, 'SIGKILL')
    expect(await client.list()).toHaveLength(3)
    expect((await daemon()).file.key).not.toBe(file.key)
  })

  it('do not start a gateway again that was stopped, before their client asks for something', async () => {
    const { way, state, env, daemon, project } = home({ mcpServers: { odd: entry(oddServer('odd')) } })
    const client = await openClient('v2 modern', way())
    await client.list()
    // A request that stays open while the client listens.
    await client.onListChanged(() => undefined)
    const { file } = await daemon()
    const stop = spawn(process.execPath, [SCRIPT, 'stop'], { env, cwd: project, stdio: 'ignore' })
    expect(await new Promise((resolve) => stop.once('exit', resolve))).toBe(0)
    expect(isAlive(file.pid)).toBe(false)
    expect([existsSync(join(state, 'daemon.json')), existsSync(join(state, 'starting'))]).toEqual([
      false,
      false,
    ])
    expect(await client.list()).toHaveLength(3)
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Writes lines, reads as many answers as there are requests (or `wanted`), and ends the input. */
async function raw({ words, env, cwd }: StdioWay, input: readonly string[], wanted = 1) {
  const child = spawn(process.execPath, [SCRIPT, 'serve', '--stdio', ...words], { env, cwd })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  const lines: string[] = []
  const done = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      if (lines.length >= wanted) resolve()
    })
  })
  for (const line of input) child.stdin.write(`${line}\n`)
  await done
  child.stdin.end()
  await new Promise((resolve) => child.once('exit', resolve))
  return { lines, errors }
}
