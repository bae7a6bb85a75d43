/**
 * `npm start`: the gateway on loopback with five real MCP servers, left open for clients, with the lines that connect them.
 * `npm start -- --once`, or without a terminal: a proof through it, with real MCP clients, and an end.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { GatewayReport } from '@toolwell/gateway'
import { askDaemon, findDaemon, shellWord } from '@toolwell/gateway/bridge'
import {
  clearPlace,
  isListed,
  type Place,
  placeIn,
  preparePlace,
  SCRIPT,
  startServe,
} from './gateway/place.ts'
import { endDaemon, play } from './gateway/play.ts'
import { bold, cyan, dim, green, heading, line, red, thousands } from './proof/print.ts'

const USAGE = `Usage: npm start [-- FLAGS]

The gateway with five MCP servers from npm on an example project, until Ctrl-C.

  --once           A proof instead, with real MCP clients and a scripted model, and an end. The exit code is 0 when
                   every check holds. So it is without a terminal, too, unless --stay is given.
  --stay           Stay open without a terminal: npm start -- --stay > gateway.log &
  --port PORT      The port on 127.0.0.1. Default 7412; 0: any that is free.
  --folder FOLDER  Where the token, the cache and the example project are. Default: node_modules/.toolwell-start
  --help           This text.

npm run proof is the library's own.
`
/** Besides that of `toolwell serve`, so that both can run. */
const PORT = '7412'
const FOLDER = fileURLToPath(new URL('../node_modules/.toolwell-start/', import.meta.url))

const flags = readFlags(process.argv.slice(2))
if (typeof flags === 'string') {
  process.stderr.write(`${flags} Flags of npm start go behind a --.\n\n${USAGE}`)
  process.exitCode = 2
} else if (flags.help) process.stdout.write(USAGE)
else if (flags.once) await once()
else if (flags.stay || process.stdout.isTTY) await stay(placeIn(flags.folder), flags.port)
else {
  line(
    'There is no terminal, so this runs the checks and ends, as with --once. To stay open: npm start -- --stay',
  )
  await once()
}

/** A sentence where they cannot be used. */
function readFlags(words: string[]) {
  const { values, tokens } = parseArgs({
    args: words,
    strict: false,
    tokens: true,
    options: {
      once: { type: 'boolean' },
      stay: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      port: { type: 'string' },
      folder: { type: 'string' },
    },
  })
  const known = ['once', 'stay', 'help', 'port', 'folder']
  const unknown = tokens.flatMap((token) =>
    token.kind === 'option'
      ? known.includes(token.name)
        ? []
        : [token.rawName]
      : [words[token.index] ?? ''],
  )
  if (unknown.length > 0) return `Unknown: ${unknown.join(' ')}.`
  const { port = PORT, folder = FOLDER } = values
  if (typeof port !== 'string' || !/^\d{1,5}$/.test(port)) return '--port needs a number.'
  if (typeof folder !== 'string' || folder === '') return '--folder needs a folder.'
  if (values.once && values.stay) return '--once ends and --stay does not: give one of the two.'
  const from = process.env.INIT_CWD ?? process.cwd()
  return {
    once: values.once === true,
    stay: values.stay === true,
    help: values.help === true,
    port,
    folder: resolve(from, folder),
  }
}

async function once(): Promise<void> {
  const checks: { readonly what: string; readonly holds: boolean }[] = []
  const place = placeIn(await mkdtemp(join(tmpdir(), 'toolwell-start-')))
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      ending.abort()
      // What is under way is answered when the gateway ends.
      void endDaemon(place)
    })
  heading('Toolwell gateway', 'the model is scripted; clients, gateway, servers and files are real')
  try {
    await preparePlace(place)
    await play(place, (what, holds) => checks.push({ what, holds }), ending.signal)
  } catch (error) {
    if (!ending.signal.aborted) throw error
  } finally {
    await endDaemon(place)
    await rm(place.folder, { recursive: true, force: true })
  }
  if (ending.signal.aborted) {
    line('Stopped.')
    process.exit(130)
  }
  heading('Checks')
  for (const { what, holds } of checks) line(`  ${holds ? green('ok  ') : red('FAIL')} ${what}`)
  const failed = checks.filter(({ holds }) => !holds).length
  line()
  line(failed === 0 ? `All ${checks.length} checks hold.` : `${failed} of ${checks.length} checks fail.`)
  process.exitCode = failed === 0 ? 0 : 1
}

async function stay(place: Place, wanted: string): Promise<void> {
  const other = await findDaemon(place.state)
  if (other.kind !== 'none') {
    const { pid, port } = other.file
    const force = other.kind === 'silent' ? ' --force' : ''
    process.stderr.write(
      `npm start runs already: process ${pid}, http://127.0.0.1:${port}/mcp. Press Ctrl-C in its terminal, or stop it with:\n  npm run -s toolwell -- stop${force} --folder ${shellWord(place.state)}\n`,
    )
    process.exitCode = 1
    return
  }
  const isFirst = !isListed(place)
  await preparePlace(place)
  const child = startServe(place, '--port', wanted, '--events')
  // When everything that it has said is here, too.
  const ended = new Promise<number>((done) => child.once('close', (code) => done(code ?? 1)))
  // Ctrl-C goes to both; the gateway ends in its own time, and this process after it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  let isShown = false
  createInterface({ input: child.stdout }).on('line', (text) => {
    if (isShown) line(dim(text))
  })
  let found = await findDaemon(place.state)
  while (found.kind !== 'running' && child.exitCode === null) {
    await new Promise((done) => setTimeout(done, 50))
    found = await findDaemon(place.state)
  }
  // Another one may have been started in the same moment.
  const isOwn = found.kind === 'running' && found.file.pid === child.pid
  if (found.kind === 'running' && isOwn) {
    const running = found
    if (isFirst) line(dim('Listing the servers (the first time only) …'))
    const report = await settled(() => askDaemon(running, 'GET', '/status') as Promise<GatewayReport>).catch(
      () => undefined,
    )
    if (report) welcome(place, running.file.port, running.token, report)
    isShown = true
  }
  process.exitCode = await ended
  if (isOwn || (await findDaemon(place.state)).kind === 'none') clearPlace(place)
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
  const stdio = [process.execPath, SCRIPT, 'serve', '--stdio', '--folder', state]
    .map((word) => shellWord(word))
    .join(' ')
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
    `  Cursor       in ~/.cursor/mcp.json: ${JSON.stringify({ mcpServers: { toolwell: { url, headers: { Authorization: `Bearer ${token}` } } } })}`,
  )
  line(
    `  VS Code      code --add-mcp '${JSON.stringify({ name: 'toolwell', type: 'http', url, headers: { Authorization: `Bearer ${token}` } })}'`,
  )
  line(`  Gemini CLI   gemini mcp add toolwell ${stdio}`)
  line(`  Inspector    npx @modelcontextprotocol/inspector -- ${stdio}`)
  line(`  any other    over stdio: ${stdio}`)
  line()
  line(dim('What happens is shown below. Ctrl-C ends it.'))
  line()
}
