/** Finds encoded and disguised text. Decoded orders are hard findings, other decoded prose is soft. */

import { isOrder, MARKERS } from './commands.js'
import { isMixedScript, latinised, unleeted } from './fold.js'
import { createFinding, type Finding } from './rules.js'

const MOST_BLOBS = 40
const MOST_CHARACTERS = 20_000
const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}(?![A-Za-z0-9+/_-])/g
const BASE32 = /(?<![A-Za-z0-9])[A-Z2-7]{24,}={0,6}(?![A-Za-z0-9=])/g
const HEX = /(?<![A-Za-z0-9])(?:0x)?(?:[0-9a-fA-F]{2}[ :,]?){12,}(?![A-Za-z0-9])/g
const SPELLED =
  /(?:\\u\{?[0-9a-fA-F]{4,6}\}?|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]{2,6};|U\+[0-9A-Fa-f]{4,6}\s?){6,}/g
const BINARY = /(?<![01])(?:[01]{8}[ ,]?){6,}(?![01])/g
const CODES = /(?<!\d)(?:\d{2,3}[ ,;]{1,2}){10,}\d{2,3}(?!\d)/g
const MORSE = /(?:[.-]{1,5}[ /]{1,3}){12,}/g
/** `i g n o r e`, `i.g.n.o.r.e`, `i-g-n-o-r-e`, with larger gaps or spaces between words. */
const SPACED = /(?<![\p{L}\p{N}])(?:\p{L}[ .\-_]{1,3}){7,}\p{L}(?![\p{L}\p{N}])/gu

type Decoder = (blob: string) => string | undefined

const DECODERS: readonly (readonly [kind: string, pattern: RegExp, decode: Decoder])[] = [
  ['Base64', BASE64, decodeBase64],
  ['Base32', BASE32, decodeBase32],
  ['hexadecimal', HEX, (blob) => decodeBytes(blob.replace(/^0x|[ :,]/g, ''), 16, 2)],
  ['escapes', SPELLED, decodeSpelled],
  ['binary', BINARY, (blob) => decodeBytes(blob.replace(/[ ,]/g, ''), 2, 8)],
  ['character codes', CODES, (blob) => readable(blob.split(/[ ,;]+/).map(Number))],
  ['Morse code', MORSE, decodeMorse],
  ['single letters', SPACED, decodeSpaced],
]

export function findEncoded(where: string, text: string): Finding[] {
  let soft: Finding | undefined
  for (const [kind, blob, decoded] of decodings(text)) {
    const excerpt = `${blob.slice(0, 40)} → ${decoded.slice(0, 100)}`
    if (isOrder(decoded))
      return [
        createFinding('encoded-payload', 'hard', where, excerpt, `hides orders to the model as ${kind}`),
      ]
    if (isProse(decoded))
      soft ??= createFinding('encoded-payload', 'soft', where, excerpt, `hides readable text as ${kind}`)
  }
  const disguised = findDisguised(where, text)
  return disguised ? [disguised] : soft ? [soft] : []
}

function* decodings(text: string): Generator<readonly [kind: string, blob: string, decoded: string]> {
  for (const [kind, pattern, decode] of DECODERS) {
    let count = 0
    for (const [blob] of text.matchAll(pattern)) {
      if (++count > MOST_BLOBS) break
      const decoded = decode(blob.slice(0, MOST_CHARACTERS))
      if (decoded === undefined) continue
      yield [kind, blob, decoded]
      // The text may be encoded twice.
      const inner = kind === 'Base64' ? decodeBase64(decoded.trim()) : undefined
      if (inner !== undefined) yield ['Base64 within Base64', blob, inner]
    }
  }
}

/** Ways to disguise a word. Each returns undefined for a plain word. */
const DISGUISES: readonly (readonly [kind: string, reveal: (word: string) => string | undefined])[] = [
  ['letters of another script', (word) => (isMixedScript(word) ? latinised(word) : undefined)],
  ['styled letters', (word) => (STYLED.test(word) ? word.normalize('NFKC') : undefined)],
  ['digits for letters', (word) => unleeted(word)],
  ['shifted letters', (word) => SHIFTED.get(word)],
  ['reversed letters', (word) => REVERSED.get(word)],
]

/** Full-width, mathematical and circled letters. */
const STYLED = /[\uFF21-\uFF3A\uFF41-\uFF5A\u{1D400}-\u{1D7FF}\u24B6-\u24E9\u{1F130}-\u{1F189}]/u
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

const SHIFTED = new Map<string, string>()
const REVERSED = new Map<string, string>()
for (const word of MARKERS) {
  for (let shift = 1; shift < 26; shift++) SHIFTED.set(rotate(word, shift), word)
  REVERSED.set([...word].reverse().join(''), word)
}
for (const word of MARKERS) {
  SHIFTED.delete(word)
  REVERSED.delete(word)
}

