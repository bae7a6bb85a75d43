/** Reads a tool's return value as parts, without throwing, and takes pieces of long texts. */

import { isInstance } from '../base/errors.js'
import { truncateText } from '../base/text.js'
import {
  decodeText,
  type GivenPart,
  isToolResult,
  type MediaPart,
  type ResultPart,
  readImageSize,
  toBase64,
} from './part.js'
import type { Withheld } from './wire-media.js'

export type ReadResult =
  | {
      readonly parts: readonly (ResultPart | { readonly type: 'withheld'; readonly media: Withheld })[]
      readonly isError: boolean
    }
  /** The tool ran, but its result cannot be written as text. */
  | Unprintable

export function readResult(value: unknown): ReadResult {
  if (!isToolResult(value)) {
    const text = typeof value === 'string' ? value : printValue(value)
    return typeof text === 'object'
      ? text
      : { parts: text === '' ? [] : [{ type: 'text', text }], isError: false }
  }
  const parts: (ResultPart | { readonly type: 'withheld'; readonly media: Withheld })[] = []
  for (const part of Array.isArray(value.parts) ? value.parts : []) {
    const read = readPart(part)
    if ('problem' in read) return read
    parts.push(read)
  }
  return { parts, isError: value.isError === true }
}

type ReadPart = ResultPart | { readonly type: 'withheld'; readonly media: Withheld } | Unprintable

function readPart(part: GivenPart): ReadPart {
  const kind: unknown = (part as Partial<GivenPart> | null)?.type
  switch (kind) {
    case 'text': {
      const { text } = part as { readonly text?: unknown }
      return typeof text === 'string'
        ? { type: 'text', text }
        : { problem: 'a part of kind text has no text' }
    }
    case 'structured': {
      const { value } = part as { readonly value: unknown }
      const text = printValue(value)
      return typeof text === 'string' ? { type: 'text', text } : text
    }
    case 'link': {
      const { uri } = part as { readonly uri?: unknown }
      return typeof uri === 'string' ? (part as ResultPart) : { problem: 'a part of kind link has no uri' }
    }
    case 'image':
    case 'audio':
    case 'file':
      return readMedia(part as MediaPart)
    default:
      return { problem: `it has a part of the unknown kind ${JSON.stringify(kind) ?? 'undefined'}` }
  }
}

/** Decodes textual media as text. Takes the type of an image from its bytes, because servers check them too. */
function readMedia(part: Extract<GivenPart, { data: unknown }>): ReadPart {
  const { type, name } = part
  const given: unknown = part.data
  const isData = typeof given === 'string' || given instanceof Uint8Array
  const data = isData ? toBase64(given) : undefined
  const mediaType = readMediaType(part.mediaType)
  const named = typeof name === 'string' && name !== '' ? { name } : {}
  if (data === undefined) {
    const bytes = typeof given === 'string' ? given.length : 0
    return { type: 'withheld', media: { kind: type, mediaType, ...named, bytes, why: 'unreadable' } }
  }
  const text = isTextual(mediaType) ? decodeText(data) : undefined
  if (text !== undefined) return { type: 'text', text }
  const found =
    type === 'image' || mediaType.startsWith('image/') ? readImageSize(data)?.mediaType : undefined
  return { type: found ? 'image' : type, data, mediaType: found ?? mediaType, ...named }
}

function readMediaType(given: unknown): string {
  const [plain = ''] = typeof given === 'string' ? given.toLowerCase().split(';', 1) : []
  return /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(plain.trim())
    ? plain.trim()
    : 'application/octet-stream'
}

function isTextual(mediaType: string): boolean {
  return /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript)$|\+(?:json|xml)$/.test(mediaType)
}

interface Unprintable {
  /** Completes a sentence: `it is a Response: return await response.text()`. */
  readonly problem: string
}

/** Writes a value as JSON for the model. Shows values that JSON would silently drop, or reports them. */
function printValue(value: unknown): string | Unprintable {
  if (value === undefined) return ''
  if (typeof value === 'function' || typeof value === 'symbol') return { problem: `it is a ${typeof value}` }
  try {
    const text = JSON.stringify(value) ?? ''
    // JSON writes `{}` or `null` for values that it cannot show.
    return /\{\}|null/.test(text) ? printCompletely(value) : text
  } catch (error) {
    return { problem: isInstance(error, NotShown) ? error.message : describeError(error) }
  }
}

class NotShown extends Error {}

/** Writes maps and sets as lists, objects with a `toString` as that text, and `NaN` and infinity by name. */
function printCompletely(value: unknown): string {
  let isWhole = true
  const text = JSON.stringify(value, (_, each: unknown) => {
    const verb = isWhole ? 'is' : 'holds'
    isWhole = false
    if (typeof each === 'number') return Number.isFinite(each) ? each : String(each)
    if (each instanceof Map || each instanceof Set) return [...each]
    if (!isBare(each)) return each
    const own = String(each)
    if (!own.startsWith('[object ')) return own
    const kind = describeKind(each)
    const article = /^[AEIOU]/i.test(kind) ? 'an' : 'a'
    if (verb === 'is' || kind === 'Promise')
      throw new NotShown(`it ${verb} ${article} ${kind}${advice(each, kind)}`)
    return `[${kind}, not shown]`
  })
  return typeof value === 'number' ? String(value) : (text ?? '')
}

