/** Takes texts out of a text, however JSON, addresses, markup or a shell write the signs in them. */
import { HIDDEN } from './show-word.js'

/** Shorter ones are words (`true`, `1`, `en`) whose removal would make a message unreadable and hide nothing. */
export const SHORTEST_SECRET = 6

/** Longer ones are looked for in pieces. */
const LONGEST_PATTERN = 2000

interface Sought {
  /** A piece of it that everybody writes in the same way, in lower case: where it is missing, nothing is looked for. */
  readonly core: string
  readonly pattern: RegExp
}

type Mark = (start: number, end: number) => void

export function createTextHider(texts: Iterable<string>): (text: string) => string {
  const sought: Sought[] = []
  const short: string[] = []
  const long: string[] = []
  for (const text of new Set([...texts].map((each) => each.trim()))) {
    // Short ones that are neither words nor numbers: only where they stand alone.
    if (/^(?=.*\d)(?=.*[A-Za-z])[A-Za-z\d]{4,5}$/.test(text)) short.push(text)
    if (text.length < SHORTEST_SECRET) continue
    // Half of a shorter one is a word. What a reference begins with is no secret.
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

/** Every place is found before any is taken out: a secret that overlaps another is hidden as a whole. */
function without(text: string, sought: readonly Sought[], long: readonly string[]): string {
  // One for each character that goes. A list of places would be as long as a hostile text wants it.
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

/** Where a server has shortened one by itself: `sk-proj-Ab…`, `***5Kx9Qw`. */
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
  // Each sign with the backslashes before it: were these a piece of their own, there would be many ways to share them out.
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

/** As hex and base64 write it, also in the middle of a longer text: without the ends, which depend on what is around it. */
function encoded(text: string): string[] {
  const bytes = Buffer.from(text)
  // Nobody encodes what is a file by itself.
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

/** One, as it is or in an address. */
const BACKSLASH = String.raw`(?:\\|%(?:25)*5c)`

/** Spaces and line ends, or what stands for them. */
const SPACE = String.raw`(?:(?:\s|\\{1,8}[nrt]|%(?:25)*(?:20|0[9ad]))+|\+)`

/** The same behind a backslash, as a script has it at the end of a line. */
const SPACE_BEHIND = String.raw`(?:[\\\s]|(?<=\\)[nrt]|%(?:25)*(?:5c|20|0[9ad]))+`

const MARKUP: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
}

/**
 * One sign behind as many backslashes as JSON in JSON in JSON has: as it is, by its number, or by its name. Whatever a text is, there
 * is one way to read it: a hostile one costs no more than another.
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
