/** One room: what callers of one profile see and may call. */
import type { Entry, Face, FaceDigest } from '@toolwell/core'
import { matchesGlob } from '@toolwell/core/internal'
import type { McpTool, ServerConfig, ServerDefinition } from '@toolwell/mcp'
import type { Hall } from './hall.js'

export interface Room extends Pick<Hall, 'catalogue' | 'call' | 'settled'> {
  readonly face: Face
  /** The same object until the catalogue changes. */
  digest(): FaceDigest
  /** Approved by the config; what a server says of its own tools does not count. */
  isReadOnly(source: string, tool: string): boolean
  /** A tool as its server lists it. */
  listed(entry: Entry): McpTool | undefined
}

export function openRoom(
  { catalogue, call, config, servers, settled }: Omit<Hall, 'room' | 'busy' | 'close'>,
  face: Face,
): Room {
  const byName = new Map<string, ServerConfig>(config.servers.map((server) => [server.name, server]))
  const indexes = new WeakMap<ServerDefinition, ReadonlyMap<string, McpTool>>()
  let known: { readonly revision: number; readonly digest: FaceDigest } | undefined
  return {
    catalogue,
    call,
    settled,
    face,
    digest() {
      const { revision } = catalogue
      if (known?.revision !== revision) known = { revision, digest: face.digest() }
      return known.digest
    },
    isReadOnly: (source, tool) =>
      byName.get(source)?.readOnly.some((pattern) => matchesGlob(pattern, tool)) ?? false,
    listed({ source, tool }) {
      const definition = byName.has(source) ? servers.definition(source) : undefined
      if (!definition) return undefined
      const index =
        indexes.get(definition) ?? new Map(definition.tools.map((each) => [each.name, each] as const))
      indexes.set(definition, index)
      return index.get(tool.name)
    },
  }
}
