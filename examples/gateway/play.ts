/**
 * The proof of `npm start -- --once`: real MCP clients of both protocol generations do a task through the gateway. The model is
 * scripted.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { GatewayReport } from '@toolwell/gateway'
import { askDaemon, findDaemon, isAlive, readToken } from '@toolwell/gateway/bridge'
import { cyan, dim, heading, line, thousands } from '../proof/print.ts'
import { hasEnded, type Place, SCRIPT, startServe } from './place.ts'
import type { Started } from './started.ts'

export type Check = (what: string, holds: boolean) => void

/** `ending` stops the proof before the next step. */
export async function play(place: Place, check: Check, started: Started, ending: AbortSignal): Promise<void> {
  const say = (client: Client, name: string, input: Record<string, unknown>) => {
    ending.throwIfAborted()
    return sayTo(client, name, input)
  }
  const wait = async (milliseconds: number) => {
    ending.throwIfAborted()
    await pause(milliseconds)
  }
  const open = () => {
    ending.throwIfAborted()
    return openGateway(place, started)
  }
  const overStdio = () => {
    ending.throwIfAborted()
    return clientOverStdio(place, started)
  }
  heading('1  The first start', 'nothing is cached: every server is listed once')
  const first = await open()
  // Only this proof waits here: servers that are listed later join the search.
  while ((await first.states()).includes('connecting')) await wait(100)
  const client = await overHttp(place, first.port, 'modern')
  const tools = await namesOf(client)
  const { serverSets } = await first.report()
  const [set] = serverSets
  for (const { name, tools: count } of set?.servers ?? []) line(`  ${name.padEnd(16)} ${count} tools`)
  const { all = 0, list = 0 } = set?.tokens ?? {}
  line(`  a request carries ${thousands(list)} tokens of tools instead of ${thousands(all)}`)
  check('five servers are known', set?.servers.filter(({ tools: count }) => count > 0).length === 5)
  check('a client sees four tools', tools === 'find_tools, run_read_only_tool, run_tool, read_result')
  check('the four cost less than a quarter of all', list * 4 < all)
  await client.close()
  await first.stop()

  heading('2  The second start', 'the list comes from the cache')
  const second = await open()
  const agent = await overHttp(place, second.port, 'modern')
  check('the list is the same', (await namesOf(agent)) === tools)
  check('no server was started for it', (await second.running()).length === 0)

  heading('3  A task over HTTP', 'protocol 2026-07-28; the model is scripted, everything else is real')
  const found = await say(agent, 'find_tools', { query: 'read the content of a text file' })
  check('a search finds the tool and shows its schema', /read_text_file.*inputSchema/.test(found))
  check('it still runs no server', (await second.running()).length === 0)
  const path = join(place.project, 'src', 'invoice.js')
  const code = await say(agent, 'run_read_only_tool', { name: 'read_text_file', arguments: { path } })
  check('run_read_only_tool reads a file', code.includes('items.length - 1'))
  const edits = [{ oldText: 'items.length - 1', newText: 'items.length' }]
  const refused = await say(agent, 'run_read_only_tool', { name: 'edit_file', arguments: { path, edits } })
  check('run_read_only_tool does not write', refused.includes('not approved as read-only'))
  const wrong = await say(agent, 'run_tool', { name: 'edit_file', arguments: { path, edits: 'all' } })
  check('arguments that do not fit are answered with the schema', wrong.includes('inputSchema'))
  await say(agent, 'run_tool', { name: 'Filesystem Edit-File', arguments: { path, edits } })
  check('run_tool fixed the bug in the file', !readFileSync(path, 'utf8').includes('length - 1'))
  check('only the server that was used runs', (await second.running()).join() === 'filesystem')
  check('the list is still the same', (await namesOf(agent)) === tools)
  await agent.close()

  heading('4  Two clients over stdio', 'protocol 2025-11-25, through thin bridges to the same gateway')
  const [one, two] = [await overStdio(), await overStdio()]
  const entities = [{ name: 'invoice', entityType: 'file', observations: ['the last item was missing'] }]
  await say(one, 'run_tool', { name: 'create_entities', arguments: { entities } })
  const graph = await say(two, 'run_read_only_tool', { name: 'memory__read_graph', arguments: {} })
  check('what one client stored, the other reads', graph.includes('the last item was missing'))
  const { counts, clients } = await second.report()
  line(dim(`  clients: ${clients.length}, calls: ${counts.calls}, searches: ${counts.searches}`))
  check('they share one process of each server', (await second.pids()).length === 2)

  heading('5  The gateway is killed', 'kill -9, with a call under way')
  const slow = say(two, 'run_tool', {
    name: 'trigger-long-running-operation',
    arguments: { duration: 600, steps: 6000 },
  })
  while (!(await second.running()).includes('everything')) await wait(50)
  const orphans = await second.pids()
  process.kill(second.pid, 'SIGKILL')
  check('the call is answered as interrupted', (await slow).includes('Nobody knows whether'))
  const again = await say(two, 'run_read_only_tool', { name: 'memory__read_graph', arguments: {} })
  check('the next call works: the client started the gateway again', again.includes('was missing'))
  const third = await findDaemon(place.state)
  check('it is another process', third.kind === 'running' && third.file.pid !== second.pid)
  await Promise.all([one.close(), two.close()])
  if (third.kind === 'running') {
    const report = (await askDaemon(third, 'GET', '/status')) as GatewayReport
    const left = report.serverSets.flatMap(({ servers }) => servers.flatMap(({ pids }) => pids))
    await askDaemon(third, 'POST', '/stop')
    const all = [second.pid, third.file.pid, ...orphans, ...left]
    for (let round = 0; round < 400 && all.some(isAlive); round++) await wait(50)
    check('no process is left, of either gateway or its servers', !all.some(isAlive))
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

async function openGateway(place: Place, started: Started) {
  const child = startServe(place, '--port', '0', '--json')
  started.child(child)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.stdout.resume()
  let found = await findDaemon(place.state)
  while (found.kind !== 'running') {
    if (hasEnded(child)) throw new Error('The gateway did not start.')
    await pause(50)
    found = await findDaemon(place.state)
  }
  const running = found
  const report = async () => (await askDaemon(running, 'GET', '/status')) as GatewayReport
  const servers = async () => (await report()).serverSets.flatMap((set) => set.servers)
  return {
    port: running.file.port,
    pid: running.file.pid,
    report,
    running: async () => (await servers()).filter(({ pids }) => pids.length > 0).map(({ name }) => name),
    states: async () => (await servers()).map(({ state }) => state),
    pids: async () => (await servers()).flatMap(({ pids }) => pids),
    async stop() {
      await askDaemon(running, 'POST', '/stop')
      await exited
    },
  }
}

async function overHttp({ state }: Place, port: number, era: 'modern' | 'legacy'): Promise<Client> {
  const found = await findDaemon(state)
  if (found.kind !== 'running') throw new Error('The gateway is not running.')
  const client = new Client(
    { name: 'proof', version: '1' },
    era === 'modern' ? { versionNegotiation: { mode: 'auto' } } : {},
  )
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${readToken(state)}` } },
    }),
  )
  return client
}

async function clientOverStdio({ state, env, project }: Place, started: Started): Promise<Client> {
  const client = new Client({ name: 'proof', version: '1' })
  started.client(client)
  const args = [SCRIPT, 'serve', '--stdio', '--folder', state]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, cwd: project }))
  return client
}

async function namesOf(client: Client): Promise<string> {
  const { tools } = await client.listTools()
  return tools.map(({ name }) => name).join(', ')
}

/** Makes and prints one call of the scripted model. */
async function sayTo(client: Client, name: string, input: Record<string, unknown>): Promise<string> {
  const shown = JSON.stringify(input)
  line(`  ${cyan(name)} ${dim(shown.length > 100 ? `${shown.slice(0, 99)}…` : shown)}`)
  const { content } = await client.callTool({ name, arguments: input }, { timeout: 120_000 })
  return (content as { text?: string }[]).map(({ text = '' }) => text).join('\n')
}
