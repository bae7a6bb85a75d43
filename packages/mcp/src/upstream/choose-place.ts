/** Chooses where the calls of a caller run: folder, protocol era, and who shares the process. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { dropUndefined } from '@toolwell/core/internal'
import { DEFAULTS, type ServerConfig } from '../config/server-config.js'
import { type Caller, type CallerCapabilities, capabilityKey, readCapabilities } from './caller.js'

export interface Place {
  /** Callers with the same key share a connection. */
  readonly key: string
  /** The project folder; empty if the server is the same for all. */
  readonly folder: string
  /** Requested protocol, although the server supports a newer one. */
  readonly era: 'legacy' | undefined
  /** Announced when the server starts, so callers with different capabilities cannot share a connection. */
  readonly capabilities: CallerCapabilities
  /** The client or conversation that owns it, by `share`. */
  readonly owner: Pick<Caller, 'client' | 'conversation'>
}

/** `speaksBoth`: the server supports the newer protocol, and may support the older one. */
export function choosePlace(server: ServerConfig, caller: Caller, speaksBoth: boolean): Place {
  const { share, workspace } = server
  const { roots, ...others } = readCapabilities(caller)
  // A server that does not depend on a folder gets no roots.
  const capabilities: CallerCapabilities =
    workspace.isStated && workspace.need === 'none' ? others : { ...others, ...dropUndefined({ roots }) }
  const needsFolder = workspace.need === 'each' || share === 'workspace' || capabilities.roots !== undefined
  const folder = needsFolder ? resolve(caller.workspace ?? workspace.folder) : ''
  const era = speaksBoth && caller.era === 'legacy' ? 'legacy' : undefined
  // Without a folder, the roots belong to this caller only.
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

/** Returns the server for a folder, or the problem that prevents it. */
export function resolveServer(
  server: ServerConfig,
  folder: string,
): ServerConfig | { readonly problem: string } {
  const { workspace } = server
  if (folder === '' || folder === resolve(workspace.folder) || workspace.need === 'none') return server
  if (!isFolder(folder))
    return { problem: 'the folder does not exist. Set `workspace` to the project folder' }
  const { endpoint, commands, secrets, problems } = workspace.in(folder)
  if (problems.length > 0) return { problem: problems.join(' ') }
  return { ...server, endpoint, commands, secrets: [...server.secrets, ...secrets] }
}

/** A server with `lazy: false` is kept running only in the folder of its listing. */
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
