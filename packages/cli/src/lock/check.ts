/** `toolwell lock --check`: compares the locks with the current servers. */
import { changeName, changesJson, compareLock, findPending, isHard, scanChange } from '@toolwell/mcp/internal'
import { approveCommand, keepOut, type LockChange, visible } from '@toolwell/mcp/lock'
import type { Scanner } from '@toolwell/mcp/scan'
import { plural } from '../shared/layout.js'
import { Problem } from '../shared/problem.js'
import { type Paint, painter, type Terminal } from '../shared/terminal.js'
import { withCommandName } from '../shared/this-command.js'
import type { ExitCode } from '../shared/verb.js'
import { diffText, type Group, type Groups, lockOrEmpty } from './groups.js'
import { unnamedLines } from './write.js'

/** Tools with their own line of advice. */
const MOST_ADVICE = 5

export async function checkLocks(
  { groups, scanner }: Groups,
  isJson: boolean,
  { output, env, name }: Terminal,
): Promise<ExitCode> {
  const missing = groups.filter(({ lock }) => lock === undefined)
  if (missing.length === groups.length)
    throw new Problem(
      `${missing.map(({ file }) => file).join(' and ')} ${missing.length === 1 ? 'does' : 'do'} not exist.${groups.map(sinceText).join('')}`,
      'Create the lock with: toolwell lock',
      { reason: 'no-lock' },
    )
  const unpinned = missing
    .map((group) => ({ group, servers: enabledIn(group) }))
    .filter(({ servers }) => servers.length > 0)
  const checked = groups
    .filter(({ lock }) => lock !== undefined)
    .map((group) => ({ group, changes: compareLock(group, lockOrEmpty(group), group.servers) }))
  const isFitting = checked.every(({ group, changes }) => changes.length + group.unlisted.size === 0)
  const paint = painter(output, env)
  await output.write(
    isJson
      ? `${JSON.stringify(
          {
            fits: isFitting,
            locks: checked.map(({ group, changes }) => jsonOf(group, changes, scanner)),
            unpinned: unpinned.map(({ group: { file }, servers }) => ({ file, servers })),
          },
          null,
          2,
        )}\n`
      : [
          ...checked.map(({ group, changes }) => text(group, changes, scanner, paint, name)),
          ...unpinned.map(({ group, servers }) => unpinnedText(group, servers, name)),
        ].join(''),
  )
  return isFitting ? 0 : 1
}

const enabledIn = ({ servers, unlisted }: Group) =>
  [...servers.map(({ name }) => name), ...unlisted.keys()].sort()

/** Changes that are known without a lock. */
const sinceText = (group: Group) => {
  const changed = findPending(group)
    .filter(({ change }) => change.kind === 'changed')
    .map(({ change }) => `${changeName(change)} has changed since it was first seen`)
  return [...changed, ...group.since.map(({ text }) => text)].map((line) => ` ${visible(line)}.`).join('')
}

function unpinnedText(group: Group, servers: readonly string[], name: string): string {
  const [config, ...more] = group.configs
  // Names only this config, because a lock for the others would also pin their changes.
  const only = config === undefined || more.length > 0 ? '' : ` --config ${quoted(config)}`
  return `${group.file} does not exist: ${servers.map(visible).join(', ')} ${servers.length === 1 ? 'is' : 'are'} not pinned.${sinceText(group)} Create the lock with: ${name} lock${only}\n`
}

const quoted = (path: string) => (/^[\w.@:/-]+$/.test(path) ? path : JSON.stringify(path))

function jsonOf(group: Group, changes: readonly LockChange[], scanner: Scanner) {
  const { file, unlisted, unnamed, unusable } = group
  return {
    file,
    changes: changesJson(group, changes, scanner),
    unlisted: Object.fromEntries(unlisted),
    unnamed,
    unusable: Object.fromEntries(unusable),
  }
}

function text(
  group: Group,
  changes: readonly LockChange[],
  scanner: Scanner,
  paint: Paint,
  name: string,
): string {
  const { servers } = lockOrEmpty(group)
  if (changes.length + group.unlisted.size === 0) {
    const tools = Object.entries(servers).flatMap(([server, { tools: own }]) =>
      Object.keys(own).filter((tool) => !group.denied.get(server)?.has(tool)),
    )
    return `${[`${group.file} matches: ${plural(Object.keys(servers).length, 'server')}, ${plural(tools.length, 'tool')}.`, ...unusableLines(group), ...unnamedLines(group.unnamed, name)].join('\n')}\n`
  }
  const lines = [`${group.file} does not match.`]
  if (changes.length > 0) lines.push('', diffText(group, changes, scanner, paint))
  for (const [server, reason] of group.unlisted)
    lines.push('', `! ${visible(server)} could not be listed: ${visible(reason)}`)
  lines.push(...unusableLines(group), ...unnamedLines(group.unnamed, name))
  const isPoisoned = (change: LockChange) => isHard(scanChange(group, scanner, change))
  const bad = changes.filter(isPoisoned)
  const first = changes.find((change) => !isPoisoned(change))
  if (changes.length > 0) lines.push('', `${plural(changes.length, 'difference')}.`)
  for (const { server, tool } of bad.slice(0, MOST_ADVICE))
    lines.push(
      `${visible(tool === undefined ? server : `${server}/${tool}`)} looks poisoned. Do not approve it. ${keepOut(server, tool)}`,
    )
  if (bad.length > MOST_ADVICE) lines.push(`${bad.length - MOST_ADVICE} more look poisoned.`)
  if (first)
    lines.push(
      `Review each difference, then approve the server or tool: ${withCommandName(approveCommand(first.server, first.tool), name)}`,
    )
  return `${lines.join('\n')}\n`
}

/** Unusable entries are never in a lock. */
export function unusableLines({ unusable }: Group): string[] {
  return [...unusable].flatMap(([server, entries]) =>
    entries.map((entry) => `  unusable: ${visible(server)}: ${visible(entry)}`),
  )
}
