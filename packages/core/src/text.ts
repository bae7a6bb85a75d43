/** The trust boundary for text: what a source wrote is quoted as data before it enters a card, a result or a reminder. */

/** Controls, zero-width and bidirectional marks, soft hyphen, tag characters, supplementary variation selectors. */
const INVISIBLE =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]/gu

export function stripInvisible(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, '')
}

/** The first non-empty line, at most `limit` characters, with "…" where it was cut. Looks at a bounded prefix only. */
export function firstLine(text: string, limit = 160): string {
  const head = stripInvisible(text.slice(0, 4096))
  const line =
    head
      .split(/[\r\n]/)
      .map((part) => part.trim())
      .find((part) => part !== '') ?? ''
  const characters = [...line.slice(0, limit * 2 + 2)]
  return characters.length > limit
    ? `${characters
        .slice(0, limit - 1)
        .join('')
        .trimEnd()}…`
    : line
}

/** JSON on one line in which no tag can open or close: `<` and `>` are written as escapes, so parsing gives the same value. */
export function safeJson(value: unknown): string {
  return (JSON.stringify(value) ?? 'null')
    .replace(/[<>\u2028\u2029\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u00AD]/g, escapeUnit)
    .replace(/[\u{E0000}-\u{E0FFF}]/gu, (character) => [...unitsOf(character)].map(escapeUnit).join(''))
}

/** A quoted, neutralised one-line version of what a source or a model wrote. */
export function quote(text: string, limit = 160): string {
  return safeJson(firstLine(text, limit))
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function unitsOf(character: string): string[] {
  return character.split('')
}
