/** The daemon's private folder: its location, the token, and the file that says where the daemon runs. Uses only Node. */
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

/** The folder cannot be used. The message says what to do. */
export class FolderProblem extends Error {}

/** Creates the folder with access for this user only. An existing folder is not changed, and refused if others can write to it. */
export function preparePrivateFolder(folder: string): void {
  try {
    const isNew = makeFolder(folder)
    const { uid, mode } = statSync(folder)
    const own = process.getuid?.()
    if (own !== undefined && uid !== own)
      throw new FolderProblem(`${folder} belongs to another user. Choose another folder with --folder.`)
    if (process.platform === 'win32') return
    if (isNew) chmodSync(folder, 0o700)
    else if ((mode & 0o022) !== 0)
      throw new FolderProblem(
        // The sticky bit, as on /tmp, marks a folder for all users.
        (mode & 0o1000) !== 0
          ? `${folder} is shared by all users. Choose a private folder with --folder.`
          : `Other users can write to ${folder}. Choose another folder with --folder, or remove their access: chmod go-w ${folder}`,
      )
  } catch (error) {
    if (error instanceof FolderProblem) throw error
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new FolderProblem(
      `${folder} cannot be used (${code}). Check its permissions, or choose another folder with --folder.`,
    )
  }
}

/**
 * Creates the folder and its parents. False if it exists. Node's `recursive` option loops forever if nothing can be created in an
 * existing folder such as `/proc`.
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

/** Reads the token, and creates one if there is none. */
export function readToken(folder: string): string {
  const known = tokenIn(folder)
  if (known !== undefined) return known
  try {
    writeFileSync(tokenFileIn(folder), `${newToken()}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    // Another process created it first, or the file contains no token.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(folder, error)
    if (tokenIn(folder) === undefined) return replaceToken(folder)
  }
  return tokenIn(folder) ?? replaceToken(folder)
}

/** Reads the token. Undefined if there is none. */
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

/** Generates a new token. The old one stops working. */
export function replaceToken(folder: string): string {
  const token = newToken()
  writePrivate(tokenFileIn(folder), `${token}\n`, folder)
  return token
}

export function newToken(): string {
  return `tw_${randomBytes(32).toString('base64url')}`
}

/** True for a name that a token may have. Tokens themselves and `stdio:` names do not pass. */
export function isTokenName(name: string): boolean {
  return /^[a-z\d][\w.-]{0,39}$/i.test(name) && name !== 'owner'
}

/** Proves knowledge of the key without revealing it. A proof is valid for one port and instance, so it cannot be relayed. */
export function createProof(
  key: string,
  { port, instance, challenge }: Pick<DaemonFile, 'port' | 'instance'> & { readonly challenge: string },
): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['toolwell identity', port, instance, challenge]))
    .digest('base64url')
}

export function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Undefined if the file is missing or invalid. */
export function readDaemonFile(folder: string): DaemonFile | undefined {
  try {
    const file = JSON.parse(readFileSync(daemonFileIn(folder), 'utf8')) as Partial<DaemonFile>
    const isWhole =
      Number.isInteger(file.pid) &&
      // 0 and negative numbers are process groups.
      Number(file.pid) > 0 &&
      isPort(file.port) &&
      typeof file.instance === 'string' &&
      typeof file.key === 'string' &&
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

/** Leaves the file of another daemon alone. */
export function removeDaemonFile(folder: string, instance: string): void {
  if (readDaemonFile(folder)?.instance === instance) rmSync(daemonFileIn(folder), { force: true })
}

/** Reserves the folder: from now on only the owner's `command` starts a daemon here, no client does. */
export function keepForOwner(folder: string, command: string): void {
  preparePrivateFolder(folder)
  writePrivate(ownerFileIn(folder), `${command}\n`, folder)
}

/** The command that may start a daemon here. Undefined if any client may. */
export function readOwner(folder: string): string | undefined {
  try {
    return readFileSync(ownerFileIn(folder), 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Writes the file atomically. */
export function writePrivate(file: string, text: string, folder: string): void {
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
    `Cannot write to ${folder} (${code}). Check its permissions, or choose another folder with --folder.`,
  )
}
