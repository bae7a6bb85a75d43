/** Sets of servers in one program may have processes in common: only what runs is shared, and each set can come and go. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToolwell } from '@toolwell/core'
import {
  type CallOptions,
  type ConnectOptions,
  loadConfig,
  memoryCache,
  memoryFirstUse,
  type ServerEvent,
} from '@toolwell/mcp'
import { connectWithSharedProcesses, SharedProcesses } from '@toolwell/mcp/internal'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Manners } from './support/odd-server.js'
import { eventually, isAlive } from './support/processes.js'
import { temporary } from './support/temporary.js'

const program = fileURLToPath(new URL('support/odd-server.mjs', import.meta.url))

function odd(manners: Manners, more: object = {}): object {
  const args = [program, JSON.stringify(manners), 'odd']
  return { command: process.execPath, args, workspace: false, ...more }
}

/** The user's own config: its references need no approval. */
function sharing(given: ConnectOptions = {}) {
  const folder = temporary()
  const processes = new SharedProcesses()
  onTestFinished(() => processes.close())
  const stores = { cache: memoryCache(), firstUse: memoryFirstUse() }
  return async (entry: object, { wait = true, path = join(folder, 'toolwell', 'toolwell.json') } = {}) => {
    const text = JSON.stringify({ mcpServers: { odd: entry } })
    const env = { XDG_CONFIG_HOME: folder }
    const config = loadConfig({ files: [{ path, text }], env, workspaceFolder: folder })
    expect(config.problems).toEqual([])
    const events: ServerEvent[] = []
    const { catalogue } = createToolwell({ mode: 'on', delivery: 'bridge' })
    const servers = connectWithSharedProcesses(processes, catalogue, config, {
      ...stores,
      logs: false,
      connectTimeout: 120_000,
      ...given,
      onEvent: (event) => events.push(event),
    })
    onTestFinished(() => servers.close())
    if (wait) await servers.settled(240_000)
    const call = (tool: string, input = {}, options: CallOptions = {}) =>
      servers.call('odd', tool, input, options)
    const pid = async () => {
      const [block] = (await call('pid')).content
      return Number(block?.type === 'text' ? block.text : '')
    }
    return { servers, events, call, pid }
  }
}

/** The outcome of a call that is awaited later. */
const outcome = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error: { kind?: string }) => error.kind,
  )

describe('sets of servers with the same entry', () => {
  it('have one process, started once however many come to it at the same time', async () => {
    const log = join(temporary(), 'log')
    const started = () => readFileSync(log, 'utf8').match(/^start /gm)?.length
    const connect = sharing()
    const sets = [await connect(odd({ log })), await connect(odd({ log })), await connect(odd({ log }))]
    // The first listed it, and the others knew it then.
    expect(started()).toBe(1)
    const pids = await Promise.all(sets.map(({ pid }) => pid()))
    expect(new Set(pids).size).toBe(1)
    expect(started()).toBe(2)
    for (const { servers } of sets) expect(servers.inspect()[0]?.pids).toEqual([pids[0]])
  })

  it.each<[string, object, boolean]>([
    [
      'is described, offered and marked otherwise',
      { description: 'Mine.', deny: ['echo'], idle: '1h' },
      true,
    ],
    ['has other variables', { env: { OTHER: '1' } }, false],
    ['has another folder', { cwd: '/' }, false],
    ['gives calls more time', { timeout: '90s' }, false],
    ['is kept for each client', { share: 'client' }, false],
    ['is kept for each folder', { workspace: true }, false],
  ])('%s: whether the process is the same', async (_, more, isSame) => {
    const connect = sharing()
    const [one, two] = [await connect(odd({})), await connect(odd({}, more))]
    const pid = await one.pid()
    expect((await two.pid()) === pid).toBe(isSame)
  })

  it('in files of two projects have separate processes', async () => {
    const connect = sharing()
    const [one, two] = [temporary(), temporary()].map((folder) => join(folder, 'toolwell.json'))
    const entry = odd({}, { cwd: '/' })
    const first = await connect(entry, { path: one ?? '' })
    const second = await connect(entry, { path: two ?? '' })
    expect(await second.pid()).not.toBe(await first.pid())
  })

  it('learn when its list changes, and each reviews it', async () => {
    const changed = join(temporary(), 'changed')
    const connect = sharing()
    const entry = odd({ changesWhile: changed })
    const sets = [await connect(entry), await connect(entry)]
    for (const { pid } of sets) await pid()
    writeFileSync(changed, '')
    await sets[0]?.call('change')
    const isQuarantined = ({ events }: (typeof sets)[number]) =>
      events.some((event) => event.kind === 'tools-quarantined' && event.tools.has('echo'))
    await eventually(() => sets.every(isQuarantined), 'both hold it back')
    for (const { call } of sets) expect(await outcome(call('echo'))).toBe('quarantined')
  })
})

