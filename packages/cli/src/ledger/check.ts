/** `toolwell ledger check`: which ledgers are whole, and where the others are damaged. */
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
  else for (const report of reports) await output.write(`${lines(report, name).join('\n')}\n`)
  return reports.some(({ damage }) => damage !== undefined) ? 1 : 0
}

function lines({ file, events, segments, torn, damage, lock }: LedgerReport, name: string): string[] {
  const count = `${events} ${events === 1 ? 'event' : 'events'}`
  const files = segments > 1 ? ` in ${segments} files` : ''
  const isNewer = damage?.tooNew !== undefined
  const found = isNewer ? `of a newer version after ${count}, not damaged` : `damaged after ${count}`
  const said = [`${file}: ${damage ? found : `whole, ${count}`}${files}`]
  if (damage)
    said.push(
      `  ${damage.line === 0 ? damage.file : `line ${damage.line} of ${damage.file}`} ${damage.problem}`,
      isNewer
        ? '  To read it, use the version of toolwell that wrote it, or a later one.'
        : `  To go on from the events before it: ${name} ledger repair ${file}`,
    )
  if (torn > 0)
    said.push(`  ${torn} bytes at its end are of an append that was cut off; the next one removes them`)
  if (lock) said.push(`  ${lockLine(file, lock, name)}`)
  return said
}

function lockLine(
  file: string,
  { owner, standing }: NonNullable<LedgerReport['lock']>,
  name: string,
): string {
  const who = owner ? `process ${owner.pid}` : 'an unknown process'
  if (standing === 'alive') return `${who} writes to it`
  if (standing === 'dead') return `${who} died while it wrote; the next append goes on`
  return `${who}${owner ? ` on ${owner.host}` : ''} holds it; if that is gone: ${name} ledger unlock ${file}`
}
