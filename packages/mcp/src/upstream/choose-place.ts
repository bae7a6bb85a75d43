/** Where the calls of a caller run: in which folder, in which era, and who else has the same process. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { defined } from '@toolwell/core/internal'
import { DEFAULTS, type ServerConfig } from '../config/server-config.js'
import { type Caller, type CallerCapabilities, capabilityKey, readCapabilities } from './caller.js'

export interface Place {
  /** Callers of the same key share a connection. */
  readonly key: string
  /** The folder of the project; empty where the server is the same for all. */
  readonly folder: string
  /** What the server is asked to speak although it knows something newer. */
  readonly era: 'legacy' | undefined
  /** A server learns at the start what it may ask, so callers that answer different questions cannot share. */
  readonly capabilities: CallerCapabilities
  /** Whose it is, as far as that decides who shares it. */
  readonly owner: Pick<Caller, 'client' | 'conversation'>
}

/** `speaksBoth`: the server is known to speak the newer protocol, and may speak the older one. */
export function choosePlace(server: ServerConfig, caller: Caller, speaksBoth: boolean): Place {
  const { share, workspace } = server
  const { roots, ...others } = readCapabilities(caller)
  // What does not depend on a folder is not told of any.
  const capabilities: CallerCapabilities =
    workspace.isStated && workspace.need === 'none' ? others : { ...others, ...defined({ roots }) }
  const needsFolder = workspace.need === 'each' || share === 'workspace' || capabilities.roots !== undefined
  const folder = needsFolder ? resolve(caller.workspace ?? workspace.folder) : ''
  const era = speaksBoth && caller.era === 'legacy' ? 'legacy' : undefined
  // Roots of a caller that names no folder are its own.
  const isOwn = capabilities.roots !== undefined && caller.workspace === undefined
  const { client = '', conversation = '' } = caller
  const owner: Place['owner'] =
    share === 'conversation'
      ? { client, conversation }
      : share === 'client' || (isOwn && client !== '')
        ? { client }
        : {}
  return {
    key: JSON.stringify([folder, era ?? '', capabilityKey(capabilities), ...Object.values(owner)]),
    folder,
    era,
    capabilities,
    owner,
  }
}

/** The server as it is started in a folder; or why it cannot be. */
export function resolveServerIn(
  server: ServerConfig,
  folder: string,
): ServerConfig | { readonly problem: string } {
  const { workspace } = server
  if (folder === '' || folder === resolve(workspace.folder) || workspace.need === 'none') return server
  if (!isFolder(folder))
    return { problem: 'there is no such folder. Name the folder of the project as the workspace' }
  const { endpoint, commands, secrets, problems } = workspace.in(folder)
  if (problems.length > 0) return { problem: problems.join(' ') }
  return { ...server, endpoint, commands, secrets: [...server.secrets, ...secrets] }
}

/** What is kept running is kept where it is listed: folders come and go. */
export function chooseIdleTimeout(
  folder: string,
  { lazy, idle }: ServerConfig,
  home: Pick<Place, 'folder'>,
): number {
  return lazy || folder === home.folder ? idle : DEFAULTS.idle
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
