/** Where the statements of a TOML text are, and what they speak of. What the values mean is left to the parser. */

export interface Statement {
  readonly kind: 'table' | 'tables' | 'pair'
  /** From the root: that of the table, and of the key within. */
  readonly path: readonly string[]
  /** Where its first line begins, and behind the end of its last. */
  readonly start: number
  readonly end: number
}

/** The text is known to be TOML. */
export function listStatements(text: string): Statement[] {
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

/** A key with its parts; `end` is behind it, before `=` or `]`. */
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

/** Behind the line on which the value ends. Brackets and texts may hold line ends. */
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
      // Up to two quotes may stand before the three that end it.
      while (text[at] === quote) at += 1
      return at
    } else if (!isLong && text[at] === quote) return at + 1
    else at += 1
  }
  return at
}
