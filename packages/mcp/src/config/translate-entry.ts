/** Translates an entry of another client into Toolwell's keys, for a file in another folder. Values do not change. */
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import { FOREIGN_OAUTH_KEYS, SERVER_KEYS, translateKey } from './keys.js'
import { absoluteReference } from './references.js'

export interface Translated {
  readonly entry: Record<string, unknown>
  /** Keys that Toolwell does not support. */
  readonly skipped: readonly string[]
}

/** `folder`: relative paths of the entry start here. */
export function translateEntry(value: Readonly<Record<string, unknown>>, folder: string): Translated {
  const entry: Record<string, unknown> = {}
  const left: string[] = []
  for (const [given, each] of Object.entries(absoluteFiles(value, folder))) {
    const own = translateKey(given, each)
    if (own.kind === 'silent') continue
    // Some clients switch logins on or off here. The server says by itself if it needs one.
    if (own.kind !== 'known' || (own.name === 'oauth' && typeof each === 'boolean')) left.push(given)
    else if (own.name === 'oauth' && isRecord(each)) {
      const login = knownLogin(each)
      left.push(...login.left.map((key) => `${given}.${key}`))
      if (Object.keys(login.settings).length > 0) entry.oauth = login.settings
    } else if (own.name === 'timeout' && typeof each === 'number')
      entry.timeout = each < 1000 ? `${each}s` : `${each}ms`
    else if (own.name !== 'enabled' || own.value !== true) entry[own.name] = own.value
    if (given === 'httpUrl') entry.type = 'http'
  }
  const { command } = entry
  if (typeof command === 'string' && isRelativeCommand(command)) entry.command = resolve(folder, command)
  for (const key of ['cwd', 'envFile'] as const) {
    const path = entry[key]
    if (typeof path === 'string' && !isAbsolutePath(path) && !path.startsWith('${'))
      entry[key] = resolve(folder, path)
  }
  return { entry, skipped: left }
}

/** Keeps only known keys of a login: in Toolwell's own file an unknown key is an error. */
function knownLogin(value: Readonly<Record<string, unknown>>) {
  const known = SERVER_KEYS.oauth
  const settings: Record<string, unknown> = {}
  const left: string[] = []
  for (const [given, each] of Object.entries(value)) {
    const name = FOREIGN_OAUTH_KEYS[given] ?? given
    if (known?.kind === 'object' && Object.hasOwn(known.keys, name)) settings[name] = each
    else if (each !== null && each !== undefined) left.push(given)
  }
  return { settings, left }
}

/** Makes paths of `${file:PATH}` absolute: they are relative to their config file. */
function absoluteFiles<T>(value: T, folder: string): T
function absoluteFiles(value: unknown, folder: string): unknown {
  if (typeof value === 'string')
    return value.replace(/\$\{file:([^{}]+)\}/g, (_, path: string) => absoluteReference('file', path, folder))
  if (Array.isArray(value)) return value.map((each) => absoluteFiles(each, folder))
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, absoluteFiles(each, folder)]))
    : value
}

/** Folders of clients inside a project. Paths in their files start from the parent folder. */
const CLIENT_FOLDERS: ReadonlySet<string> = new Set(
  '.vscode .cursor .gemini .codex .qwen .zed .kilo .kilocode .kimi-code .github .continue'.split(' '),
)

/** Finds the folder from which relative paths of a file's entries start. */
export function findEntryFolder(file: string): string {
  // Continue keeps one file per server in a subfolder.
  const folder = dirname(file).replace(/(?<=[\\/]\.continue)[\\/]mcpServers$/, '')
  return CLIENT_FOLDERS.has(basename(folder)) ? dirname(folder) : folder
}

/** Is the command a path relative to the config file, not a name on the PATH? */
export function isRelativeCommand(command: string): boolean {
  return /^\.{1,2}[\\/]/.test(command) || (!isAbsolutePath(command) && /^[^\s\\/$]+[\\/]/.test(command))
}

/** Absolute on any platform: a config may come from another machine. */
export function isAbsolutePath(path: string): boolean {
  return isAbsolute(path) || /^(?:[A-Za-z]:)?[\\/]/.test(path)
}
