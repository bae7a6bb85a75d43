/** What is wrong in the config of a gateway, in the same words wherever it is said. */
import type { ServerSetReport } from '@toolwell/gateway'

export function problemLine({ server, problem, stillUsed }: ServerSetReport['problems'][number]): string {
  if (server === undefined) return `! ${problem}`
  return stillUsed
    ? `! ${server} is used as it was before, because its entry is wrong now: ${problem}`
    : `! ${server} cannot be used: ${problem}`
}
