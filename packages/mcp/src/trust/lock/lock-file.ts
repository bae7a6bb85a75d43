/** `toolwell.lock` on disk: JSON in a fixed order, so that a diff in version control can be read. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import { makeFolder } from '@toolwell/core/internal/node'
import { fingerprint } from '../../definition/fingerprint.js'
import { LOCK_VERSION, type Lock, type LockedServer, type LockedTool } from './lock.js'
import { LockError } from './lock-error.js'

export const LOCK_FILE = 'toolwell.lock'

/** Undefined where there is no file. Synchronous: no tool may be found before it is read. */
export function readLock(file: string): Lock | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new LockError(
      'failed',
      `${file} cannot be read: ${(cause as Error).message}.`,
      'Check the path and its permissions.',
      { cause },
    )
  }
  return parseLock(text, file)
}

/** Atomically: readers see the old file or the new one. A file that cannot be read as a lock is never written over. */
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
      'Check that the folder exists and may be written to.',
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
  // Whoever reads the file in a terminal or an editor sees what is in it.
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

/** Throws a LockError that names the file, the problem and the way out. */
export function parseLock(text: string, file = LOCK_FILE): Lock {
  if (/^(?:<{7}|>{7}|={7}|\|{7})(?: |\r?$)/m.test(text))
    throw new LockError(
      'conflict',
      `${file} has the markers of a merge conflict.`,
      `Take either side (git checkout --ours or --theirs ${file}), then run: toolwell lock --check`,
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
      `${file} has version ${version}; this program knows ${LOCK_VERSION}.`,
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
    // The text is what people review and the hash is what counts: they must say the same.
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
