/** `toolwell ledger check`: which ledgers are intact, and where the others are damaged. */
import { checkLedger, type LedgerReport } from '@toolwell/core/internal/node'
import type { Terminal } from '../shared/terminal.js'
import type { ExitCode } from '../shared/verb.js'
import { findLedgers, unreadable } from './find-ledgers.js'

export async function checkLedgers(
  path: string,
  isJson: boolean,
  { output, name }: Terminal,
): Promise<ExitCode> {
  const reports: LedgerReport[] = []
  for (const file of await findLedgers(path))
    reports.push(
      await checkLedger(file).catch((error: unknown) => {
        throw unreadable(file, error)
      }),
    )
  if (isJson) await output.write(`${JSON.stringify({ ledgers: reports })}\n`)
  else for (const report of reports) await output.write(`${describeLedger(report, name).join('\n')}\n`)
  return reports.some(({ damage }) => damage !== undefined) ? 1 : 0
}

function describeLedger({ file, events, torn, damage }: LedgerReport, name: string): string[] {
  const count = `${events} ${events === 1 ? 'event' : 'events'}`
  const cut = `  ${torn} ${torn === 1 ? 'append was' : 'appends were'} cut off and ${torn === 1 ? 'does' : 'do'} not count. Nothing to do.`
  const ignored = torn > 0 ? [cut] : []
  if (!damage) return [`${file}: intact, ${count}`, ...ignored]
  const isForeign = damage.format !== undefined
  return [
    `${file}: ${isForeign ? `written by another version after ${count}` : `damaged after ${count}`}`,
    `  line ${damage.line} of ${file} ${damage.problem}`,
    isForeign
      ? '  To read it, use the version of toolwell that wrote it.'
      : `  To continue after the intact events: ${name} ledger repair ${file}`,
    ...ignored,
  ]
}
