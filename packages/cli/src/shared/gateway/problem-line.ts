/** What is wrong in the config of a gateway, in the same words wherever it is said. */
import type { HallReport } from '@toolwell/gateway'

export function problemLine({ server, problem, goesOn }: HallReport['problems'][number]): string {
  if (server === undefined) return `! ${problem}`
  return goesOn
    ? `! ${server} is used as it was before, because its entry is wrong now: ${problem}`
    : `! ${server} cannot be used: ${problem}`
}
