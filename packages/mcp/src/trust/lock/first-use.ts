/** First-use records: what a server was when first seen, like SSH's known hosts. Complete, so that changes can be shown. */

import { isRecord } from '@toolwell/core/internal'
import type { ServerConfig } from '../../config/server-config.js'
import { fingerprint, type JsonObject, normalised } from '../../definition/fingerprint.js'
import type { WarningListener } from '../../definition/warning.js'
import { EMPTY_LOCK, type ListedServer, type Lock, type LockedTool, namedTools } from './lock.js'

export interface SeenTool extends LockedTool {
  /** Approved by a person: used even if the scan has findings. */
  readonly isApproved?: true
}

export interface FirstUse {
  /** How the server was started or reached: see `describeStart`. A change causes a warning. */
  readonly start: string
  readonly instructions: string
  /** The instructions are approved by a person. */
  readonly isApproved?: true
  readonly tools: Readonly<Record<string, SeenTool>>
  /** The folder in which it ran, if it depends on the project folder. */
  readonly folder?: string
  /** Approved commands of `${cmd:…}`, `${file:PATH}` and `${env:NAME}`. `commandsFor`: the entry that may use them. */
  readonly commands?: readonly string[]
  readonly commandsFor?: string
}

export interface FirstUseStore {
  read(server: ServerConfig): FirstUse | undefined
  write(server: ServerConfig, record: FirstUse): void
  /** Changes whenever the record changes, also by other programs; empty if there is none. Checks the file. */
  stamp(server: ServerConfig): string
}

/** Scope of a record: the config file, because the same name in another config is another server. */
export function trustScope({ file }: Pick<ServerConfig, 'file'>): string {
  return file ?? `program ${process.argv[1] ?? ''}`
}

export const NOTHING_SEEN: FirstUse = { start: '', instructions: '', tools: {} }

/** Has the server been seen? A record may contain only approved commands. */
export function hasRecord(seen: FirstUse | undefined): seen is FirstUse {
  return (
    seen !== undefined &&
    (seen.start !== '' || seen.isApproved === true || Object.keys(seen.tools).length > 0)
  )
}

/** Commands that are not approved for this entry. */
export function waitingCommands(server: ServerConfig, seen: FirstUse | undefined): readonly string[] {
  const approved = seen?.commandsFor === server.workspace.entry ? (seen.commands ?? []) : []
  return server.commands.filter((command) => !approved.includes(command))
}

/** Approves the commands of this entry. */
export function approveCommands(before: FirstUse = NOTHING_SEEN, server: ServerConfig): FirstUse {
  return { ...before, commands: server.commands, commandsFor: server.workspace.entry }
}

export function seenTool(tool: unknown): SeenTool {
  return { fingerprint: fingerprint(tool), definition: normalised(tool) as JsonObject }
}

/** An unchanged tool, which shares its definition with the listing. */
class ListedTool implements SeenTool {
  readonly fingerprint: string
  declare readonly isApproved?: true
  readonly #listed: unknown

  constructor({ fingerprint: print, isApproved }: SeenTool, listed: unknown) {
    this.fingerprint = print
    if (isApproved) this.isApproved = isApproved
    this.#listed = listed
  }

