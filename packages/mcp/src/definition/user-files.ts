/** Reads and writes small files in the user's folders. Never throws: a file that cannot be used is a warning. */

import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { dropUndefined } from '@toolwell/core/internal'
import { makeFolder } from '@toolwell/core/internal/node'
import { MOST_BYTES_OF_DATA, readSmallFile } from '../config/read-small-file.js'
import type { ServerWarning, WarningListener } from './warning.js'

export interface UserFiles {
  get(file: string): Buffer | undefined
  /** Writes the whole file or nothing. Only the first failure is reported. */
  put(file: string, content: string | Uint8Array): void
  remove(file: string): void
  /** Renames a file that cannot be used. `then`: the consequence, as a clause. */
  renameDamaged(file: string, why: string, then?: string, warning?: Pick<ServerWarning, 'code' | 'fix'>): void
}

/** `needsOwnFolder`: files are ignored if everybody may write to the folder. Not for records that protect the user. */
export function createUserFiles(folder: string, warn: WarningListener, needsOwnFolder = false): UserFiles {
  let isUnwritable = false
  let isReported = false
  /** In a folder that everybody may write to, others could plant files. Windows has no such mode. */
  const isOpenToAll = (): boolean => {
    const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
    if (!needsOwnFolder || process.platform === 'win32' || (mode & 0o002) === 0) return false
    if (!isReported)
      warn({
        code: 'cache-unreadable',
        text: `everybody may write to ${folder}, so its files are not used`,
        fix: `Run: chmod o-w ${folder}`,
      })
    isReported = true
    return true
  }
  const remove = (file: string) => {
    try {
      rmSync(file, { force: true, recursive: true })
    } catch {
      // The file was never written, or the folder is a file.
    }
  }
  const setAside: UserFiles['renameDamaged'] = (
    file,
    why,
    then = 'the server will be asked again',
    { code, fix } = { code: 'cache-damaged' },
  ) => {
    const report = (what: string) =>
      warn({ code, text: `${file} ${why}; ${what}${then}`, ...dropUndefined({ fix }) })
    try {
      renameSync(file, `${file}.unreadable`)
      report(`it was renamed to ${file}.unreadable, and `)
    } catch {
      report('')
    }
  }
  return {
    get(file) {
      try {
        return isOpenToAll() ? undefined : readSmallFile(file, MOST_BYTES_OF_DATA)
      } catch (error) {
        const { code = '' } = error as { code?: string }
        if (code === 'EISDIR') setAside(file, 'is a folder')
        else if (code !== 'ENOENT' && code !== 'ENOTDIR')
          warn({ code: 'cache-unreadable', text: `${file} cannot be read (${code})` })
        return undefined
      }
    },
    put(file, content) {
      const temporary = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
      try {
        if (isOpenToAll()) return
        // Definitions are not secret, but a private list is only for its owner.
        makeFolder(dirname(file), 0o700)
        writeFileSync(temporary, content, { mode: 0o600 })
        renameSync(temporary, file)
      } catch (error) {
        remove(temporary)
        const { code = String(error) } = error as { code?: string }
        if (!isUnwritable)
          warn({
            code: 'cache-unwritable',
            text: `definitions cannot be stored in ${folder} (${code}); every start will list every server`,
            fix: 'Make the folder writable, or choose another one',
          })
        isUnwritable = true
      }
    },
    remove,
    renameDamaged: setAside,
  }
}

type Env = Readonly<Record<string, string | undefined>>

const PLACES = {
  cache: { variable: 'XDG_CACHE_HOME', mac: ['Library', 'Caches'], other: ['.cache'] },
  data: { variable: 'XDG_DATA_HOME', mac: ['Library', 'Application Support'], other: ['.local', 'share'] },
  state: { variable: 'XDG_STATE_HOME', mac: ['Library', 'Application Support'], other: ['.local', 'state'] },
  logs: { variable: 'XDG_STATE_HOME', mac: ['Library', 'Logs'], other: ['.local', 'state'] },
} as const

/** Returns the folder for files of this user, by the conventions of the platform. */
export function userFolder(kind: keyof typeof PLACES, name: string, env: Env = process.env): string {
  const { variable, mac, other } = PLACES[kind]
  const base =
    env[variable] ||
    (process.platform === 'win32' && env.LOCALAPPDATA) ||
    join(homedir(), ...(process.platform === 'darwin' ? mac : other))
  return join(base, 'toolwell', name)
}
