/** Reads the values of one entry: variables expanded, paths and times checked, problems and secrets collected on the way. */
import type { Fields } from './check-entry.js'
import type { Path } from './document.js'
import { readDuration } from './duration.js'
import type { ConfigProblem } from './problem.js'
import { problemAt, type RawEntry } from './raw-entry.js'
import { DEFAULTS } from './server-config.js'
import { expand, type VariableScope } from './variables.js'

export interface EntryReader {
  readonly raw: RawEntry
  readonly fields: Fields
  readonly scope: VariableScope
  /** What is wrong so far. */
  readonly problems: readonly ConfigProblem[]
  /** What came out of the environment so far. */
  readonly secrets: readonly string[]
  report(path: Path, message: string, fix: string, severity?: ConfigProblem['severity']): void
  text(value: unknown, ...path: Path): string
  /** An object of texts; empty where the key is missing. */
  texts(key: string): Record<string, string>
  path(key: 'command' | 'cwd' | 'envFile'): string
  /** In milliseconds. */
  duration(key: 'timeout' | 'startTimeout' | 'idle'): number
}

export function createEntryReader(raw: RawEntry, fields: Fields, scope: VariableScope): EntryReader {
  const problems: ConfigProblem[] = []
  const secrets: string[] = []
  const report: EntryReader['report'] = (path, message, fix, severity = 'error') => {
    problems.push(problemAt(raw, path, message, fix, severity))
  }
  const text: EntryReader['text'] = (value, ...path) => {
    const expanded = expand(String(value), { ...scope, folder: raw.folder })
    secrets.push(...expanded.secrets)
    for (const { message, fix } of expanded.problems) report(path, message, fix)
    return expanded.text
  }
  return {
    raw,
    fields,
    scope,
    problems,
    secrets,
    report,
    text,
    texts(key) {
      const values = Object.entries((fields[key] ?? {}) as Record<string, unknown>)
      return Object.fromEntries(values.map(([name, value]) => [name, text(value, key, name)]))
    },
    path(key) {
      const read = text(fields[key], key)
      if (/[\u0000-\u001f]/.test(read))
        report(
          [key],
          `${key} holds a line break, tab or the like`,
          'In JSON a backslash is written twice: "C:\\\\tools\\\\run.exe"',
        )
      return read
    },
    duration(key) {
      const value = fields[key]
      if (value === undefined) return DEFAULTS[key]
      if (value === false && key === 'idle') return Number.POSITIVE_INFINITY
      const read = readDuration(value)
      if (read === undefined)
        report(
          [key],
          `${key} must be a time above 0`,
          'Write milliseconds, or a string such as "30s" or "5m"',
        )
      else if (typeof value === 'number' && value < 1000) {
        // Some clients count in seconds.
        if (raw.foreign) {
          report([key], `${key} ${value} is read as seconds`, `Write "${value}s" to be clear`, 'warning')
          return value * 1000
        }
        report([key], `${key} ${value} would be ${value} milliseconds`, `Write "${value}s" or "${value}ms"`)
      }
      return read ?? DEFAULTS[key]
    },
  }
}
