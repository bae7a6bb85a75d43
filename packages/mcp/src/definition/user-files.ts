/** The files of a cache. Nothing here throws: a file that cannot be used is a warning and a slower start. */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { defined } from '@toolwell/core/internal'
import { makeFolder } from '@toolwell/core/internal/node'
import type { ServerWarning, WarningListener } from './warning.js'

export interface UserFiles {
  get(file: string): Buffer | undefined
  /** Writes the whole file or nothing. Only the first failure is reported. */
  put(file: string, content: string | Uint8Array): void
  remove(file: string): void
  /** A file that cannot be used makes room for one that can. `then`: what that means, in a clause. */
  renameDamaged(file: string, why: string, then?: string, told?: Pick<ServerWarning, 'code' | 'fix'>): void
}

export function createUserFiles(folder: string, warn: WarningListener): UserFiles {
  let isUnwritable = false
  const remove = (file: string) => {
    try {
      rmSync(file, { force: true, recursive: true })
    } catch {
      // It was never written, or the folder is a file.
    }
  }
  const setAside: UserFiles['renameDamaged'] = (
    file,
    why,
    then = 'the server will be asked again',
    { code, fix } = { code: 'cache-damaged' },
  ) => {
    const tell = (what: string) => warn({ code, text: `${file} ${why}; ${what}${then}`, ...defined({ fix }) })
    try {
      renameSync(file, `${file}.unreadable`)
      tell(`it was set aside as ${file}.unreadable, and `)
    } catch {
      tell('')
    }
  }
  return {
    get(file) {
      try {
        return readFileSync(file)
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
        // Definitions are not secret, but a private list is for its owner alone.
        makeFolder(dirname(file), 0o700)
        writeFileSync(temporary, content, { mode: 0o600 })
        renameSync(temporary, file)
      } catch (error) {
        remove(temporary)
        const { code = String(error) } = error as { code?: string }
        if (!isUnwritable)
          warn({
            code: 'cache-unwritable',
            text: `definitions cannot be kept in ${folder} (${code}); every start will list every server`,
            fix: 'Make the folder writable, or name another one',
          })
        isUnwritable = true
      }
    },
    remove,
    renameDamaged: setAside,
  }
}

// Where programs of this user keep their files, by the rules of the system.

type Env = Readonly<Record<string, string | undefined>>

const PLACES = {
  cache: { variable: 'XDG_CACHE_HOME', mac: ['Library', 'Caches'], other: ['.cache'] },
  data: { variable: 'XDG_DATA_HOME', mac: ['Library', 'Application Support'], other: ['.local', 'share'] },
  state: { variable: 'XDG_STATE_HOME', mac: ['Library', 'Application Support'], other: ['.local', 'state'] },
  logs: { variable: 'XDG_STATE_HOME', mac: ['Library', 'Logs'], other: ['.local', 'state'] },
} as const

export function userFolder(kind: keyof typeof PLACES, name: string, env: Env = process.env): string {
  const { variable, mac, other } = PLACES[kind]
  const base =
    env[variable] ||
    (process.platform === 'win32' && env.LOCALAPPDATA) ||
    join(homedir(), ...(process.platform === 'darwin' ? mac : other))
  return join(base, 'toolwell', name)
}
