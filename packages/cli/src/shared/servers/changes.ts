/** Warnings about a server whose definitions are no longer those that were first seen. */
import type { ServerWarning, WarningCode } from '@toolwell/mcp'

const CHANGES: readonly WarningCode[] = [
  'instructions-changed',
  'tools-changed',
  'tools-added',
  'tools-removed',
]

/** That they were seen for the first time is not a change. */
export function findChanges(warnings: readonly ServerWarning[]): ServerWarning[] {
  return warnings.filter(({ code }) => CHANGES.includes(code))
}
