/** `toolwell lock`: adds new definitions and approved changes to each lock. Other pins stay, and their changes are shown. */
import {
  applyApproved,
  changesJson,
  compareLock,
  findPending,
  isHard,
  looksPoisoned,
  type Pending,
  trustedLock,
} from '@toolwell/mcp/internal'
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
import { plural } from '../shared/layout.js'
import { usageProblem } from '../shared/problem.js'
import { askYes, hasPerson, isInteractive, type Paint, painter, type Terminal } from '../shared/terminal.js'
import { withCommandName } from '../shared/this-command.js'
import type { ExitCode } from '../shared/verb.js'
import { diffText, type Group, type Groups, lockOrEmpty, toProblem, withProblems } from './groups.js'
import { poisonedLine, selectPending } from './pending.js'

interface Excluded {
  readonly server: string
  /** Undefined: the whole server, because of its instructions. */
  readonly tool?: string
  readonly findings: readonly Finding[]
}

interface Written {
  readonly file: string
  /** False if no server could be listed and there was no lock. An empty lock would block every server later. */
  readonly isWritten: boolean
  readonly servers: number
  readonly tools: number
  /** Additions and approved changes. */
  readonly changes: readonly LockChange[]
  readonly approved: readonly LockChange[]
  /** Changes without approval. Their pins stay. */
  readonly waiting: readonly LockChange[]
  readonly excluded: readonly Excluded[]
  readonly unlisted: Readonly<Record<string, string>>
  readonly unnamed: readonly string[]
  /** By server: the unusable entries of its list. */
  readonly unusable: Readonly<Record<string, readonly string[]>>
}

export interface WriteOptions {
  readonly isJson: boolean
  /** Names and patterns of --approve. */
  readonly approve: readonly string[]
  /** Show everything, then ask. */
  readonly approveAll: boolean
  /** Also approve definitions that look poisoned. */
  readonly isDespiteFindings: boolean
}

export async function writeLocks(
  groups: Groups,
  options: WriteOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { scanner } = groups
  const { isJson, approve, approveAll, isDespiteFindings } = options
  const paint = painter(terminal.output, terminal.env)
  const isWatched = hasPerson(terminal)
  const drafts = groups.groups.map((group) => ({ group, lock: extendLock(group, scanner, isWatched) }))
  const waiting = drafts.flatMap(({ group, lock }) => findPending(group, lock))
  const mayBe = (each: Pending) => isDespiteFindings || !looksPoisoned(each, scanner)
  const meant = selectPending(waiting, approve, groups.groups)
  const named = meant.filter(mayBe)
  const refused = (approveAll ? waiting : meant).filter((each) => !mayBe(each))
  const rest = waiting.filter((each) => mayBe(each) && !named.includes(each))
  const isAgreed = approveAll && rest.length > 0 && (await agree(rest, scanner, terminal))
  const approved = isAgreed ? [...named, ...rest] : named
  const written: Written[] = []
  for (const { group, lock: draft } of drafts) {
    const own = approved.filter((each) => each.group === group)
    const lock = withProblems(() => applyApproved(draft, group, own))
    const isWritten = group.lock !== undefined || group.servers.length > 0 || group.unlisted.size === 0
    if (isWritten)
      await writeLock(group.file, lock).catch((error) => {
        throw toProblem(error)
      })
    const excluded = excludedFrom(group, lock, scanner)
    const isExcluded = ({ server, tool }: LockChange) =>
      excluded.some((each) => each.server === server && each.tool === tool)
    const left = waiting
      .filter((each) => each.group === group && !approved.includes(each))
      .map(({ change }) => change)
    written.push({
      file: group.file,
      isWritten,
      servers: Object.keys(lock.servers).length,
      tools: countTools(lock),
      changes: group.lock ? compareLock(group, lockOrEmpty(group), listLocked(lock)) : [],
      approved: changesJson(
        group,
        own.map(({ change }) => change),
        scanner,
      ),
      waiting: changesJson(
        group,
        left.filter((change) => !isExcluded(change)),
        scanner,
      ),
      excluded,
      unlisted: Object.fromEntries(group.unlisted),
      unnamed: group.unnamed,
      unusable: Object.fromEntries(group.unusable),
    })
  }
  await terminal.output.write(
    isJson
      ? `${JSON.stringify({ locks: written }, null, 2)}\n`
      : [
          ...written.map((each, at) => text(each, groups.groups[at] as Group, scanner, paint, terminal.name)),
          ...(refused.length > 0 ? [poisonedLine(refused)] : []),
        ].join(''),
  )
  const isOpen = ({ waiting: left, excluded, unlisted }: Written) =>
    left.length + excluded.length + Object.keys(unlisted).length > 0
  return written.some(isOpen) ? 1 : 0
}

