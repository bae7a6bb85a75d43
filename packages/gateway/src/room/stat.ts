/** What there is at a path; undefined where nothing can be said of it, for whatever reason: a config is looked at every second. */
import { type Stats, statSync } from 'node:fs'

export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
