/** Facts about servers that several verbs show: unusable entries, changes, duplicates, commands without approval. */
import { canonicalJson, firstLine } from '@toolwell/core/internal'
import type { ReviewFinding, ServerConfig, ServerWarning, UnusableEntry, WarningCode } from '@toolwell/mcp'
import { waitingCommands as waitingIn } from '@toolwell/mcp/internal'
import type { OpenServers } from './with-servers.js'

/** Tools from a file have no entry number. */
export type UnusableView = Omit<UnusableEntry, 'entry'> & { readonly entry?: number }

/** For example `entry 3 (name) has an inputSchema that is not an object`. */
export function unusableLine({ entry, name, reason }: UnusableView): string {
  const called = name === undefined ? '' : firstLine(name, 60)
  const place = entry === undefined ? called : `entry ${entry}${called === '' ? '' : ` (${called})`}`
  return `${place} ${firstLine(reason, 300)}`
}

const CHANGES: readonly WarningCode[] = [
  'instructions-changed',
  'tools-changed',
  'tools-added',
  'tools-removed',
]

/** Returns the warnings about definitions that differ from the first ones seen. */
export function findChanges(warnings: readonly ServerWarning[]): ServerWarning[] {
  return warnings.filter(({ code }) => CHANGES.includes(code))
}

/** Maps each server to another one with the same command or address. */
export function findDuplicates({ config }: Pick<OpenServers, 'config'>): Map<string, string> {
  const groups = new Map<string, string[]>()
  for (const { name, endpoint, enabled } of config.servers) {
    // The transport does not distinguish two servers at one address.
    const key = canonicalJson(endpoint.type === 'stdio' ? endpoint : { ...endpoint, type: 'remote' })
    if (enabled) groups.set(key, [...(groups.get(key) ?? []), name])
  }
  const duplicates = new Map<string, string>()
  for (const [first = '', ...others] of groups.values()) {
    for (const other of others) duplicates.set(other, first)
    if (others[0] !== undefined) duplicates.set(first, others[0])
  }
  return duplicates
}

/** Lists each pair once. */
export function duplicatePairs(
  duplicates: ReadonlyMap<string, string>,
): (readonly [name: string, other: string])[] {
  const known = new Set<string>()
  return [...duplicates].filter(([name, other]) => {
    if (known.has(other)) return false
    known.add(name)
    return true
  })
}

export const duplicateMessage = (other: string) => ({
  message: `It is the same server as ${firstLine(other, 80)}, so every tool appears twice.`,
  fix: 'Remove one of the two entries.',
})

/** True for findings that only exist because a server is configured twice. */
export function isDuplicateFinding({ rule, severity }: ReviewFinding): boolean {
  return rule === 'shadowing' && severity === 'soft'
}

/** A server whose entry runs commands for secrets without approval. */
export interface WaitingCommand {
  readonly server: ServerConfig
  readonly commands: readonly string[]
}

export function findWaitingCommands({
  config,
  firstUse,
}: Pick<OpenServers, 'config' | 'firstUse'>): WaitingCommand[] {
  return config.servers.flatMap((server) => {
    if (server.commands.length === 0) return []
    const commands = waitingIn(server, firstUse.read(server))
    return commands.length > 0 ? [{ server, commands }] : []
  })
}
