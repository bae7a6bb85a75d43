/** Reads the values of one entry: variables expanded, paths and times checked, problems and secrets collected on the way. */

import { isRecord } from '@toolwell/core/internal'
import { type Fields, problemAt, type RawEntry } from './check-entry.js'
import type { ConfigProblem, Path } from './document.js'
import { DEFAULTS } from './server-config.js'
import { expandVariables, type VariableScope } from './variables.js'

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
    const expanded = expandVariables(String(value), { ...scope, folder: raw.folder })
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

/** Times in a config: milliseconds, or a number with a unit. */

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The longest time that a timer of the platform can hold. */
export const LONGEST = 2 ** 31 - 1

/** Milliseconds, or undefined where the value is no time. */
export function readDuration(value: unknown): number | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) && value > 0 ? Math.min(value, LONGEST) : undefined
  if (typeof value !== 'string') return undefined
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/.exec(value.trim()) ?? []
  const factor = UNITS[unit]
  return amount === undefined || factor === undefined || Number(amount) === 0
    ? undefined
    : Math.min(Number(amount) * factor, LONGEST)
}

// Variables of the environment that an entry sends to an address. A program that it starts could read them all anyway.

export function findSentVariables({ url, headers, oauth }: Fields, scope: VariableScope): string[] {
  if (url === undefined) return []
  const texts = [url, ...[headers, oauth].flatMap((each) => (isRecord(each) ? Object.values(each) : []))]
  return [...new Set(texts.flatMap((text) => expandVariables(String(text), scope).variables))]
}

/** Reads NAME=value lines, as editors and shells keep them beside a project. Other lines are ignored. */

const LINE = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*?)\s*$/

export function readEnvFile(text: string): Record<string, string> {
  const found = Object.create(null) as Record<string, string>
  for (const line of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const [, name, value = ''] = LINE.exec(line) ?? []
    if (name !== undefined) found[name] = plainValue(value)
  }
  return found
}

/** In quotes everything counts; without, a comment ends the value. */
function plainValue(text: string): string {
  const [, quote, inner = ''] = /^(["'])(.*)\1(?:\s+#.*)?$/.exec(text) ?? []
  if (quote === undefined) return text.replace(/(?:^|\s+)#.*$/, '')
  return quote === '"' ? inner.replace(/\\n/g, '\n').replace(/\\(["\\])/g, '$1') : inner
}
