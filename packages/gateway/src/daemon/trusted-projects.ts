/**
 * Config files of projects that the user lets the gateway use. A folder that came from somewhere else must not start programs
 * because a client was opened in it: its file counts once the user has said so, and as it was then.
 */
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { preparePrivateFolder } from '../bridge/folder.js'

export interface TrustedProjects {
  /** Whether the file is the one that was trusted, with the content it had. */
  has(path: string): boolean
  /** From now on, as it is now. False where it cannot be read. */
  add(path: string): boolean
}

const fileIn = (folder: string) => join(folder, 'projects.json')

export function trustedProjects(folder: string): TrustedProjects {
  const hashes = new Map<string, { readonly stamp: string; readonly hash: string | undefined }>()
  const hashOf = (path: string): string | undefined => {
    const stat = statSync(path, { throwIfNoEntry: false })
    const stamp = stat ? `${stat.mtimeMs} ${stat.size} ${stat.ino}` : ''
    const known = hashes.get(path)
    if (known?.stamp === stamp) return known.hash
    const hash = stat ? contentHash(path) : undefined
    hashes.set(path, { stamp, hash })
    return hash
  }
  return {
    has(path) {
      const hash = hashOf(path)
      return hash !== undefined && read(folder)[path] === hash
    },
    add(path) {
      const hash = contentHash(path)
      if (hash === undefined) return false
      preparePrivateFolder(folder)
      const draft = `${fileIn(folder)}.${process.pid}`
      writeFileSync(draft, `${JSON.stringify({ ...read(folder), [path]: hash }, null, 2)}\n`, { mode: 0o600 })
      renameSync(draft, fileIn(folder))
      return true
    },
  }
}

function read(folder: string): Record<string, string> {
  try {
    const value: unknown = JSON.parse(readFileSync(fileIn(folder), 'utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {}
  } catch {
    return {}
  }
}

function contentHash(path: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex')
  } catch {
    return undefined
  }
}
