/** Plans, shows, asks, and writes: twice planned, because a file may change while its owner reads. */
import { platform } from 'node:os'
import { homeOf } from '../import/clients.js'
import { switchesOf } from '../import/switches.js'
import { askYes, isScreen } from '../shared/ask-yes.js'
import { Problem } from '../shared/problem.js'
import { plural } from '../shared/table.js'
import { painter, type Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { type ConnectPlan, planConnect } from './connect-plan.js'
import { Refusal } from './edit/refusal.js'
import { openRecords, recordsFolder } from './records.js'
import { targetsOf } from './targets.js'
import { connectJson, connectText, question, refusalText } from './text.js'
import { withLock } from './with-lock.js'
import { type Connected, writeConnect } from './write-connect.js'

export interface ConnectOptions {
  readonly clients: readonly string[]
  readonly profile: string | undefined
  readonly isDryRun: boolean
  readonly isYes: boolean
  readonly isJson: boolean
}

export async function runConnect(options: ConnectOptions, terminal: Terminal): Promise<ExitCode> {
  const { output, errors, env, folder, program } = terminal
  const { profile, isDryRun, isYes, isJson } = options
  const home = homeOf(env)
  const targets = targetsOf({ home, folder, platform: platform(), env }, options.clients)
  const records = openRecords(recordsFolder(env))
  const isOff = switchesOf({ home, folder })
  const plan = () => planConnect({ targets, records, isOff, profile }, terminal)
  const shown = plan()
  const isOpen = shown.clients.some(({ isDone }) => !isDone)
  if (!isJson)
    await output.write(connectText(shown, program, profile, { home, folder }, painter(output, env)))
  const isWanted =
    !isDryRun && isOpen && (isYes || (!isJson && (await askYes(question(shown.clients), terminal))))
  let done: Connected = { written: [], refused: [] }
  if (isWanted)
    done = await withLock(records, async () => {
      const again = plan()
      if (!isSame(shown, again))
        throw new Problem(
          'A file was changed while the preview was shown. Nothing was written.',
          'Look at it again with: toolwell connect',
          { reason: 'changed' },
        )
      return writeConnect(again, records).catch(told(again.servers.file))
    })
  const refused = [...shown.refused, ...done.refused]
  if (isJson) await output.write(connectJson(shown, refused, isWanted, records.folder))
  else if (isWanted) await output.write(doneText(done))
  for (const { from, refusal } of isJson ? refused : done.refused)
    await errors.write(`toolwell: ${from.file}: ${refusalText(refusal)}\n`)
  if (!isWanted && isOpen && !isDryRun)
    await errors.write(
      `toolwell: Nothing was written. ${isJson || !isScreen(terminal) ? 'Write it with --yes.' : ''}\n`,
    )
  return refused.length > 0 || (isOpen && !isWanted && !isDryRun) ? 1 : 0
}

function doneText({ written }: Connected): string {
  const changed = written.filter(({ isDone }) => !isDone)
  const labels = [...new Set(changed.map(({ from }) => from.label))].join(', ')
  const moved = new Set(changed.flatMap(({ taken }) => taken.map(({ as }) => as))).size
  return labels === ''
    ? ''
    : `\nConnected: ${labels}, with ${plural(moved, 'server')} behind Toolwell. Restart ${changed.length === 1 ? 'it' : 'them'}. To go back: toolwell undo\n`
}

function isSame(a: ConnectPlan, b: ConnectPlan): boolean {
  const gist = ({ clients, servers }: ConnectPlan) =>
    JSON.stringify([
      servers.next,
      clients.map(({ from, next, base }) => [from.file, next.toString('base64'), base?.toString('base64')]),
    ])
  return gist(a) === gist(b)
}

/** toolwell.json itself cannot be written: then no client is changed either. */
export function told(file: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Refusal)) throw error
    const line = error.line === undefined ? '' : `:${error.line}`
    throw new Problem(`${file}${line}: ${error.message}. No client was changed.`, `${error.fix}.`, {
      reason: 'unwritable',
    })
  }
}
