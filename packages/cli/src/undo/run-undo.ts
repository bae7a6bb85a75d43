/** Plans, shows, asks, and puts back. */
import { digestBytes, removeCreatedFolders, replaceFile, sweepDrafts } from '../connect/client-file.js'
import { asRefusal, type Refusal } from '../connect/edit/refusal.js'
import { type ClientRecord, openRecords, type Records, recordsFolder } from '../connect/records.js'
import { prune } from '../connect/servers-file.js'
import { checkNames } from '../connect/targets.js'
import { refusalText } from '../connect/text.js'
import { withLock } from '../connect/with-lock.js'
import { askYes, isInteractive } from '../shared/ask-yes.js'
import { findHome } from '../shared/clients/clients.js'
import { Problem } from '../shared/problem.js'
import { plural } from '../shared/table.js'
import { painter, type Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { undoJson, undoText } from './text.js'
import { planUndo, type UndoPlan } from './undo-plan.js'

export interface UndoOptions {
  readonly clients: readonly string[]
  readonly isOverwriting: boolean
  readonly isDryRun: boolean
  readonly isYes: boolean
  readonly isJson: boolean
}

type Failed = { readonly record: ClientRecord; readonly refusal: Refusal }

export async function runUndo(options: UndoOptions, terminal: Terminal): Promise<ExitCode> {
  const { output, errors, env, folder, name } = terminal
  const { clients, isOverwriting, isDryRun, isYes, isJson } = options
  checkNames(clients)
  const records = openRecords(recordsFolder(env))
  const plan = () => planUndo(records, clients, isOverwriting)
  const shown = plan()
  const count = shown.clients.length
  if (count === 0 && shown.refused.length === 0 && !shown.servers) {
    const nothing =
      clients.length === 0
        ? 'Nothing is connected.'
        : `${clients.join(' and ')} ${clients.length > 1 ? 'are' : 'is'} not connected.`
    await output.write(isJson ? undoJson(shown, false) : `${nothing} There is nothing to undo.\n`)
    return 0
  }
  if (!isJson) await output.write(undoText(shown, { home: findHome(env), folder }, painter(output, env)))
  const isOpen = count > 0 || shown.servers !== undefined
  const isWanted =
    !isDryRun &&
    isOpen &&
    (isYes ||
      (!isJson &&
        (await askYes(count === 0 ? '\nWrite this?' : `\nPut back ${plural(count, 'file')}?`, terminal))))
  let failed: readonly Failed[] = []
  let copies: readonly string[] = []
  if (isWanted)
    ({ failed, copies } = await withLock(records, async () => {
      const again = plan()
      if (fingerprintPlan(again) !== fingerprintPlan(shown))
        throw new Problem(
          'A file was changed while the preview was shown. Nothing was written.',
          `Look at it again with: ${name} undo`,
          { reason: 'changed' },
        )
      return writeUndo(again, records)
    }))
  const refused = [...shown.refused, ...failed]
  if (isJson) await output.write(undoJson({ ...shown, refused }, isWanted))
  else if (isWanted) {
    for (const copy of copies) await output.write(`\nWhat was overwritten is kept in ${copy}\n`)
    if (count > failed.length) await output.write(doneText(refused))
  }
  for (const { record, refusal } of isJson ? refused : failed)
    await errors.write(`toolwell: ${record.file}: ${refusalText(refusal)}\n`)
  if (!isWanted && isOpen && !isDryRun)
    await errors.write(
      `toolwell: Nothing was written. ${isJson || !isInteractive(terminal) ? 'Write it with --yes.' : ''}\n`,
    )
  return refused.length > 0 || shown.left !== undefined || (isOpen && !isWanted && !isDryRun) ? 1 : 0
}

function doneText(refused: readonly Failed[]): string {
  const labels = [...new Set(refused.map(({ record }) => record.label))].join(', ')
  return labels === '' ? '\nDone. Restart the clients.\n' : `\nDone, but for ${labels}. Restart the others.\n`
}

/** The clients first, then the servers: a crash in between leaves a server in two places, never in none. */
async function writeUndo(
  { clients, servers }: UndoPlan,
  records: Records,
): Promise<{ failed: readonly Failed[]; copies: readonly string[] }> {
  const failed: Failed[] = []
  const copies: string[] = []
  for (const { record, state, restored, isOverwritten } of clients)
    try {
      if (isOverwritten && state.bytes) copies.push(records.keep(record.client, state.bytes))
      if (digestBytes(restored.bytes) === digestBytes(state.bytes)) sweepDrafts(state.real)
      else await replaceFile(state, restored.bytes)
      if (restored.bytes === undefined) removeCreatedFolders(state.real, record.made)
      records.remove(record)
    } catch (error) {
      failed.push({ record, refusal: asRefusal(error) })
    }
  // A client that is still connected needs its servers.
  if (servers && failed.length === 0)
    await prune(records, servers).catch((error: unknown) => {
      const { message, fix } = asRefusal(error)
      throw new Problem(`${servers.file}: ${message}. The clients are as they were before.`, `${fix}.`)
    })
  return { failed, copies }
}

function fingerprintPlan({ clients, servers }: UndoPlan): string {
  return JSON.stringify([
    clients.map(({ record, restored }) => [record.real, restored.bytes?.toString('base64')]),
    servers?.bytes?.toString('base64'),
  ])
}
