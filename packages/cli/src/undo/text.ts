/** What `undo` would do, for people and for programs. */
import { firstLine } from '@toolwell/core/internal'
import { refusalText, refusedJson, refusedLines } from '../connect/text.js'
import { shortenPath } from '../import/text.js'
import { ENTRY_NAME } from '../shared/clients/entry.js'
import type { Paint } from '../shared/terminal.js'
import type { UndoneClient, UndoPlan } from './undo-plan.js'

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
    for (const name of servers.kept) lines.push(`    ${firstLine(name, 60)}  stays: you have changed it.`)
    lines.push('')
  }
  if (left) lines.push(`The servers stay in toolwell.json. ${refusalText(left)}`, '')
  return `${lines.join('\n').trimEnd()}\n`
}

function clientLines({ record, state, restored, isOverwritten }: UndoneClient): string[] {
  const before = record.isRebased ? 'as it was before it was last connected' : 'as it was before'
  if (isOverwritten)
    return [
      state.bytes === undefined
        ? `  ${before}: the file is gone, and comes back`
        : `  ${before}; what was changed since is lost there, and a copy of it is kept`,
    ]
  if (restored.how === 'merged')
    return [
      '  was changed since: those changes stay',
      '  - toolwell',
      ...restored.back.map((name) =>
        name === ENTRY_NAME ? `  + ${name}  the entry that was there before` : `  + ${firstLine(name, 60)}`,
      ),
    ]
  return [
    restored.bytes === undefined
      ? '  is removed: it was made for Toolwell alone'
      : `  ${before}, to the byte${record.taken.length === 0 ? '' : `, with ${record.taken.map(({ name }) => firstLine(name, 60)).join(', ')}`}`,
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
