/**
 * Takes the screenshots of the docs: starts the gateway of `npm start` with two more servers, one that fails and one whose definition
 * changes, lets real clients search and call, and writes docs/images/dashboard-*.png. With a folder, it writes them there.
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { GatewayReport } from '@toolwell/gateway'
import { askDaemon, DASHBOARD_LINK_PATH, findDaemon, readToken } from '@toolwell/gateway/bridge'
import type { Page } from 'playwright-core'
import { placeIn, preparePlace, startServe } from '../examples/gateway/place.ts'
import { launch } from '../packages/dashboard/test/support/launch.ts'
import { describedTool, oddServer } from '../packages/mcp/test/support/odd-server.ts'

const [folder = fileURLToPath(new URL('../docs/images/', import.meta.url)), widths = '1280'] =
  process.argv.slice(2)
const out = resolve(folder)
mkdirSync(out, { recursive: true })
const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'toolwell-screenshots-')))
const place = await preparePlace(placeIn(temporary))

const tickets = join(temporary, 'tickets.json')
const listTickets = (text: string) =>
  writeFileSync(
    tickets,
    JSON.stringify([
      describedTool('close_ticket', {
        description: text,
        inputSchema: {
          type: 'object',
          properties: { id: { type: 'integer' }, comment: { type: 'string' } },
          required: ['id'],
        },
      }),
      describedTool('list_tickets', { description: 'Lists the open tickets.' }),
    ]),
  )
listTickets('Closes a ticket and returns its state.')
const configFile = join(temporary, 'config', 'toolwell', 'toolwell.json')
const config = JSON.parse(readFileSync(configFile, 'utf8'))
const { endpoint } = oddServer('tickets', { toolsFrom: tickets })
// In the picture, its command does not name the folder of the clone.
const program = join(temporary, 'tickets-server.mjs')
if (endpoint.type !== 'stdio') throw new Error('The server of the tickets is a program.')
const [from = '', ...words] = endpoint.args ?? []
copyFileSync(from, program)
config.mcpServers.tickets = { command: 'node', args: [program, ...words] }
config.mcpServers.billing = {
  command: process.execPath,
  args: ['-e', 'console.error("error: BILLING_URL is not set"); process.exit(1)'],
}
writeFileSync(configFile, JSON.stringify(config, null, 2))

const child = startServe(place, '--port', '0', '--json')
child.stdout.resume()
const ended = new Promise((done) => child.once('exit', done))
const browser = await launch()
try {
  const daemon = await findRunning()
  const report = async () => (await askDaemon(daemon, 'GET', '/status')) as GatewayReport
  while (
    (await report()).serverSets.some(({ servers }) => servers.some(({ state }) => state === 'connecting'))
  )
    await wait(200)
  await work(daemon.file.port)
  listTickets(
    'Closes a ticket, sends its comment to the customer and returns its state. The comment is translated first.',
  )
  const { url } = (await askDaemon(daemon, 'POST', DASHBOARD_LINK_PATH)) as { url: string }
  const page = await browser.newPage()
  await page.goto(url)
  await page.goto(new URL('servers?server=tickets', url).href)
  await page.getByRole('button', { name: 'Restart' }).click()
  await page.getByText('1 change to approve').waitFor()
  for (const width of widths.split(',').map(Number)) await shoot(page, url, width)
} finally {
  await browser.close()
  child.kill('SIGTERM')
  await ended
  rmSync(temporary, { recursive: true, force: true })
}

async function findRunning() {
  for (;;) {
    const found = await findDaemon(place.state)
    if (found.kind === 'running') return found
    if (child.exitCode !== null) throw new Error('The gateway did not start.')
    await wait(50)
  }
}

/** Three clients in two projects. Each call is real; some of them fail. */
async function work(port: number): Promise<void> {
  const { project } = place
  const file = join(project, 'src', 'invoice.js')
  const other = join(temporary, 'website')
  mkdirSync(other)
  const [coder, reviewer, writer] = [
    await connect(port, 'coding-agent', project),
    await connect(port, 'review-agent', project),
    await connect(port, 'writing-agent', other),
  ]
  const call = (client: Client, name: string, input: object) =>
    client.callTool({ name, arguments: input as Record<string, unknown> }, { timeout: 120_000 })
  const run = (client: Client, name: string, input: object) =>
    call(client, 'run_tool', { name, arguments: input })
  for (const query of ['read the content of a text file', 'list a folder with all folders in it']) {
    await call(coder, 'find_tools', { query })
    await call(reviewer, 'find_tools', { query })
  }
  await run(coder, 'filesystem__directory_tree', { path: project })
  for (let times = 0; times < 3; times++) await run(coder, 'filesystem__read_text_file', { path: file })
  await run(reviewer, 'filesystem__read_text_file', { path: join(project, 'missing.js') })
  await call(reviewer, 'run_read_only_tool', { name: 'edit_file', arguments: { path: file, edits: [] } })
  await run(reviewer, 'filesystem__search_files', { path: project, pattern: '**/*.js' })
  await call(writer, 'find_tools', { query: 'remember something about a person' })
  const entities = ['ada', 'grace', 'edsger'].map((name) => ({
    name,
    entityType: 'person',
    observations: ['writes'],
  }))
  await run(writer, 'memory__create_entities', { entities })
  await run(writer, 'memory__read_graph', {})
  await call(writer, 'find_tools', { query: 'order a pizza with mushrooms' })
  await run(writer, 'everything__get-annotated-message', { messageType: 'success', includeImage: false })
  await run(coder, 'tickets__list_tickets', {})
  await run(coder, 'filesystem__read_multiple_files', { paths: [file, join(project, 'package.json'), file] })
  await Promise.all([coder, reviewer, writer].map((client) => client.close()))
}

async function connect(port: number, name: string, workspace: string): Promise<Client> {
  const client = new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  const headers = {
    Authorization: `Bearer ${readToken(place.state)}`,
    'X-Toolwell-Workspace': encodeURI(workspace),
  }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { requestInit: { headers } }),
  )
  await client.listTools()
  return client
}

async function shoot(page: Page, url: string, width: number): Promise<void> {
  await page.setViewportSize({ width, height: width > 2000 ? 1440 : 760 })
  const pages = {
    now: '',
    work: 'work',
    tools: 'tools?view=largest',
    servers: 'servers?server=tickets',
    search: `search?${new URLSearchParams({ query: 'read a text file' })}`,
    savings: 'savings',
  }
  const suffix = widths === '1280' ? '' : `-${width}`
  for (const [name, path] of Object.entries(pages))
    for (const colorScheme of ['light', 'dark'] as const) {
      // Those in the docs. With other widths, all of them.
      const isShown = name === 'now' || name === 'savings' || (name === 'servers' && colorScheme === 'light')
      if (suffix === '' && !isShown) continue
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.goto(new URL(path, url).href)
      await page.getByRole('heading', { level: 1 }).waitFor()
      while ((await page.locator('.loading').count()) > 0) await wait(50)
      if (name === 'work' || name === 'savings') await page.locator('canvas').waitFor()
      await page.mouse.move(0, 0)
      const path_ = join(out, `dashboard-${name}${suffix}-${colorScheme}.png`)
      await page.screenshot({ path: path_ })
      console.log(path_)
    }
}
