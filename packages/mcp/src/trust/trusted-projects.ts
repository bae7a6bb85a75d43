/**
 * Config files of projects that the user lets Toolwell use. A folder that came from somewhere else must not start programs
 * because a client was opened in it: its file counts once the user has said so, and as it was then.
 */
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '@toolwell/core/internal/node'
import { userFolder } from '../definition/user-files.js'

export interface TrustedProjects {
  /** The content of a file that was trusted as it is; undefined where it was not, or is another one by now. */
  readTrusted(path: string): string | undefined
  /** From now on, as it is now. False where it cannot be read. */
  add(path: string): boolean
  /** A file as it is now, with what the user has said of it; undefined where it cannot be read. */
  read(path: string): ProjectFile | undefined
  /** What the user has said of what was looked at. */
  remember(file: ProjectFile, isTrusted: boolean): void
}

export interface ProjectFile {
  readonly path: string
  readonly text: string
  readonly hash: string
  /** Undefined where nobody has said anything of this content. */
  readonly isTrusted: boolean | undefined
  /** The user has trusted it as it was once, and has said nothing of what it is now. */
  readonly hasChanged: boolean
}

/** Stands before the hash of what the user does not want. */
const REFUSED = 'refused '

/** Where the answers are kept: the folder of the gateway, so that one answer counts for every client. */
export function defaultTrustFolder(env?: Readonly<Record<string, string | undefined>>): string {
  return userFolder('state', 'gateway', env)
}

const fileIn = (folder: string) => join(folder, 'projects.json')

/** `prepare` makes the folder, and throws where it cannot be used. */
export function trustedProjects(
  folder: string,
  prepare: (folder: string) => void = (path) => makeFolder(path, 0o700),
): TrustedProjects {
  const look = (path: string): ProjectFile | undefined => {
    const content = contentOf(path)
    if (!content) return undefined
    const hash = hashOf(content)
    const said = read(folder)[path]
    const isTrusted = said === hash ? true : said === REFUSED + hash ? false : undefined
    const hasChanged = said !== undefined && isTrusted === undefined && !said.startsWith(REFUSED)
    // What was compared is what is used: a file may change between two looks.
    return { path, text: content.toString('utf8'), hash, isTrusted, hasChanged }
  }
  const remember = ({ path, hash }: ProjectFile, isTrusted: boolean) => {
    prepare(folder)
    const draft = `${fileIn(folder)}.${process.pid}`
    const answers = { ...read(folder), [path]: isTrusted ? hash : REFUSED + hash }
    writeFileSync(draft, `${JSON.stringify(answers, null, 2)}\n`, { mode: 0o600 })
    renameSync(draft, fileIn(folder))
  }
  return {
    read: look,
    remember,
    readTrusted(path) {
      const file = look(path)
      return file?.isTrusted ? file.text : undefined
    },
    add(path) {
      const file = look(path)
      if (file) remember(file, true)
      return file !== undefined
    },
  }
}

function read(folder: string): Record<string, string> {
  try {
    if (!isPrivate(folder)) return {}
    const value: unknown = JSON.parse(readFileSync(fileIn(folder), 'utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {}
  } catch {
    return {}
  }
}

/** Where others may write, what stands there is not what the user has said. */
function isPrivate(folder: string): boolean {
  if (process.platform === 'win32') return true
  const { uid, mode } = statSync(folder)
  const own = process.getuid?.()
  return (own === undefined || uid === own) && (mode & 0o022) === 0
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
