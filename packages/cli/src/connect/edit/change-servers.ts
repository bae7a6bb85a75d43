/** Changes the servers in the text of a client's config, and makes sure that nothing else means anything else afterwards. */
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

/** Throws `Refusal`. The byte order mark, line ends and everything but the entries stay as they are. */
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
  // A text that was there before may hold what is not strict, because its client has taken it: only what is new may not.
  if (format !== 'json' || isStrict(plain) >= isStrict(bare))
    for (const after of isVerbatim ? [edited(change), plain] : [plain])
      if (isMeant(after, format, table, wanted)) return mark + after
  throw new Refusal(
    'its servers cannot be changed without changing more of it',
    'Change the file by hand, or write each server on lines of its own',
  )
}

/** The text of an entry, to be put back later as it was. */
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

/** What the file says once its servers are changed. */
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

/** Whether two texts say the same; an empty table is as good as none, and the order of servers says nothing. */
export function isSameConfig(a: Fields, b: Fields, table: Table): boolean {
  return normalise(a, table) === normalise(b, table)
}

function normalise(value: Fields, { path, isList }: Table): string {
  const plain: Fields = JSON.parse(JSON.stringify(value))
  // A member of a list without a name is known by what it says.
  const entries = listEntries(valueAt(plain, path)).map(({ name, entry }) =>
    canonicalJson(isList && !(isRecord(entry) && typeof entry.name === 'string') ? [entry] : [name, entry]),
  )
  const table = entries.length === 0 ? null : entries.sort()
  return canonicalJson(withoutEmpty(withValue(plain, path, table), path))
}

/** A parent that holds nothing but the empty table was made for it. */
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

/** Comments and trailing commas make it 0: many clients take neither. */
function isStrict(text: string): 0 | 1 {
  try {
    if (text.trim() !== '') JSON.parse(text)
    return 1
  } catch {
    return 0
  }
}
