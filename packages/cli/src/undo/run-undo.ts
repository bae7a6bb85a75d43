/** Plans an undo, shows it, asks, and restores the files of clients. */
import { existsSync } from 'node:fs'
import { firstLine } from '@toolwell/core/internal'
import {
  type ClientState,
  checkNames,
  digestBytes,
  readState,
  removeCreatedFolders,
  replaceFile,
  sweepDrafts,
} from '../connect/client-files.js'
import { asRefusal, type Refusal } from '../connect/edit/change.js'
import { type ClientRecord, openRecords, type Records, recordsFolder, withLock } from '../connect/records.js'
import { type Restored, restore } from '../connect/restore.js'
import { type Pruned, planPrune, prune } from '../connect/servers-file.js'
import { refusalText, refusedJson, refusedLines } from '../connect/text.js'
import { shortenPath } from '../import/text.js'
import { CLIENTS, findHome } from '../shared/clients/clients.js'
import { ENTRY_NAME } from '../shared/clients/toolwell-entry.js'
import { plural } from '../shared/layout.js'
import { Problem } from '../shared/problem.js'
import { askYes, isInteractive, type Paint, painter, type Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'

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
    // A killed `connect` may have left copies before its first record.
    if (!isDryRun && existsSync(records.folder)) await withLock(records, async () => records.sweep())
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
        (await askYes(count === 0 ? '\nWrite this?' : `\nRestore ${plural(count, 'file')}?`, terminal))))
  let failed: readonly Failed[] = []
  let copies: readonly string[] = []
  if (isWanted)
    ({ failed, copies } = await withLock(records, async () => {
      const again = plan()
      if (fingerprintPlan(again) !== fingerprintPlan(shown))
        throw new Problem(
          'A file changed after the preview. Nothing was written.',
          `Show the preview again with: ${name} undo`,
          { reason: 'changed' },
        )
      return writeUndo(again, records)
    }))
  const refused = [...shown.refused, ...failed]
  if (isJson) await output.write(undoJson({ ...shown, refused }, isWanted))
  else if (isWanted) {
    for (const copy of copies) await output.write(`\nThe overwritten file was saved to ${copy}\n`)
    if (count > failed.length) await output.write(doneText(refused))
  }
  for (const { record, refusal } of isJson ? refused : failed)
    await errors.write(`toolwell: ${record.file}: ${refusalText(refusal)}\n`)
  if (!isWanted && isOpen && !isDryRun)
    await errors.write(
      `toolwell: Nothing was written.${isJson || !isInteractive(terminal) ? ' To write it, add --yes.' : ''}\n`,
    )
  return refused.length > 0 || shown.left !== undefined || (isOpen && !isWanted && !isDryRun) ? 1 : 0
}

function doneText(refused: readonly Failed[]): string {
  const labels = [...new Set(refused.map(({ record }) => record.label))].join(', ')
  return labels === ''
    ? '\nDone. Restart the clients.\n'
    : `\nDone, except for ${labels}. Restart the other clients.\n`
}

/** Writes clients before toolwell.json, so that a crash can duplicate a server but never lose it. */
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
  // Clients that are still connected need their servers.
  if (servers && failed.length === 0)
    await prune(records, servers).catch((error: unknown) => {
      const { message, fix } = asRefusal(error)
      throw new Problem(`${servers.file}: ${message}. The clients are restored.`, `${fix}.`)
    })
  return { failed, copies }
}

function fingerprintPlan({ clients, servers }: UndoPlan): string {
  return JSON.stringify([
    clients.map(({ record, restored }) => [record.real, restored.bytes?.toString('base64')]),
    servers?.bytes?.toString('base64'),
  ])
}

export interface UndoneClient {
  readonly record: ClientRecord
  readonly state: ClientState
  readonly restored: Restored
  /** With `--overwrite`, later changes are lost, but a copy is saved. */
  readonly isOverwritten: boolean
}

export interface UndoPlan {
  readonly clients: readonly UndoneClient[]
  readonly refused: readonly { readonly record: ClientRecord; readonly refusal: Refusal }[]
  readonly servers: Pruned | undefined
  /** Why toolwell.json cannot be changed. Its servers stay. */
  readonly left: Refusal | undefined
}

