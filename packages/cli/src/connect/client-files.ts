/** Finds the clients on this machine, reads their files with metadata, and replaces a file atomically. */

import { createHash, randomUUID } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { chmod, chown, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { nearest } from '@toolwell/core/internal'
import { makeFolder } from '@toolwell/core/internal/node'
import { describeReadError, MOST_BYTES_OF_DATA, readSmallFile } from '@toolwell/mcp/internal'
import { CLIENTS, type Places, type UserFile, userFiles } from '../shared/clients/clients.js'
import { parseClient, readClientFile, valueAt } from '../shared/clients/read-client.js'
import { findShape } from '../shared/clients/shapes.js'
import { Problem, usageProblem } from '../shared/problem.js'
import { Refusal } from './edit/change.js'

export interface ClientState {
  /** The target of links. The link stays, and its target is replaced. */
  readonly real: string
  /** Undefined if the file does not exist. */
  readonly bytes: Buffer | undefined
  readonly mode: number
  readonly owner: { readonly uid: number; readonly gid: number } | undefined
  /** The topmost missing folder, which is created with the file. */
  readonly missing?: string | undefined
}

/** Throws `Refusal` if the file is not readable and writable. */
export function readState(file: string): ClientState {
  const link = lstatSync(file, { throwIfNoEntry: false })
  if (!link) {
    assertWritable(dirname(file))
    return { real: file, bytes: undefined, mode: 0o600, owner: undefined, missing: findMissingFolder(file) }
  }
  let real = file
  try {
    real = realpathSync(file)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw code === 'ENOENT'
      ? new Refusal('it is a link to a missing file', 'Remove the link, or create the file')
      : new Refusal(`its link cannot be resolved (${code})`, 'Check the link')
  }
  const found = statSync(real)
  if (!found.isFile()) throw new Refusal('it is not a regular file', 'Move it to another place')
  try {
    accessSync(real, constants.R_OK | constants.W_OK)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw new Refusal(
      `it is not readable and writable (${code})`,
      'Change its permissions. If another program generates the file, add Toolwell there',
    )
  }
  assertWritable(dirname(real))
  const { uid, gid, mode } = found
  return { real, bytes: readBytes(real), mode: mode & 0o777, owner: { uid, gid } }
}

function findMissingFolder(file: string): string | undefined {
  let missing: string | undefined
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (statSync(folder, { throwIfNoEntry: false })) break
    missing = folder
  }
  return missing
}

/** Removes the folders that were created with a file, if they are empty. */
export function removeCreatedFolders(file: string, uppermost: string | undefined): void {
  if (uppermost === undefined) return
  try {
    for (let folder = dirname(file); ; folder = dirname(folder)) {
      if (folder !== uppermost && !folder.startsWith(uppermost + sep)) return
      rmdirSync(folder)
    }
  } catch {
    // The folder is in use.
  }
}

/** Throws if the folder is not writable: a new version is first written there under another name. */
function assertWritable(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found) return
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw new Refusal(`its folder is not writable (${code})`, 'Change the permissions of the folder')
  }
}

/** Decodes UTF-8 and keeps the byte order mark. Throws `Refusal` for other encodings. */
export function decodeText(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) return undefined
  try {
    if (bytes.includes(0)) throw new TypeError()
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refusal('it is not UTF-8 text', 'Save it as UTF-8')
  }
}

/** Writes the file, or deletes it if `next` is undefined. Throws `Refusal` if it has changed since it was read. */
export async function replaceFile(state: ClientState, next: Buffer | undefined): Promise<void> {
  const { real, bytes, mode, owner } = state
  sweepDrafts(real)
  const present = readIfThere(real)
  if (digestBytes(present) !== digestBytes(bytes))
    throw new Refusal('another program has just changed it', 'Close the client and try again')
  if (next === undefined) {
    await rm(real, { force: true })
    return
  }
  const draft = join(dirname(real), `.${basename(real)}.${randomUUID()}.tmp`)
  try {
    makeFolder(dirname(real))
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(next)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await chmod(draft, mode)
    // Only root can change the owner. For other users the file already has the right owner.
    if (owner) await chown(draft, owner.uid, owner.gid).catch(() => undefined)
    await rename(draft, real)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    const { code = '' } = error as NodeJS.ErrnoException
    throw new Refusal(`it cannot be written (${code})`, 'Check the permissions of its folder')
  }
}

