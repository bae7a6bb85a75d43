/** `toolwell ledger FILE`: a conversation turn by turn. */
import { groupByTurn } from '@toolwell/core/internal'
import { readLedger } from '@toolwell/core/internal/node'
import type { Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { findLedger, unreadable } from './find-ledgers.js'

export async function showLedger(
  path: string,
  isJson: boolean,
  { output, errors, name }: Terminal,
): Promise<ExitCode> {
  const found = await findLedger(path)
  const { id, file, events, damage } = await readLedger(found).catch((error: unknown) => {
    throw unreadable(found, error)
  })
  const { lines, ...shown } = readTurns(id, file, events)
  if (isJson)
    await output.write(
      `${JSON.stringify({ file, conversation: id, events: events.length, ...shown, damage })}\n`,
    )
  else await output.write(`${lines.join('\n')}\n`)
  if (!damage) return 0
  const what =
    damage.tooNew === undefined ? 'is damaged' : 'was written by a newer version, and is not damaged'
  await errors.write(
    `What follows ${events.length === 1 ? 'this event' : `these ${events.length} events`} ${what}: see ${name} ledger check ${file}\n`,
  )
  return 1
}

function readTurns(id: string, file: string, events: Parameters<typeof groupByTurn>[1]) {
  try {
    return groupByTurn(id, events)
  } catch (error) {
    throw unreadable(file, error)
  }
}