export function planUndo(records: Records, clients: readonly string[], isOverwriting: boolean): UndoPlan {
  const all = records.clients()
  const order = (client: string) => (CLIENTS as readonly string[]).indexOf(client)
  const meant = all
    .filter(({ client }) => clients.length === 0 || clients.includes(client))
    .sort((a, b) => order(a.client) - order(b.client))
  const undone: UndoneClient[] = []
  const refused: { record: ClientRecord; refusal: Refusal }[] = []
  for (const record of meant) {
    const before = records.before(record)
    try {
      const found = readState(record.real)
      // A deleted file gets its earlier permissions.
      const state = found.bytes === undefined ? { ...found, mode: record.mode ?? found.mode } : found
      try {
        undone.push({ record, state, restored: restore(record, state.bytes, before), isOverwritten: false })
      } catch (error) {
        if (!isOverwriting) throw error
        asRefusal(error)
        const restored: Restored = { bytes: before, how: 'exact', back: [] }
        undone.push({ record, state, restored, isOverwritten: true })
      }
    } catch (error) {
      refused.push({ record, refusal: asRefusal(error) })
    }
  }
  const left = all.filter((record) => !undone.some((each) => each.record === record))
  try {
    return { clients: undone, refused, servers: planServers(records, left, undone.length), left: undefined }
  } catch (error) {
    return { clients: undone, refused, servers: undefined, left: asRefusal(error) }
  }
}

function planServers(records: Records, left: readonly ClientRecord[], count: number): Pruned | undefined {
  if (count === 0 && left.length > 0) return undefined
  const used = new Set(left.flatMap(({ taken }) => taken.map(({ as }) => as)))
  return planPrune(records, used, left.length === 0)
}

export function undoText(
  { clients, refused, servers, left }: UndoPlan,
  near: { readonly home: string; readonly folder: string },
  paint: Paint,
): string {
  const lines = clients.flatMap(({ record, ...each }) => [
    `${paint(record.label, 'bold')}  ${shortenPath(record.file, near)}`,
    ...clientLines({ record, ...each }),
    '',
  ])
  for (const { record, refusal } of refused) lines.push(...refusedLines(record, refusal, near, paint))
  if (servers && (servers.removed.length > 0 || servers.kept.length > 0)) {
    lines.push(paint(shortenPath(servers.file, near), 'bold'))
    for (const name of servers.removed) lines.push(`  - ${firstLine(name, 60)}`)
    for (const name of servers.kept) lines.push(`    ${firstLine(name, 60)}  stays, because you changed it.`)
    lines.push('')
  }
  if (left) lines.push(`The servers stay in toolwell.json. ${refusalText(left)}`, '')
  return `${lines.join('\n').trimEnd()}\n`
}

function clientLines({ record, state, restored, isOverwritten }: UndoneClient): string[] {
  const before = record.isRebased
    ? 'restored to its state before the last connect'
    : 'restored to its state before connect'
  if (isOverwritten)
    return [
      state.bytes === undefined
        ? `  ${before}; the file was deleted`
        : `  ${before}; later changes are lost, but a copy is saved`,
    ]
  if (restored.how === 'merged')
    return [
      '  was changed since; those changes stay',
      '  - toolwell',
      ...restored.back.map((name) =>
        name === ENTRY_NAME ? `  + ${name}  the earlier entry` : `  + ${firstLine(name, 60)}`,
      ),
    ]
  return [
    restored.bytes === undefined
      ? '  is deleted, because connect created it'
      : `  ${before}, byte for byte${record.taken.length === 0 ? '' : `, with ${record.taken.map(({ name }) => firstLine(name, 60)).join(', ')}`}`,
  ]
}

export function undoJson({ clients, refused, servers, left }: UndoPlan, isWritten: boolean): string {
  const value = {
    written: isWritten,
    clients: clients.map(({ record, restored, isOverwritten }) => ({
      client: record.client,
      file: record.file,
      how: isOverwritten ? 'overwritten' : restored.how,
      back: record.taken.map(({ name }) => name),
    })),
    refused: refused.map(({ record, refusal }) => refusedJson(record, refusal)),
    servers: servers
      ? { file: servers.file, removed: servers.removed, kept: servers.kept }
      : { removed: [], kept: [] },
    ...(left ? { left: { message: left.message, fix: left.fix } } : {}),
  }
  return `${JSON.stringify(value, null, 2)}\n`
}
