/** The folder that a caller works in, out of the header that names it. */
import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { WORKSPACE_HEADER } from '../bridge/protocol.js'
import { statOf } from '../room/stat.js'

export class WrongWorkspace extends Error {}

/** A header holds no letters beyond ASCII, so the path comes as part of a URL does. */
export function workspaceOf(given: string | undefined): string | undefined {
  if (given === undefined || given.trim() === '') return undefined
  let path: string
  try {
    path = decodeURI(given.trim())
  } catch {
    path = given.trim()
  }
  if (!isAbsolute(path) || path.length > 4096)
    throw new WrongWorkspace(`${WORKSPACE_HEADER} must be the absolute path of a folder.`)
  const found = statOf(path)
  if (!found?.isDirectory())
    throw new WrongWorkspace(
      `${WORKSPACE_HEADER} must be a folder, and ${path} ${found ? 'is no folder' : 'does not exist'}.`,
    )
  // By whichever way it was come to, it is one project.
  return realpathSync(path)
}
