/** Callers come and go: what is kept for a workspace, and which caller uses which server process. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { oddServer } from '../../mcp/test/support/odd-server.js'
import { openClient } from './support/clients.js'
import { authorized, entry, startGateway, temporary } from './support/gateway.js'
import { home } from './support/home.js'

const inFolder = (folder: string) => ({ ...authorized, 'X-Toolwell-Workspace': encodeURI(folder) })
const pid = ['run_tool', { name: 'odd__pid', arguments: {} }] as const

describe('folders', () => {
  it('that nobody works in any more are let go of, and come back when somebody does', async () => {
    let time = 0
    const root = temporary()
    const folders = Array.from({ length: 8 }, (_, index) => join(root, `project ${index}`))
    for (const folder of folders) mkdirSync(folder)
    const { url, gateway } = await startGateway(
      { mcpServers: { odd: entry(oddServer('odd')) } },
      // The test sets the clock; the sweep interval follows from the idle time.
      { sessionIdle: 100, now: () => time },
    )
    const [first = '', second = ''] = folders
    // Stays in use, because a stream of the newer protocol is open.
    const listening = await openClient('v2 modern', `${url}/mcp`, inFolder(first))
    await listening.list()
    await listening.onListChanged(() => undefined)
    for (const folder of folders)
      for (const path of ['/mcp', '/mcp/all'])
        await (await openClient('v2 modern', url + path, inFolder(folder))).list()
    const known = async () => (await gateway.inspect()).serverSets.flatMap(({ workspaces }) => workspaces)
    expect((await known()).sort()).toEqual(folders)
    time = 1000
    await expect.poll(known, { timeout: 60_000 }).toEqual([first])
    const again = await openClient('v2 modern', `${url}/mcp`, inFolder(second))
    expect(Number(await again.text(...pid))).toBeGreaterThan(0)
    expect((await known()).sort()).toEqual([first, second])
    expect((await listening.list()).length).toBe(3)
  })
})

describe('a server with a process for each client', () => {
  const config = { mcpServers: { odd: entry(oddServer('odd'), { share: 'client', workspace: false }) } }

  it('has one for each program that makes single requests over HTTP, by its name', async () => {
    const { url } = await startGateway(config)
    const pidOf = async (name: string) => {
      const client = new Client({ name, version: '1' }, { versionNegotiation: { mode: 'auto' } })
      onTestFinished(() => client.close())
      const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
        requestInit: { headers: authorized },
      })
      await client.connect(transport)
      const { content } = await client.callTool({ name: pid[0], arguments: pid[1] })
      return (content as { text: string }[])[0]?.text
    }
    const [one, same, other] = [await pidOf('one'), await pidOf('one'), await pidOf('other')]
    expect(same).toBe(one)
    expect(other).not.toBe(one)
  })

  it('has one for each session, and for each connection over stdio', async () => {
    const { url } = await startGateway(config)
    const sessions = await Promise.all([1, 2].map(() => openClient('v1', `${url}/mcp`)))
    const { way } = home(config)
    const bridges = await Promise.all([1, 2].map(() => openClient('v2 modern', way())))
    const pids = await Promise.all([...sessions, ...bridges].map((client) => client.text(...pid)))
    expect(new Set(pids).size).toBe(4)
  })
})
