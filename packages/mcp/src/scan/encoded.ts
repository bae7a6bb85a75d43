/** Text that hides what it says. What can be decoded is decoded and read like everything else. */

import { segment } from './clauses.js'
import { type Finding, finding } from './finding.js'

/** Says whether decoded text gives orders. */
export type Reader = (text: string) => boolean

const MOST_BLOBS = 40
const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}(?![A-Za-z0-9+/_-])/g
const BASE32 = /(?<![A-Za-z0-9])[A-Z2-7]{24,}={0,6}(?![A-Za-z0-9=])/g
const HEX = /(?<![A-Za-z0-9])(?:0x)?(?:[0-9a-fA-F]{2}[ :,]?){12,}(?![A-Za-z0-9])/g
const SPELLED =
  /(?:\\u\{?[0-9a-fA-F]{4,6}\}?|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]{2,6};|U\+[0-9A-Fa-f]{4,6}\s?){6,}/g
const BINARY = /(?<![01])(?:[01]{8}[ ,]?){6,}(?![01])/g
const CODES = /(?<!\d)(?:\d{2,3}[ ,;]{1,2}){10,}\d{2,3}(?!\d)/g
const MORSE = /(?:[.-]{1,5}[ /]{1,3}){12,}/g

/** Commands, and something that joins them. */
const SHELL =
  /\b(?:curl|wget|chmod|bash|sh|rm|nc|python3?|eval|powershell|sudo|cat|scp|ssh)\b[^\n]{0,200}(?:&&|\||;|>|\$\(|`|-rf|https?:)/

/** Words that orders are made of, for finding text shifted along the alphabet or reversed. */
const MARKERS =
  'ignore disregard instructions instruction previous system prompt secret password passwords credentials user tell before always must never send read file files tool tools private key keys token tokens conversation history contents include without silently your with this that from into upload guidelines forward copy address attach hidden ignoring override response answer every guidelines notes inform mention'.split(
    ' ',
  )
const SHIFTED = new Map<string, number>()
const REVERSED = new Set<string>()
for (const word of MARKERS) {
  if (word.length < 4) continue
  for (let shift = 1; shift < 26; shift++) SHIFTED.set(rotate(word, shift), shift)
  REVERSED.add([...word].reverse().join(''))
}
for (const word of MARKERS) {
  SHIFTED.delete(word)
  REVERSED.delete(word)
}

export function findEncoded(where: string, text: string, givesOrders: Reader): Finding[] {
  const findings: Finding[] = []
  const report = (kind: string, blob: string, decoded: string) => {
    if (findings.length > 0 && findings.some(({ severity }) => severity === 'hard')) return
    const isOrder = SHELL.test(decoded) || givesOrders(decoded) || givesOrders(segment(decoded.slice(0, 400)))
    if (!isOrder && !isProse(decoded)) return
    findings.push(
      finding(
        'encoded-payload',
        isOrder ? 'hard' : 'soft',
        where,
        `${blob.slice(0, 40)} → ${decoded.slice(0, 100)}`,
        isOrder ? `hides orders to the model as ${kind}` : `hides readable text as ${kind}`,
      ),
    )
  }
  for (const [kind, pattern, decode] of DECODERS) {
    let count = 0
    for (const match of text.matchAll(pattern)) {
      if (++count > MOST_BLOBS) break
      const decoded = decode(match[0].slice(0, 20_000))
      if (decoded !== undefined) {
        report(kind, match[0], decoded)
        // Encoded twice is still encoded.
        const inner = kind === 'Base64' ? decodeBase64(decoded.trim()) : undefined
        if (inner !== undefined) report('Base64 within Base64', match[0], inner)
      }
    }
  }
  findings.push(...findTurned(where, text, givesOrders))
  return findings
}

const DECODERS: readonly (readonly [string, RegExp, (blob: string) => string | undefined])[] = [
  ['Base64', BASE64, decodeBase64],
  ['Base32', BASE32, decodeBase32],
  ['hexadecimal', HEX, (blob) => decodeBytes(blob.replace(/^0x|[ :,]/g, ''), 16, 2)],
  ['escapes', SPELLED, decodeSpelled],
  ['binary', BINARY, (blob) => decodeBytes(blob.replace(/[ ,]/g, ''), 2, 8)],
  ['character codes', CODES, (blob) => readable(blob.split(/[ ,;]+/).map(Number))],
  ['Morse code', MORSE, decodeMorse],
]

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

/** Each character stands for so many bits. */
function fromAlphabet(text: string, alphabet: string, width: number): string | undefined {
  const bytes: number[] = []
  let buffer = 0
  let bits = 0
  for (const character of text) {
    // Never more than a byte and one character are waiting.
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

/** UTF-8 that is text from end to end; undefined for anything else. */
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

/** Several words with spaces between them: someone wrote this for a reader. */
function isProse(text: string): boolean {
  const words = text.match(/\p{L}{2,}/gu) ?? []
  return words.length >= 4 && /\s/.test(text) && words.join('').length / text.length > 0.6
}

/** Text shifted along the alphabet (ROT13 and its kin), or written backwards. */
function findTurned(where: string, text: string, givesOrders: Reader): Finding[] {
  const shifts = new Map<number, number>()
  let reversed = 0
  for (const [word] of text.toLowerCase().matchAll(/[a-z]{4,14}/g)) {
    const shift = SHIFTED.get(word)
    if (shift !== undefined) shifts.set(shift, (shifts.get(shift) ?? 0) + 1)
    if (REVERSED.has(word)) reversed++
  }
  for (const [shift, count] of shifts) {
    if (count < 2) continue
    const decoded = rotate(text.slice(0, 50_000), 26 - shift)
    if (givesOrders(decoded))
      return [
        finding(
          'encoded-payload',
          'hard',
          where,
          `${text.slice(0, 40)} → ${decoded.slice(0, 100)}`,
          'hides orders to the model by shifting the alphabet',
        ),
      ]
  }
  if (reversed >= 2) {
    const decoded = [...text.slice(0, 50_000)].reverse().join('')
    if (givesOrders(decoded))
      return [
        finding(
          'encoded-payload',
          'hard',
          where,
          `${text.slice(0, 40)} → ${decoded.slice(0, 100)}`,
          'hides orders to the model by writing them backwards',
        ),
      ]
  }
  return []
}

function rotate(text: string, shift: number): string {
  return text.replace(/[a-zA-Z]/g, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + shift) % 26) + base)
  })
}
