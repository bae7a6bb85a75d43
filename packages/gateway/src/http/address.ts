/** Reads the profile and mode from the path of a request, and the workspace from its header. */
import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Mode } from '../answer/mcp-server.js'
import { endpointPath, WORKSPACE_HEADER } from '../bridge/protocol.js'
import { statPath } from '../servers/server-sets.js'

export interface McpPath {
  readonly mode: Mode
  readonly profile: string | undefined
}

/** Undefined for any other path. `/mcp/` is refused: a profile with an empty name, or named `.`, would lead there. */
export function readPath(pathname: string): McpPath | undefined {
  if (pathname === '/mcp/') return undefined
  const [empty, mcp, ...rest] = pathname.replace(/\/$/, '').split('/')
  if (empty !== '' || mcp !== 'mcp' || rest.length > 2) return undefined
  let names: string[]
  try {
    names = rest.map(decodeURIComponent)
  } catch {
    return undefined
  }
  const [first, second] = names
  if (second !== undefined) return second === 'all' && first ? { mode: 'all', profile: first } : undefined
  if (first === 'all') return { mode: 'all', profile: undefined }
  return first === '' ? undefined : { mode: 'dispatch', profile: first }
}

export function writePath({ mode, profile }: McpPath): string {
  return endpointPath({ profile, isAll: mode === 'all' })
}

export class InvalidWorkspace extends Error {}

/** Headers are ASCII, so the path is URL-encoded. */
export function readWorkspace(given: string | undefined): string | undefined {
  if (given === undefined || given.trim() === '') return undefined
  let path: string
  try {
    path = decodeURI(given.trim())
  } catch {
    path = given.trim()
  }
  if (!isAbsolute(path) || path.length > 4096)
    throw new InvalidWorkspace(`${WORKSPACE_HEADER} must be the absolute path of a folder.`)
  const found = statPath(path)
  if (!found?.isDirectory())
    throw new InvalidWorkspace(
      `${WORKSPACE_HEADER} must be the path of a folder, but ${path} ${found ? 'is not a folder' : 'does not exist'}.`,
    )
  // Resolves links, so that every path to a project gives one workspace.
  return realpathSync(path)
}
