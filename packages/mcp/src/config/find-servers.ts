/** Finds the server tables in config files of all clients. */

import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import type { ConfigProblem } from './document.js'
import { type ConfigDocument, createProblem, pathText } from './document.js'
import { findEntryFolder } from './translate-entry.js'

type Value = Readonly<Record<string, unknown>>

export interface Table {
  readonly path: readonly string[]
  /** Relative paths of the entries start here. */
  readonly folder: string
}

/** Keys of other clients that may contain servers. */
export const CONTAINER_KEYS: readonly string[] = ['mcp', 'projects']

/** Weakest first. */
export function findTables(
  value: Value,
  place: { readonly file: string; readonly workspaceFolder: string; readonly foreign: boolean },
): Table[] {
  const folder = place.foreign ? findEntryFolder(place.file) : dirname(place.file)
  const common = [['servers'], ['mcpServers']].map((path) => ({ path, folder }))
  if (!place.foreign) return common
  return [
    // Settings of VS Code.
    { path: ['mcp', 'servers'], folder },
    ...common,
    // Project entries of Claude Code.
    ...sameFolders(place.workspaceFolder)
      .filter((each) => readPath(value, ['projects', each]) !== undefined)
      .slice(0, 1)
      .map((each) => ({ path: ['projects', each, 'mcpServers'], folder: place.workspaceFolder })),
  ]
}

export function readPath(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )
}

export function looksLikeServer(value: unknown): boolean {
  return isRecord(value) && (typeof value.command === 'string' || typeof value.url === 'string')
}

/** Describes a server at the top level of a file. */
export function describeMisplacedServer(document: ConfigDocument, name: string): ConfigProblem {
  const quoted = JSON.stringify(name)
  return createProblem(
    document,
    [name],
    `the server ${quoted} is outside of "mcpServers"`,
    `Move it into "mcpServers": { "mcpServers": { ${quoted}: … } }`,
  )
}

/** Reports servers in places that are not read, unless the file has others. */
export function findMisplacedServers(document: ConfigDocument, workspaceFolder: string): ConfigProblem[] {
  const { file, value = {}, lineOf } = document
  const hasOwn = findTables(value, { file, workspaceFolder, foreign: true }).some(({ path }) => {
    const table = readPath(value, path)
    return isRecord(table) && Object.keys(table).length > 0
  })
  if (hasOwn) return []
  // Only if all keys look like servers: among other settings, a key that looks like a server may be something else.
  const keys = Object.keys(value).filter((key) => key !== '$schema')
  if (keys.every((key) => looksLikeServer(value[key])))
    return keys.map((key) => describeMisplacedServer(document, key))
  const report = (path: readonly string[], message: string, fix: string): ConfigProblem[] => [
    { file, path: pathText(path), line: lineOf(path), message, fix, severity: 'error' },
  ]
  if (isRecord(value.mcp) && Object.values(value.mcp).some((each) => isRecord(each) && 'type' in each))
    return report(
      ['mcp'],
      'these servers are in the format of opencode',
      'Import them with: toolwell import --from opencode',
    )
  if (isRecord(value.context_servers) && Object.keys(value.context_servers).length > 0)
    return report(
      ['context_servers'],
      'these servers are in the format of Zed',
      'Import them with: toolwell import --from zed',
    )
  const folders = Object.entries(isRecord(value.projects) ? value.projects : {})
    .filter(([, each]) => Object.keys(Object(readPath(each, ['mcpServers']))).length > 0)
    .map(([folder]) => folder)
  if (folders.length === 0) return []
  const shown = folders
    .slice(0, 3)
    .map((folder) => JSON.stringify(folder))
    .join(', ')
  return report(
    ['projects'],
    `the servers are for other folders than ${JSON.stringify(workspaceFolder)}: ${shown}${folders.length > 3 ? ` and ${folders.length - 3} more` : ''}`,
    'Run the command in one of these folders, or write the servers into toolwell.json',
  )
}

/** The given path and the real path of a folder. */
function sameFolders(folder: string): string[] {
  try {
    return [...new Set([folder, realpathSync(folder)])]
  } catch {
    return [folder]
  }
}
