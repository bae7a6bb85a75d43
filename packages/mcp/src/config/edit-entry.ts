/** Changes keys of server entries in a config file, in place: comments, order and line ends stay. */
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '@toolwell/core/internal'
import { applyEdits, findNodeAtLocation, modify, type Node, parse, parseTree } from 'jsonc-parser'
import { findTables, readPath } from './find-servers.js'

export interface EntryEdit {
  readonly server: string
  readonly key: string
  /** Adds texts to the list, or removes them. A list that becomes empty is removed. */
  readonly add?: readonly string[]
  readonly remove?: readonly string[]
  /** Replaces the whole value. */
  readonly set?: unknown
}

/** Texts that are added to a list or removed from it one by one. More replace the list. */
const MOST_SINGLE = 50

const LENIENT = { allowTrailingComma: true, disallowComments: false }

/** The path of a server's entry in the file. Undefined if the file does not have it. */
export function findEntry(text: string, file: string, server: string): readonly string[] | undefined {
  const value: unknown = parse(bare(text), [], LENIENT)
  if (!isRecord(value)) return undefined
  return findTables(value, { file, workspaceFolder: '', foreign: true })
    .map(({ path }) => [...path, server])
    .findLast((path) => isRecord(readPath(value, path)))
}

/** The value of a key of an entry. */
export function readEntry(text: string, file: string, server: string): Readonly<Record<string, unknown>> {
  const path = findEntry(text, file, server)
  const entry = path && readPath(parse(bare(text), [], LENIENT), path)
  return isRecord(entry) ? entry : {}
}

/** Throws if an entry is missing, or if the change would touch anything else. */
export function editEntries(text: string, file: string, edits: readonly EntryEdit[]): string {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  return mark + edits.reduce((each, edit) => editEntry(each, file, edit), bare(text))
}

function editEntry(
  text: string,
  file: string,
  { server, key, add = [], remove = [], set }: EntryEdit,
): string {
  const path = findEntry(text, file, server)
  if (!path) throw new Error(`${file} has no entry ${JSON.stringify(server)}`)
  const root = parseTree(text, [], LENIENT)
  const list = root && findNodeAtLocation(root, [...path, key])
  const options = { formattingOptions: detectStyle(text, root && findNodeAtLocation(root, [...path])) }
  const change = (from: string, at: readonly (string | number)[], value: unknown, isArrayInsertion = false) =>
    applyEdits(from, modify(from, [...at], value, { ...options, isArrayInsertion }))
  const at = [...path, key]
  const items = list?.type === 'array' ? (list.children ?? []).map((child) => child.value as unknown) : []
  const left = items.filter((item) => !remove.includes(String(item)))
  const wanted = [...left, ...add]
  const isShort = items.length > 0 && left.length > 0 && add.length + remove.length <= MOST_SINGLE
  let after = text
  if (set !== undefined) after = change(text, at, set)
  else if (wanted.length === 0) after = change(text, at, undefined)
  else if (!isShort) after = change(text, at, wanted)
  else {
    // One by one, so that comments in the list stay.
    for (let index = items.length - 1; index >= 0; index--)
      if (remove.includes(String(items[index]))) after = change(after, [...at, index], undefined)
    add.forEach((item, index) => {
      after = change(after, [...at, left.length + index], item, true)
    })
  }
  assertRest(text, after, [...path, key])
  return after
}

/** Everything else must keep its meaning. */
function assertRest(before: string, after: string, path: readonly string[]): void {
  const without = (text: string) => {
    const value = parse(text, [], LENIENT) as Record<string, unknown>
    const entry = readPath(value, path.slice(0, -1)) as Record<string, unknown>
    delete entry[path.at(-1) ?? '']
    return value
  }
  if (!isDeepStrictEqual(without(before), without(after)))
    throw new Error('the entry cannot be changed without changing other parts')
}

function detectStyle(text: string, entry: Node | undefined) {
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n'
  const first = entry?.children?.[0]
  const indentOf = (offset: number) => /(?:^|\n)([ \t]*)$/.exec(text.slice(0, offset))?.[1]
  const own = first && indentOf(first.offset)
  const outer = entry && /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, entry.offset))?.[1]
  const unit = own !== undefined && outer !== undefined ? own.slice(outer.length) : '  '
  return { eol, insertSpaces: !unit.startsWith('\t'), tabSize: unit.startsWith('\t') ? 1 : unit.length || 2 }
}

const bare = (text: string) => text.replace(/^\uFEFF/, '')
