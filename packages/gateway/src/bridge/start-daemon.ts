/** Finds the daemon, or starts one and waits for it. If several clients need one, the first starts it. Uses only Node. */
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askDaemon, type Found, findDaemon } from './find-daemon.js'
import { logFileIn, preparePrivateFolder, readDaemonFile, readOwner } from './folder.js'
import { isAlive, isDaemon, isRunning, readStartTime } from './processes.js'
import { PROTOCOL, UPGRADE_PATH } from './protocol.js'

export interface StartOptions {
  readonly folder: string
  /** Command that starts a daemon on the folder. */
  readonly command: readonly string[]
  /** Milliseconds to wait for the daemon. */
  readonly patience?: number
}

/**
 * Node options for a background daemon: a quarter of the usual space for new objects. Saves tens of megabytes at almost no cost
 * in speed.
 */
export const DAEMON_FLAGS: readonly string[] = ['--max-semi-space-size=4']

export type Running = Extract<Found, { kind: 'running' }>

/** The daemon could not be started. The message says why and what to do. */
export class StartProblem extends Error {}

const PATIENCE = 30_000
const LOOK_EVERY = 50
/** Milliseconds after which a start counts as failed. */
const START_IS_OVER = 15_000
/** Milliseconds between creating and writing the claim file. */
const TO_WRITE = 1000

export async function findOrStartDaemon(options: StartOptions): Promise<Running> {
  const { folder, patience = PATIENCE } = options
  preparePrivateFolder(folder)
  const until = Date.now() + patience
  let exit: string | undefined
  for (;;) {
    const found = await findDaemon(folder)
    if (found.kind === 'running') {
      if (found.file.protocol === PROTOCOL) return found
      await replaceOlderDaemon(folder, found)
      continue
    }
    const owner = found.kind === 'none' ? readOwner(folder) : undefined
    if (owner !== undefined) throw new StartProblem(`This gateway is not running. Start it with: ${owner}`)
    if (exit !== undefined) throw new StartProblem(exit)
    if (Date.now() > until)
      throw new StartProblem(
        found.kind === 'silent'
          ? `The gateway (process ${found.file.pid}) does not answer. Stop it with: toolwell stop --force`
          : `The gateway did not start within ${patience / 1000} seconds. See its log: ${logFileIn(folder)}`,
      )
    if (found.kind === 'none' && claimStart(folder)) exit = await startOnce(options)
    else await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY))
  }
}

/**
 * Replaces an older daemon that a bridge started. It finishes its running calls while the new one starts. Other daemons with
 * another protocol are an error.
 */
async function replaceOlderDaemon(folder: string, { file }: Running): Promise<void> {
  if (file.protocol > PROTOCOL)
    throw new StartProblem(
      `The running gateway (${file.version}) is newer than this client's entry. Restart the client, or connect it again with: toolwell connect`,
    )
  if (file.startedBy !== 'bridge')
    throw new StartProblem(
      `The running gateway (${file.version}) is too old for this client. Stop it with: toolwell stop`,
    )
  await askDaemon({ file }, 'POST', UPGRADE_PATH)
  while (readDaemonFile(folder)?.instance === file.instance && (await isDaemon(file)))
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY))
}

const turnFileIn = (folder: string) => join(folder, 'starting')

/** Claims the start, so that only one client starts the daemon. */
function claimStart(folder: string): boolean {
  const file = turnFileIn(folder)
  try {
    writeFileSync(file, `${process.pid} ${readStartTime(process.pid)}`, { flag: 'wx', mode: 0o600 })
    return true
  } catch {
    if (isStaleClaim(file)) rmSync(file, { force: true })
    return false
  }
}

/** The process that claimed the start is gone or has failed. */
function isStaleClaim(file: string): boolean {
  const since = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  if (since === undefined) return false
  const age = Date.now() - since
  if (age > START_IS_OVER) return true
  try {
    const [pid = '', start = ''] = readFileSync(file, 'utf8').split(' ')
    return pid === '' ? age > TO_WRITE : !isAlive(Number(pid)) || readStartTime(Number(pid)) !== start
  } catch {
    return false
  }
}

