/** Settings files of clients: where they are, and values in them. A wrong value is an error, because it may be a rule. */
import { type Dirent, existsSync, readdirSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { readSmallFile } from '@toolwell/mcp/internal/files'
import type { Places } from './clients.js'
import type { Fields } from './shapes.js'

export interface RulePlaces extends Places {
  /** Before the paths of the system's files, for tests. */
  readonly root?: string
}

export interface Source {
  readonly file: string
  readonly value: Fields
  /** Inserts variables in a string of a list. Throws if their values are unknown here. */
  readonly insert?: (text: string) => string
}

/** The message is a clause. */
export class WrongKey extends Error {
  readonly file: string

  constructor(file: string, message: string) {
    super(message)
    this.file = file
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const isText = (value: unknown): value is string => typeof value === 'string'

/** The object at a path. Throws if there is something else. */
export function fieldsAt({ file, value }: Source, ...path: string[]): Fields {
  let inner = value
  for (const [at, key] of path.entries()) {
    const next = Object.hasOwn(inner, key) ? inner[key] : undefined
    if (next === undefined || next === null) return {}
    if (!isFields(next)) throw new WrongKey(file, `"${path.slice(0, at + 1).join('.')}" must be an object`)
    inner = next
  }
  return inner
}

/** The strings at a path, or undefined. Throws if there is something else. */
export function stringsAt(source: Source, ...path: string[]): readonly string[] | undefined {
  const value = fieldsAt(source, ...path.slice(0, -1))[path.at(-1) ?? '']
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return source.insert ? value.map(source.insert) : value
  throw new WrongKey(source.file, `"${path.join('.')}" must be a list of strings`)
}

/** The folder and those above it in its Git repository, the topmost first. */
export function foldersUp(folder: string): string[] {
  const all = [folder]
  for (let at = folder; !existsSync(join(at, '.git')); all.unshift(at)) {
    if (dirname(at) === at) return [folder]
    at = dirname(at)
  }
  return all
}

/** The same, or up to the top of the disk outside of a repository, as opencode and Kilo search. */
export function allFoldersUp(folder: string): string[] {
  const [top = folder, ...more] = foldersUp(folder)
  if (more.length > 0 || existsSync(join(top, '.git'))) return [top, ...more]
  const all = [folder]
  for (let at = folder; dirname(at) !== at; all.unshift(at)) at = dirname(at)
  return all
}

/** The main checkout of a Git worktree. Empty elsewhere. */
export function findMainCheckout(folder: string): string[] {
  const top = foldersUp(folder)[0] ?? folder
  try {
    const [, given = ''] =
      /^gitdir:\s*(.+?)\s*$/m.exec(readSmallFile(join(top, '.git')).toString('utf8')) ?? []
    const [, main] = /^(.*)[\\/]\.git[\\/]worktrees[\\/][^\\/]+$/.exec(resolve(top, given)) ?? []
    return main === undefined ? [] : [main]
  } catch {
    return []
  }
}

/** A file of the current project, which may come from a stranger. `folders`: those of the project. */
export function isProjectFile(
  file: string,
  { folder, home }: Pick<RulePlaces, 'folder' | 'home'>,
  folders = foldersUp(folder),
): boolean {
  return folders.some((each) => file.startsWith(each + sep) && !`${home}${sep}`.startsWith(each + sep))
}

export function systemFolder(
  { platform, root = '' }: RulePlaces,
  unix: string,
  mac: string,
  windows: string,
): string {
  if (platform === 'darwin') return join(`${root}/Library/Application Support`, mac)
  return platform === 'win32' ? `${root}${windows}` : join(`${root}/etc`, unix)
}

export function foldersIn(folder: string): string[] {
  return filesIn(folder, '')
}

export function filesIn(folder: string, ending: string): string[] {
  const names = readEntries(folder).map(({ name }) => name)
  return names
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(folder, name))
}

/** Folders and files. Enough for every user, and a stranger's project, which may link to any folder, does not take long. */
const MOST_AGENTS = 1000

/** Files of agents in a folder and in the folders below. */
export function agentFiles(folder: string, ending = '.md'): string[] {
  const [folders, files]: [string[], string[]] = [[folder], []]
  for (const each of folders) {
    if (folders.length + files.length > MOST_AGENTS) break
    for (const entry of readEntries(each))
      if (entry.isDirectory()) folders.push(join(each, entry.name))
      else if (entry.name.endsWith(ending)) files.push(join(each, entry.name))
      else if (entry.isSymbolicLink()) folders.push(join(each, entry.name))
  }
  return files.sort()
}

/** Key of an agent's `permission` and `tools`, which only opencode and Kilo read. Null if they are not valid YAML. */
export const AGENT_RULES = 'rules'

export const isAgent = ({ file }: Source): boolean => file.endsWith('.md')

function readEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/** Levels. Parsers of YAML are recursive: at some hundred levels, the process of Node ends without an error to catch. */
const DEEPEST_YAML = 100

export function isDeepYaml(text: string): boolean {
  let depth = 0
  // Brackets, indentation, and `- - -` or `? ? ?` on one line.
  for (const [found] of text.matchAll(/[[{\]}]|^ {100}|(?:[-?:][ \t]+){50}/gm)) {
    if (found.length > 1) return true
    depth = found === '[' || found === '{' ? depth + 1 : Math.max(0, depth - 1)
    if (depth > DEEPEST_YAML) return true
  }
  return false
}

/** A file as JSON, and with comments. */
export function bothEndings(folder: string, name: string): string[] {
  return [join(folder, `${name}.json`), join(folder, `${name}.jsonc`)]
}

/** Inserts `{env:NAME}`, as in opencode and Kilo. Throws if the value is unknown here. */
export function insertBraces(text: string, env: RulePlaces['env'], file: string): string {
  return text.replace(/\{(?:env:([^}]+)|file:[^}]+)\}/g, (found, name: string | undefined) =>
    known(name === undefined ? undefined : env[name], found, file),
  )
}

/**
 * Inserts `$NAME`, `${NAME}` and `${NAME:-default}`, as in Gemini CLI and Qwen Code, except in the arguments of a rule. Throws if
 * the value is unknown here.
 */
export function insertDollars(text: string, env: RulePlaces['env'], file: string): string {
  const name = text.replace(/\(.*$/s, '')
  const inserted = name.replace(
    /\$(?:(\w+)|\{([^}]+?)(?::-([^}]*))?\})/g,
    (found, short: string | undefined, long: string | undefined, otherwise: string | undefined) =>
      known(env[short ?? long ?? ''] ?? otherwise, found, file),
  )
  return inserted + text.slice(name.length)
}

function known(value: string | undefined, found: string, file: string): string {
  if (value !== undefined) return value
  throw new WrongKey(file, `the value of "${found}" is unknown to Toolwell, so write the value itself`)
}
