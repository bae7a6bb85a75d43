/**
 * `npm start`: runs the gateway on loopback with MCP servers and sample clients, and prints the lines that connect your own.
 * `npm start -- --once`, or without a terminal: plays a proof through it with real MCP clients, then exits.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { nearest } from '@toolwell/core/internal'
import type { GatewayReport } from '@toolwell/gateway'
import {
  askDaemon,
  DASHBOARD_LINK_PATH,
  findDaemon,
  keepForOwner,
  readToken,
  shellWord,
} from '@toolwell/gateway/bridge'
import { clientLines, REMOVAL } from './gateway/client-lines.ts'
import { onInterrupt, PATIENCE } from './gateway/on-interrupt.ts'
import {
  clearPlace,
  hasEnded,
  isListed,
  type Place,
  placeIn,
  preparePlace,
  SCRIPT,
  startServe,
} from './gateway/place.ts'
import { play } from './gateway/play.ts'
import { playSample, sampleServers, TICKETS } from './gateway/sample.ts'
import { createStarted } from './gateway/started.ts'
import { bold, cyan, dim, green, heading, line, red, thousands } from './proof/print.ts'

const USAGE = `Usage: npm start [-- FLAGS]

The gateway with five MCP servers from npm on an example project, two sample servers and three sample clients,
until Ctrl-C.

  --once           A proof instead, with real MCP clients and a scripted model, and an end. The exit code is 0 when
                   every check holds. So it is without a terminal, too, unless --stay is given.
  --stay           Stay open without a terminal: npm start -- --stay > gateway.log &
  --open           Open the dashboard in your browser.
  --port PORT      The port on 127.0.0.1. Default 7412; 0: any that is free.
  --folder FOLDER  Where the token, the cache and the example project are. Default: node_modules/.toolwell-start
  --help           This text.

npm run proof is the library's own.
`
/** Differs from the port of `toolwell serve`, so that both can run. */
const PORT = '7412'
/** Lines with commands that would read the user's config. The dashboard reads the config of this gateway. */
const APPROVAL = /^ {4}(?:Review|Approve) (?:it|them)/
/** Folder for `toolwell status`. */
const FOLDER = fileURLToPath(new URL('../node_modules/.toolwell-start/', import.meta.url))

const flags = readFlags(process.argv.slice(2))
if (typeof flags === 'string') {
  process.stderr.write(`${flags}\n\n${USAGE}`)
  process.exitCode = 2
} else if (flags.help) process.stdout.write(USAGE)
else if (flags.once) await once()
else if (flags.stay || process.stdout.isTTY) await stay(placeIn(flags.folder), flags.port, flags.open)
else {
  line(
    'Without a terminal, this runs the checks and exits, as with --once. To stay open: npm start -- --stay',
  )
  await once()
}

/** Returns a sentence if the flags are invalid. */
function readFlags(words: string[]) {
  const { values, tokens } = parseArgs({
    args: words,
    strict: false,
    tokens: true,
    options: {
      once: { type: 'boolean' },
      stay: { type: 'boolean' },
      open: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      port: { type: 'string' },
      folder: { type: 'string' },
    },
  })
  const known = ['once', 'stay', 'open', 'help', 'port', 'folder']
  const unknown = tokens.flatMap((token) =>
    token.kind === 'option'
      ? known.includes(token.name)
        ? []
        : [token.rawName]
      : [words[token.index] ?? ''],
  )
  if (unknown.length > 0) {
    const [meant] = nearest(
      unknown[0] ?? '',
      known.map((name) => `--${name}`),
      1,
    )
    return `Unknown: ${unknown.join(' ')}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`
  }
  const { port = PORT, folder = FOLDER } = values
  if (typeof port !== 'string' || !/^\d{1,5}$/.test(port)) return '--port needs a number.'
  if (typeof folder !== 'string' || folder === '') return '--folder needs a folder.'
  if (values.once && values.stay) return '--once ends and --stay does not: give one of the two.'
  const from = process.env.INIT_CWD ?? process.cwd()
  return {
    once: values.once === true,
    stay: values.stay === true,
    open: values.open === true,
    help: values.help === true,
    port,
    folder: resolve(from, folder),
  }
}

