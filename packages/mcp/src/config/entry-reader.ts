/** Reads the values of one entry: expands variables, checks paths and durations, collects problems and secrets. */

import { isRecord } from '@toolwell/core/internal'
import { createEntryProblem, type Fields, type RawEntry } from './check-entry.js'
import type { ConfigProblem, Path } from './document.js'
import { DEFAULTS } from './server-config.js'
import { expandVariables, type VariableScope } from './variables.js'

export interface EntryReader {
  readonly raw: RawEntry
  readonly fields: Fields
  readonly scope: VariableScope
  /** Problems so far. */
  readonly problems: readonly ConfigProblem[]
  /** Values from the environment so far. */
  readonly secrets: readonly string[]
  report(path: Path, message: string, fix: string, severity?: ConfigProblem['severity']): void
  text(value: unknown, ...path: Path): string
  /** An object of strings; empty if the key is missing. */
  texts(key: string): Record<string, string>
  path(key: 'command' | 'cwd' | 'envFile'): string
  /** In milliseconds. */
  duration(key: 'timeout' | 'startTimeout' | 'idle'): number
}

export function createEntryReader(raw: RawEntry, fields: Fields, scope: VariableScope): EntryReader {
  const problems: ConfigProblem[] = []
  const secrets: string[] = []
  const report: EntryReader['report'] = (path, message, fix, severity = 'error') => {
    problems.push(createEntryProblem(raw, path, message, fix, severity))
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
          `${key} contains a line break, a tab or another control character`,
          'In JSON, write each backslash twice: "C:\\\\tools\\\\run.exe"',
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
          `${key} must be a duration above 0`,
          'Write milliseconds, or a string such as "30s" or "5m"',
        )
      else if (typeof value === 'number' && value < 1000) {
        // Some clients write seconds.
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

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Longest timer of the platform. */
export const LONGEST = 2 ** 31 - 1

/** Reads milliseconds, or a number with a unit such as "30s". Undefined if the value is not a duration. */
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

/** Finds environment variables that an entry sends to a remote address. Local programs can read the environment anyway. */
export function findSentVariables({ url, headers, oauth }: Fields, scope: VariableScope): string[] {
  if (url === undefined) return []
  const texts = [url, ...[headers, oauth].flatMap((each) => (isRecord(each) ? Object.values(each) : []))]
  return [...new Set(texts.flatMap((text) => expandVariables(String(text), scope).variables))]
}

const LINE = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*?)\s*$/

/** Reads NAME=value lines and ignores all others. */
export function readEnvFile(text: string): Record<string, string> {
  const found = Object.create(null) as Record<string, string>
  for (const line of text.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const [, name, value = ''] = LINE.exec(line) ?? []
    if (name !== undefined) found[name] = plainValue(value)
  }
  return found
}

/** A value without quotes ends at a comment. */
function plainValue(text: string): string {
  const [, quote, inner = ''] = /^(["'])(.*)\1(?:\s+#.*)?$/.exec(text) ?? []
  if (quote === undefined) return text.replace(/(?:^|\s+)#.*$/, '')
  return quote === '"' ? inner.replace(/\\n/g, '\n').replace(/\\(["\\])/g, '$1') : inner
}
