/** What is said of a server whose definitions are no longer those that were first met. */

/** That they were met just now is no change. */
export function changesIn(warnings: readonly string[]): string[] {
  return warnings.filter((warning) => !/ trusted as first met/.test(warning))
}