/** Shows all changes, then asks. */
async function agree(rest: readonly Pending[], scanner: Scanner, terminal: Terminal): Promise<boolean> {
  const { output, env } = terminal
  if (!isInteractive(terminal))
    throw usageProblem(
      '--approve-all asks a question and needs a terminal.',
      'Name the changes with --approve NAME; * matches any characters.',
    )
  for (const group of new Set(rest.map((each) => each.group))) {
    const changes = rest.filter((each) => each.group === group).map(({ change }) => change)
    await output.write(`${diffText(group, changes, scanner, painter(output, env))}\n\n`)
  }
  return askYes(`Approve ${rest.length === 1 ? 'this change' : `these ${rest.length} changes`}?`, terminal)
}

/** Pins are decisions of the user, so only the user removes them. */
export function unnamedLines(unnamed: readonly string[], name: string): string[] {
  const [first] = unnamed
  if (first === undefined) return []
  const names = unnamed.slice(0, 10).map(visible).join(', ')
  const more = unnamed.length > 10 ? ` and ${unnamed.length - 10} more` : ''
  return [
    `  kept, although this config does not name it: ${names}${more}. To remove one: ${withCommandName(approveCommand(first), name)}`,
  ]
}

/**
 * Adds new definitions to the lock of a group. A new lock starts with the first definitions seen. Without a person, quarantined
 * definitions are not added: an agent with a shell must not approve them.
 */
export function extendLock(group: Group, scanner: Scanner, isWatched: boolean): Lock {
  const before = trustedLock(group)
  const isQuarantined = (server: string, tool: unknown) =>
    group.quarantined.get(server)?.has((tool as { name: string }).name) === true
  const usable = group.servers
    .filter(({ name }) => Object.hasOwn(before.servers, name) || !group.quarantinedServers.has(name))
    .map((server) => ({
      ...server,
      tools: server.tools.filter((tool) => !isQuarantined(server.name, tool)),
    }))
  const fresh = createLock(isWatched ? group.servers : usable, scanner, before)
  return keepServers(fresh, before, [...group.unlisted.keys(), ...group.disabled, ...group.unnamed])
}

export function countTools({ servers }: Lock): number {
  return Object.values(servers).reduce((sum, { tools }) => sum + Object.keys(tools).length, 0)
}

/** The content of a lock as listed servers. */
function listLocked(lock: Lock): ListedServer[] {
  return Object.entries(lock.servers).map(([name, { instructions, tools }]) => ({
    name,
    instructions,
    tools: Object.values(tools).map(({ definition }) => definition),
  }))
}

/** Hard findings keep a definition out of the lock. */
function excludedFrom({ servers }: Group, lock: Lock, scanner: Scanner): Excluded[] {
  const missing = servers.flatMap((server): Excluded[] => {
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
  return missing.filter(({ findings }) => isHard(findings))
}

function text(written: Written, group: Group, scanner: Scanner, paint: Paint, name: string): string {
  const { file, isWritten, servers, tools, changes, approved, waiting } = written
  const { excluded, unlisted, unnamed, unusable } = written
  const lines = [
    isWritten
      ? `${file}: ${plural(servers, 'server')}, ${plural(tools, 'tool')}.`
      : `${file} was not written, because no server could be listed. Fix the servers, then run: ${name} lock`,
  ]
  if (approved.length > 0) lines.push('', diffText(group, approved, scanner, paint), '', 'Approved as shown.')
  const sign = { added: '+', changed: '~', removed: '-' } as const
  const isShown = ({ server, tool }: LockChange) =>
    approved.some((each) => each.server === server && each.tool === tool)
  const news = changes.filter((change) => !isShown(change))
  for (const { kind, server, tool, fields } of news.slice(0, 40)) {
    const where = kind === 'changed' ? `  ${fields.map(({ path }) => visible(path)).join(', ')}` : ''
    lines.push(`  ${sign[kind]} ${visible(tool === undefined ? server : `${server}/${tool}`)}${where}`)
  }
  if (news.length > 40) lines.push(`  and ${news.length - 40} more`)
  for (const { server, tool, findings } of excluded) {
    const hard = findings.filter(({ severity }) => severity === 'hard')
    lines.push(`  excluded: ${visible(tool === undefined ? server : `${server}/${tool}`)}`)
    for (const { rule, where, why } of hard)
      lines.push(`    ${rule} in ${visible(where) || 'the definition'}: ${visible(why)}`)
    lines.push(`    Do not approve it. ${keepOut(server, tool)}`)
  }
  for (const [server, entries] of Object.entries(unusable))
    for (const entry of entries)
      lines.push(`  unusable, and not pinned: ${visible(server)}: ${visible(entry)}`)
  for (const [server, reason] of Object.entries(unlisted))
    lines.push(`  not listed${isWritten ? ', so its pins stay' : ''}: ${visible(server)}: ${visible(reason)}`)
  lines.push(...unnamedLines(unnamed, name))
  const [first] = waiting
  if (first)
    lines.push(
      '',
      diffText(group, waiting, scanner, paint),
      '',
      `${plural(waiting.length, 'change')} ${waiting.length === 1 ? 'waits' : 'wait'} for approval. The user decides: review ${waiting.length === 1 ? 'it' : 'them'}, then run in a terminal: ${withCommandName(approveCommand(first.server, first.tool), name)}`,
    )
  return `${lines.join('\n')}\n`
}
