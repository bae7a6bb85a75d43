/** The config of a project that is not used, and what to do, in the same words wherever it is said. */
import type { ServerSetReport } from '@toolwell/gateway'
import { shellWord } from '@toolwell/gateway/bridge'
import type { Hints } from './hints.js'

export function untrustedLine(
  { folder, file }: ServerSetReport['untrusted'][number],
  { at, name, hasChanged }: Hints,
): string {
  const why = hasChanged(file) ? 'it has changed since it was trusted' : 'nobody has trusted it'
  return `! ${file} is not used: ${why}. Look at it, and then: ${name} serve --trust ${shellWord(folder)}${at}`
}
