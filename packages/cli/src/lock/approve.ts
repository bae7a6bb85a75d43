/** `toolwell lock --approve`: takes one server, or one tool, into its lock as it is now, and shows what that is. */
import { approve, checkLock, type Lock, type LockChange, visible, writeLock } from '@toolwell/mcp/lock'
import { Problem } from '../shared/problem.js'
import { painter, type Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { diffText } from './check.js'
import { changesJson, type Group, type Groups, toProblem } from './groups.js'
import { freshLock } from './write.js'

export async function approveTarget(
  { groups, scanner }: Groups,
  target: string,
  isJson: boolean,
  { output, env }: Terminal,
): Promise<ExitCode> {
  const group = groupOf(groups, target)
  for (const [server, reason] of group.unlisted)
    if (isAbout(target, server))
      throw new Problem(
        `${visible(server)} cannot be listed, so there is nothing to approve: ${visible(reason)}`,
        'Fix that first. Nothing was changed.',
        { reason: 'unlisted' },
      )
  // A first lock holds everything, or the one tool would be all that is left to use.
  const base = group.lock ?? freshLock(group, scanner)
  const next = asApproved(base, group, target)
  const changes = differences(base, next)
  // Also where nothing differs: a program that runs may hold back what changed and changed back, and sees the new file.
  await writeLock(group.file, next).catch((error) => {
    throw toProblem(error)
  })
  if (isJson) {
    const shown = changesJson(group, changes, scanner)
    await output.write(`${JSON.stringify({ file: group.file, approved: target, changes: shown }, null, 2)}\n`)
    return 0
  }
  const first =
    group.lock === undefined
      ? `There was no ${group.file}: it holds all servers now, as toolwell lock writes them.\n`
      : ''
  const diff = changes.length > 0 ? `${diffText(group, changes, scanner, painter(output, env))}\n\n` : ''
  const end =
    changes.length > 0
      ? `${visible(target)} is approved in ${group.file}.`
      : `${visible(target)} was approved already.`
  await output.write(`${first}${diff}${end}\n`)
  return 0
}

const isAbout = (target: string, server: string) => target === server || target.startsWith(`${server}/`)

/** The group with the longest name of a server that the target begins with. */
function groupOf(groups: readonly Group[], target: string): Group {
  const named = groups.flatMap((group) =>
    [
      ...group.servers.map(({ name }) => name),
      ...group.unlisted.keys(),
      ...Object.keys(group.lock?.servers ?? {}),
    ]
      .filter((name) => isAbout(target, name))
      .map((name) => ({ group, name })),
  )
  named.sort((a, b) => b.name.length - a.name.length)
  const known = groups.flatMap(({ servers, unlisted }) => [
    ...servers.map(({ name }) => name),
    ...unlisted.keys(),
  ])
  if (!named[0])
    throw new Problem(
      `There is no server ${JSON.stringify(target.split('/')[0])} to approve.`,
      `Known: ${known.sort().slice(0, 20).map(visible).join(', ') || 'none'}.`,
      { reason: 'unknown-target' },
    )
  return named[0].group
}

function asApproved(base: Lock, { servers }: Group, target: string): Lock {
  try {
    return approve(base, servers, target)
  } catch (error) {
    throw toProblem(error)
  }
}

function differences(before: Lock, after: Lock): LockChange[] {
  const servers = Object.entries(after.servers).map(([name, { instructions, tools }]) => ({
    name,
    instructions,
    tools: Object.values(tools).map(({ definition }) => definition),
  }))
  return checkLock(before, servers)
}