describe('a set that is closed', () => {
  it('cancels its own calls, and does not affect the others', async () => {
    const log = join(temporary(), 'log')
    const connect = sharing()
    const [one, two] = [await connect(odd({ log })), await connect(odd({ log }))]
    const pid = await one.pid()
    expect(await two.pid()).toBe(pid)
    const [mine, theirs] = [one, two].map(({ call }) => outcome(call('wait')))
    await eventually(() => readFileSync(log, 'utf8').match(/call wait/g)?.length === 2, 'both are under way')
    await one.servers.close()
    expect(await mine).toBe('lost')
    await eventually(() => readFileSync(log, 'utf8').includes('cancelled'), 'the server is told')
    expect(await two.pid()).toBe(pid)
    await two.servers.close()
    expect(await theirs).toBe('lost')
    expect(isAlive(pid)).toBe(false)
  })

  it('while the process is started leaves it to those who wait', async () => {
    const gate = join(temporary(), 'gate')
    const asked = `${gate}.asked`
    // The command ends when something is written into the pipe.
    execFileSync('mkfifo', [gate])
    const entry = odd({}, { env: { KEY: `\${cmd:echo asked >> ${asked}; cat ${gate}}` } })
    const connect = sharing()
    const [one, two] = [await connect(entry, { wait: false }), await connect(entry, { wait: false })]
    await eventually(() => existsSync(asked), 'it is being started')
    await one.servers.close()
    await writeFile(gate, 'open')
    await two.servers.settled(240_000)
    expect(two.servers.inspect()[0]?.state).toBe('cached')
    expect(readFileSync(asked, 'utf8')).toBe('asked\n')
  })

  it('ends a process that is being started when nobody else waits for it', async () => {
    const log = join(temporary(), 'log')
    const connect = sharing()
    const [one, two] = [
      await connect(odd({ log, mute: true }), { wait: false }),
      await connect(odd({ log, mute: true }), { wait: false }),
    ]
    await eventually(() => existsSync(log), 'it is being started')
    const pid = Number(/start (\d+)/.exec(readFileSync(log, 'utf8'))?.[1])
    await one.servers.close()
    expect(isAlive(pid)).toBe(true)
    await two.servers.close()
    expect(isAlive(pid)).toBe(false)
  })
})

describe('a process that cannot be used', () => {
  const saying = (script: string, more: object = {}) => ({
    command: process.execPath,
    args: ['-e', script],
    workspace: false,
    ...more,
  })

  it('is reported to each set without its secrets, which one of them alone has read', async () => {
    const key = join(temporary(), 'key')
    writeFileSync(key, 's3cret-of-a-file')
    const connect = sharing()
    const entry = saying('console.error(process.env.KEY); process.exit(3)', {
      env: { KEY: `\${file:${key}}` },
    })
    const sets = await Promise.all([1, 2, 3].map(() => connect(entry)))
    for (const { servers, events } of sets) {
      expect(servers.inspect()[0]).toMatchObject({ state: 'failed', reason: expect.stringContaining('***') })
      expect(JSON.stringify([servers.inspect(), events])).not.toContain('s3cret')
    }
  })

  it('is given up in time, with what it said', async () => {
    const connect = sharing({ connectTimeout: 3000 })
    const { servers } = await connect(saying("console.error('waits for a key'); setInterval(() => {}, 1000)"))
    expect(servers.inspect()[0]?.reason).toMatch(/not ready within 3 s, and said: waits for a key/)
  })
})
