/** The trust boundary for text: what a source wrote is quoted as data before it enters a card, a result or a reminder. */

/**
 * What a reader cannot see: controls except tab and line ends, everything Unicode calls ignorable (zero-width and
 * bidirectional marks, soft hyphen, fillers, tag characters, variation selectors), line separators, annotations.
 */
const INVISIBLE = /(?![\t\n\r])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]/gu

export function stripInvisible(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, '')
}

/** The first non-empty line, at most `limit` characters, with "…" where it was cut. Looks at a bounded prefix only. */
export function firstLine(text: string, limit = 160): string {
  return cutLine(splitLines(text)[0] ?? '', limit)
}

/**
 * The first line that says something: no heading, no fence, no row of a table, and without the mark of a list, tags or quotes around
 * it; of a text in sections, one of which is its purpose, the first of that. The first of all where none does. `besides`: lines that
 * say nothing here, unless there is no other.
 */
export function findPurposeLine(text: string, limit = 160, besides?: ReadonlySet<string>): string {
  const lines = splitLines(text)
  const [first = ''] = lines
  let fenced = false
  const purpose = isHeading(first) ? lines.findIndex((each) => /^\W*purpose\W*$/i.test(each)) : -1
  const telling = lines.slice(purpose + 1).flatMap((each) => {
    const isFence = FENCE.test(each)
    if (isFence) fenced = !fenced
    if (isFence || fenced || isHeading(each)) return []
    const bare = removeMarks(each)
    return LETTER.test(bare) ? [bare] : []
  })
  const line = telling.find((each) => !besides?.has(cutLine(each, limit))) ?? telling[0]
  return cutLine(line ?? first.replace(LIST_MARK, ''), limit)
}

const FENCE = /^(?:```|~~~)/
const LETTER = /\p{L}/u
const LIST_MARK = /^(?:[-*•]|\d{1,2}[.)])\s+(?=\S)/
/** `# Purpose`, `<purpose>`, `<b>Purpose</b>`, `**Purpose**`, a row of a table. */
const MARKED_HEADING =
  /^(?:#{1,6}\s.*|<[^<>]{1,40}>|<(b|strong|h[1-6])>.*<\/\1>:?|(?:\*\*|__)[^*_]{1,60}(?:\*\*|__):?|\|.*\|)$/i

/** Three words at most that end in a colon, or four behind a picture, head what follows. */
function isHeading(line: string): boolean {
  const most = /^\p{Extended_Pictographic}/u.test(line) ? 4 : /[:：]$/.test(line) ? 3 : 0
  return MARKED_HEADING.test(line) || line.split(/\s+/).length <= most
}

/** Without the mark of a list, tags that open and close the line, and the quotes of a text in code. */
function removeMarks(line: string): string {
  return line
    .replace(/^(?:<[a-z][^<>]{0,80}>\s*)+|(?:\s*(?:<\/[a-z][^<>]{0,40}>|<br ?\/?>))+$/gi, '')
    .replace(/^(?:"""|''')\s*|\s*(?:"""|''')$/g, '')
    .replace(LIST_MARK, '')
}

function splitLines(text: string): string[] {
  return stripInvisible(text.slice(0, 4096))
    .split(/[\r\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function cutLine(line: string, limit: number): string {
  const characters = [...line.slice(0, limit * 2 + 2)]
  return characters.length > limit
    ? `${characters
        .slice(0, limit - 1)
        .join('')
        .trimEnd()}…`
    : line
}

/** The first characters of a text, none of them halved. */
export function truncateText(text: string, length: number): string {
  return text
    .slice(0, length)
    .replace(/[\uD800-\uDBFF]$/, '')
    .toWellFormed()
}

/** JSON on one line in which no tag can open or close and nothing is invisible: those are escapes, so parsing gives the same value. */
export function safeJson(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(/[<>]/g, escaped).replace(INVISIBLE, escaped)
}

/** The same for a person who reads a log: what cannot be seen is written as its number. */
export function showInvisible(text: string): string {
  return text.replace(INVISIBLE, escaped)
}

/** A quoted, neutralised one-line version of what a source or a model wrote. */
export function quote(text: string, limit = 160): string {
  return safeJson(firstLine(text, limit))
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
