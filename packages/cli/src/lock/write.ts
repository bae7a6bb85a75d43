/** `toolwell lock`: writes each lock for its servers as they are. What looks poisoned is excluded; what could not be listed stays as it was. */
import {
  approveCommand,
  createLock,
  keepOut,
  keepServers,
  type ListedServer,
  type Lock,
  type LockChange,
  visible,
  writeLock,
} from '@toolwell/mcp/lock'
import type { Finding, Scanner } from '@toolwell/mcp/scan'
import { plural } from '../shared/table.js'
import type { Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { changesOf, type Group, type Groups, lockOf, toProblem } from './groups.js'

interface Excluded {
  readonly server: string
  /** Undefined: the whole server, because of its instructions. */
  readonly tool?: string
  readonly findings: readonly Finding[]
}

interface Written {
  readonly file: string
  /** False: nothing could be listed, and there was no lock. An empty lock would hold back every server once it works again. */
  readonly isWritten: boolean
  readonly servers: number
  readonly tools: number
  readonly changes: readonly LockChange[]
  readonly excluded: readonly Excluded[]
  readonly unlisted: Readonly<Record<string, string>>
  readonly unnamed: readonly string[]
  /** By server, the unusable entries of its list. */
  readonly unusable: Readonly<Record<string, readonly string[]>>
}

export async function writeLocks(
  { groups, scanner }: Groups,
  isJson: boolean,
  { output }: Terminal,
): Promise<ExitCode> {
  const written: Written[] = []
  for (const group of groups) {
    const lock = freshLock(group, scanner)
    const isWritten = group.lock !== undefined || group.servers.length > 0 || group.unlisted.size === 0
    if (isWritten)
      await writeLock(group.file, lock).catch((error) => {
        throw toProblem(error)
      })
    written.push({
      file: group.file,
      isWritten,
      servers: Object.keys(lock.servers).length,
      tools: toolsIn(lock),
      changes: group.lock ? changesOf(group, lockOf(group), serversOf(lock)) : [],
      excluded: excludedFrom(group, lock, scanner),
      unlisted: Object.fromEntries(group.unlisted),
      unnamed: group.unnamed,
      unusable: Object.fromEntries(group.unusable),
    })
  }
  await output.write(isJson ? `${JSON.stringify({ locks: written }, null, 2)}\n` : written.map(text).join(''))
  return written.some(({ excluded, unlisted }) => excluded.length + Object.keys(unlisted).length > 0) ? 1 : 0
}

/** A pin is a decision of a person, so it is removed only by one. */
export function unnamedLines(unnamed: readonly string[]): string[] {
  const [first] = unnamed
  if (first === undefined) return []
  const names = unnamed.slice(0, 10).map(visible).join(', ')
  const more = unnamed.length > 10 ? ` and ${unnamed.length - 10} more` : ''
  return [
    `  kept, though this config does not name it: ${names}${more}. Drop one with: ${approveCommand(first)}`,
  ]
}

/** A lock of a group as it is now. */
export function freshLock(group: Group, scanner: Scanner): Lock {
  const before = lockOf(group)
  const fresh = createLock(group.servers, scanner, before)
  return keepServers(fresh, before, [...group.unlisted.keys(), ...group.disabled, ...group.unnamed])
}

export function toolsIn({ servers }: Lock): number {
  return Object.values(servers).reduce((sum, { tools }) => sum + Object.keys(tools).length, 0)
}

/** What a lock holds, as if servers listed it. */
function serversOf(lock: Lock): ListedServer[] {
  return Object.entries(lock.servers).map(([name, { instructions, tools }]) => ({
    name,
    instructions,
    tools: Object.values(tools).map(({ definition }) => definition),
  }))
}

function excludedFrom({ servers }: Group, lock: Lock, scanner: Scanner): Excluded[] {
  return servers.flatMap((server): Excluded[] => {
    const locked = Object.hasOwn(lock.servers, server.name) ? lock.servers[server.name] : undefined
    if (!locked)
      return [
        { server: server.name, findings: scanner.scanInstructions(server.name, server.instructions ?? '') },
      ]
    return server.tools.flatMap((tool): Excluded[] => {
      const { name } = tool as { name: string }
      return Object.hasOwn(locked.tools, name)
        ? []
        : [{ server: server.name, tool: name, findings: scanner.scanTool(server.name, tool) }]
    })
  })
}

function text(written: Written): string {
  const { file, isWritten, servers, tools, changes, excluded, unlisted, unnamed, unusable } = written
  const lines = [
    isWritten
      ? `${file}: ${plural(servers, 'server')}, ${plural(tools, 'tool')}.`
      : `${file} was not written: no server could be listed. Fix that, then write it with: toolwell lock`,
  ]
  const sign = { added: '+', changed: '~', removed: '-' } as const
  for (const { kind, server, tool, fields } of changes.slice(0, 40)) {
    const where = kind === 'changed' ? `  ${fields.map(({ path }) => visible(path)).join(', ')}` : ''
    lines.push(`  ${sign[kind]} ${visible(tool === undefined ? server : `${server}/${tool}`)}${where}`)
  }
  if (changes.length > 40) lines.push(`  and ${changes.length - 40} more`)
  for (const { server, tool, findings } of excluded) {
    const hard = findings.filter(({ severity }) => severity === 'hard')
    lines.push(`  excluded: ${visible(tool === undefined ? server : `${server}/${tool}`)}`)
    for (const { rule, where, why } of hard)
      lines.push(`    ${rule} in ${visible(where) || 'the definition'}: ${visible(why)}`)
    lines.push(`    Do not approve it. ${keepOut(server, tool)}`)
  }
  for (const [server, entries] of Object.entries(unusable))
    for (const entry of entries)
      lines.push(`  cannot be used, and is not pinned: ${visible(server)}: ${visible(entry)}`)
  for (const [server, reason] of Object.entries(unlisted))
    lines.push(
      `  not listed${isWritten ? ', and left as it was' : ''}: ${visible(server)}: ${visible(reason)}`,
    )
  lines.push(...unnamedLines(unnamed))
  return `${lines.join('\n')}\n`
}
