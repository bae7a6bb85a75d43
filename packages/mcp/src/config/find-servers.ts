/** Where the servers are in a config file of each client. */

import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import type { ConfigProblem } from './document.js'
import { type ConfigDocument, pathText, problemIn } from './document.js'
import { findEntryFolder } from './translate-entry.js'

type Value = Readonly<Record<string, unknown>>

export interface Table {
  readonly path: readonly string[]
  /** Relative paths of its entries start here. */
  readonly folder: string
}

/** Keys of clients' files that may have servers within. */
export const CONTAINER_KEYS: readonly string[] = ['mcp', 'projects']

/** The weaker first. */
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
    // What Claude Code keeps for one folder alone.
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

/** Whether this is what stands under the name of a server. */
export function looksLikeServer(value: unknown): boolean {
  return isRecord(value) && (typeof value.command === 'string' || typeof value.url === 'string')
}

/** A server that stands at the top of a file. */
export function describeMisplacedServer(document: ConfigDocument, name: string): ConfigProblem {
  const quoted = JSON.stringify(name)
  return problemIn(
    document,
    [name],
    `the server ${quoted} stands outside of "mcpServers"`,
    `Put it within: { "mcpServers": { ${quoted}: … } }`,
  )
}

/** Servers that stand where they are not read from here, if those are all there are. */
export function findMisplacedServers(document: ConfigDocument, workspaceFolder: string): ConfigProblem[] {
  const { file, value = {}, lineOf } = document
  const hasOwn = findTables(value, { file, workspaceFolder, foreign: true }).some(({ path }) => {
    const table = readPath(value, path)
    return isRecord(table) && Object.keys(table).length > 0
  })
  if (hasOwn) return []
  // Among other settings, what looks like a server may be something else.
  const keys = Object.keys(value).filter((key) => key !== '$schema')
  if (keys.every((key) => looksLikeServer(value[key])))
    return keys.map((key) => describeMisplacedServer(document, key))
  const told = (path: readonly string[], message: string, fix: string): ConfigProblem[] => [
    { file, path: pathText(path), line: lineOf(path), message, fix, severity: 'error' },
  ]
  if (isRecord(value.mcp) && Object.values(value.mcp).some((each) => isRecord(each) && 'type' in each))
    return told(
      ['mcp'],
      'these are servers as opencode writes them',
      'Take them over with: toolwell import --from opencode',
    )
  if (isRecord(value.context_servers) && Object.keys(value.context_servers).length > 0)
    return told(
      ['context_servers'],
      'these are servers as Zed writes them',
      'Take them over with: toolwell import --from zed',
    )
  const folders = Object.entries(isRecord(value.projects) ? value.projects : {})
    .filter(([, each]) => Object.keys(Object(readPath(each, ['mcpServers']))).length > 0)
    .map(([folder]) => folder)
  if (folders.length === 0) return []
  const shown = folders
    .slice(0, 3)
    .map((folder) => JSON.stringify(folder))
    .join(', ')
  return told(
    ['projects'],
    `its servers are for other folders than ${JSON.stringify(workspaceFolder)}: ${shown}${folders.length > 3 ? ` and ${folders.length - 3} more` : ''}`,
    'Run this in one of them, or write the servers into toolwell.json',
  )
}

/** The folder by its given name, and by its real path. */
function sameFolders(folder: string): string[] {
  try {
    return [...new Set([folder, realpathSync(folder)])]
  } catch {
    return [folder]
  }
}
