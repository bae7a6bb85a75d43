/**
 * What was seen of a server when it was first met, where no lock holds it: whole, so that a change can be shown. As SSH
 * remembers hosts. Pure; files are in disk-first-use.ts.
 */

import { isRecord } from '@toolwell/core/internal'
import type { ServerConfig } from '../../config/server-config.js'
import { fingerprint, type JsonObject, normalised } from '../../definition/fingerprint.js'
import type { WarningListener } from '../../definition/warning.js'
import { EMPTY_LOCK, type ListedServer, type Lock, type LockedTool, namedTools } from './lock.js'

export interface SeenTool extends LockedTool {
  /** Somebody looked at it: it is used even if the scan would object. */
  readonly isApproved?: true
}

export interface FirstUse {
  /** How the server was started or reached: see `startOf`. It is told when that changes, and nothing is forgotten. */
  readonly start: string
  readonly instructions: string
  /** Somebody looked at the instructions. */
  readonly isApproved?: true
  readonly tools: Readonly<Record<string, SeenTool>>
  /** The folder that it ran in, where it runs in those of projects. */
  readonly folder?: string
  /** Commands of `${cmd:…}` that may be run, each `${file:PATH}` that may be read and `${env:NAME}` that may be sent; and for which entry, because what comes out of them goes where that says. */
  readonly commands?: readonly string[]
  readonly commandsFor?: string
}

export interface FirstUseStore {
  read(server: ServerConfig): FirstUse | undefined
  write(server: ServerConfig, record: FirstUse): void
  /** Another text when the record is another one, whoever wrote it; empty where there is none. Costs a look at the file. */
  stamp(server: ServerConfig): string
}

/** Whose server it is: one of the same name in another config is another one. How it is started has no part in it. */
export function trustScope({ file }: Pick<ServerConfig, 'file'>): string {
  return file ?? `program ${process.argv[1] ?? ''}`
}

export const NOTHING_SEEN: FirstUse = { start: '', instructions: '', tools: {} }

/** A record may hold no more than that its commands may be run. */
export function hasRecord(seen: FirstUse | undefined): seen is FirstUse {
  return (
    seen !== undefined &&
    (seen.start !== '' || seen.isApproved === true || Object.keys(seen.tools).length > 0)
  )
}

/** Commands of its entry that nobody has approved for this very entry. */
export function waitingCommands(server: ServerConfig, seen: FirstUse | undefined): readonly string[] {
  const approved = seen?.commandsFor === server.workspace.entry ? (seen.commands ?? []) : []
  return server.commands.filter((command) => !approved.includes(command))
}

/** The record with the commands of this entry approved, and of no other one. */
export function approveCommands(before: FirstUse = NOTHING_SEEN, server: ServerConfig): FirstUse {
  return { ...before, commands: server.commands, commandsFor: server.workspace.entry }
}

export function seenTool(tool: unknown): SeenTool {
  return { fingerprint: fingerprint(tool), definition: normalised(tool) as JsonObject }
}

/** A tool that is as it was first seen: its definition is that of the list. */
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

/** The same record for as long as the program runs: held whole, it would take as much memory as the list does. */
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

/** The same record to be kept: it leans on nothing. */
export function unlinkFromListing(seen: FirstUse): FirstUse {
  const stand = ({ fingerprint: print, definition, isApproved }: SeenTool): SeenTool => ({
    fingerprint: print,
    definition,
    ...(isApproved ? { isApproved } : {}),
  })
  return {
    ...seen,
    tools: createRecord(Object.entries(seen.tools).map(([name, tool]) => [name, stand(tool)])),
  }
}

/** The record with the server, or one of its tools, as it is now: approved by a person. */
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

/** The record with the instructions, and how the server is started, as they are now; its tools stay as they were. */
export function approveSeenServer(before: FirstUse = NOTHING_SEEN, listed: ListedServer): FirstUse {
  return {
    ...before,
    start: listed.start ?? before.start,
    instructions: listed.instructions ?? '',
    isApproved: true,
  }
}

/** Records as a lock: what differs from them is compared and shown in the same way. */
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

/** An object without a prototype: a tool may be called `__proto__`. */
export function createRecord<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  const made = Object.create(null) as Record<string, T>
  for (const [key, value] of entries) made[key] = value
  return made
}

export function ownTool<T>(tools: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return tools && Object.hasOwn(tools, name) ? tools[name] : undefined
}

// A store that never fails: an error in it costs a warning, and the memory of that server.

export function catchFirstUseErrors(store: FirstUseStore, warn: WarningListener): FirstUseStore {
  const attempt = <T>(what: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      warn({ code: 'first-use-failed', text: `the store of first use failed to ${what}: ${why}` })
      return undefined
    }
  }
  return {
    read: (server) =>
      attempt(`read ${server.name}`, () => {
        const seen = store.read(server)
        if (seen === undefined || (isRecord(seen.tools) && typeof seen.instructions === 'string')) return seen
        throw new Error('what it returned is not a record of first use')
      }),
    write: (server, seen) => attempt(`remember ${server.name}`, () => store.write(server, seen)),
    stamp: (server) => attempt(`look at ${server.name}`, () => store.stamp(server)) ?? '',
  }
}

// What was first seen, for as long as the program runs.

/** For programs that want no files. */
export function memoryFirstUse(): FirstUseStore {
  const kept = new Map<string, { readonly record: FirstUse; readonly stamp: string }>()
  let writes = 0
  /** Made once for each server: every call looks at its record. */
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
