/** Changes the servers of JSON with comments, in place. */
import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser'
import {
  applyEdits,
  type Change,
  type Edit,
  type Editor,
  lineAt,
  lineEnd,
  lineStart,
  type NewEntry,
  Refusal,
} from './change.js'

export const jsonEditor: Editor = {
  entrySource(text, { path }, name) {
    const root = parseRoot(text)
    const node = root && findNodeAtLocation(root, [...path, name])
    return node ? text.slice(node.offset, node.offset + node.length) : undefined
  },
  change(text, table, change, eol) {
    const root = parseRoot(text)
    if (!root) {
      const before = text.trim() === '' ? '' : `${text.trimEnd()}${eol}`
      return jsonEditor.change(`${before}{}${eol}`, table, change, eol)
    }
    const found = deepest(root, table.path, text)
    const [key, ...inner] = table.path.slice(found.depth)
    const style = detectStyle(root, text, eol)
    if (key === undefined) return applyEdits(text, planEdits(found.node, change, text, style))
    if (change.add.length === 0) return text
    // Insert an empty table first, so that entries keep their earlier text.
    const empty = { remove: [], add: [{ name: key, value: nested(inner, {}) }] }
    return jsonEditor.change(applyEdits(text, planEdits(found.node, empty, text, style)), table, change, eol)
  },
}

interface Style {
  readonly eol: string
  /** One step of indentation. Undefined if the text is one line. */
  readonly unit: string | undefined
}

function parseRoot(text: string): Node | undefined {
  return parseTree(text, [], { allowTrailingComma: true, disallowComments: false })
}

/** The object at the path, or its deepest existing parent. */
function deepest(root: Node, path: readonly string[], text: string): { node: Node; depth: number } {
  let node = root
  for (const [depth, key] of path.entries()) {
    const next = findNodeAtLocation(node, [key])
    if (!next) return { node, depth }
    if (next.type !== 'object')
      throw new Refusal(
        `${JSON.stringify(key)} is not an object`,
        `Write ${JSON.stringify(key)}: { }`,
        lineAt(text, next.offset),
      )
    node = next
  }
  return { node, depth: path.length }
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
}

function detectStyle(root: Node, text: string, eol: string): Style {
  if (!text.trim().includes('\n')) return { eol, unit: root.children?.length ? undefined : '  ' }
  const first = root.children?.[0]
  const indent = first ? indentAt(text, first.offset) : undefined
  return { eol, unit: indent || '  ' }
}

/** The indentation of an offset, if only whitespace precedes it on its line. */
function indentAt(text: string, offset: number): string | undefined {
  const blank = text.slice(lineStart(text, offset), offset)
  return /^[ \t]*$/.test(blank) ? blank : undefined
}

interface Member {
  readonly name: string
  readonly start: number
  readonly end: number
  /** Offset of its comma, if it has one. */
  readonly comma: number | undefined
}

function listMembers(node: Node, text: string): Member[] {
  const all = node.children ?? []
  return all.map((each, at) => {
    const end = each.offset + each.length
    const until = all[at + 1]?.offset ?? node.offset + node.length - 1
    const name = String(each.children?.[0]?.value)
    if (all.findIndex((other) => String(other.children?.[0]?.value) === name) !== at)
      throw new Refusal(
        `${JSON.stringify(name)} appears twice`,
        'Remove one of the two',
        lineAt(text, each.offset),
      )
    return { name, start: each.offset, end, comma: commaBetween(text, end, until) }
  })
}