async function once(): Promise<void> {
  const checks: { readonly what: string; readonly holds: boolean }[] = []
  const place = placeIn(mkdtempSync(join(tmpdir(), 'toolwell-start-')))
  const started = createStarted(place)
  const ending = new AbortController()
  const remove = () => rmSync(place.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  onInterrupt(
    () => {
      // Requests that are under way fail when the gateway ends, and nobody waits for them any more.
      process.on('unhandledRejection', () => undefined)
      ending.abort()
    },
    () => {
      started.kill()
      remove()
    },
  )
  const interrupted = new Promise<never>((_, reject) => {
    ending.signal.addEventListener('abort', () => reject(ending.signal.reason))
  })
  interrupted.catch(() => undefined)
  heading('Toolwell gateway', 'the model is scripted; clients, gateway, servers and files are real')
  try {
    await preparePlace(place)
    // Open requests need no answer after an interrupt.
    await Promise.race([
      play(place, (what, holds) => checks.push({ what, holds }), started, ending.signal),
      interrupted,
    ])
  } catch (error) {
    if (!ending.signal.aborted) throw error
  } finally {
    // Processes that still write would recreate the removed files.
    await started.end()
    remove()
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

async function stay(place: Place, wanted: string, isOpening: boolean): Promise<void> {
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
  if (!(await isFree(Number(wanted)))) {
    process.stderr.write(
      `Port ${wanted} is used by another program. Give another, or 0 for any that is free:\n  npm start -- --port PORT\n`,
    )
    process.exitCode = 2
    return
  }
  const isFirst = !isListed(place)
  let isInterrupted = false
  let gateway: ReturnType<typeof startServe> | undefined
  // Ctrl-C reaches both processes. The gateway gets a short time to stop, then this process exits.
  onInterrupt(
    (signal) => {
      isInterrupted = true
      gateway?.kill(signal)
      setTimeout(() => gateway?.kill('SIGKILL'), PATIENCE).unref()
    },
    () => {
      gateway?.kill('SIGKILL')
      clearPlace(place)
    },
  )
  await preparePlace(place, sampleServers(TICKETS))
  // Only this program knows the servers, port and folders, so clients must not start the gateway.
  keepForOwner(place.state, commandFor(place, wanted))
  if (isInterrupted) {
    clearPlace(place)
    line('Stopped.')
    process.exitCode = 130
    return
  }
  const child = startServe(place, '--port', wanted, '--events')
  gateway = child
  // Waits until all output has arrived.
  const ended = new Promise<number>((done) =>
    child.once('close', (code, signal) => done(code ?? (signal === null ? 1 : 130))),
  )
  let isShown = false
  let last = ''
  let hasClient = false
  createInterface({ input: child.stdout }).on('line', (text) => {
    last = text
    hasClient ||= text.startsWith('+ a client ')
    if (isShown && !APPROVAL.test(text)) line(dim(text))
  })
  let found = await findDaemon(place.state)
  while (found.kind !== 'running' && !hasEnded(child)) {
    await new Promise((done) => setTimeout(done, 50))
    found = await findDaemon(place.state)
  }
  // Another process may have started a gateway at the same moment.
  const isOwn = found.kind === 'running' && found.file.pid === child.pid
  if (found.kind === 'running' && isOwn) {
    const running = found
    if (isFirst) line(dim('Listing the servers (the first time only) …'))
    const report = await settled(() => askDaemon(running, 'GET', '/status') as Promise<GatewayReport>).catch(
      () => undefined,
    )
    // Anyone with the link may approve and change the config, so it does not go to a file.
    const link = process.stdout.isTTY
      ? await askDaemon(running, 'POST', DASHBOARD_LINK_PATH).catch(() => undefined)
      : undefined
    const { url } = (link ?? {}) as { url?: string }
    if (report && !isInterrupted) welcome(place, running.file.port, readToken(place.state), report, url)
    isShown = true
    playSample(place, running.file.port).catch((error: Error) => {
      if (!isInterrupted) line(`! the sample clients stopped: ${error.message}`)
    })
    if (isOpening && url !== undefined)
      spawn(process.execPath, [SCRIPT, 'dashboard', '--open', '--folder', place.state], { stdio: 'inherit' })
  }
  process.exitCode = await ended
  // The gateway prints it, unless it was interrupted early or its output was hidden.
  if (isInterrupted && !(isShown && last === 'Stopped.')) line('Stopped.')
  if (isInterrupted && hasClient) line(REMOVAL)
  if (isOwn || (await findDaemon(place.state)).kind === 'none') clearPlace(place)
}

/** The command that starts this gateway from any folder. */
function commandFor({ folder }: Place, port: string): string {
  const words = [
    ...(port === PORT ? [] : ['--port', port]),
    ...(folder === resolve(FOLDER) ? [] : ['--folder', shellWord(folder)]),
  ]
  const root = resolve(fileURLToPath(new URL('..', import.meta.url)))
  return ['cd', shellWord(root), '&&', 'npm start', ...(words.length === 0 ? [] : ['--', ...words])].join(' ')
}

/** The gateway reports other problems with the port. */
async function isFree(port: number): Promise<boolean> {
  if (!(port >= 0 && port <= 65_535)) return true
  const probe = createServer()
  return new Promise((resolve) => {
    probe.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE'))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

/** Waits until every server is listed, with a time limit. */
async function settled(ask: () => Promise<GatewayReport>): Promise<GatewayReport> {
  for (let round = 0; ; round++) {
    const report = await ask()
    const isReady = report.serverSets.every(({ servers }) =>
      servers.every(({ state }) => state !== 'connecting'),
    )
    if (isReady || round > 300) return report
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function welcome(
  { state, project }: Place,
  at: number,
  token: string,
  { serverSets }: GatewayReport,
  dashboard: string | undefined,
): void {
  const url = `http://127.0.0.1:${at}/mcp`
  const { servers = [], tokens = { all: 0, list: 0, saved: 0 } } = serverSets[0] ?? {}
  const count = servers.reduce((sum, { tools }) => sum + tools, 0)
  heading('The Toolwell gateway is running', project)
  if (dashboard !== undefined) {
    line(`  ${bold('Dashboard')}  ${cyan(dashboard)}`)
    line(
      dim(
        `             works once, within two minutes; another: npm run -s toolwell -- dashboard --folder ${shellWord(state)}`,
      ),
    )
    line()
  }
  line(`  ${bold('URL')}    ${cyan(url)}`)
  line(`  ${bold('token')}  ${token}`)
  line(
    `  ${bold('cost')}   ${count} tools of ${servers.length} servers: about ${thousands(tokens.all)} tokens in every request if all were sent, ${thousands(tokens.list)} through the gateway`,
  )
  line()
  line(bold('Connect a client'))
  for (const each of clientLines([process.execPath, SCRIPT, 'serve', '--stdio', '--folder', state]))
    line(`  ${each}`)
  line()
  line(`${bold('Ask it')}  Use toolwell to read src/invoice.js. What is wrong in it?`)
  line(dim('        It is the example project: a few lines that add up an invoice, with a mistake in them.'))
  line()
  line(
    dim(
      'Three sample clients begin now. One of the servers fails, and one changes a definition, so that you see how the dashboard shows it.',
    ),
  )
  line(dim('What happens is shown below. Ctrl-C ends it.'))
  line()
}
