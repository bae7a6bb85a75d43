/** `toolwell ledger FILE`: shows a conversation turn by turn. */
import { groupByTurn } from '@toolwell/core/internal'
import { readLedgerEvents } from '@toolwell/core/internal/node'
import type { Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { findLedger, unreadable } from './find-ledgers.js'

export async function showLedger(
  path: string,
  isJson: boolean,
  { output, errors, name }: Terminal,
): Promise<ExitCode> {
  const file = await findLedger(path)
  const { id, events, damage } = await readLedgerEvents(file).catch((error: unknown) => {
    throw unreadable(file, error)
  })
  const { lines, ...shown } = readTurns(id, file, events)
  if (isJson)
    await output.write(
      `${JSON.stringify({ file, conversation: id, events: events.length, ...shown, damage })}\n`,
    )
  else await output.write(`${lines.join('\n')}\n`)
  if (!damage) return 0
  const rest = events.length === 1 ? 'after this event' : `after these ${events.length} events`
  const problem = damage.format === undefined ? 'is damaged' : 'was written by another version'
  await errors.write(`The file ${problem} ${rest}: see ${name} ledger check ${file}\n`)
  return 1
}

function readTurns(id: string, file: string, events: Parameters<typeof groupByTurn>[1]) {
  try {
    return groupByTurn(id, events)
  } catch (error) {
    throw unreadable(file, error)
  }
}
