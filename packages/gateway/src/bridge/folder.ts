/** The private folder of the daemon: where it is, the token, and the file that says where the daemon is. Thin: Node alone. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { DaemonFile } from './protocol.js'

type Env = Readonly<Record<string, string | undefined>>

export function defaultGatewayFolder(env: Env = process.env): string {
  const base =
    env.XDG_STATE_HOME ||
    (process.platform === 'win32' && env.LOCALAPPDATA) ||
    (process.platform === 'darwin'
      ? join(homedir(), 'Library', 'Application Support')
      : join(homedir(), '.local', 'state'))
  return join(base, 'toolwell', 'gateway')
}

export const logFileIn = (folder: string): string => join(folder, 'gateway.log')
const ownerFileIn = (folder: string): string => join(folder, 'owner')
const daemonFileIn = (folder: string): string => join(folder, 'daemon.json')
export const tokenFileIn = (folder: string): string => join(folder, 'token')

/** A folder that cannot be used. The message says what to do. */
export class FolderProblem extends Error {}

/** Makes the folder where it is missing, for this user alone. One that is there stays as it is, and is refused where others may write. */
export function preparePrivateFolder(folder: string): void {
  try {
    const isNew = makeFolder(folder)
    const { uid, mode } = statSync(folder)
    const own = process.getuid?.()
    if (own !== undefined && uid !== own)
      throw new FolderProblem(`${folder} belongs to another user. Give another folder with --folder.`)
    if (process.platform === 'win32') return
    if (isNew) chmodSync(folder, 0o700)
    else if ((mode & 0o022) !== 0)
      throw new FolderProblem(
        // One with the sticky bit, as /tmp has it, is for all users.
        (mode & 0o1000) !== 0
          ? `${folder} is for all users. Give a folder of your own with --folder.`
          : `Other users may write to ${folder}. Give another folder with --folder, or close it to them: chmod go-w ${folder}`,
      )
  } catch (error) {
    if (error instanceof FolderProblem) throw error
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new FolderProblem(
      `${folder} cannot be used (${code}). Check its permissions, or give another folder with --folder.`,
    )
  }
}

/**
 * With those above it; false where it is there. Not by Node's `recursive`: that tries for ever where a folder is there and nothing can
 * be made in it, as in `/proc`.
 */
function makeFolder(folder: string): boolean {
  const above = dirname(folder)
  if (above !== folder && !existsSync(above)) makeFolder(above)
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return false
    throw error
  }
}

/** The token; made where there is none. */
export function readToken(folder: string): string {
  const known = tokenIn(folder)
  if (known !== undefined) return known
  try {
    writeFileSync(tokenFileIn(folder), `${newToken()}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    // Another process was faster, or the file is there and holds none.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(folder, error)
    if (tokenIn(folder) === undefined) return replaceToken(folder)
  }
  return tokenIn(folder) ?? replaceToken(folder)
}

/** The token as it is in the file, or undefined where there is none. */
export function tokenIn(folder: string): string | undefined {
  const file = tokenFileIn(folder)
  try {
    const token = readFileSync(file, 'utf8').trim()
    if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
    return /^[\w-]{32,}$/.test(token) ? token : undefined
  } catch {
    return undefined
  }
}

/** A new token instead of the old one, at once and for everybody. */
export function replaceToken(folder: string): string {
  const token = newToken()
  writePrivate(tokenFileIn(folder), `${token}\n`, folder)
  return token
}

function newToken(): string {
  return `tw_${randomBytes(32).toString('base64url')}`
}

/** Shows that one knows the token, without saying it. */
export function createProof(token: string, challenge: string): string {
  return createHmac('sha256', token).update(`toolwell identity ${challenge}`).digest('base64url')
}

export function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Undefined where there is none, or none that can be read. */
export function readDaemonFile(folder: string): DaemonFile | undefined {
  try {
    const file = JSON.parse(readFileSync(daemonFileIn(folder), 'utf8')) as Partial<DaemonFile>
    const isWhole =
      Number.isInteger(file.pid) &&
      // 0 and below are groups of processes.
      Number(file.pid) > 0 &&
      isPort(file.port) &&
      typeof file.instance === 'string' &&
      typeof file.version === 'string' &&
      Number.isInteger(file.protocol) &&
      (file.words === undefined || isStringList(file.words))
    return isWhole ? (file as DaemonFile) : undefined
  } catch {
    return undefined
  }
}

function isPort(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= 65_535
}

function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

export function writeDaemonFile(folder: string, file: DaemonFile): void {
  writePrivate(daemonFileIn(folder), `${JSON.stringify(file, null, 2)}\n`, folder)
}

/** Only the file of this daemon: another one may be there by now. */
export function removeDaemonFile(folder: string, instance: string): void {
  if (readDaemonFile(folder)?.instance === instance) rmSync(daemonFileIn(folder), { force: true })
}

/** From now on no client starts a daemon on this folder: only who has this command does. */
export function keepForOwner(folder: string, command: string): void {
  preparePrivateFolder(folder)
  writePrivate(ownerFileIn(folder), `${command}\n`, folder)
}

/** The command that alone starts a daemon on this folder; undefined where any client may. */
export function readOwner(folder: string): string | undefined {
  try {
    return readFileSync(ownerFileIn(folder), 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Whole or not at all. */
function writePrivate(file: string, text: string, folder: string): void {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw unwritable(folder, error)
  }
}

function unwritable(folder: string, error: unknown): FolderProblem {
  const { code = String(error) } = error as NodeJS.ErrnoException
  return new FolderProblem(
    `Nothing can be written to ${folder} (${code}). Check its permissions, or give another folder with --folder.`,
  )
}
