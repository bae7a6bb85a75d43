/** A client can start the entry that `connect` writes: a real file, a real client, a real server. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { parse as parseToml } from 'smol-toml'
import { expect, it, onTestFinished } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { readCommandLine } from '../src/shared/clients/toolwell-entry.js'
import { homeWith, real } from './support/home.js'

const { command, args } = real('everything')
const FILES = {
  'home/.cursor/mcp.json': JSON.stringify({ mcpServers: { everything: { command, args } } }),
  'home/.codex/config.toml': `[mcp_servers.everything]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
  'home/.config/goose/config.yaml': `extensions:\n  everything:\n    enabled: true\n    type: stdio\n    name: everything\n    cmd: ${command}\n    args: ${JSON.stringify(args)}\n`,
}

const ENTRIES: Readonly<Record<string, (text: string) => unknown>> = {
  'home/.cursor/mcp.json': (text) => JSON.parse(text).mcpServers.toolwell,
  'home/.codex/config.toml': (text) => (parseToml(text).mcp_servers as Record<string, unknown>).toolwell,
  'home/.config/goose/config.yaml': (text) => parseYaml(text).extensions.toolwell,
}

it('every client reaches the server that was its own, through one gateway', async () => {
  const home = homeWith(FILES)
  expect((await home.run(['connect', '--start', '--yes'])).code).toBe(0)
  onTestFinished(async () => {
    await home.run(['stop'])
  })
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home.home,
    XDG_CONFIG_HOME: join(home.home, '.config'),
    XDG_CACHE_HOME: join(home.home, '.cache'),
    XDG_DATA_HOME: join(home.home, '.local', 'share'),
    XDG_STATE_HOME: join(home.home, '.local', 'state'),
  }
  for (const [file, entryIn] of Object.entries(ENTRIES)) {
    const [program = '', ...words] = readCommandLine(entryIn(readFileSync(join(home.folder, file), 'utf8')))
    const client = new Client({ name: 'a-client', version: '1.0.0' })
    onTestFinished(() => client.close())
    const transport = new StdioClientTransport({ command: program, args: words, env, cwd: home.folder })
    await client.connect(transport)
    const { tools } = await client.listTools()
    // `connect` has listed the server, so the first list names it.
    expect(JSON.stringify(tools)).toContain('everything')
    expect([file, tools.map(({ name }) => name)]).toEqual([
      file,
      expect.arrayContaining(['find_tools', 'run_tool']),
    ])
    const answer = await client.callTool({
      name: 'run_tool',
      arguments: { name: 'everything__echo', arguments: { message: `from ${file}` } },
    })
    expect(answer.content).toEqual([{ type: 'text', text: `Echo: from ${file}` }])
  }
  // Three clients, each with its own process of the server, which keeps their state apart.
  const { clients, serverSets } = JSON.parse((await home.run(['status', '--json'])).output)
  expect(clients).toHaveLength(3)
  expect(serverSets).toMatchObject([{ servers: [{ name: 'everything', sharedBy: 'client' }] }])
  const [{ servers }] = serverSets
  expect(new Set(servers[0].processes.map(({ client }: { client: string }) => client)).size).toBe(3)
  expect((await home.run(['stop'])).code).toBe(0)
  await home.run(['undo', '--yes'])
  for (const [file, text] of Object.entries(FILES))
    expect(readFileSync(join(home.folder, file), 'utf8')).toBe(text)
})

it('F8: finds moved folders, although the client passes no variables on', async () => {
  const home = homeWith({ 'cdx/config.toml': FILES['home/.codex/config.toml'] })
  const file = join(home.folder, 'cdx', 'config.toml')
  const moved = {
    CODEX_HOME: join(home.folder, 'cdx'),
    XDG_CONFIG_HOME: join(home.folder, 'conf'),
    XDG_STATE_HOME: join(home.folder, 'state'),
  }
  expect((await home.run(['connect', 'codex', '--yes'], { env: moved })).code).toBe(0)
  onTestFinished(async () => {
    await home.run(['stop'], { env: moved })
  })
  const text = readFileSync(file, 'utf8')
  const entry = (parseToml(text).mcp_servers as { toolwell: { env: Record<string, string> } }).toolwell
  const [command = '', ...args] = readCommandLine(entry)
  const env = { PATH: process.env.PATH ?? '', HOME: home.home, ...entry.env }
  const echo = async () => {
    const client = new Client({ name: 'a-client', version: '1.0.0' })
    onTestFinished(() => client.close())
    await client.connect(new StdioClientTransport({ command, args, env, cwd: home.folder }))
    const call = { name: 'everything__echo', arguments: { message: 'here' } }
    return JSON.stringify(await client.callTool({ name: 'run_tool', arguments: call }))
  }
  expect(await echo()).toContain('Echo: here')
  writeFileSync(file, `${text}\n[mcp_servers.everything]\ncommand = "x"\ndisabled_tools = ["echo"]\n`)
  expect(await echo()).toContain('Found no tool named')
})