/**
 * Starts the daemon, prints its process id and exits, so that no client is an ancestor of the daemon: some clients kill every
 * process below them when they exit. Closes descriptors that the client left open; Node does so only for low numbers.
 */
const LAUNCHER = `
const { closeSync, readdirSync, readFileSync } = require('node:fs')
const list = () => { try { return readdirSync('/proc/self/fd') } catch { return [] } }
for (const fd of list().filter((each) => each > 2)) {
  try {
    const [, flags] = /^flags:\\s*(\\d+)/m.exec(readFileSync('/proc/self/fdinfo/' + fd, 'latin1'))
    const closesOnExec = (parseInt(flags, 8) & 0o2000000) !== 0
    if (!closesOnExec) closeSync(Number(fd))
  } catch {}
}
const [program, ...words] = process.argv.slice(1)
const options = { detached: true, stdio: ['ignore', 2, 2], windowsHide: true }
const daemon = require('node:child_process').spawn(program, words, options)
daemon.on('error', ({ message }) => console.error(message))
if (daemon.pid) process.stdout.write(String(daemon.pid))
daemon.unref()
`

/** Starts the daemon and waits until it answers or exits. Returns the error, if any. */
async function startOnce({ folder, command }: StartOptions): Promise<string | undefined> {
  const leaveTurn = () => rmSync(turnFileIn(folder), { force: true })
  // The client may end before the daemon runs.
  process.once('exit', leaveTurn)
  // Loaded only here: most bridges find a running daemon.
  const { spawn } = await import('node:child_process')
  rotateLog(logFileIn(folder))
  const log = openSync(logFileIn(folder), 'a', 0o600)
  const from = statSync(logFileIn(folder)).size
  try {
    // Still there if the last daemon was killed; a stopped daemon removes it.
    const before = readDaemonFile(folder)?.words ?? []
    const launcher = spawn(process.execPath, ['-e', LAUNCHER, ...command, ...before], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', log],
      windowsHide: true,
    })
    let pid = ''
    let hasEnded = () => false
    launcher.stdout?.on('data', (chunk: Buffer) => {
      pid += String(chunk)
    })
    launcher.on('error', () => {
      hasEnded = () => true
    })
    launcher.on('close', () => {
      hasEnded = () => pid === '' || !isRunning(Number(pid))
    })
    const until = Date.now() + START_IS_OVER
    while (Date.now() < until) {
      // Checked first: a daemon that ends now may have found another one.
      const isOver = hasEnded()
      const { kind } = await findDaemon(folder)
      if (kind === 'running' || (isOver && kind === 'silent')) return undefined
      if (isOver) return describeFailure(lastLine(logFileIn(folder), from), before)
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY))
    }
    return undefined
  } finally {
    closeSync(log)
    process.off('exit', leaveTurn)
    leaveTurn()
  }
}

function describeFailure(reason: string, before: readonly string[]): string {
  const asBefore =
    before.length === 0
      ? ''
      : ` It was started with ${before.join(' ')}, the arguments of the gateway that was killed. To start it with your own config: toolwell serve`
  return `The gateway could not be started. ${reason}${asBefore}`
}

/** Size in bytes above which the log is rotated. */
const LARGEST_LOG = 1024 * 1024

/** Keeps one old log. */
function rotateLog(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= LARGEST_LOG) return
  try {
    renameSync(file, `${file}.old`)
  } catch {
    // Windows cannot rename an open file.
  }
}

function lastLine(file: string, from: number): string {
  let said = ''
  try {
    said = readFileSync(file).subarray(from).toString('utf8').trim().split('\n').at(-1) ?? ''
  } catch {
    // The folder was removed meanwhile.
    return `Its log would be ${file}`
  }
  return said === '' ? `See its log: ${file}` : said.replace(/^toolwell: /, '')
}
