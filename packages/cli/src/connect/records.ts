/** Records of connected clients and copies of their files, in the user's data folder, readable by the owner only. */
import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import { makeFolder, withFileLock } from '@toolwell/core/internal/node'
import { defaultFirstUseFolder } from '@toolwell/mcp/internal'
import { SHAPES, type ShapeName } from '../shared/clients/shapes.js'
import { Problem } from '../shared/problem.js'
import type { Terminal } from '../shared/terminal.js'
import { digestBytes } from './client-files.js'
import type { NewEntry, Table } from './edit/change.js'

const FORMAT = 1

/** A server that was moved to toolwell.json. */
export interface TakenEntry extends NewEntry {
  /** Its name in toolwell.json. */
  readonly as: string
}

export interface ClientRecord {
  readonly format: typeof FORMAT
  readonly client: string
  readonly label: string
  readonly shape: ShapeName
  /** The path, and the target if it is a link. */
  readonly file: string
  readonly real: string
  readonly table: Table
  /** Digests of the content. Without `before`, the file did not exist. */
  readonly before?: string
  readonly after: string
  /** The topmost folder that was created with the file. */
  readonly made?: string
  readonly taken: readonly TakenEntry[]
  /** An earlier Toolwell entry, for example of `npm start`. */
  readonly replaced?: NewEntry
  /** The copy is from the last connect, because the file changed after the first one. */
  readonly isRebased?: true
  /** Permissions of the file, in case it is deleted. */
  readonly mode?: number
}

/** Servers added to toolwell.json. */
export interface ServersRecord {
  readonly format: typeof FORMAT
  readonly file: string
  readonly before?: string
  readonly after: string
  readonly made?: string
  /** Name to digest of the entry. An entry with another digest was changed by the user. */
  readonly added: Readonly<Record<string, string>>
}

export interface Records {
  readonly folder: string
  clients(): ClientRecord[]
  /** The earlier content; undefined if the file did not exist. */
  before(record: { readonly before?: string }): Buffer | undefined
  write(record: ClientRecord, before: Buffer | undefined): void
  remove(record: ClientRecord): void
  servers(): ServersRecord | undefined
  writeServers(record: ServersRecord, before: Buffer | undefined): void
  removeServers(): void
  /** Deletes unused copies and drafts of killed runs. */
  sweep(): void
  /** Saves a copy of a file that is about to be overwritten, and returns its path. */
  keep(client: string, bytes: Buffer): string
}

export function recordsFolder(env: Terminal['env']): string {
  return join(dirname(defaultFirstUseFolder(env)), 'connect')
}

export function openRecords(folder: string): Records {
  const inside = (name: string) => join(folder, name)
  const backupOf = (digest: string) => inside(`${digest.slice(0, 40)}.before`)
  const fileOf = ({ real }: { readonly real: string }) =>
    inside(`client-${createHash('sha256').update(real).digest('hex').slice(0, 32)}.json`)
  const serversFile = inside('servers.json')
  const readAll = () => clientFiles(folder).map((name) => read(inside(name), isClientRecord))
  const sweep = () => {
    const used = [...readAll(), readServers()].flatMap((each) =>
      each?.before === undefined ? [] : [backupOf(each.before)],
    )
    for (const name of namesIn(folder)) {
      const isUnused = name.endsWith('.before') && !used.includes(inside(name))
      if (isUnused || name.endsWith('.tmp')) rmSync(inside(name), { force: true })
    }
  }
  const readServers = () =>
    namesIn(folder).includes('servers.json') ? read(serversFile, isServersRecord) : undefined
  const store = (file: string, record: ClientRecord | ServersRecord, before: Buffer | undefined) => {
    makeFolder(folder, 0o700)
    // Write the copy first, because a record needs it.
    if (before && record.before !== undefined) writeWhole(backupOf(record.before), before)
    writeWhole(file, `${JSON.stringify(record, null, 2)}\n`)
    sweep()
  }
  return {
    folder,
    sweep,
    clients: readAll,
    before({ before }) {
      if (before === undefined) return undefined
      const file = backupOf(before)
      try {
        const bytes = readFileSync(file)
        if (digestBytes(bytes) === before) return bytes
      } catch {
        // Reported below.
      }
      throw new Problem(
        `The copy ${file} is missing or damaged.`,
        `Restore it, or edit the client's file by hand and delete ${folder}.`,
        { reason: 'damaged' },
      )
    },
    write: (record, before) => store(fileOf(record), record, before),
    remove(record) {
      rmSync(fileOf(record), { force: true })
      sweep()
    },
    servers: readServers,
    writeServers: (record, before) => store(serversFile, record, before),
    removeServers() {
      rmSync(serversFile, { force: true })
      sweep()
    },
    keep(client, bytes) {
      const file = inside(`overwritten-${client}-${(digestBytes(bytes) ?? '').slice(0, 16)}`)
      makeFolder(folder, 0o700)
      writeWhole(file, bytes)
      return file
    },
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

const clientFiles = (folder: string) => namesIn(folder).filter((name) => /^client-.*\.json$/.test(name))

function read<T>(file: string, isValid: (value: unknown) => value is T): T {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    value = undefined
  }
  if (isValid(value)) return value
  throw new Problem(
    `${file} is damaged or was written by a newer version.`,
    'Use that version, or delete the file. The config of the client does not change.',
    { reason: 'damaged' },
  )
}

function isClientRecord(value: unknown): value is ClientRecord {
  return (
    isRecord(value) &&
    value.format === FORMAT &&
    typeof value.shape === 'string' &&
    Object.hasOwn(SHAPES, value.shape) &&
    ['client', 'label', 'file', 'real', 'after'].every((key) => typeof value[key] === 'string') &&
    isRecord(value.table) &&
    Array.isArray(value.taken)
  )
}

function isServersRecord(value: unknown): value is ServersRecord {
  return isRecord(value) && value.format === FORMAT && typeof value.file === 'string' && isRecord(value.added)
}

/** Writes atomically, for the owner only: the content includes values of environment variables and headers. */
function writeWhole(file: string, content: string | Buffer): void {
  const draft = `${file}.${randomUUID()}.tmp`
  try {
    writeFileSync(draft, content, { mode: 0o600, flag: 'wx' })
    renameSync(draft, file)
  } catch (cause) {
    rmSync(draft, { force: true })
    const { code = '' } = cause as NodeJS.ErrnoException
    throw new Problem(
      `${file} cannot be written (${code}).`,
      'Check the permissions of its folder. No client was changed.',
      { cause, reason: 'unwritable' },
    )
  }
}

/** Runs `task` while no other `connect` or `undo` writes. */
export async function withLock<T>({ folder }: Records, task: () => Promise<T>): Promise<T> {
  let isMine = false
  try {
    makeFolder(folder, 0o700)
    return await withFileLock(join(folder, 'connect'), () => {
      isMine = true
      return task()
    })
  } catch (error) {
    if (isMine) throw error
    const { message, code } = error as NodeJS.ErrnoException
    throw new Problem(
      `${folder} is not usable: ${code ?? message}. Nothing was written.`,
      'Check that the folder is writable, and that no other connect or undo is running.',
      { reason: 'unwritable', cause: error },
    )
  }
}
