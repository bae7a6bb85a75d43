/** What is said of a server whose definitions are no longer those that were first met. */
import type { ServerWarning, WarningCode } from '@toolwell/mcp'

const CHANGES: readonly WarningCode[] = [
  'instructions-changed',
  'tools-changed',
  'tools-added',
  'tools-removed',
]

/** That they were met just now is no change. */
export function changesIn(warnings: readonly ServerWarning[]): ServerWarning[] {
  return warnings.filter(({ code }) => CHANGES.includes(code))
}