/** Deletes drafts of killed runs. Safe, because only one run writes at a time. */
export function sweepDrafts(real: string): void {
  const own = new RegExp(`^\\.${escaped(basename(real))}\\.[0-9a-f-]{36}\\.tmp$`)
  try {
    for (const name of readdirSync(dirname(real)))
      if (own.test(name)) rmSync(join(dirname(real), name), { force: true })
  } catch {
    // The folder does not exist or is not writable.
  }
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function readIfThere(file: string): Buffer | undefined {
  try {
    return readSmallFile(file, MOST_BYTES_OF_DATA)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Refusal('it is no longer readable', 'Try again')
  }
}

function readBytes(file: string): Buffer {
  try {
    return readSmallFile(file, MOST_BYTES_OF_DATA)
  } catch (error) {
    const { reason, fix } = describeReadError(error)
    throw new Refusal(reason, fix)
  }
}

/** Returns undefined if there is no file. */
export function digestBytes(bytes: Buffer | undefined): string | undefined {
  return bytes && createHash('sha256').update(bytes).digest('hex')
}

/** Finds the file of each client that gets the entry. `named`: only these clients. Throws if one of them is not installed. */
export function findTargets(places: Places, named: readonly string[]): UserFile[] {
  checkNames(named)
  const all = userFiles(places).filter(
    ({ shape, file }) => shape !== 'vscode-settings' && !/[\\/]mcpServers[\\/][^\\/]+$/.test(file),
  )
  const meant = all.filter(({ client }) => named.length === 0 || named.includes(client))
  const found = meant.filter(({ file, marker }) => existsSync(file) || existsSync(marker))
  const missing = named.find((name) => !found.some(({ client }) => client === name))
  const looked = (files: readonly UserFile[]) => files.map(({ file }) => `  ${file}`).join('\n')
  if (missing !== undefined) {
    const own = all.filter(({ client }) => client === missing)
    throw new Problem(
      `${own[0]?.label ?? missing} was not found on this machine. Looked for:\n${looked(own)}\n`,
      'Start the client once so that it creates its folder, then try again.',
      { reason: 'nothing-found' },
    )
  }
  if (found.length === 0)
    throw new Problem(
      `No client was found on this machine. Looked for:\n${looked(all)}\n`,
      'Start your client once so that it creates its folder, then try again.',
      { reason: 'nothing-found' },
    )
  // Of several possible files of a client, prefer one with servers, then an existing one.
  return found.filter((each) => {
    const twins = found.filter((other) => other.client === each.client && other.marker === each.marker)
    const best = twins.find(hasServers) ?? twins.find(({ file }) => existsSync(file)) ?? twins[0]
    return best === each
  })
}

export function checkNames(named: readonly string[]): void {
  for (const name of named) {
    if (CLIENTS.some((client) => client === name)) continue
    const [meant] = nearest(name, CLIENTS, 1)
    throw usageProblem(
      `Unknown client ${JSON.stringify(name)}.`,
      meant ? `Did you mean ${meant}?` : `Known: ${CLIENTS.join(', ')}.`,
    )
  }
}

function hasServers(from: UserFile): boolean {
  const shape = findShape(from.shape)
  try {
    const found = parseClient(readClientFile(from), shape.format, from.file)
    return 'value' in found && shape.tables.some((path) => valueAt(found.value, path) !== undefined)
  } catch {
    return false
  }
}