/** Two disguised words of an order are a hard finding. */
function findDisguised(where: string, text: string): Finding | undefined {
  const revealed = DISGUISES.map(() => new Set<string>())
  let styled = 0
  for (const [word] of text.slice(0, 200_000).matchAll(/[\p{L}\p{N}@$!|€+]{2,40}/gu)) {
    if (STYLED.test(word)) styled++
    for (const [number, [, reveal]] of DISGUISES.entries()) {
      const plain = reveal(word.toLowerCase())
      if (plain !== undefined && KNOWN.has(plain.toLowerCase())) revealed[number]?.add(plain)
    }
  }
  for (const [number, words] of revealed.entries())
    if (words.size >= 2) {
      const why = `hides words of an order (${[...words].slice(0, 4).join(', ')}) as ${DISGUISES[number]?.[0]}`
      return createFinding('encoded-payload', 'hard', where, text, why)
    }
  return styled >= 3 && !CJK.test(text)
    ? createFinding(
        'encoded-payload',
        'soft',
        where,
        text,
        'uses look-alikes of plain letters, which a search does not find',
      )
    : undefined
}

const KNOWN: ReadonlySet<string> = new Set([
  ...MARKERS,
  'previous',
  'prior',
  'earlier',
  'not',
  'about',
  'every',
  'each',
  'hidden',
])

/** Words are separated by two spaces, or by another character than the letters. */
function decodeSpaced(blob: string): string | undefined {
  const isBlank = /^\p{L} /u.test(blob)
  const parts = blob.split(isBlank ? / {2,}/ : / /)
  const words = parts.map((word) => word.replace(/[ .\-_]/g, ''))
  return words.join('').length >= 8 ? words.join(' ') : undefined
}

function decodeBase64(blob: string): string | undefined {
  const body = blob.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/')
  if (body.length < 16 || body.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(body)) return undefined
  return fromAlphabet(body, BASE64_VALUES, 6)
}

const BASE64_VALUES = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const BASE32_VALUES = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function decodeBase32(blob: string): string | undefined {
  return fromAlphabet(blob.replace(/=+$/, ''), BASE32_VALUES, 5)
}

/** Decodes characters of `width` bits each. */
function fromAlphabet(text: string, alphabet: string, width: number): string | undefined {
  const bytes: number[] = []
  let buffer = 0
  let bits = 0
  for (const character of text) {
    // The buffer never holds more than one byte and one character.
    buffer = ((buffer << width) | alphabet.indexOf(character)) & 0xffff
    bits += width
    if (bits >= 8) {
      bits -= 8
      bytes.push((buffer >> bits) & 0xff)
    }
  }
  return readable(bytes)
}

function decodeBytes(digits: string, radix: number, width: number): string | undefined {
  const bytes: number[] = []
  for (let index = 0; index + width <= digits.length; index += width)
    bytes.push(Number.parseInt(digits.slice(index, index + width), radix))
  return readable(bytes)
}

function decodeSpelled(blob: string): string | undefined {
  const decoded = blob.replace(
    /\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})|&#x([0-9a-fA-F]{2,6});|&#(\d{2,6});|U\+([0-9A-Fa-f]{4,6})\s?/g,
    (_, a, b, c, d, e, f) => {
      const code = e === undefined ? Number.parseInt(a ?? b ?? c ?? d ?? f, 16) : Number(e)
      return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
        ? String.fromCodePoint(code)
        : ''
    },
  )
  return decoded.length > 5 ? decoded : undefined
}

const MORSE_CODE: Readonly<Record<string, string>> = Object.fromEntries(
  '.- a|-... b|-.-. c|-.. d|. e|..-. f|--. g|.... h|.. i|.--- j|-.- k|.-.. l|-- m|-. n|--- o|.--. p|--.- q|.-. r|... s|- t|..- u|...- v|.-- w|-..- x|-.-- y|--.. z'
    .split('|')
    .map((pair) => pair.split(' ') as [string, string]),
)

function decodeMorse(blob: string): string | undefined {
  const letters = blob
    .trim()
    .split(/( \/ |\/| {2,3})| /)
    .filter(Boolean)
    .map((code) => (/[/ ]/.test(code) ? ' ' : MORSE_CODE[code]))
  return letters.includes(undefined) ? undefined : letters.join('')
}

/** Decodes UTF-8. Undefined if the result is not plain text. */
function readable(bytes: readonly number[]): string | undefined {
  if (bytes.length < 8 || bytes.some((byte) => !(byte >= 0 && byte <= 255))) return undefined
  let text: string
  try {
    text = decodeURIComponent(bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''))
  } catch {
    return undefined
  }
  const odd = text.match(/[^\p{L}\p{N}\p{P}\p{S}\p{Zs}\n\r\t]/gu)?.length ?? 0
  return odd === 0 ? text : undefined
}

/** Several words with spaces between them. */
function isProse(text: string): boolean {
  const words = text.match(/\p{L}{2,}/gu) ?? []
  return words.length >= 4 && /\s/.test(text) && words.join('').length / text.length > 0.6
}

function rotate(text: string, shift: number): string {
  return text.replace(/[a-z]/g, (letter) =>
    String.fromCharCode(((letter.charCodeAt(0) - 97 + shift) % 26) + 97),
  )
}
