/** `toolwell lock --check`: what differs between the locks and the servers as they are now. */
import { approveCommand, keepOut, type LockChange, visible } from '@toolwell/mcp/lock'
import type { Scanner } from '@toolwell/mcp/scan'
import { plural } from '../shared/layout.js'
import { Problem } from '../shared/problem.js'
import { type Paint, painter, type Terminal } from '../shared/terminal.js'
import { withCommandName } from '../shared/this-command.js'
import type { ExitCode } from '../shared/verb.js'
import {
  changesJson,
  compareLock,
  diffText,
  type Group,
  type Groups,
  isHard,
  lockOrEmpty,
  scanChange,
} from './groups.js'
import { changeName, findPending } from './pending.js'
import { unnamedLines } from './write.js'

/** Tools that advice is given about one by one. */
const MOST_ADVICE = 5

export async function checkLocks(
  { groups, scanner }: Groups,
  isJson: boolean,
  { output, env, name }: Terminal,
): Promise<ExitCode> {
  const missing = groups.filter(({ lock }) => lock === undefined)
  if (missing.length === groups.length)
    throw new Problem(
      `There is no ${missing.map(({ file }) => file).join(' and no ')}.${groups.map(sinceText).join('')}`,
      'Write it with: toolwell lock',
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

/** What is known to have changed without a lock. */
const sinceText = (group: Group) => {
  const held = findPending(group)
    .filter(({ change }) => change.kind === 'changed')
    .map(({ change }) => `${changeName(change)} is not what it was when first seen`)
  return [...held, ...group.since.map(({ text: told }) => told)].map((told) => ` ${visible(told)}.`).join('')
}

function unpinnedText(group: Group, servers: readonly string[], name: string): string {
  const [config, ...more] = group.configs
  // Only this one: the others may differ, and would be taken along as they are.
  const only = config === undefined || more.length > 0 ? '' : ` --config ${quoted(config)}`
  return `There is no ${group.file}: ${servers.map(visible).join(', ')} ${servers.length === 1 ? 'is' : 'are'} not pinned.${sinceText(group)} Write it with: ${name} lock${only}\n`
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
    return `${[`${group.file} fits: ${plural(Object.keys(servers).length, 'server')}, ${plural(tools.length, 'tool')}.`, ...unusableLines(group), ...unnamedLines(group.unnamed, name)].join('\n')}\n`
  }
  const lines = [`${group.file} does not fit.`]
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
      `${visible(tool === undefined ? server : `${server}/${tool}`)} looks poisoned: do not approve it. ${keepOut(server, tool)}`,
    )
  if (bad.length > MOST_ADVICE) lines.push(`So do ${bad.length - MOST_ADVICE} more.`)
  if (first)
    lines.push(
      `Approve what you have read, with the server or tool: ${withCommandName(approveCommand(first.server, first.tool), name)}`,
    )
  return `${lines.join('\n')}\n`
}

/** Unusable entries are in no lock. */
export function unusableLines({ unusable }: Group): string[] {
  return [...unusable].flatMap(([server, entries]) =>
    entries.map((entry) => `  cannot be used: ${visible(server)}: ${visible(entry)}`),
  )
}