/** Finds the comma between two entries, after whitespace and comments. */
function commaBetween(text: string, from: number, until: number): number | undefined {
  const gap = text.slice(from, until)
  const [before = ''] = /^(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/.exec(gap) ?? []
  return gap[before.length] === ',' ? from + before.length : undefined
}

function planEdits(node: Node, { remove, add }: Change, text: string, style: Style): Edit[] {
  const members = listMembers(node, text)
  const gone = members.filter(({ name }) => remove.includes(name))
  const rest = members.filter((each) => !gone.includes(each))
  const last = rest.at(-1)
  const edits = gone.flatMap((member) => removal(member, text))
  if (add.length > 0) return [...edits, ...insertion(node, members, rest, add, text, style)]
  // Strict JSON does not allow a trailing comma.
  const end = members.at(-1)
  if (last && end && gone.includes(end) && end.comma === undefined && last.comma !== undefined) {
    const next = members[members.indexOf(last) + 1]
    const isNear = next !== undefined && /^[ \t]*$/.test(text.slice(last.comma + 1, next.start))
    edits.push({ offset: last.comma, length: isNear ? next.start - last.comma : 1, text: '' })
  }
  return edits
}

/** Removes the entry, its comma and a line that would be empty. */
function removal({ start, end, comma }: Member, text: string): Edit[] {
  const isNear = comma !== undefined && /^\s*$/.test(text.slice(end, comma))
  const until = isNear ? comma + 1 : end
  const far = comma !== undefined && !isNear ? [{ offset: comma, length: 1, text: '' }] : []
  const behind = lineEnd(text, until)
  const isAlone = indentAt(text, start) !== undefined && /^[ \t\r\n]*$/.test(text.slice(until, behind))
  if (isAlone && behind > until) {
    const from = lineStart(text, start)
    return [{ offset: from, length: behind - from, text: '' }, ...far]
  }
  const blanks = /^[ \t]*/.exec(text.slice(until))?.[0].length ?? 0
  const isBeforeEnd = /^[ \t]*\}/.test(text.slice(until))
  return [{ offset: start, length: until - start + (isBeforeEnd ? 0 : blanks), text: '' }, ...far]
}

function insertion(
  node: Node,
  members: readonly Member[],
  rest: readonly Member[],
  add: readonly NewEntry[],
  text: string,
  { eol, unit }: Style,
): Edit[] {
  const last = rest.at(-1)
  const from = last ? (last.comma ?? last.end - 1) + 1 : node.offset + 1
  const comma: Edit[] = last && last.comma === undefined ? [{ offset: last.end, length: 0, text: ',' }] : []
  // Keep the trailing comma style of the object.
  const tail = last && members.at(-1)?.comma !== undefined ? ',' : ''
  if (unit === undefined) {
    const entries = add.map((each) => `${JSON.stringify(each.name)}: ${valueText(each, undefined)}`)
    return [...comma, { offset: from, length: 0, text: `${last ? ' ' : ''}${entries.join(', ')}${tail}` }]
  }
  const first = members[0]
  const outer = /^[ \t]*/.exec(text.slice(lineStart(text, node.offset)))?.[0] ?? ''
  const indent = (first && indentAt(text, first.start)) ?? outer + unit
  const entries = add.map((each) => {
    const value = valueText(each, unit)
    // An earlier text has its own indentation.
    const shown = each.source === undefined ? value.replaceAll('\n', `\n${indent}`) : value
    return `${indent}${JSON.stringify(each.name)}: ${each.source === undefined ? withEol(shown, eol) : shown}`
  })
  const body = `${eol}${entries.join(`,${eol}`)}${tail}`
  const place = behindComments(text, from)
  const brace = node.offset + node.length - 1
  if (text.slice(place, brace).includes('\n')) return [...comma, { offset: place, length: 0, text: body }]
  // The object ends on this line: move its brace to a new line.
  const blanks = /[ \t]*$/.exec(text.slice(place, brace))?.[0].length ?? 0
  return [
    ...comma,
    { offset: place, length: 0, text: body },
    { offset: brace - blanks, length: blanks, text: `${eol}${outer}` },
  ]
}

/** The end of the line if only comments follow; otherwise the offset itself. */
function behindComments(text: string, from: number): number {
  const [rest = ''] =
    /^(?:[ \t]|\/\*(?:[^*\n]|\*(?!\/))*\*\/|\/\/[^\n]*?(?=\r?\n|$))*/.exec(text.slice(from)) ?? []
  const place = from + rest.length
  return place >= text.length || /^\r?\n/.test(text.slice(place)) ? place : from
}

function valueText({ value, source }: NewEntry, unit: string | undefined): string {
  if (source !== undefined) return source
  return unit === undefined ? JSON.stringify(value) : JSON.stringify(value, null, unit)
}

function withEol(text: string, eol: string): string {
  return eol === '\n' ? text : text.replaceAll('\n', eol)
}
