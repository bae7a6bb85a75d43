/** The config of a project that is not used, and what to do, in the same words wherever it is said. */
import type { HallReport } from '@toolwell/gateway'
import { shellWord } from '@toolwell/gateway/bridge'

/** `at`: what the command needs to reach this gateway. */
export function untrustedLine(
  { folder, file }: HallReport['untrusted'][number],
  at: string,
  name = 'toolwell',
): string {
  return `! ${file} is not used: nobody has trusted it. Look at it, and then: ${name} serve --trust ${shellWord(folder)}${at}`
}
