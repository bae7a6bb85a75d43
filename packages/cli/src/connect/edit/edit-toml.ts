/** Changes the servers of TOML, in place. */
import { stringify } from 'smol-toml'
import { applyEdits, type Edit, type Editor, lineAt, type NewEntry, Refusal } from './change.js'

export const tomlEditor: Editor = {
  entrySource(text, { path }, name) {
    const ranges = findRanges(text, listStatements(text), [...path, name])
    // Lines without a heading belong to the table above them, so they cannot move.
    const isWhole = ranges.length > 0 && ranges.every(({ start }) => /^[ \t]*\[/.test(text.slice(start)))
    return isWhole ? ranges.map(({ start, end }) => text.slice(start, end)).join('') : undefined
  },
  change(text, { path }, { remove, add }, eol) {
    const statements = listStatements(text)
    const inline = statements.find(
      (each) => each.kind !== 'table' && isSame(each.path, path.slice(0, each.path.length)),
    )
    if (inline)
      throw new Refusal(
        `${path.join('.')} is written as one value`,
        `Write each server as a separate table: [${path.join('.')}.NAME]`,
        lineAt(text, inline.start),
      )
    const edits: Edit[] = remove.flatMap((name) =>
      findRanges(text, statements, [...path, name]).map(({ start, end }) => ({
        offset: start,
        // Include the blank lines after it.
        length: end + (/^(?:[ \t]*\r?\n)*/.exec(text.slice(end))?.[0].length ?? 0) - start,
        text: '',
      })),
    )
    const rest = applyEdits(text, edits)
    if (add.length === 0) return rest
    const added = add.map((each) => entryText(each, path, eol)).join(eol)
    if (rest.trim() === '') return rest + added
    const gap = /\n[ \t]*\r?\n$/.test(rest) ? '' : eol
    return `${rest}${rest.endsWith('\n') ? '' : eol}${gap}${added}`
  },
}

function entryText({ name, value, source }: NewEntry, path: readonly string[], eol: string): string {
  if (source !== undefined) return source.endsWith('\n') ? source : `${source}${eol}`
  const whole = path.reduceRight<Record<string, unknown>>((inner, key) => ({ [key]: inner }), {
    [name]: value,
  })
  const text = `${stringify(whole).trimEnd()}\n`
  return eol === '\n' ? text : text.replaceAll('\n', eol)
}

/** Ranges of a table with its content and comments. Comments after its last line belong to the next table. */
function findRanges(
  text: string,
  statements: readonly Statement[],
  path: readonly string[],
): { readonly start: number; readonly end: number }[] {
  const own = statements.filter(({ path: each }) => isSame(each.slice(0, path.length), path))
  const ranges: { start: number; end: number }[] = []
  for (const { kind, start, end } of own) {
    const last = ranges.at(-1)
    const isNext =
      last !== undefined &&
      statements.every((each) => own.includes(each) || each.start < last.end || each.start >= end)
    const isBelow = isNext && (kind === 'pair' || /^(?:[ \t]*\r?\n)*$/.test(text.slice(last.end, start)))
    if (last && isBelow) last.end = end
    else ranges.push({ start, end })
  }
  return ranges
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, at) => part === b[at])
}

/** A heading or a key with its value. Values are not parsed. */
interface Statement {
  readonly kind: 'table' | 'tables' | 'pair'
  /** Path from the root: the table, and the key in it. */
  readonly path: readonly string[]
  /** Offsets of its first line and after its last line. */
  readonly start: number
  readonly end: number
}

/** Expects valid TOML. */
function listStatements(text: string): Statement[] {
  const found: Statement[] = []
  let table: readonly string[] = []
  let at = 0
  while (at < text.length) {
    const start = at
    at = skip(text, at, /[ \t]*/y)
    if (/[#\r\n]/.test(text[at] ?? '\n')) {
      at = afterLine(text, at)
      continue
    }
    if (text[at] === '[') {
      const isList = text.startsWith('[[', at)
      const key = keyAt(text, at + (isList ? 2 : 1))
      table = key.path
      at = afterLine(text, key.end)
      found.push({ kind: isList ? 'tables' : 'table', path: table, start, end: at })
    } else {
      const key = keyAt(text, at)
      at = afterValue(text, key.end)
      found.push({ kind: 'pair', path: [...table, ...key.path], start, end: at })
    }
  }
  return found
}

function skip(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}

function afterLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}

const PART = /[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*(\.?)/y

/** Reads a dotted key. `end`: offset after it, before `=` or `]`. */
function keyAt(text: string, from: number): { readonly path: readonly string[]; readonly end: number } {
  const path: string[] = []
  let at = from
  for (let isMore = true; isMore; ) {
    PART.lastIndex = at
    const match = PART.exec(text)
    if (!match) break
    const [whole, quoted, literal, bare, dot] = match
    path.push(quoted === undefined ? (literal ?? bare ?? '') : unquoted(quoted))
    at += whole.length
    isMore = dot === '.'
  }
  return { path, end: at }
}

function unquoted(text: string): string {
  const plain = text
    .replace(/\\U([0-9a-fA-F]{8})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replace(/\\e/g, '\u001b')
    .replace(/\\x([0-9a-fA-F]{2})/g, '\\u00$1')
  try {
    return JSON.parse(`"${plain.replace(/[\u0000-\u001f]/g, (each) => JSON.stringify(each).slice(1, -1))}"`)
  } catch {
    return text
  }
}

/** Offset after the line on which the value ends. Brackets and strings may contain line breaks. */
function afterValue(text: string, from: number): number {
  let depth = 0
  let at = from
  while (at < text.length) {
    const char = text[at]
    if (char === '"' || char === "'") at = afterText(text, at, char)
    else if (char === '#') at = afterLine(text, at) - (text.indexOf('\n', at) < 0 ? 0 : 1)
    else if (char === '\n') {
      at += 1
      if (depth <= 0) return at
    } else {
      if (char === '[' || char === '{') depth += 1
      if (char === ']' || char === '}') depth -= 1
      at += 1
    }
  }
  return at
}

function afterText(text: string, from: number, quote: '"' | "'"): number {
  const isLong = text.startsWith(quote.repeat(3), from)
  const hasEscapes = quote === '"'
  let at = from + (isLong ? 3 : 1)
  while (at < text.length) {
    if (hasEscapes && text[at] === '\\') at += 2
    else if (isLong && text.startsWith(quote.repeat(3), at)) {
      at += 3
      // Up to two quotes may precede the closing three.
      while (text[at] === quote) at += 1
      return at
    } else if (!isLong && text[at] === quote) return at + 1
    else at += 1
  }
  return at
}
