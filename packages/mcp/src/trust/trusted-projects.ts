/**
 * Stores which project config files the user trusts, by their content. A downloaded project must not start programs just because a
 * client was opened in it.
 */

import { createHash } from 'node:crypto'
import { renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '@toolwell/core/internal/node'
import { readSmallFile } from '../config/read-small-file.js'
import { userFolder } from '../definition/user-files.js'

export interface TrustedProjects {
  /** Content of a trusted file; undefined if the current content is not trusted. */
  readTrusted(path: string): string | undefined
  /** Trusts the current content. False if the file cannot be read. */
  add(path: string): boolean
  /** Reads a file and the user's decision about it; undefined if it cannot be read. */
  read(path: string): ProjectFile | undefined
  /** Stores the user's decision. */
  remember(file: ProjectFile, isTrusted: boolean): void
}

export interface ProjectFile {
  readonly path: string
  readonly text: string
  readonly hash: string
  /** Undefined if the user has not decided about this content. */
  readonly isTrusted: boolean | undefined
  /** The user trusted an earlier content and has not decided about the current one. */
  readonly hasChanged: boolean
}

/** Prefix of the hash of refused content. */
const REFUSED = 'refused '

/** Folder of the decisions: the gateway's, so that one decision counts for all clients. */
export function defaultTrustFolder(env?: Readonly<Record<string, string | undefined>>): string {
  return userFolder('state', 'gateway', env)
}

const fileIn = (folder: string) => join(folder, 'projects.json')

/** `prepare` creates the folder, and throws if it cannot be used. */
export function trustedProjects(
  folder: string,
  prepare: (folder: string) => void = (path) => makeFolder(path, 0o700),
): TrustedProjects {
  const contents = new Map<string, Content>()
  const look = (path: string): ProjectFile | undefined => {
    const stamp = stampOf(path)
    const known = contents.get(path)
    const content = known?.stamp === stamp ? known : { stamp, ...readContent(path) }
    contents.set(path, content)
    const { text, hash } = content
    if (text === undefined || hash === undefined) return undefined
    const said = read(folder)[path]
    const isTrusted = said === hash ? true : said === REFUSED + hash ? false : undefined
    const hasChanged = said !== undefined && isTrusted === undefined && !said.startsWith(REFUSED)
    // Return the compared content: the file may change before it is read again.
    return { path, text, hash, isTrusted, hasChanged }
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
    const value: unknown = JSON.parse(readSmallFile(fileIn(folder)).toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {}
  } catch {
    return {}
  }
}

/** If other users can write the folder, its content may not be the user's decisions. */
function isPrivate(folder: string): boolean {
  if (process.platform === 'win32') return true
  const { uid, mode } = statSync(folder)
  const own = process.getuid?.()
  return (own === undefined || uid === own) && (mode & 0o022) === 0
}

/** Without text and hash if the file cannot be read. */
interface Content {
  readonly stamp: string
  readonly text?: string
  readonly hash?: string
}

function readContent(path: string): Omit<Content, 'stamp'> {
  try {
    const content = readSmallFile(path)
    return { text: content.toString('utf8'), hash: createHash('sha256').update(content).digest('hex') }
  } catch {
    return {}
  }
}

/** Includes ctime, because the author of a file can set its mtime. */
function stampOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch {
    return ''
  }
}
