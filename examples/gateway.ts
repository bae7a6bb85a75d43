/**
 * `npm start`: the gateway on loopback with five real MCP servers, left open for clients, with the lines that connect them.
 * `npm start -- --once`, or without a terminal: a proof through it, with real MCP clients, and an end.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { GatewayReport } from '@toolwell/gateway'
import { askDaemon, findDaemon } from '@toolwell/gateway/bridge'
import { clearPlace, type Place, preparePlace, SCRIPT, startServe } from './gateway/place.ts'
import { play } from './gateway/play.ts'
import { bold, cyan, dim, green, heading, line, red, thousands } from './proof/print.ts'

const USAGE = `Usage: npm start [-- --once] [-- --port PORT]

The gateway with five MCP servers from npm on an example project, until Ctrl-C. Without a terminal, or with --once: a proof
through it, with real MCP clients and a scripted model; the exit code is 0 when every check holds.
npm run proof is the library's own.
`
/** Besides that of `toolwell serve`, so that both can run. */
const PORT = '7412'

const words = process.argv.slice(2)
const port = words.includes('--port') ? words[words.indexOf('--port') + 1] : PORT
const unknown = words.filter(
  (word, at) => !['--once', '--help', '-h', '--port'].includes(word) && words[at - 1] !== '--port',
)
if (words.includes('--help') || words.includes('-h')) {
  process.stdout.write(USAGE)
} else if (unknown.length > 0 || port === undefined || !/^\d+$/.test(port)) {
  process.stderr.write(
    `Unknown: ${unknown.join(' ') || `--port ${port ?? ''}`}. Flags of npm start go behind a --.\n\n${USAGE}`,
  )
  process.exitCode = 2
} else if (words.includes('--once') || !process.stdout.isTTY) await once()
else await stay(port)

async function once(): Promise<void> {
  const checks: { readonly what: string; readonly holds: boolean }[] = []
  const folder = await mkdtemp(join(tmpdir(), 'toolwell-start-'))
  heading('Toolwell gateway', 'the model is scripted; clients, gateway, servers and files are real')
  try {
    await play(await preparePlace(folder), (what, holds) => checks.push({ what, holds }))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  heading('Checks')
  for (const { what, holds } of checks) line(`  ${holds ? green('ok  ') : red('FAIL')} ${what}`)
  const failed = checks.filter(({ holds }) => !holds).length
  line()
  line(failed === 0 ? `All ${checks.length} checks hold.` : `${failed} of ${checks.length} checks fail.`)
  process.exitCode = failed === 0 ? 0 : 1
}

async function stay(wanted: string): Promise<void> {
  const place = await preparePlace(
    fileURLToPath(new URL('../node_modules/.toolwell-start/', import.meta.url)),
  )
  const child = startServe(place, '--port', wanted, '--events')
  const exited = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
  // Ctrl-C goes to both; the gateway ends in its own time, and this process after it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  const held: string[] = []
  let isShown = false
  createInterface({ input: child.stdout }).on('line', (text) => (isShown ? line(dim(text)) : held.push(text)))
  let found = await findDaemon(place.state)
  while (found.kind !== 'running' && child.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    found = await findDaemon(place.state)
  }
  if (found.kind === 'running' && child.exitCode === null) {
    line(dim('Listing the servers (the first time only) …'))
    const report = await settled(() => askDaemon(found, 'GET', '/status') as Promise<GatewayReport>)
    welcome(place, found.file.port, found.token, report)
    isShown = true
  }
  process.exitCode = await exited
  clearPlace(place)
}

/** Until every server is known, but not for ever. */
async function settled(ask: () => Promise<GatewayReport>): Promise<GatewayReport> {
  for (let round = 0; ; round++) {
    const report = await ask()
    const isReady = report.halls.every(({ servers }) => servers.every(({ state }) => state !== 'connecting'))
    if (isReady || round > 300) return report
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function welcome({ state, project }: Place, at: number, token: string, { halls }: GatewayReport): void {
  const url = `http://127.0.0.1:${at}/mcp`
  const stdio = `${process.execPath} ${SCRIPT} serve --stdio --folder ${state}`
  const { servers = [], tokens = { all: 0, list: 0 } } = halls[0] ?? {}
  const count = servers.reduce((sum, { tools }) => sum + tools, 0)
  heading('The Toolwell gateway is running', project)
  line(`  ${bold('URL')}    ${cyan(url)}`)
  line(`  ${bold('token')}  ${token}`)
  line(
    `  ${bold('cost')}   ${count} tools of ${servers.length} servers: ${thousands(tokens.all)} tokens in every request if all were sent, ${thousands(tokens.list)} through the gateway`,
  )
  line()
  line(bold('Connect a client'))
  line(
    `  Claude Code  claude mcp add --transport http toolwell ${url} --header "Authorization: Bearer ${token}"`,
  )
  line(`  Codex        codex mcp add toolwell -- ${stdio}`)
  line(
    `  Cursor       ${JSON.stringify({ mcpServers: { toolwell: { url, headers: { Authorization: `Bearer ${token}` } } } })}`,
  )
  line(
    `  VS Code      code --add-mcp '${JSON.stringify({ name: 'toolwell', type: 'http', url, headers: { Authorization: `Bearer ${token}` } })}'`,
  )
  line(`  Gemini CLI   gemini mcp add toolwell ${stdio}`)
  line(`  Inspector    npx @modelcontextprotocol/inspector ${stdio}`)
  line(`  any other    over stdio: ${stdio}`)
  line()
  line(dim('What happens is shown below. Ctrl-C ends it.'))
  line()
}
