/** `toolwell lock --check`: what differs between the locks and the servers as they are now. */
import { approveCommand, checkLock, type LockChange, renderLockDiff, visible } from '@toolwell/mcp/lock'
import type { Scanner } from '@toolwell/mcp/scan'
import { Problem } from '../problem.js'
import { plural } from '../table.js'
import { type Paint, painter, type Terminal } from '../terminal.js'
import type { ExitCode } from '../verb.js'
import { type Group, type Groups, lockOf } from './groups.js'
import { toolsIn } from './write.js'

export async function checkLocks(
  { groups, scanner }: Groups,
  isJson: boolean,
  { output, env }: Terminal,
): Promise<ExitCode> {
  const missing = groups.filter(({ lock }) => lock === undefined)
  if (missing.length === groups.length)
    throw new Problem(
      `There is no ${missing.map(({ file }) => file).join(' and no ')}.`,
      'Write it with: toolwell lock',
      { reason: 'no-lock' },
    )
  const checked = groups
    .filter(({ lock }) => lock !== undefined)
    .map((group) => ({ group, changes: differencesOf(group) }))
  const isFitting = checked.every(({ group, changes }) => changes.length + group.unlisted.size === 0)
  const paint = painter(output, env)
  await output.write(
    isJson
      ? `${JSON.stringify({ fits: isFitting, locks: checked.map(jsonOf) }, null, 2)}\n`
      : checked.map(({ group, changes }) => text(group, changes, scanner, paint)).join(''),
  )
  return isFitting ? 0 : 1
}

function differencesOf(group: Group): LockChange[] {
  return checkLock(lockOf(group), group.servers, {
    unlisted: [...group.unlisted.keys(), ...group.disabled],
  })
}

function jsonOf({ group, changes }: { group: Group; changes: readonly LockChange[] }) {
  return { file: group.file, changes, unlisted: Object.fromEntries(group.unlisted) }
}

function text(group: Group, changes: readonly LockChange[], scanner: Scanner, paint: Paint): string {
  const lock = lockOf(group)
  if (changes.length + group.unlisted.size === 0)
    return `${group.file} fits: ${plural(Object.keys(lock.servers).length, 'server')}, ${plural(toolsIn(lock), 'tool')}.\n`
  const lines = [`${group.file} does not fit.`]
  if (changes.length > 0) lines.push('', diffText(group, changes, scanner, paint))
  for (const [server, reason] of group.unlisted)
    lines.push('', `! ${visible(server)} could not be listed: ${visible(reason)}`)
  const [first] = changes
  if (first)
    lines.push(
      '',
      `${plural(changes.length, 'difference')}. Approve what you have read, with the server or tool: ${approveCommand(first.server, first.tool)}`,
    )
  return `${lines.join('\n')}\n`
}

export function diffText(
  { servers }: Group,
  changes: readonly LockChange[],
  scanner: Scanner,
  paint: Paint,
): string {
  return renderLockDiff(changes, {
    style: (part, line) =>
      part === 'heading'
        ? paint(line, 'bold')
        : part === 'added'
          ? paint(line, 'name')
          : part === 'note'
            ? paint(line, 'error')
            : paint(line, 'dim'),
    findings(server, tool) {
      const listed = servers.find(({ name }) => name === server)
      if (tool === undefined) return scanner.scanInstructions(server, listed?.instructions ?? '')
      const definition = listed?.tools.find((each) => (each as { name?: unknown }).name === tool)
      return definition === undefined ? [] : scanner.scanTool(server, definition)
    },
  })
}
