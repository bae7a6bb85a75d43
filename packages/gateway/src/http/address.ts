/** The mode belongs to the path: `/mcp`, `/mcp/all`, `/mcp/PROFILE`, `/mcp/PROFILE/all`. */

import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Mode } from '../answer/mcp-server.js'
import { endpointPath, WORKSPACE_HEADER } from '../bridge/protocol.js'
import { statPath } from '../servers/server-sets.js'

export interface McpPath {
  readonly mode: Mode
  readonly profile: string | undefined
}

/** Undefined for any other path; `/mcp/` is one, for it is where a profile without a name, or called `.`, would be. */
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

// The folder that a caller works in, out of the header that names it.

export class InvalidWorkspace extends Error {}

/** A header holds no letters beyond ASCII, so the path comes as part of a URL does. */
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
      `${WORKSPACE_HEADER} must be a folder, and ${path} ${found ? 'is no folder' : 'does not exist'}.`,
    )
  // By whichever way it was come to, it is one project.
  return realpathSync(path)
}
