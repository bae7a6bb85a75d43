/** An unusable entry of a server's list in one line: `entry 3 (name) has an inputSchema that is not an object`. */

import { canonicalJson, firstLine } from '@toolwell/core/internal'
import type { ReviewFinding, ServerConfig, ServerWarning, UnusableEntry, WarningCode } from '@toolwell/mcp'
import { waitingCommands as waitingIn } from '@toolwell/mcp/internal'
import type { OpenServers } from './with-servers.js'

/** Of files the place is not kept. */
export type UnusableView = Omit<UnusableEntry, 'entry'> & { readonly entry?: number }

export function unusableLine({ entry, name, reason }: UnusableView): string {
  const called = name === undefined ? '' : firstLine(name, 60)
  const place = entry === undefined ? called : `entry ${entry}${called === '' ? '' : ` (${called})`}`
  return `${place} ${firstLine(reason, 300)}`
}

// Warnings about a server whose definitions are no longer those that were first seen.

const CHANGES: readonly WarningCode[] = [
  'instructions-changed',
  'tools-changed',
  'tools-added',
  'tools-removed',
]

/** That they were seen for the first time is not a change. */
export function findChanges(warnings: readonly ServerWarning[]): ServerWarning[] {
  return warnings.filter(({ code }) => CHANGES.includes(code))
}

// Servers that are in the config twice: that is one finding, not one for each of their tools.

/** Servers with the same command or address as another one, and its name. */
export function findDuplicates({ config }: Pick<OpenServers, 'config'>): Map<string, string> {
  const groups = new Map<string, string[]>()
  for (const { name, endpoint, enabled } of config.servers) {
    // How an address is spoken to does not make it another one.
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

/** Each pair once. */
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
  message: `It is the same server as ${firstLine(other, 80)}: every tool is there twice.`,
  fix: 'Remove one of the two entries.',
})

/** Found because a server is there twice. */
export function isDuplicateFinding({ rule, severity }: ReviewFinding): boolean {
  return rule === 'shadowing' && severity === 'soft'
}

// Servers whose entries run commands for secrets that nobody has approved.

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
