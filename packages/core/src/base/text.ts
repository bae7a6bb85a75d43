/** The trust boundary for text: quotes text of a source before it enters a card, a result or a notice. */

/**
 * Invisible characters: controls except tab and line ends, everything Unicode calls ignorable (zero-width and
 * bidirectional marks, soft hyphen, fillers, tag characters, variation selectors), line separators, annotations.
 */
const INVISIBLE = /(?![\t\n\r])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]/gu

export function stripInvisible(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, '')
}

/** The first non-empty line, at most `limit` characters, with "…" if it was cut. Reads only the first 4,096 characters. */
export function firstLine(text: string, limit = 160): string {
  return cutLine(splitLines(text)[0] ?? '', limit)
}

/**
 * Finds the first line that describes the purpose. Skips headings, fences and table rows, and removes list marks, tags and quotes.
 * If the text has a section "Purpose", starts there. Falls back to the first line. Prefers lines that are not in `ignored`.
 */
export function findPurposeLine(text: string, limit = 160, ignored?: ReadonlySet<string>): string {
  const lines = splitLines(text)
  const [first = ''] = lines
  let fenced = false
  const purpose = isHeading(first) ? lines.findIndex((each) => /^\W*purpose\W*$/i.test(each)) : -1
  const candidates = lines.slice(purpose + 1).flatMap((each) => {
    const isFence = FENCE.test(each)
    if (isFence) fenced = !fenced
    if (isFence || fenced || isHeading(each)) return []
    const bare = removeMarks(each)
    return LETTER.test(bare) ? [bare] : []
  })
  const line = candidates.find((each) => !ignored?.has(cutLine(each, limit))) ?? candidates[0]
  return cutLine(line ?? first.replace(LIST_MARK, ''), limit)
}

const FENCE = /^(?:```|~~~)/
const LETTER = /\p{L}/u
const LIST_MARK = /^(?:[-*•]|\d{1,2}[.)])\s+(?=\S)/
/** `# Purpose`, `<purpose>`, `<b>Purpose</b>`, `**Purpose**`, a row of a table. */
const MARKED_HEADING =
  /^(?:#{1,6}\s.*|<[^<>]{1,40}>|<(b|strong|h[1-6])>.*<\/\1>:?|(?:\*\*|__)[^*_]{1,60}(?:\*\*|__):?|\|.*\|)$/i

/** Also counts at most three words before a colon, and at most four words after an emoji. */
function isHeading(line: string): boolean {
  const most = /^\p{Extended_Pictographic}/u.test(line) ? 4 : /[:：]$/.test(line) ? 3 : 0
  return MARKED_HEADING.test(line) || line.split(/\s+/).length <= most
}

/** Removes a list mark, tags at both ends, and triple quotes. */
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

/** Cuts a text to `length` characters without splitting a surrogate pair. */
export function truncateText(text: string, length: number): string {
  return text
    .slice(0, length)
    .replace(/[\uD800-\uDBFF]$/, '')
    .toWellFormed()
}

/** Writes JSON on one line, with `<`, `>` and invisible characters escaped. Parsing it gives the same value. */
export function safeJson(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(/[<>]/g, escaped).replace(INVISIBLE, escaped)
}

/** Quotes untrusted text so that it stays readable: each line begins with `> `, and `<`, `>` and invisible characters are escaped. */
export function quoteLines(text: string): string {
  const safe = text.toWellFormed().replace(/[<>]/g, escaped).replace(INVISIBLE, escaped)
  return safe
    .split(/\r\n|[\r\n]/)
    .map((line) => `> ${line}`)
    .join('\n')
}

/** Escapes invisible characters, for people who read a log. */
export function showInvisible(text: string): string {
  return text.replace(INVISIBLE, escaped)
}

/** Quotes the first line of untrusted text as JSON. */
export function quote(text: string, limit = 160): string {
  return safeJson(firstLine(text, limit))
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
