/** Servers that are in the config twice: that is one finding, not one for each of their tools. */
import { canonicalJson, firstLine } from '@toolwell/core/internal'
import type { ReviewFinding } from '@toolwell/mcp'
import type { OpenServers } from './with-servers.js'

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
