/** What to do where a gateway has no servers, in the same words wherever it is said. */
import type { HallReport } from '@toolwell/gateway'

export function noServers({ files, missing }: Pick<HallReport, 'files' | 'missing'>): string {
  const why =
    missing.length > 0 ? `${missing.join(', ')} is missing` : `there are none in ${files.join(', ')}`
  return `No servers: ${why}. Take over those of your clients with: toolwell connect`
}
