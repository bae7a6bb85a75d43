/** Hides given strings in a text, also if JSON, URLs, HTML or a shell have escaped them. */
import { HIDDEN } from './show-word.js'

/** Shorter values are ordinary words (`true`, `1`, `en`): hiding them would make messages unreadable. */
export const SHORTEST_SECRET = 6

/** Longer values are searched in pieces. */
const LONGEST_PATTERN = 2000

interface Sought {
  /** A part that is never escaped, in lower case. If the text lacks it, the pattern is not tried. */
  readonly core: string
  readonly pattern: RegExp
}

type Mark = (start: number, end: number) => void

export function createTextHider(texts: Iterable<string>): (text: string) => string {
  const sought: Sought[] = []
  const short: string[] = []
  const long: string[] = []
  for (const text of new Set([...texts].map((each) => each.trim()))) {
    // Short values that mix letters and digits are hidden only as whole words.
    if (/^(?=.*\d)(?=.*[A-Za-z])[A-Za-z\d]{4,5}$/.test(text)) short.push(text)
    if (text.length < SHORTEST_SECRET) continue
    // Half of a shorter value may be an ordinary word. The start of a reference is not secret.
    if (text.length >= 2 * SHORTEST_SECRET && !text.startsWith('${')) long.push(text)
    for (let at = 0; at < text.length; at += LONGEST_PATTERN)
      sought.push(...soughtFor(text.slice(at, at + LONGEST_PATTERN).trim()))
  }
  if (short.length > 0)
    sought.push({
      core: '',
      pattern: new RegExp(`(?<![A-Za-z\\d])(?:${short.join('|')})(?![A-Za-z\\d])`, 'g'),
    })
  return (text) => without(text, sought, long)
}

/** Finds all places first and hides them afterwards, so that overlapping secrets are hidden completely. */
function without(text: string, sought: readonly Sought[], long: readonly string[]): string {
  // One byte per character. A hostile text could make a list of places very long.
  let gone: Uint8Array | undefined
  const mark: Mark = (start, end) => {
    gone ??= new Uint8Array(text.length)
    gone.fill(1, start, end)
  }
  if (SHORTENED.some((sign) => text.includes(sign))) for (const secret of long) markHalves(text, secret, mark)
  const small = text.toLowerCase()
  for (const { core, pattern } of sought)
    if (small.includes(core))
      for (const match of text.matchAll(pattern)) mark(match.index, match.index + match[0].length)
  if (!gone) return text
  let left = ''
  for (let at = 0; at < text.length; ) {
    const next = gone.indexOf(gone[at] === 1 ? 0 : 1, at)
    const end = next < 0 ? text.length : next
    left += gone[at] === 1 ? HIDDEN : text.slice(at, end)
    at = end
  }
  return left
}

/** Marks secrets that the server shortened: `sk-proj-Ab…`, `***5Kx9Qw`. */
function markHalves(text: string, secret: string, mark: Mark): void {
  const first = secret.slice(0, SHORTEST_SECRET)
  for (let start = text.indexOf(first); start >= 0; start = text.indexOf(first, start + 1)) {
    let end = start + first.length
    while (end < text.length && text[end] === secret[end - start]) end++
    if (SHORTENED.some((sign) => text.startsWith(sign, end))) mark(start, end)
  }
  const last = secret.slice(-SHORTEST_SECRET)
  for (let at = text.indexOf(last); at >= 0; at = text.indexOf(last, at + 1)) {
    const end = at + last.length
    let start = at
    while (start > 0 && text[start - 1] === secret[secret.length - (end - start) - 1]) start--
    if (SHORTENED.some((sign) => text.endsWith(sign, start))) mark(start, end)
  }
}

const SHORTENED = ['...', '…', '***']

function soughtFor(text: string): Sought[] {
  if (text.length < SHORTEST_SECRET) return []
  // Match each character together with the backslashes before it: there must be only one way to match, or the pattern gets slow.
  const source = text.replace(/[A-Za-z\d]+|\\*\s+|\\*[^A-Za-z\d\s\\]|\\+/gu, (signs) => {
    if (/^[A-Za-z\d]/.test(signs)) return signs
    const sign = signs.replace(/^\\+/, '')
    if (sign === '') return `${BACKSLASH}{1,24}`
    return /^\s/.test(sign) ? (sign === signs ? SPACE : SPACE_BEHIND) : waysOf(sign)
  })
  const [core = ''] = (text.match(/[A-Za-z\d]+/g) ?? []).sort((a, b) => b.length - a.length)
  return [source, ...new Set(encoded(text))].map((each, at) => ({
    core: (at === 0 ? core : each).toLowerCase(),
    pattern: new RegExp(at === 0 ? each : escaped(each), at === 0 ? 'giu' : 'g'),
  }))
}

/** Hex and base64 forms, also inside a longer text: without the ends, which depend on the neighbouring bytes. */
function encoded(text: string): string[] {
  const bytes = Buffer.from(text)
  // Values this long are whole files, which nobody encodes.
  if (bytes.length < 8 || text.length >= LONGEST_PATTERN) return []
  const shifted = [0, 1, 2].map((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    const start = shift === 0 ? 0 : shift + 1
    return whole.slice(start, Math.floor(((shift + bytes.length) * 8) / 6))
  })
  return [
    bytes.toString('hex'),
    ...shifted,
    ...shifted.map((each) => each.replace(/\+/g, '-').replace(/\//g, '_')),
  ]
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** A backslash, plain or percent-encoded. */
const BACKSLASH = String.raw`(?:\\|%(?:25)*5c)`

/** Spaces and line breaks, plain or escaped. */
const SPACE = String.raw`(?:(?:\s|\\{1,8}[nrt]|%(?:25)*(?:20|0[9ad]))+|\+)`

/** Spaces and line breaks after a backslash, as in a shell script. */
const SPACE_BEHIND = String.raw`(?:[\\\s]|(?<=\\)[nrt]|%(?:25)*(?:5c|20|0[9ad]))+`

const MARKUP: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
}

/**
 * Pattern for one character after the backslashes of nested JSON: plain, by number or by name. There is only one way to match
 * any text, so hostile texts are not slower.
 */
function waysOf(sign: string): string {
  const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0')
  const bytes = [...Buffer.from(sign.toWellFormed())]
  const units = [...Array(sign.length).keys()].map((at) => `u${hex(sign.charCodeAt(at), 4)}`)
  const ways = [
    escaped(sign),
    bytes.map((byte) => `%(?:25)*${hex(byte, 2)}`).join(''),
    bytes.map((byte) => `x${hex(byte, 2)}`).join(`${BACKSLASH}{1,8}`),
    units.join(`${BACKSLASH}{1,8}`),
    `&(?:amp;)*#0*${sign.codePointAt(0)};`,
  ]
  if (sign === "'") ways.unshift(String.raw`'(?:\\'|"'")'`)
  const name = MARKUP[sign]
  if (name !== undefined) ways.unshift(`&(?:amp;)*${name};`)
  return `${BACKSLASH}{0,24}(?:${ways.join('|')})`
}