/** True for class instances without a field that JSON would show. */
function isBare(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const kind = Object.getPrototypeOf(value)
  return kind !== null && Object.getPrototypeOf(kind) !== null && Object.keys(value).length === 0
}

function describeKind(value: object): string {
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
  const name: unknown = tag === 'Object' ? value.constructor?.name : tag
  return typeof name === 'string' && name !== '' ? name : 'object'
}

function advice(value: object, kind: string): string {
  if (kind === 'Response') return ': return await response.text()'
  if (kind === 'Promise') return ': await it'
  if (Symbol.asyncIterator in value || Symbol.iterator in value)
    return ': read it to its end, and return that'
  return ', of which JSON shows nothing: return what is in it'
}

/** The first line of the message: engines describe a cycle on several lines. */
function describeError(error: unknown): string {
  try {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n', 1)
    return line === '' ? 'it cannot be written as JSON' : line
  } catch {
    return 'it cannot be written as JSON'
  }
}

export interface Extent {
  readonly characters: number
  readonly lines: number
}

export function measureText(text: string): Extent {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return { characters: text.length, lines }
}

/** The first `most` characters of a text, cut at the end of a line if one is near. */
export function takeHead(text: string, most: number): string {
  const head = truncateText(text, most)
  const end = head.lastIndexOf('\n')
  return head.length < text.length && end > most * 0.8 ? head.slice(0, end) : head
}

/** A piece of a text. `from` and `to` count lines or characters, starting at 1. */
export interface Piece {
  readonly text: string
  readonly from: number
  readonly to: number
}

/** Characters `from` to `to`, at most `most`, without splitting a surrogate pair. */
export function takeCharacters(text: string, from: number, to: number, most: number): Piece {
  const start = isLow(text, from - 1) ? from - 2 : from - 1
  const piece = truncateText(text.slice(start, to), most)
  return { text: piece, from: start + 1, to: start + piece.length }
}

function isLow(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return at > 0 && code >= 0xdc00 && code <= 0xdfff
}

/** Whole lines `from` to `to`, as many as fit into `most` characters. Undefined if the first line does not fit. */
export function takeLines(text: string, from: number, to: number, most: number): Piece | undefined {
  let start = 0
  for (let line = 1; line < from; line++) {
    const end = text.indexOf('\n', start)
    if (end < 0) return { text: '', from, to: from - 1 }
    start = end + 1
  }
  let end = start
  let last = from - 1
  for (let line = from; line <= to && end <= text.length; line++) {
    const found = text.indexOf('\n', end)
    const next = found < 0 ? text.length : found
    if (next - start > most) break
    last = line
    end = next + 1
  }
  return last < from ? undefined : { text: text.slice(start, end - 1), from, to: last }
}

/** A value within a JSON text, written as text. `known`: the keys at the place where the path ends, if it leads nowhere. */
export type Selected =
  | { readonly kind: 'found'; readonly text: string }
  | { readonly kind: 'missing'; readonly known: readonly string[] }
  | { readonly kind: 'not-json' }

/** Follows a path such as `items[0].name`, `$.items.0["a key"]` or `/items/0/name`. */
export function selectPath(text: string, path: string): Selected {
  try {
    let value: unknown = JSON.parse(text)
    for (const key of splitPath(path)) {
      if (typeof value !== 'object' || value === null) return { kind: 'missing', known: [] }
      if (!Object.hasOwn(value, key)) return { kind: 'missing', known: Object.keys(value) }
      value = (value as Record<string, unknown>)[key]
    }
    return { kind: 'found', text: typeof value === 'string' ? value : JSON.stringify(value, null, 2) }
  } catch {
    return { kind: 'not-json' }
  }
}

function splitPath(path: string): string[] {
  if (path.startsWith('/'))
    return path
      .slice(1)
      .split('/')
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const keys = path.replace(/^\$/, '').matchAll(/\["((?:[^"\\]|\\.)*)"\]|\['([^']*)'\]|[^.[\]]+/g)
  return [...keys].map(([whole, quoted, single]) =>
    quoted === undefined ? (single ?? whole) : quoted.replace(/\\(.)/g, '$1'),
  )
}

export interface Found {
  readonly line: number
  /** Position of the match in the whole text, starting at 1. */
  readonly character: number
  readonly text: string
}

/** Characters to show on each side of a match in a long line. */
const AROUND = 120

/** Finds and counts a plain text, ignoring case. Matches close together count once. Takes linear time: it supports no patterns. */
export function findMatches(
  text: string,
  wanted: string,
  most: number,
): { readonly found: readonly Found[]; readonly total: number } {
  const needle = wanted.toLowerCase()
  const found: Found[] = []
  let total = 0
  let start = 0
  for (let line = 1; start <= text.length; line++) {
    const next = text.indexOf('\n', start)
    const end = next < 0 ? text.length : next
    const content = text.slice(start, end)
    const folded = content.toLowerCase()
    for (let at = folded.indexOf(needle); at >= 0; at = folded.indexOf(needle, at + needle.length + AROUND)) {
      total++
      if (found.length < most)
        found.push({ line, character: start + at + 1, text: cutAround(content, at, wanted) })
    }
    start = end + 1
  }
  return { found, total }
}

function cutAround(line: string, at: number, wanted: string): string {
  const from = Math.max(0, at - AROUND)
  const to = Math.min(line.length, at + wanted.length + AROUND)
  const shown = line.slice(from, to).toWellFormed()
  return `${from > 0 ? '…' : ''}${shown}${to < line.length ? '…' : ''}`
}
