/** Changes the servers of YAML, in place, line by line. */
import {
  isMap,
  isScalar,
  isSeq,
  type Node,
  type ParsedNode,
  parseDocument,
  stringify,
  type YAMLMap,
} from 'yaml'
import {
  applyEdits,
  type Edit,
  type Editor,
  lineAt,
  lineEnd,
  lineStart,
  type NewEntry,
  Refusal,
  type Table,
} from './change.js'

export const yamlEditor: Editor = {
  entrySource(text, table, name) {
    const found = findTable(text, table)
    const item = found?.items.find((each) => each.name === name)
    return item ? text.slice(item.start, item.end) : undefined
  },
  change(text, table, { remove, add }, eol) {
    const found = findTable(text, table)
    const key = table.path[0] ?? ''
    if (!found) {
      if (add.length === 0) return text
      const lines = add.map((each) => itemText(each, table.isList, 2, eol)).join('')
      const gap = text === '' || text.endsWith('\n') ? '' : eol
      return `${text}${gap}${key}:${eol}${lines}`
    }
    const gone = found.items.filter(({ name }) => remove.includes(name))
    const edits: Edit[] = gone.map(({ start, end }) => ({ offset: start, length: end - start, text: '' }))
    const [first] = found.items
    const lines = add.map((each) => itemText(each, table.isList, first?.column ?? 2, eol)).join('')
    if (first) {
      edits.push({ offset: first.start, length: 0, text: lines })
      // No content would mean null instead of an empty collection.
      if (add.length === 0 && gone.length === found.items.length)
        edits.push({ offset: found.colon, length: 0, text: table.isList ? ' []' : ' {}' })
    } else if (add.length > 0) {
      if (found.empty)
        edits.push({ offset: found.empty.start, length: found.empty.end - found.empty.start, text: '' })
      const end = lineEnd(text, found.colon)
      const gap = end === text.length && !text.endsWith('\n') ? eol : ''
      edits.push({ offset: end, length: 0, text: gap + lines })
    }
    return applyEdits(text, edits)
  },
}

interface Item {
  readonly name: string
  /** Whole lines. */
  readonly start: number
  readonly end: number
  readonly column: number
}

interface Found {
  readonly items: readonly Item[]
  /** Offset after the colon of the key. */
  readonly colon: number
  /** `{}` or `[]`. */
  readonly empty?: { readonly start: number; readonly end: number }
}

/** Returns undefined if the key is missing. */
function findTable(text: string, { path, isList }: Table): Found | undefined {
  const [key = ''] = path
  const { contents } = parseDocument(text, { keepSourceTokens: true })
  if (contents === null || (isScalar(contents) && contents.value === null)) return undefined
  const fail = (message: string, node?: Node | null) =>
    new Refusal(
      message,
      `Write each entry below "${key}:" on separate lines`,
      node?.range ? lineAt(text, node.range[0]) : undefined,
    )
  if (!isMap(contents) || contents.flow) throw fail('the whole file is one value in brackets', contents)
  const pair = (contents as YAMLMap<ParsedNode, ParsedNode | null>).items.find(
    (each) => isScalar(each.key) && each.key.value === key,
  )
  if (!pair?.key.range) return undefined
  const colon = text.indexOf(':', pair.key.range[1]) + 1
  const { value } = pair
  if (value === null || (isScalar(value) && value.value === null && value.source === ''))
    return { items: [], colon }
  if (isList ? !isSeq(value) : !isMap(value))
    throw fail(`"${key}" is not ${isList ? 'a list' : 'an object'}`, value)
  const collection = value as Extract<ParsedNode, { items: unknown[] }>
  if (collection.flow) {
    const [start, end] = collection.range
    if (collection.items.length > 0) throw fail(`"${key}" is in brackets on one line`, collection)
    return { items: [], colon, empty: { start, end } }
  }
  if (value.anchor !== undefined) throw fail(`"${key}" is a YAML anchor`, value)
  return {
    items: isSeq(value)
      ? onlyOnce(text, listItems(text, value))
      : mapItems(text, value as YAMLMap<ParsedNode, ParsedNode | null>),
    colon,
  }
}

/** Rejects list members with the same name. The parser already rejects repeated keys of a map. */
function onlyOnce(text: string, items: readonly Item[]): readonly Item[] {
  const names = items.map(({ name }) => name)
  const twice = items.find(({ name }, at) => names.indexOf(name) !== at)
  if (!twice) return items
  throw new Refusal(
    `${JSON.stringify(twice.name)} appears twice`,
    'Remove one of the two',
    lineAt(text, twice.start),
  )
}

function mapItems(text: string, { items }: YAMLMap<ParsedNode, ParsedNode | null>): Item[] {
  return items.map(({ key, value }) => {
    const begin = key.range?.[0] ?? 0
    return itemAt(
      text,
      String(isScalar(key) ? key.value : ''),
      begin,
      Math.max(key.range?.[1] ?? 0, value?.range?.[1] ?? 0),
    )
  })
}

function listItems(text: string, list: Extract<ParsedNode, { items: unknown[] }>): Item[] {
  const tokens = list.srcToken?.type === 'block-seq' ? list.srcToken.items : []
  return list.items.map((item, at) => {
    const dash = tokens[at]?.start.find(({ type }) => type === 'seq-item-ind')
    const node = item as Node
    const name: unknown = isMap(node) ? node.get('name') : undefined
    if (!dash) throw new Refusal('its list cannot be edited', 'Edit the file by hand')
    return itemAt(
      text,
      typeof name === 'string' ? name : `number ${at + 1}`,
      dash.offset,
      Math.max(dash.offset + 1, node.range?.[1] ?? 0),
    )
  })
}

function itemAt(text: string, name: string, begin: number, until: number): Item {
  const start = lineStart(text, begin)
  if (!/^ *$/.test(text.slice(start, begin)))
    throw new Refusal(
      `${JSON.stringify(name)} does not start on a new line`,
      'Write each entry on separate lines',
      lineAt(text, begin),
    )
  const end = text.slice(0, until).trimEnd().length
  return { name, start, end: lineEnd(text, end), column: begin - start }
}

function itemText({ name, value, source }: NewEntry, isList: boolean, column: number, eol: string): string {
  if (source !== undefined) return `${shifted(source, column)}${source.endsWith('\n') ? '' : eol}`
  const given = isList ? [{ name, ...(value as object) }] : { [name]: value }
  const text = stringify(given, {
    indent: 2,
    lineWidth: 0,
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
  })
  const lines = text.trimEnd().split('\n')
  return lines.map((line) => `${line === '' ? '' : ' '.repeat(column)}${line}${eol}`).join('')
}

/** Moves lines to another column. */
function shifted(source: string, column: number): string {
  const was = /^ */.exec(source)?.[0].length ?? 0
  if (was === column) return source
  return source.replace(/^( *)(?=\S)/gm, (blanks) => ' '.repeat(Math.max(0, blanks.length + column - was)))
}
