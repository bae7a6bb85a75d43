/** Shows changes that wait for approval, asks about each, and approves. */
import { matchesGlob } from '@toolwell/core/internal'
import {
  approveCommands,
  changeName,
  changesJson,
  findPending,
  looksPoisoned,
  type Pending,
  showEndpoint,
} from '@toolwell/mcp/internal'
import { type LockChange, visible } from '@toolwell/mcp/lock'
import { diffText, type Groups, groupServers } from '../lock/groups.js'
import { poisonedLine, selectPending, writeApproved } from '../lock/pending.js'
import { plural } from '../shared/layout.js'
import { readLines } from '../shared/read-lines.js'
import { findWaitingCommands, type WaitingCommand } from '../shared/servers/server-facts.js'
import type { OpenServers } from '../shared/servers/with-servers.js'
import { painter, type Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'

export interface ApproveOptions {
  readonly targets: readonly string[]
  readonly isJson: boolean
  /** Approve the named changes without asking. */
  readonly isSure: boolean
  /** Also approve definitions that look poisoned. */
  readonly isDespiteFindings: boolean
}

export async function runApprove(
  open: OpenServers,
  options: ApproveOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { targets, isJson, isSure, isDespiteFindings } = options
  const { output } = terminal
  const commands = findWaitingCommands(open)
  const groups = groupServers(open)
  const pending = groups.groups.flatMap((group) => findPending(group))
  const mayBe = (each: Pending) => isDespiteFindings || !looksPoisoned(each, groups.scanner)
  if (targets.length > 0) {
    const named = commands.filter(({ server }) => targets.some((target) => matchesGlob(target, server.name)))
    const others = targets.filter((target) => !named.some(({ server }) => matchesGlob(target, server.name)))
    const meant = selectPending(pending, others, groups.groups)
    if (!isSure && !isJson && meant.length + named.length > 0)
      return ask({ open, groups, pending: meant, commands: named, mayBe, targets }, terminal)
    const taken = meant.filter(mayBe)
    const left = meant.filter((each) => !mayBe(each))
    for (const each of named) allowCommands(open, each)
    await writeApproved(groups, taken, left.length > 0 ? [] : targets)
    await output.write(
      isJson
        ? approveJson(groups, taken, named, 'approved', left)
        : approvedText(groups, taken, named, targets, left, terminal),
    )
    return left.length > 0 ? 1 : 0
  }
  if (isJson) {
    await output.write(approveJson(groups, pending, commands, 'pending'))
    return pending.length + commands.length > 0 ? 1 : 0
  }
  return ask({ open, groups, pending, commands, mayBe, targets }, terminal)
}

function allowCommands({ firstUse }: OpenServers, { server }: WaitingCommand): void {
  firstUse.write(server, approveCommands(firstUse.read(server), server))
}

/** Describes what the commands do, each kind once. */
function describeCommands(commands: readonly string[]): string {
  const kinds = commands.map((command) => {
    if (command.startsWith('${env:')) return 'sends an environment variable'
    return command.startsWith('${file:') ? 'reads a file for a secret' : 'runs a command for a secret'
  })
  return [...new Set(kinds)].join(' and ')
}

const commandText = ({ server, commands }: WaitingCommand) =>
  [
    `! ${visible(server.name)}  ${describeCommands(commands)}, and its entry is not in your own config file`,
    ...commands.map((command) => `      ${visible(command)}`),
    `    The value goes to: ${visible(showEndpoint(server.endpoint, server.secrets))}`,
  ].join('\n')

interface Question {
  readonly open: OpenServers
  readonly groups: Groups
  readonly pending: readonly Pending[]
  readonly commands: readonly WaitingCommand[]
  /** False for definitions that look poisoned. */
  readonly mayBe: (pending: Pending) => boolean
  readonly targets: readonly string[]
}

/** Shows one diff after the other and asks. */
async function ask(
  { open, groups, pending, commands, mayBe, targets }: Question,
  terminal: Terminal,
): Promise<ExitCode> {
  const { output, env } = terminal
  const paint = painter(output, env)
  const items: readonly Item[] = [
    ...commands.map((command) => ({ text: commandText(command), name: command.server.name, command })),
    ...pending.map((each) => ({
      text: diffText(each.group, [each.change], groups.scanner, paint),
      name: changeName(each.change),
      pending: each,
      ...(mayBe(each) ? {} : { refusal: poisonedLine([each]) }),
    })),
  ]
  if (items.length === 0) {
    await output.write('No changes wait for approval.\n')
    return 0
  }
  const taken = await askAbout(items, terminal)
  for (const { command } of taken) if (command) allowCommands(open, command)
  const left = items.length - taken.length
  await writeApproved(
    groups,
    taken.flatMap((item) => item.pending ?? []),
    left === 0 ? targets : [],
  )
  await output.write(
    left === 0
      ? `${plural(items.length, 'change')} approved.\n`
      : `${plural(left, 'change')} ${left === 1 ? 'waits' : 'wait'} for approval. Approve with: ${terminal.name} approve NAME\n`,
  )
  return left === 0 ? 0 : 1
}

interface Item {
  readonly text: string
  readonly name: string
  readonly command?: WaitingCommand
  readonly pending?: Pending
  /** Why it is shown without a question. */
  readonly refusal?: string
}

/** Shows each item and returns those that the user approved. */
async function askAbout(items: readonly Item[], { input, output }: Terminal): Promise<Item[]> {
  const answers = readLines(input, 'standard input')
  const taken: Item[] = []
  let isAll = false
  for (const item of items) {
    await output.write(`${item.text}\n\n`)
    if (item.refusal !== undefined) await output.write(`${item.refusal}\n`)
    if (item.refusal !== undefined) continue
    let word: string = isAll ? 'y' : ''
    while (!/^(?:y|yes|n|no|a|all|q|quit)$/.test(word)) {
      await output.write(`Approve ${visible(item.name)}? [y/n/all/quit] `)
      const { value, done } = await answers.next()
      word = done ? 'quit' : value.text.trim().toLowerCase()
    }
    if (word.startsWith('q')) break
    isAll ||= word.startsWith('a')
    if (!word.startsWith('n')) taken.push(item)
  }
  return taken
}

function approveJson(
  groups: Groups,
  changes: readonly Pending[],
  commands: readonly WaitingCommand[],
  key: 'approved' | 'pending',
  left: readonly Pending[] = [],
): string {
  const facts = ({ group, change }: Pending) =>
    changesJson(group, [change], groups.scanner).map((each) => ({
      ...each,
      name: changeName(change),
      by: group.lock ? ('lock' as const) : ('first-use' as const),
    }))
  const runs = commands.map(({ server, commands: own }) => ({ server: server.name, commands: own }))
  const value = {
    [key]: changes.flatMap(facts),
    ...(key === 'approved' ? { left: left.flatMap(facts) } : {}),
    commands: runs,
  }
  return `${JSON.stringify(value, null, 2)}\n`
}

function approvedText(
  groups: Groups,
  approved: readonly Pending[],
  commands: readonly WaitingCommand[],
  targets: readonly string[],
  left: readonly Pending[],
  { output, env, name }: Terminal,
): string {
  const paint = painter(output, env)
  const shown = [...new Set(approved.map(({ group }) => group))].map((group) => {
    const own: LockChange[] = approved.filter((each) => each.group === group).map(({ change }) => change)
    const where = group.lock ? ` in ${group.file}` : ''
    const names = own.map((change) => visible(changeName(change))).join(', ')
    return `${diffText(group, own, groups.scanner, paint)}\n\n${names} ${own.length === 1 ? 'is' : 'are'} approved${where}.\n`
  })
  const runs = commands.map(
    (each) => `${commandText(each)}\n\nApproved: the server may start. Show it with: ${name} inspect\n`,
  )
  const refused = left.map(({ group, change }) => `${diffText(group, [change], groups.scanner, paint)}\n`)
  if (left.length > 0) refused.push(poisonedLine(left))
  const all = [...runs, ...shown, ...refused].join('\n')
  return all === ''
    ? `${targets.map(visible).join(', ')} ${targets.length === 1 ? 'was' : 'were'} already approved.\n`
    : all
}
