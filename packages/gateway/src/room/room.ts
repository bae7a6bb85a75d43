/** One room: what callers of one profile see and may call. */
import { homedir } from 'node:os'
import type { Direct, DirectDigest, Entry } from '@toolwell/core'
import type { McpTool, ServerConfig, ServerDefinition } from '@toolwell/mcp'
import type { Hall } from './hall.js'
import type { IsReadOnly } from './read-only.js'

export interface Room extends Pick<Hall, 'catalogue' | 'call' | 'settled'> {
  /** Before tools are listed: waits at a first start alone. */
  begun(): Promise<void>
  readonly face: Direct
  /** The same object until the catalogue changes. */
  digest(): DirectDigest
  /** Approved by the config or by a person; what a server says of its own tools does not count. */
  isReadOnly(source: string, tool: string): boolean
  /** It is started in a way that names the folder of a project. */
  namesFolder(source: string): boolean
  /** Some of its definitions hold `${workspaceFolder}`, where a caller is to read its own folder. */
  readonly hasFolderNames: boolean
  /** A tool as its server lists it. */
  listed(entry: Entry): McpTool | undefined
}

export function openRoom(hall: Hall, face: Direct, isReadOnly: IsReadOnly): Room {
  const { catalogue, call, settled, servers } = hall
  const indexes = new WeakMap<ServerDefinition, ReadonlyMap<string, McpTool>>()
  let known: { readonly revision: number; readonly digest: DirectDigest } | undefined
  let folders: { readonly revision: number; readonly areNamed: boolean } | undefined
  const listedAs = (source: string, tool: string): McpTool | undefined => {
    const definition = hall.known.has(source) ? servers.definition(source) : undefined
    if (!definition) return undefined
    const index =
      indexes.get(definition) ?? new Map(definition.tools.map((each) => [each.name, each] as const))
    indexes.set(definition, index)
    return index.get(tool)
  }
  return {
    catalogue,
    call,
    settled,
    begun: () => hall.begun(face.tools().length === 0),
    face,
    digest() {
      const { revision } = catalogue
      if (known?.revision !== revision) known = { revision, digest: face.digest() }
      return known.digest
    },
    isReadOnly(source, tool) {
      const server = hall.known.get(source)
      return server !== undefined && isReadOnly(server, tool, listedAs(source, tool))
    },
    namesFolder(source) {
      const server = hall.known.get(source)
      return server !== undefined && server.workspace.need === 'each' && namesFolder(server)
    },
    get hasFolderNames() {
      const { revision } = catalogue
      // Every call asks.
      if (folders?.revision !== revision) {
        const areNamed = [...hall.known.keys()].some((name) => servers.definition(name)?.namesFolder)
        folders = { revision, areNamed }
      }
      return folders.areNamed
    },
    listed: ({ source, tool }) => listedAs(source, tool.name),
  }
}

/** A folder that no config names. */
const NOWHERE = '/toolwell-without-a-workspace'

/** Found out once for each config: every call of a caller without a folder asks. */
const naming = new WeakMap<ServerConfig, boolean>()

function namesFolder(server: ServerConfig): boolean {
  const known = naming.get(server) ?? startsByFolder(server)
  naming.set(server, known)
  return known
}

/** Whether it is started otherwise in another folder; the folder that it runs in, where nothing is said of one, is no part of that. */
function startsByFolder({ workspace }: ServerConfig): boolean {
  const reached = (folder: string) => {
    const { endpoint } = workspace.in(folder)
    if (endpoint.type !== 'stdio') return JSON.stringify(endpoint)
    const { cwd, ...rest } = endpoint
    return JSON.stringify([rest, cwd === folder ? '' : cwd])
  }
  return reached(NOWHERE) !== reached(homedir())
}
