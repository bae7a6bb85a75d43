/** Output of `serve` while it runs, and of `status`: enough to act on, and no argument that a client sent. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { describedTool, oddServer } from '../../mcp/test/support/odd-server.js'
import { folderWith, toolwell } from './support/run.js'

const SECRET = 'a-value-that-nobody-may-see'

async function serving(files: Readonly<Record<string, unknown>>, name = 'toolwell') {
  const folder = folderWith({ 'readme.txt': '' })
  for (const [path, value] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), JSON.stringify(value))
  }
  const env = {
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_DATA_HOME: join(folder, 'data'),
  }
  const said = { text: '' }
  const ended = toolwell(['serve', '--port', '0', '--events'], {
    folder,
    env,
    name,
    onOutput: (text) => {
      said.text += text
    },
  })
  const { askDaemon, findDaemon } = await import('@toolwell/gateway/bridge')
  const state = join(folder, 'state', 'toolwell', 'gateway')
  await expect.poll(() => said.text, { timeout: 60_000 }).toContain('Press Ctrl-C to stop it.')
  const found = await findDaemon(state)
  if (found.kind !== 'running') throw new Error('it is not running')
  onTestFinished(async () => {
    await askDaemon(found, 'POST', '/stop').catch(() => undefined)
    await ended
  })
  const url = `http://127.0.0.1:${found.file.port}/mcp`
  let id = 0
  const call = async (name: string, input: object) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${found.file.key}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'tools/call',
        'Mcp-Name': name,
        'X-Toolwell-Workspace': join(folder, 'project'),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: ++id,
        method: 'tools/call',
        params: { name, arguments: input, _meta },
      }),
    })
    expect(response.status).toBe(200)
    return response.text()
  }
  const status = async () => (await toolwell(['status'], { folder, env })).output
  const trust = () => toolwell(['serve', '--trust', 'project'], { folder, env, screen: { output: 100 } })
  return { folder, said, url, call, status, trust }
}

it('says what was searched for, why a call was not run, who was refused, and which project is not trusted', async () => {
  const inputSchema = { type: 'object', properties: { first: { type: 'number' } }, required: ['first'] }
  const { endpoint } = oddServer('odd')
  const sum = oddServer('sum', { tools: [describedTool('add', { inputSchema })] })
  const [one, two] = [endpoint, sum.endpoint].map((each) => {
    if (each.type !== 'stdio') throw new Error('a server over stdio is needed')
    return { command: each.command, args: each.args, env: each.env }
  })
  const { folder, said, url, call, status, trust } = await serving({
    'config/toolwell/toolwell.json': { mcpServers: { odd: one, sum: two } },
    'project/toolwell.json': { mcpServers: { more: { command: 'more' } } },
  })
  await call('find_tools', { query: `echo ${'what is said '.repeat(20)}` })
  await call('run_read_only_tool', { name: 'odd__echo', arguments: { text: SECRET } })
  await call('run_tool', { name: 'no_such_tool', arguments: { text: SECRET } })
  await call('run_tool', { name: 'odd__echo', arguments: { text: SECRET } })
  const [, load] = /\\"load\\":\\"(\w+)/.exec(await call('find_tools', { query: 'select:sum__add' })) ?? []
  await call('run_tool', { name: 'sum__add', arguments: { first: SECRET }, load })
  expect((await fetch(url, { method: 'POST' })).status).toBe(401)
  expect((await fetch(url, { method: 'POST', headers: { Authorization: `Bearer ${SECRET}` } })).status).toBe(
    401,
  )

  const file = join(folder, 'project', 'toolwell.json')
  const untrusted = `! ${file} is not used: you have not trusted it. Review it, then run: toolwell serve --trust ${dirname(file)}`
  await expect.poll(() => said.text).toContain('refused: wrong token (401)')
  expect(said.text).toMatch(/raw 1 searched "echo what is said [^"\n]{0,50}" → \d+ found\n/)
  expect(said.text).toMatch(/raw 1: odd__echo was not run: it is not approved as read-only/)
  expect(said.text).toContain('raw 1: no_such_tool was not run: there is no such tool\n')
  expect(said.text).toContain('raw 1 called odd__echo\n')
  expect(load).toBeDefined()
  expect(said.text).toContain('raw 1: sum__add was not run: the arguments do not fit its schema\n')
  expect(said.text).toContain('refused: no token (401)\n')
  expect(said.text.split(untrusted)).toHaveLength(2)
  expect(said.text).not.toContain('No servers')
  expect(said.text).not.toContain(SECRET)

  const shown = await status()
  expect(shown).toContain('1 call (0 failed), 2 searches, 3 not run;')
  expect(shown).toMatch(/^client +over +endpoint +calls +searches +not run +folder/m)
  expect(shown).toMatch(/^raw 1 +HTTP +\/mcp +1 +2 +3 /m)
  expect(shown).toContain(untrusted)

  // The trusted server has changed by now.
  await trust()
  await expect.poll(status).not.toContain('is not used')
  writeFileSync(file, '{ "mcpServers": {} }')
  const changed = untrusted.replace('you have not trusted it', 'it has changed since you trusted it')
  await expect.poll(status, { timeout: 10_000 }).toContain(changed)
  expect(said.text).toContain(changed)
})

it('names the command as it was called, to a model too', async () => {
  const config = { mcpServers: { broken: { command: 'x', args: ['${NEVER_SET_ANYWHERE}'] } } }
  const { call } = await serving(
    { 'config/toolwell/toolwell.json': config, 'project/other.json': {} },
    'npx tw',
  )
  expect(await call('find_tools', { query: 'server:broken' })).toContain('`npx tw doctor')
})

it('says that there are no servers, and how to add some', async () => {
  const { folder, said, status } = await serving({})
  const next = `No servers: ${join(folder, 'config', 'toolwell', 'toolwell.json')} does not exist. Import the servers of your clients with: toolwell connect\n`
  await expect.poll(() => said.text).toContain(next)
  expect(await status()).toContain(next)
})
