/** Reads and writes `toolwell.lock`: JSON in a fixed order, for readable diffs in version control. */

import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { open, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import { makeFolder } from '@toolwell/core/internal/node'
import { describeReadError, MOST_BYTES_OF_DATA, readSmallFile } from '../../config/read-small-file.js'
import type { ServerConfig } from '../../config/server-config.js'
import { fingerprint } from '../../definition/fingerprint.js'
import { LOCK_VERSION, type Lock, LockError, type LockedServer, type LockedTool } from './lock.js'

export const LOCK_FILE = 'toolwell.lock'

/** Undefined if the file is missing. Synchronous, because no tool may be found before it is read. */
export function readLock(file: string): Lock | undefined {
  let text: string
  try {
    text = readSmallFile(file, MOST_BYTES_OF_DATA).toString('utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const { reason, fix } = describeReadError(cause)
    throw new LockError('failed', `${file} cannot be read: ${reason}.`, `${fix}.`, { cause })
  }
  return parseLock(text, file)
}

/** Writes atomically. Never overwrites a file that is not a valid lock. */
export async function writeLock(file: string, lock: Lock): Promise<void> {
  readLock(file)
  const target = await realpath(file).catch(() => file)
  const draft = join(dirname(target), `.${randomUUID()}.tmp`)
  try {
    makeFolder(dirname(target))
    const handle = await open(draft, 'wx', 0o644)
    try {
      await handle.writeFile(formatLock(lock))
      await handle.chmod(0o644)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, target)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {})
    throw new LockError(
      'failed',
      `${file} cannot be written: ${(cause as Error).message}.`,
      'Check that the folder exists and is writable.',
      { cause },
    )
  }
}

export function formatLock(lock: Lock): string {
  const servers = Object.entries(lock.servers).sort(byName)
  const sorted = servers.map(([name, { fingerprint: whole, start, instructions, tools }]) => [
    name,
    { fingerprint: whole, start, instructions, tools: plain(Object.entries(tools).sort(byName)) },
  ])
  const text = JSON.stringify(
    { version: lock.version, servers: plain(sorted as [string, unknown][]) },
    null,
    2,
  )
  // Escape invisible characters, so that they can be seen in a terminal or an editor.
  return `${text.replace(/\p{Default_Ignorable_Code_Point}|[\p{Cf}\p{Co}\p{Cn}\u007f-\u009f\u2028\u2029\u2800]/gu, escaped)}\n`
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) =>
  one < other ? -1 : 1

function plain(entries: readonly (readonly [string, unknown])[]): object {
  const result = Object.create(null) as Record<string, unknown>
  for (const [key, value] of entries) result[key] = value
  return result
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** Throws a `LockError` with file, problem and fix. */
export function parseLock(text: string, file = LOCK_FILE): Lock {
  if (/^(?:<{7}|>{7}|={7}|\|{7})(?: |\r?$)/m.test(text))
    throw new LockError(
      'conflict',
      `${file} contains merge conflict markers.`,
      `Choose one side (git checkout --ours or --theirs ${file}), then run: toolwell lock --check`,
    )
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw corrupt(file, `it is not JSON (${(cause as Error).message.slice(0, 120)})`)
  }
  if (!isRecord(value)) throw corrupt(file, 'it is not an object')
  const { version, servers } = value
  if (typeof version === 'number' && version > LOCK_VERSION)
    throw new LockError(
      'too-new',
      `${file} has version ${version}; this program supports ${LOCK_VERSION}.`,
      'Update Toolwell, or move the file away and run: toolwell lock',
    )
  if (version !== LOCK_VERSION)
    throw corrupt(file, `its version is ${JSON.stringify(version)?.slice(0, 40)} instead of ${LOCK_VERSION}`)
  if (!isRecord(servers)) throw corrupt(file, 'it has no "servers"')
  const result: [string, LockedServer][] = []
  for (const [name, server] of Object.entries(servers))
    result.push([name, parseServer(server, `servers[${JSON.stringify(name)}]`, file)])
  return { version: LOCK_VERSION, servers: plain(result) as Lock['servers'] }
}

function parseServer(value: unknown, path: string, file: string): LockedServer {
  if (
    !isRecord(value) ||
    typeof value.fingerprint !== 'string' ||
    typeof value.instructions !== 'string' ||
    !isRecord(value.tools)
  )
    throw corrupt(file, `${path} lacks "fingerprint", "instructions" or "tools"`)
  const tools: [string, LockedTool][] = []
  for (const [name, tool] of Object.entries(value.tools)) {
    const where = `${path}.tools[${JSON.stringify(name)}]`
    if (!isRecord(tool) || typeof tool.fingerprint !== 'string' || !isRecord(tool.definition))
      throw corrupt(file, `${where} lacks "fingerprint" or "definition"`)
    // People review the text, but the hash decides: they must match.
    if (fingerprint(tool.definition) !== tool.fingerprint)
      throw corrupt(file, `the fingerprint of ${where} does not match its definition`)
    tools.push([name, tool as unknown as LockedTool])
  }
  return {
    fingerprint: value.fingerprint,
    start: typeof value.start === 'string' ? value.start : '',
    instructions: value.instructions,
    tools: plain(tools) as LockedServer['tools'],
  }
}

function corrupt(file: string, problem: string): LockError {
  return new LockError(
    'corrupt',
    `${file} cannot be used: ${problem}. Nothing was changed.`,
    'Restore it from version control, or move it away and run: toolwell lock',
  )
}

export type LockState =
  | { readonly file: string; readonly lock: Lock; readonly problem?: undefined }
  /** The lock cannot be used: then nothing is trusted. */
  | { readonly file: string; readonly lock?: undefined; readonly problem: string }

export interface Locks {
  /** The current lock: the same object until the file changes. Undefined if there is none. */
  of(server: Pick<ServerConfig, 'file'>): LockState | undefined
  /** Forces all locks to be read again. */
  forget(): void
}

/** Path of the lock next to the config of a server. */
export function findLockFile({ file }: Pick<ServerConfig, 'file'>): string | undefined {
  return file === undefined ? undefined : getLockPath(file)
}

const getLockPath = (config: string) => join(dirname(config), LOCK_FILE)

/** `fixed`: this file for all servers; `false`: none. */
export function createLocks(fixed?: string | false): Locks {
  const known = new Map<string, { readonly stamp: string; readonly state: LockState | undefined }>()
  /** Computed once per config: every call checks its lock. */
  const paths = new Map<string, string>()
  const lockPath = (config: string): string => {
    const path = paths.get(config) ?? getLockPath(config)
    paths.set(config, path)
    return path
  }
  return {
    of(server) {
      const own = server.file === undefined ? undefined : lockPath(server.file)
      const file = fixed === false ? undefined : (fixed ?? own)
      if (file === undefined) return undefined
      // Before reading: a write in between is noticed the next time.
      const stamp = stampOf(file)
      const last = known.get(file)
      if (last?.stamp === stamp) return last.state
      const state = read(file)
      known.set(file, { stamp, state })
      return state
    },
    forget: () => known.clear(),
  }
}

/** A lock is written as a new file, so its inode changes even within one clock tick. */
function stampOf(file: string): string {
  try {
    // Most servers have no lock, and throwing would be slow.
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
    return stat ? `${stat.mtimeNs}-${stat.size}-${stat.ino}` : 'none'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? ''
  }
}

function read(file: string): LockState | undefined {
  try {
    const lock = readLock(file)
    return lock && { file, lock }
  } catch (error) {
    return { file, problem: error instanceof Error ? error.message : String(error) }
  }
}
