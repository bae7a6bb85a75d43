/** `toolwell ledger unlock`: ends a lock whose owner is gone. Should it come back, what it writes counts for nothing. */
import { unlockLedger } from '@toolwell/core/internal/node'
import type { Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { findLedger, unreadable } from './find-ledgers.js'

export async function unlock(path: string, isJson: boolean, { output }: Terminal): Promise<ExitCode> {
  const file = await findLedger(path)
  const lock = await unlockLedger(file).catch((error: unknown) => {
    throw unreadable(file, error)
  })
  const owner = lock?.owner
  if (isJson) await output.write(`${JSON.stringify({ file, unlocked: lock !== undefined, owner })}\n`)
  else if (!lock) await output.write(`${file} is not locked.\n`)
  else
    await output.write(
      `${file} is free. It was held by ${owner ? `process ${owner.pid} on ${owner.host}` : 'an unknown process'}.\n`,
    )
  return lock ? 0 : 1
}