  get definition(): JsonObject {
    return normalised(this.#listed) as JsonObject
  }
}

/** Replaces unchanged definitions by links to the listing, to halve memory. */
export function linkToListing(
  seen: FirstUse,
  listed: ListedServer,
  prints: ReadonlyMap<string, string>,
): FirstUse {
  const now = namedTools(listed)
  const lean = (name: string, tool: SeenTool) =>
    prints.get(name) === tool.fingerprint ? new ListedTool(tool, now.get(name)) : tool
  return {
    ...seen,
    tools: createRecord(Object.entries(seen.tools).map(([name, tool]) => [name, lean(name, tool)])),
  }
}

/** Replaces links by definitions, for storage. */
export function unlinkFromListing(seen: FirstUse): FirstUse {
  const unlink = ({ fingerprint: print, definition, isApproved }: SeenTool): SeenTool => ({
    fingerprint: print,
    definition,
    ...(isApproved ? { isApproved } : {}),
  })
  return {
    ...seen,
    tools: createRecord(Object.entries(seen.tools).map(([name, tool]) => [name, unlink(tool)])),
  }
}

/** Approves the current server, or one of its tools. */
export function approveSeen(given: FirstUse | undefined, listed: ListedServer, tool?: string): FirstUse {
  const { start = '', instructions = '' } = listed
  const isMet: boolean = hasRecord(given)
  const before = { ...NOTHING_SEEN, ...given, ...(isMet ? {} : { start, instructions }) }
  const now = namedTools(listed)
  const approved = (name: string): SeenTool => ({ ...seenTool(now.get(name)), isApproved: true })
  if (tool === undefined)
    return {
      ...before,
      start: listed.start ?? before.start,
      instructions: listed.instructions ?? '',
      isApproved: true,
      tools: createRecord([...now.keys()].map((name) => [name, approved(name)])),
    }
  const kept = Object.entries(before.tools).filter(([name]) => name !== tool)
  return { ...before, tools: createRecord(now.has(tool) ? [...kept, [tool, approved(tool)]] : kept) }
}

/** Approves the current instructions and start command, but no tools. */
export function approveSeenServer(before: FirstUse = NOTHING_SEEN, listed: ListedServer): FirstUse {
  return {
    ...before,
    start: listed.start ?? before.start,
    instructions: listed.instructions ?? '',
    isApproved: true,
  }
}

/** Converts records to a lock, so that they are compared and shown in the same way. */
export function asLock(records: readonly (readonly [server: string, seen: FirstUse])[]): Lock {
  return {
    ...EMPTY_LOCK,
    servers: createRecord(
      records.map(([name, { start, instructions, tools }]) => [
        name,
        {
          fingerprint: '',
          start,
          instructions,
          tools: createRecord(
            Object.entries(tools).map(([tool, { fingerprint: print, definition }]) => [
              tool,
              { fingerprint: print, definition },
            ]),
          ),
        },
      ]),
    ),
  }
}

/** Creates an object without a prototype: a tool may be named `__proto__`. */
export function createRecord<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  const made = Object.create(null) as Record<string, T>
  for (const [key, value] of entries) made[key] = value
  return made
}

export function ownTool<T>(tools: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return tools && Object.hasOwn(tools, name) ? tools[name] : undefined
}

/** Wraps a store: an error, or an invalid record, becomes a warning. */
export function catchFirstUseErrors(store: FirstUseStore, warn: WarningListener): FirstUseStore {
  const attempt = <T>(what: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      warn({ code: 'first-use-failed', text: `the first-use store failed to ${what}: ${why}` })
      return undefined
    }
  }
  return {
    read: (server) =>
      attempt(`read ${server.name}`, () => {
        const seen = store.read(server)
        if (seen === undefined || (isRecord(seen.tools) && typeof seen.instructions === 'string')) return seen
        throw new Error('it returned an invalid record')
      }),
    write: (server, seen) => attempt(`remember ${server.name}`, () => store.write(server, seen)),
    stamp: (server) => attempt(`check ${server.name}`, () => store.stamp(server)) ?? '',
  }
}

/** Creates a store in memory, for programs without files. */
export function memoryFirstUse(): FirstUseStore {
  const kept = new Map<string, { readonly record: FirstUse; readonly stamp: string }>()
  let writes = 0
  /** Computed once per server: every call checks its record. */
  const keys = new WeakMap<ServerConfig, string>()
  const keyOf = (server: ServerConfig) => {
    const key = keys.get(server) ?? JSON.stringify([trustScope(server), server.name])
    keys.set(server, key)
    return key
  }
  return {
    read: (server) => kept.get(keyOf(server))?.record,
    write: (server, record) => void kept.set(keyOf(server), { record, stamp: String(++writes) }),
    stamp: (server) => kept.get(keyOf(server))?.stamp ?? '',
  }
}
