/** A client's file on disk: read with all that is to be kept, replaced whole or not at all. */
import { createHash, randomUUID } from 'node:crypto'
import {
  accessSync,
  constants,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { chmod, chown, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { makeFolder } from '@toolwell/core/internal/node'
import { Refusal } from './edit/change.js'

export interface ClientState {
  /** Where links lead to: the link stays, and its target is replaced. */
  readonly real: string
  /** Undefined where there is no file. */
  readonly bytes: Buffer | undefined
  readonly mode: number
  readonly owner: { readonly uid: number; readonly gid: number } | undefined
  /** The uppermost folder that is not there, and is made with the file. */
  readonly missing?: string | undefined
}

/** Larger files are not configs. */
const MOST_BYTES = 32 * 1024 * 1024

/** Throws `Refusal` for what cannot be read or written. */
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
      ? new Refusal('it is a link to a file that is not there', 'Remove the link, or make the file')
      : new Refusal(`its link cannot be followed (${code})`, 'Check the link')
  }
  const found = statSync(real)
  if (!found.isFile()) throw new Refusal('it is not a file', 'Move it away')
  if (found.size > MOST_BYTES)
    throw new Refusal('it is larger than 32 MB, which is too large for a config', 'Look at what is in it')
  try {
    accessSync(real, constants.R_OK | constants.W_OK)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw new Refusal(
      `it may not be read and written (${code})`,
      'Change its permissions; where a program makes it for you, name Toolwell there',
    )
  }
  assertWritable(dirname(real))
  const { uid, gid, mode } = found
  return { real, bytes: readFileSync(real), mode: mode & 0o777, owner: { uid, gid } }
}

function findMissingFolder(file: string): string | undefined {
  let missing: string | undefined
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (statSync(folder, { throwIfNoEntry: false })) break
    missing = folder
  }
  return missing
}

/** The folders that were made with a file, from its own up to the uppermost; what holds anything stays. */
export function removeCreatedFolders(file: string, uppermost: string | undefined): void {
  if (uppermost === undefined) return
  try {
    for (let folder = dirname(file); ; folder = dirname(folder)) {
      if (folder !== uppermost && !folder.startsWith(uppermost + sep)) return
      rmdirSync(folder)
    }
  } catch {
    // Somebody uses it by now.
  }
}

/** A new version is written beside the old one first. */
function assertWritable(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found) return
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw new Refusal(`its folder may not be written to (${code})`, 'Change the permissions of the folder')
  }
}

/** As text, the byte order mark included. Throws `Refusal` for what is not UTF-8. */
export function decodeText(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) return undefined
  try {
    if (bytes.includes(0)) throw new TypeError()
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refusal('it is not text in UTF-8', 'Save it as UTF-8')
  }
}

/**
 * Writes the file, or removes it where `next` is undefined. Refuses where it is not what it was when it was read: its client,
 * or another run of this command, was faster.
 */
export async function replaceFile(state: ClientState, next: Buffer | undefined): Promise<void> {
  const { real, bytes, mode, owner } = state
  sweepDrafts(real)
  const present = readIfThere(real)
  if (digestBytes(present) !== digestBytes(bytes))
    throw new Refusal(
      'it was changed in this moment by another program',
      'Close the client, and run this again',
    )
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
    // Only the administrator may give files away, and to others they belong already.
    if (owner) await chown(draft, owner.uid, owner.gid).catch(() => undefined)
    await rename(draft, real)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    const { code = '' } = error as NodeJS.ErrnoException
    throw new Refusal(`it cannot be written (${code})`, 'Check that its folder may be written to')
  }
}

/** What a run that was killed has left beside the file. Only one runs at a time. */
export function sweepDrafts(real: string): void {
  const own = new RegExp(`^\\.${escaped(basename(real))}\\.[0-9a-f-]{36}\\.tmp$`)
  try {
    for (const name of readdirSync(dirname(real)))
      if (own.test(name)) rmSync(join(dirname(real), name), { force: true })
  } catch {
    // No such folder, or not ours to clean.
  }
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Refusal('it cannot be read any more', 'Run this again')
  }
}

/** Undefined for no file. */
export function digestBytes(bytes: Buffer | undefined): string | undefined {
  return bytes && createHash('sha256').update(bytes).digest('hex')
}
