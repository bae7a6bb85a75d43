/**
 * Config files of projects that the user lets the gateway use. A folder that came from somewhere else must not start programs
 * because a client was opened in it: its file counts once the user has said so, and as it was then.
 */
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { preparePrivateFolder } from '../bridge/folder.js'

export interface TrustedProjects {
  /** The content of a file that was trusted as it is; undefined where it was not, or is another one by now. */
  textOf(path: string): string | undefined
  /** From now on, as it is now. False where it cannot be read. */
  add(path: string): boolean
}

const fileIn = (folder: string) => join(folder, 'projects.json')

export function trustedProjects(folder: string): TrustedProjects {
  return {
    // What was compared is what is used: a file may change between two looks.
    textOf(path) {
      const trusted = read(folder)[path]
      const content = trusted === undefined ? undefined : contentOf(path)
      return content && hashOf(content) === trusted ? content.toString('utf8') : undefined
    },
    add(path) {
      const content = contentOf(path)
      if (content === undefined) return false
      const hash = hashOf(content)
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

function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
