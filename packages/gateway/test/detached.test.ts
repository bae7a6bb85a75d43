/** The daemon belongs to no client: some clients kill every process below them when they exit. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { eventually, isAlive } from '../../mcp/test/support/processes.js'
import { openClient, SCRIPT, type StdioWay } from './support/clients.js'
import { entry } from './support/gateway.js'
import { home } from './support/home.js'

interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
}

function listProcesses(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      const [, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return [{ pid: Number(name), parent: Number(parent), group: Number(group), session: Number(session) }]
    } catch {
      return []
    }
  })
}

/** Kills a process, everything below it, and the groups and sessions of all these, as opencode and kilo do. */
function killTree(root: number): void {
  const all = listProcesses()
  const doomed = new Set([root])
  for (let size = 0; size < doomed.size; ) {
    size = doomed.size
    const groups = new Set(
      all.filter(({ pid }) => doomed.has(pid)).flatMap(({ group, session }) => [group, session]),
    )
    for (const { pid, parent, group, session } of all)
      if (doomed.has(parent) || groups.has(group) || groups.has(session)) doomed.add(pid)
  }
  for (const pid of doomed) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
}

const FAR = 40

/** A bridge in its own session, with two more open descriptors than it needs. */
function startBridge({ env, cwd }: StdioWay) {
  const stdio = Array.from({ length: FAR + 1 }, (_, index) =>
    index < 4 || index === FAR ? ('pipe' as const) : ('ignore' as const),
  )
  const child = spawn(process.execPath, [SCRIPT, 'serve', '--stdio'], { env, cwd, detached: true, stdio })
  const lines: { readonly id?: number; readonly result?: object }[] = []
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) =>
    lines.push(JSON.parse(line)),
  )
  return {
    pid: child.pid as number,
    async ask(id: number, method: string, params: object) {
      child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      await eventually(() => lines.some((line) => line.id === id), `${method} is answered`)
      return lines.find((line) => line.id === id)?.result
    },
  }
}

const hello = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'killer', version: '1' },
}

it.runIf(process.platform === 'linux')('outlives a client that kills its process tree', async () => {
  const { way, daemon } = home({ mcpServers: { odd: entry(oddServer('odd')) } })
  const killer = startBridge(way())
  await killer.ask(1, 'initialize', hello)
  const listed = (await killer.ask(2, 'tools/list', {})) as { tools: { name: string }[] }
  const call = [listed.tools[2]?.name ?? '', { name: 'odd__pid', arguments: {} }] as const
  await killer.ask(3, 'tools/call', { name: call[0], arguments: call[1] })
  const { file } = await daemon()
  const other = await openClient('v2 legacy', way())
  const before = await other.text(...call)
  killTree(killer.pid)
  await eventually(() => !isAlive(killer.pid), 'the client is gone')
  expect(await other.text(...call)).toBe(before)
  expect((await daemon()).file.pid).toBe(file.pid)
})

it.runIf(process.platform === 'linux')(
  'shares no session, group or descriptor with the client that started it',
  async () => {
    const { way, daemon } = home({ mcpServers: {} })
    const bridge = startBridge(way())
    await bridge.ask(1, 'initialize', hello)
    const { file } = await daemon()
    const [own, started] = [bridge.pid, file.pid].map((pid) =>
      listProcesses().find((each) => each.pid === pid),
    )
    expect(started?.session).not.toBe(own?.session)
    expect(started?.group).not.toBe(own?.group)
    const open = (pid: number) =>
      readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
    const shared = open(file.pid).filter(
      (target) => target !== '/dev/null' && open(bridge.pid).includes(target),
    )
    // Every process of Node has some of these, without a name.
    expect(shared.filter((target) => !target.startsWith('anon_inode:'))).toEqual([])
    killTree(bridge.pid)
  },
)
