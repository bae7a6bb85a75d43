/** Stores which tools the user has approved as read-only, by fingerprint: a changed tool loses the approval. Claims of the server do not count. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import type { ServerConfig } from '../config/server-config.js'
import { sha256 } from '../definition/stored-definition.js'
import { createUserFiles, userFolder } from '../definition/user-files.js'
import type { WarningListener } from '../definition/warning.js'
import { createRecord, trustScope } from './lock/first-use.js'

/** Fingerprints by the names of tools. */
export type ReadOnlyTools = Readonly<Record<string, string>>

export interface ReadOnlyStore {
  read(server: ServerConfig): ReadOnlyTools
  write(server: ServerConfig, tools: ReadOnlyTools): void
  /** Changes whenever the stored value changes; empty if there is none. Checks the file. */
  stamp(server: ServerConfig): string
}

const FORMAT = 1

export function defaultReadOnlyFolder(env?: Readonly<Record<string, string | undefined>>): string {
  return userFolder('data', 'read-only', env)
}

export interface ReadOnlyOptions {
  readonly folder?: string
  /** Called for files that could not be read or written. */
  readonly onWarning?: WarningListener
}

export function diskReadOnly({
  folder = defaultReadOnlyFolder(),
  onWarning = () => undefined,
}: ReadOnlyOptions = {}): ReadOnlyStore {
  const files = createUserFiles(folder, (warning) =>
    onWarning(
      warning.code === 'cache-unwritable'
        ? { ...warning, text: `approvals cannot be stored in ${folder}`, fix: 'Make the folder writable' }
        : warning,
    ),
  )
  const fileOf = (server: ServerConfig) => {
    const key = JSON.stringify([trustScope(server), server.name])
    return join(
      folder,
      `${server.name.replace(/[^\w-]+/g, '_').slice(0, 40)}-${sha256(key).slice(0, 32)}.json`,
    )
  }
  return {
    // A file that cannot be read approves nothing.
    read: (server) => decoded(files.get(fileOf(server))?.toString('utf8')),
    write(server, tools) {
      if (Object.keys(tools).length === 0) files.remove(fileOf(server))
      else {
        const stored = { toolwell: FORMAT, scope: trustScope(server), name: server.name, tools }
        files.put(fileOf(server), `${JSON.stringify(stored, null, 1)}\n`)
      }
    },
    stamp(server) {
      try {
        const { mtimeNs, size, ino } = statSync(fileOf(server), { bigint: true })
        return `${mtimeNs}-${size}-${ino}`
      } catch {
        return ''
      }
    },
  }
}

/** Creates a store in memory, for programs without files. */
export function memoryReadOnly(): ReadOnlyStore {
  const kept = new Map<string, { readonly tools: ReadOnlyTools; readonly stamp: string }>()
  let writes = 0
  const keyOf = (server: ServerConfig) => JSON.stringify([trustScope(server), server.name])
  return {
    read: (server) => kept.get(keyOf(server))?.tools ?? createRecord([]),
    write: (server, tools) => void kept.set(keyOf(server), { tools, stamp: String(++writes) }),
    stamp: (server) => kept.get(keyOf(server))?.stamp ?? '',
  }
}

function decoded(text: string | undefined): ReadOnlyTools {
  try {
    const value: unknown = JSON.parse(text ?? '')
    if (!isRecord(value) || value.toolwell !== FORMAT || !isRecord(value.tools)) return createRecord([])
    return createRecord(
      Object.entries(value.tools).flatMap(([name, print]) =>
        typeof print === 'string' ? [[name, print] as const] : [],
      ),
    )
  } catch {
    return createRecord([])
  }
}
