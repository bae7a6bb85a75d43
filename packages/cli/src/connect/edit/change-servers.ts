/** Changes the servers in the text of a client's config, and verifies that the rest keeps its meaning. */
import { canonicalJson, isRecord } from '@toolwell/core/internal'
import { listEntries, parseClient, valueAt } from '../../shared/clients/read-client.js'
import type { Fields, Shape } from '../../shared/clients/shapes.js'
import type { Change, Editor, Table } from './change.js'
import { Refusal } from './change.js'
import { jsonEditor } from './edit-json.js'
import { tomlEditor } from './edit-toml.js'
import { yamlEditor } from './edit-yaml.js'

const EDITORS: Readonly<Record<Shape['format'], Editor>> = {
  json: jsonEditor,
  toml: tomlEditor,
  yaml: yamlEditor,
}

/** Throws `Refusal`. Keeps the byte order mark, line ends and everything but the entries. */
export function changeServers(text: string, format: Shape['format'], table: Table, change: Change): string {
  if (change.remove.length + change.add.length === 0) return text
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const bare = text.slice(mark.length)
  const eol = /\r?\n/.exec(bare)?.[0] ?? '\n'
  const before = read(bare, format)
  const wanted = normalise(valueAfter(before, table, change), table)
  const edited = (each: Change) => EDITORS[format].change(bare, table, each, eol)
  const plain = edited({ ...change, add: change.add.map(({ name, value }) => ({ name, value })) })
  const isVerbatim = change.add.some(({ source }) => source !== undefined)
  // The earlier text may be lenient JSON, because its client accepts it. A new text must not be more lenient.
  if (format !== 'json' || isStrict(plain) >= isStrict(bare))
    for (const after of isVerbatim ? [edited(change), plain] : [plain])
      if (isMeant(after, format, table, wanted)) return mark + after
  throw new Refusal(
    'its servers cannot be changed without changing other parts',
    'Edit the file by hand, or write each server on separate lines',
  )
}

/** The text of an entry, for a later undo. */
export function entrySource(
  text: string,
  format: Shape['format'],
  table: Table,
  name: string,
): string | undefined {
  try {
    return EDITORS[format].entrySource(text.replace(/^\uFEFF/, ''), table, name)
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

/** The parsed file after the change. */
export function valueAfter(before: Fields, { path, isList }: Table, { remove, add }: Change): Fields {
  const present = valueAt(before, path)
  const entries = listEntries(present).filter(({ name }) => !remove.includes(name))
  const table = isList
    ? [
        ...entries.map(({ entry }) => entry),
        ...add.map(({ name, value }) => ({ name, ...(isRecord(value) ? value : {}) })),
      ]
    : Object.fromEntries([
        ...entries.map(({ name, entry }) => [name, entry] as const),
        ...add.map(({ name, value }) => [name, value] as const),
      ])
  return withValue(before, path, table)
}

function withValue(value: Fields, [key = '', ...rest]: readonly string[], inner: unknown): Fields {
  const below = value[key]
  return { ...value, [key]: rest.length === 0 ? inner : withValue(isRecord(below) ? below : {}, rest, inner) }
}

/** Compares two configs. Ignores empty tables and the order of servers. */
export function isSameConfig(a: Fields, b: Fields, table: Table): boolean {
  return normalise(a, table) === normalise(b, table)
}

function normalise(value: Fields, { path, isList }: Table): string {
  const plain: Fields = JSON.parse(JSON.stringify(value))
  // A list member without a name is identified by its content.
  const entries = listEntries(valueAt(plain, path)).map(({ name, entry }) =>
    canonicalJson(isList && !(isRecord(entry) && typeof entry.name === 'string') ? [entry] : [name, entry]),
  )
  const table = entries.length === 0 ? null : entries.sort()
  return canonicalJson(withoutEmpty(withValue(plain, path, table), path))
}

/** Removes the empty table, and parents that contain nothing else. */
function withoutEmpty(value: Fields, [key = '', ...rest]: readonly string[]): Fields {
  const { [key]: below, ...others } = value
  const inner = rest.length > 0 && isRecord(below) ? withoutEmpty(below, rest) : below
  const isEmpty = inner === null || (isRecord(inner) && Object.keys(inner).length === 0)
  return isEmpty ? others : { ...others, [key]: inner }
}

function read(text: string, format: Shape['format']): Fields {
  const parsed = parseClient(text, format, '')
  if ('value' in parsed) return parsed.value
  throw new Refusal(parsed.problem.message, 'Fix the file', parsed.problem.line)
}

function isMeant(text: string, format: Shape['format'], table: Table, wanted: string): boolean {
  const parsed = parseClient(text, format, '')
  return 'value' in parsed && normalise(parsed.value, table) === wanted
}

/** 0 if the text has comments or trailing commas, which many clients reject. */
function isStrict(text: string): 0 | 1 {
  try {
    if (text.trim() !== '') JSON.parse(text)
    return 1
  } catch {
    return 0
  }
}
