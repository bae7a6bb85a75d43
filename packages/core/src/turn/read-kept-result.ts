/**
 * Answers `read_result` with a piece of a kept result. A conversation reads its own results; forks and children
 * inherit them.
 */
import { quote } from '../base/text.js'
import type { LedgerState } from '../ledger/fold.js'
import { byteLength } from '../result/part.js'
import { findMatches, measureText, selectPath, takeCharacters, takeLines } from '../result/read.js'
import type { KeptContent } from '../result/store.js'
import { readLength } from '../result/store.js'
import type { Context } from '../surface/context.js'
import type { Prompts } from '../surface/prompts.js'

/** Lines in one answer if the model does not ask for a range. */
const DEFAULT_LINES = 200
const MAX_MATCHES = 50
/** Keys that an answer lists if a path leads nowhere. */
const MAX_KEYS = 30

export async function readKeptResult(
  input: Readonly<Record<string, unknown>>,
  state: LedgerState,
  context: Context,
): Promise<string> {
  const { prompts, maxResultTokens } = context.settings
  const handle = typeof input.handle === 'string' ? input.handle.trim() : ''
  const content = await readStored(handle, state, context)
  if (!content) return prompts.resultGone({ handle: quote(handle, 60) })
  if ('data' in content) {
    const { mediaType, data } = content
    return prompts.resultNoText({ handle, mediaType: quote(mediaType, 100), bytes: byteLength(data) })
  }
  return readKeptText(content.text, input, readLength(maxResultTokens.get('')), prompts)
}

/** Answers with a piece of a text, at most `most` characters: by path, then by matches, characters or lines. */
export function readKeptText(
  whole: string,
  input: Readonly<Record<string, unknown>>,
  most: number,
  prompts: Prompts,
): string {
  const path = typeof input.path === 'string' ? input.path.trim() : ''
  const selected = path === '' ? { kind: 'found' as const, text: whole } : selectPath(whole, path)
  if (selected.kind !== 'found') {
    const known = selected.kind === 'missing' ? selected.known : undefined
    const keys = known?.slice(0, MAX_KEYS).map((key) => quote(key, 60))
    return prompts.resultNoPath({ path: quote(path, 100), keys, more: (known?.length ?? 0) - MAX_KEYS })
  }
  const { text } = selected
  const { lines: lineCount, characters } = measureText(text)
  if (typeof input.find === 'string' && input.find !== '')
    return renderMatches(text, input.find, most, prompts)
  if (typeof input.characters === 'string' && input.characters.trim() !== '') {
    const range = parseRange(input.characters, most)
    if (!range || range.from > characters)
      return prompts.resultOutside({ unit: 'characters', asked: quote(input.characters, 40), of: characters })
    const piece = takeCharacters(text, range.from, range.to, most)
    return `${prompts.resultPiece({ unit: 'characters', from: piece.from, to: piece.to, of: characters })}\n${piece.text}`
  }
  const asked = typeof input.lines === 'string' && input.lines.trim() !== '' ? input.lines : '1'
  const range = parseRange(asked, DEFAULT_LINES)
  if (!range || range.from > lineCount)
    return prompts.resultOutside({ unit: 'lines', asked: quote(asked, 40), of: lineCount })
  const piece = takeLines(text, range.from, range.to, most)
  if (!piece) return prompts.resultLongLine({ line: range.from, from: findLineStart(text, range.from) })
  return `${prompts.resultPiece({ unit: 'lines', from: piece.from, to: piece.to, of: lineCount })}\n${piece.text}`
}

async function readStored(
  handle: string,
  { results }: LedgerState,
  { settings, notify }: Context,
): Promise<KeptContent | undefined> {
  const ledger = results.get(handle)
  if (ledger === undefined) return undefined
  try {
    return await settings.results.read(ledger, handle)
  } catch (error) {
    notify({ kind: 'hook-failed', hook: 'results.read', detail: String(error) })
    return undefined
  }
}

function renderMatches(text: string, wanted: string, most: number, prompts: Prompts): string {
  const { found: all, total } = findMatches(text, wanted, MAX_MATCHES)
  const rows: string[] = []
  let left = most
  for (const { line, character, text: shown } of all) {
    const row = `line ${line}, character ${character}: ${shown}`
    if (row.length > left) break
    left -= row.length
    rows.push(row)
  }
  return [prompts.resultMatches({ wanted: quote(wanted, 100), shown: rows.length, total }), ...rows].join(
    '\n',
  )
}

/** Parses `12-40`, or `12` for the `usual` number from there. Undefined if it is not a range. */
function parseRange(
  asked: string,
  usual: number,
): { readonly from: number; readonly to: number } | undefined {
  const match = /^\s*(\d{1,12})\s*(?:(?:-|–|:|,|\.\.|to)\s*(\d{1,12})?)?\s*$/.exec(asked)
  const from = Number(match?.[1])
  if (!match || from < 1) return undefined
  const to = match[2] === undefined ? from + usual - 1 : Number(match[2])
  return to < from ? undefined : { from, to }
}

/** Finds the first character of a line, counted from 1. */
function findLineStart(text: string, line: number): number {
  let start = 0
  for (let count = 1; count < line; count++) start = text.indexOf('\n', start) + 1
  return start + 1
}
