/** What to do where a gateway has no servers, in the same words wherever it is said. */
import type { HallReport } from '@toolwell/gateway'

/** `name`: how the command is called. */
export function noServersLine(
  { files, missing, problems }: Pick<HallReport, 'files' | 'missing' | 'problems'>,
  name: string,
): string {
  if (problems.length > 0) return 'No servers: what is in the config cannot be used.'
  const why =
    missing.length > 0 ? `${missing.join(', ')} is missing` : `there are none in ${files.join(', ')}`
  return `No servers: ${why}. Take over those of your clients with: ${name} connect`
}
