/** The mode belongs to the path: `/mcp`, `/mcp/all`, `/mcp/PROFILE`, `/mcp/PROFILE/all`. */
import type { Mode } from '../answer/mcp-server.js'
import { endpointPath } from '../bridge/protocol.js'

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
