/** `toolwell ledger repair`: goes on from the events before the damage. */
import { repairLedger } from '@toolwell/core/internal/node'
import type { Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { findLedger, unreadable } from './find-ledgers.js'

export async function repair(path: string, isJson: boolean, { output }: Terminal): Promise<ExitCode> {
  const file = await findLedger(path)
  const damage = await repairLedger(file).catch((error: unknown) => {
    throw unreadable(file, error)
  })
  const events = damage?.at.count
  if (isJson)
    await output.write(`${JSON.stringify({ file, repaired: damage !== undefined, events, damage })}\n`)
  else if (!damage) await output.write(`${file} is whole.\n`)
  else
    await output.write(
      `${file} now ends after its ${events} whole ${events === 1 ? 'event' : 'events'}. The damaged bytes are still in the file.\n`,
    )
  return damage ? 0 : 1
}
