/** Servers by the lock that counts for them, as they are listed now. */
import type { ServerConfig } from '@toolwell/mcp'
import { EMPTY_LOCK, type ListedServer, type Lock, LockError, lockFileOf, readLock } from '@toolwell/mcp/lock'
import { createScanner, type Scanner } from '@toolwell/mcp/scan'
import { Problem } from '../problem.js'
import type { OpenServers } from '../servers/with-servers.js'

export interface Group {
  readonly file: string
  readonly lock: Lock | undefined
  readonly servers: readonly ListedServer[]
  /** Servers of the config that could not be listed, with the reason. */
  readonly unlisted: ReadonlyMap<string, string>
  /** Those that are switched off: nothing is said of them. */
  readonly disabled: readonly string[]
}

export interface Groups {
  readonly groups: readonly Group[]
  /** Knows the names of all servers. */
  readonly scanner: Scanner
}

export function groupsOf({ config, servers, took }: OpenServers): Groups {
  const reports = new Map(servers.inspect().map((report) => [report.name, report]))
  const byFile = new Map<string, ServerConfig[]>()
  for (const server of config.servers) {
    const file = lockFileOf(server)
    if (file === undefined) continue
    byFile.set(file, [...(byFile.get(file) ?? []), server])
  }
  const listed: ListedServer[] = []
  const groups = [...byFile].map(([file, own]): Group => {
    const unlisted = new Map<string, string>()
    const mine: ListedServer[] = []
    for (const { name, enabled } of own) {
      const definition = servers.definition(name)
      const report = reports.get(name)
      // What is cached and could not be listed now says nothing about the server as it is.
      if (definition && took.has(name))
        mine.push({ name, instructions: definition.instructions, tools: definition.tools })
      else if (enabled) unlisted.set(name, report?.reason || 'it was not listed')
    }
    listed.push(...mine)
    const disabled = own.filter(({ enabled }) => !enabled).map(({ name }) => name)
    return { file, lock: asProblem(() => readLock(file)), servers: mine, unlisted, disabled }
  })
  return { groups, scanner: createScanner(listed) }
}

export const lockOf = ({ lock }: Group): Lock => lock ?? EMPTY_LOCK

/** What is wrong with a lock file is the user's to mend; the message says how. */
export function asProblem<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toProblem(error)
  }
}

export function toProblem(error: unknown): unknown {
  return LockError.is(error)
    ? new Problem(error.problem, error.fix, { reason: error.code, cause: error })
    : error
}
