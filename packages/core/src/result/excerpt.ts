/** Reading a kept text piece by piece: its head, a range of lines or characters, the lines that hold a word. All linear. */
import { wholeStart } from '../base/text.js'

export interface Extent {
  readonly characters: number
  readonly lines: number
}

export function extentOf(text: string): Extent {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return { characters: text.length, lines }
}

/** The start of a text within so many characters, up to the end of a line where one is near. */
export function headOf(text: string, most: number): string {
  const head = wholeStart(text, most)
  const end = head.lastIndexOf('\n')
  return head.length < text.length && end > most * 0.8 ? head.slice(0, end) : head
}

/** A piece of a text, from a character on, and where it stands. Both ends counted from 1, as they are asked for. */
export interface Piece {
  readonly text: string
  readonly from: number
  readonly to: number
}

/** Characters `from` to `to`, none of them halved, and no more than `most`. */
export function charactersOf(text: string, from: number, to: number, most: number): Piece {
  const start = isLow(text, from - 1) ? from - 2 : from - 1
  const piece = wholeStart(text.slice(start, to), most)
  return { text: piece, from: start + 1, to: start + piece.length }
}

function isLow(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return at > 0 && code >= 0xdc00 && code <= 0xdfff
}

/** Whole lines `from` to `to`, as many as fit into `most`. Undefined where not even the first one fits. */
export function linesOf(text: string, from: number, to: number, most: number): Piece | undefined {
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

export interface Found {
  readonly line: number
  /** Of the match in the whole text, counted from 1. */
  readonly character: number
  readonly text: string
}

/** What is shown on each side of a match in a long line. */
const AROUND = 120

/** The places of a plain text, in any case of letters, and how many there are; neighbours count as one. No pattern: nothing can run away. */
export function matchesOf(
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
        found.push({ line, character: start + at + 1, text: around(content, at, wanted) })
    }
    start = end + 1
  }
  return { found, total }
}

function around(line: string, at: number, wanted: string): string {
  const from = Math.max(0, at - AROUND)
  const to = Math.min(line.length, at + wanted.length + AROUND)
  const shown = line.slice(from, to).toWellFormed()
  return `${from > 0 ? '…' : ''}${shown}${to < line.length ? '…' : ''}`
}
