/** Finds the daemon, or starts one and waits for it. Whoever is first starts it; the others wait. Thin: Node alone. */
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askDaemon, type Found, findDaemon } from './find-daemon.js'
import { logFileIn, preparePrivateFolder, readDaemonFile, readOwner, readToken } from './folder.js'
import { isAlive, isDaemon, readStartTime } from './processes.js'
import { PROTOCOL } from './protocol.js'

export interface StartOptions {
  readonly folder: string
  /** The words that start a daemon on the folder. */
  readonly command: readonly string[]
  /** Milliseconds until it has to be there. */
  readonly patience?: number
}

/**
 * Options of Node for a daemon in the background: its space for new objects has a quarter of the usual size. That saves tens of
 * megabytes for as long as it runs, and makes it hardly slower.
 */
export const DAEMON_FLAGS: readonly string[] = ['--max-semi-space-size=4']

export type Running = Extract<Found, { kind: 'running' }>

/** It could not be started. The message says why and what to do. */
export class StartProblem extends Error {}

const PATIENCE = 30_000
const LOOK_EVERY = 50
/** A start that has not come to anything for so long is somebody else's failure. */
const START_IS_OVER = 15_000
/** It is made and then written. */
const TO_WRITE = 1000

export async function findOrStartDaemon(options: StartOptions): Promise<Running> {
  const { folder, patience = PATIENCE } = options
  preparePrivateFolder(folder)
  // The daemon makes it too; here, so that it is there when the daemon is asked.
  readToken(folder)
  const until = Date.now() + patience
  let exit: string | undefined
  for (;;) {
    const found = await findDaemon(folder)
    if (found.kind === 'running') {
      if (found.file.protocol === PROTOCOL) return found
      await stopOlderDaemon(found)
      continue
    }
    const owner = found.kind === 'none' ? readOwner(folder) : undefined
    if (owner !== undefined)
      throw new StartProblem(`This gateway is not running. Run it again with: ${owner}`)
    if (exit !== undefined) throw new StartProblem(exit)
    if (Date.now() > until)
      throw new StartProblem(
        found.kind === 'silent'
          ? `The gateway (process ${found.file.pid}) does not answer. End it with: toolwell stop --force`
          : `The gateway did not start in ${patience / 1000} seconds. Its log is ${logFileIn(folder)}`,
      )
    if (found.kind === 'none' && claimStart(folder)) exit = await startOnce(options)
    else await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY))
  }
}

/** A daemon of another version cannot be talked to. An older one that stops by itself anyway is asked to stop now. */
async function stopOlderDaemon({ file, token }: Running): Promise<void> {
  if (file.protocol > PROTOCOL)
    throw new StartProblem(
      `The gateway that runs is of a newer version (${file.version}) than this client's entry. Restart the client, or connect it again with: toolwell connect`,
    )
  if (file.startedBy !== 'bridge')
    throw new StartProblem(
      `The gateway that runs is of an older version (${file.version}). Stop it with: toolwell stop`,
    )
  await askDaemon({ file, token }, 'POST', '/stop')
  while (await isDaemon(file)) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY))
}

const turnFileIn = (folder: string) => join(folder, 'starting')

/** One of many that want to start it. */
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

/** Whoever took the turn is gone, or has come to nothing. */
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

/** Waits until a daemon answers or the program ends; in words why, where it ended without one. */
async function startOnce({ folder, command }: StartOptions): Promise<string | undefined> {
  const leaveTurn = () => rmSync(turnFileIn(folder), { force: true })
  // The client may be gone before the daemon is there.
  process.once('exit', leaveTurn)
  // Most bridges find a daemon, and need no more than they have.
  const { spawn } = await import('node:child_process')
  rotateLog(logFileIn(folder))
  const log = openSync(logFileIn(folder), 'a', 0o600)
  const from = statSync(logFileIn(folder)).size
  try {
    const [program = '', ...words] = command
    // The file of one that was killed is still there; one that was stopped has taken it along.
    const before = readDaemonFile(folder)?.words ?? []
    const child = spawn(program, [...words, ...before], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', log, log],
      windowsHide: true,
    })
    child.unref()
    let ended: string | undefined
    child.on('error', (error) => {
      ended = `The gateway could not be started: ${error.message}.`
    })
    child.on('exit', (code) => {
      // One that found another running ends with 0.
      const asBefore =
        before.length === 0
          ? ''
          : ` It was started with ${before.join(' ')}, as before it was killed. To start it with your own config: toolwell serve`
      ended =
        code === 0 ? '' : `The gateway could not be started. ${lastLine(logFileIn(folder), from)}${asBefore}`
    })
    const until = Date.now() + START_IS_OVER
    while (Date.now() < until && ended === undefined) {
      if ((await findDaemon(folder)).kind === 'running') return undefined
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY))
    }
    return ended || undefined
  } finally {
    closeSync(log)
    process.off('exit', leaveTurn)
    leaveTurn()
  }
}

/** Bytes of a log that the next daemon goes on with. */
const LARGEST_LOG = 1024 * 1024

/** A log that has grown makes way for a new one, and is kept until that has grown, too. */
function rotateLog(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= LARGEST_LOG) return
  try {
    renameSync(file, `${file}.old`)
  } catch {
    // On Windows nothing is renamed that somebody has open.
  }
}

function lastLine(file: string, from: number): string {
  let said = ''
  try {
    said = readFileSync(file).subarray(from).toString('utf8').trim().split('\n').at(-1) ?? ''
  } catch {
    // Somebody has removed the folder meanwhile.
    return `Its log was to be ${file}`
  }
  return said === '' ? `Its log is ${file}` : said.replace(/^toolwell: /, '')
}
