/** Checks one entry of `mcpServers` against the table of keys. */

import { isRecord, nearest } from '@toolwell/core/internal'
import { type ConfigDocument, type ConfigProblem, type Path, pathText } from './document.js'
import {
  describeMisfit,
  FOREIGN_OAUTH_KEYS,
  type Key,
  SERVER_KEYS,
  showExample,
  translateKey,
} from './keys.js'

export type Fields = Readonly<Record<string, unknown>>

export interface CheckedEntry {
  /** Valid values, under Toolwell's names. */
  readonly fields: Fields
  /** Keys with a wrong value or a wrong spelling. */
  readonly refused: ReadonlySet<string>
  readonly problems: readonly ConfigProblem[]
}

export function checkEntry(raw: RawEntry): CheckedEntry {
  const problems: ConfigProblem[] = []
  const refused = new Set<string>()
  const report = (path: Path, message: string, fix: string, severity: ConfigProblem['severity'] = 'error') =>
    problems.push(createEntryProblem(raw, path, message, fix, severity))
  if (!isRecord(raw.value)) {
    report([], 'a server must be an object', 'Write { "command": "…" } or { "url": "…" }')
    return { fields: {}, refused: new Set(Object.keys(SERVER_KEYS)), problems }
  }
  const take = (fields: Record<string, unknown>, path: Path, name: string, value: unknown, key: Key) => {
    const wrong = describeMisfit(value, key)
    if (wrong) {
      refused.add(name)
      report(path, `${String(path.at(-1))} ${wrong}`, `Write "${name}": ${showExample(key)}`)
    } else fields[name] = key.kind === 'object' ? inner(value as Fields, key.keys, path) : value
  }
  const inner = (values: Fields, keys: Readonly<Record<string, Key>>, path: Path): Fields => {
    const fields: Record<string, unknown> = {}
    for (const [given, value] of Object.entries(values)) {
      if (value === null || value === undefined) continue
      const name = FOREIGN_OAUTH_KEYS[given] ?? given
      const key = Object.hasOwn(keys, name) ? keys[name] : undefined
      if (key) take(fields, [...path, given], name, value, key)
      else unknown([...path, given], given, Object.keys(keys))
    }
    return fields
  }
  const unknown = (path: Path, given: string, known: readonly string[]) => {
    const [suggestion] = nearest(given, known, 1)
    if (suggestion !== undefined && !raw.foreign) refused.add(suggestion)
    const meant = suggestion === undefined ? '' : `; did you mean ${JSON.stringify(suggestion)}?`
    if (raw.foreign)
      report(
        path,
        `the key ${JSON.stringify(given)} is not supported${meant}`,
        suggestion === undefined
          ? 'It is ignored'
          : `If so, write ${JSON.stringify(suggestion)}; otherwise it is ignored`,
        'warning',
      )
    else
      report(
        path,
        `unknown key ${JSON.stringify(given)}${meant}`,
        suggestion === undefined
          ? `Remove it. Known keys: ${known.join(', ')}`
          : `Write ${JSON.stringify(suggestion)}, or remove it`,
      )
  }
  const fields: Record<string, unknown> = {}
  for (const [given, value] of Object.entries(raw.value)) {
    const own = translateKey(given, value, { isForeign: raw.foreign })
    if (own.kind === 'known') {
      // Some clients switch logins on or off here. The server says by itself if it needs one.
      const isSwitch = own.name === 'oauth' && typeof value === 'boolean'
      if (!isSwitch || !raw.foreign) take(fields, [given], own.name, own.value, own.key)
    } else if (own.kind === 'unknown') unknown([given], given, Object.keys(SERVER_KEYS))
  }
  return { fields, refused, problems }
}

/** An entry as written in a file, with its location. */
export interface RawEntry {
  readonly name: string
  readonly document: ConfigDocument
  readonly path: Path
  readonly value: unknown
  /** Relative paths start here. */
  readonly folder: string
  /** A server that serves all projects runs here: the folder of the file, or the home folder for the user's own file. */
  readonly sharedFolder: string
  /** From the user's own file. */
  readonly isOwn: boolean
  /** Another file changed how the server is started or reached. */
  readonly isPatched: boolean
  /** A file of another client: unknown keys in it are not refused. */
  readonly foreign: boolean
}

export function createEntryProblem(
  raw: RawEntry,
  path: Path,
  message: string,
  fix: string,
  severity: ConfigProblem['severity'],
): ConfigProblem {
  const whole = [...raw.path, ...path]
  return {
    file: raw.document.file,
    path: pathText(whole),
    line: raw.document.lineOf(whole),
    message,
    fix,
    server: raw.name,
    severity,
  }
}
