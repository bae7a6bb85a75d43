/** `toolwell ledger repair`: removes the damage, so that the conversation continues after the intact events. */
import { repairLedger } from '@toolwell/core/internal/node'
import type { Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { findLedger, unreadable } from './find-ledgers.js'

export async function repair(path: string, isJson: boolean, { output }: Terminal): Promise<ExitCode> {
  const file = await findLedger(path)
  const done = await repairLedger(file).catch((error: unknown) => {
    throw unreadable(file, error)
  })
  if (isJson) await output.write(`${JSON.stringify({ file, repaired: done !== undefined, ...done })}\n`)
  else if (!done) await output.write(`${file} is intact.\n`)
  else
    await output.write(
      `${file} now ends after its ${done.events} intact ${done.events === 1 ? 'event' : 'events'}. The damaged file is kept as ${done.kept}.\n`,
    )
  return done ? 0 : 1
}
