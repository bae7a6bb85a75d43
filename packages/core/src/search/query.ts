/** The query grammar: splits a query into exact names, filters and text to rank. */

import { readDirective } from './quote-name.js'

/** Longer queries are cut, and `problems` says so. Limits the cost of all later steps. */
export const queryCharacterLimit = 4096

export interface ParsedQuery {
  /** Names of `select:a,b`, in order, without duplicates. */
  readonly select: readonly string[]
  /** Names of `unload:a,b`, in order, without duplicates. */
  readonly unload: readonly string[]
  /** `+word` and `+"two words"` (one entry), in order, without duplicates. */
  readonly must: readonly string[]
  /** If a filter is given twice, the last value counts. */
  readonly filters: { readonly server?: string; readonly domain?: string; readonly group?: string }
  /** The remaining words, joined by single spaces. The ranker reads the first 64 terms. */
  readonly text: string
  /** Parts of the query that could not be read. The rest of the query still counts. */
  readonly problems: readonly string[]
}

type Filter = keyof ParsedQuery['filters']

/**
 * Parses a query. Never throws; linear in the length of the query.
 *
 *     query     = lists | free
 *     lists     = (("select:" | "unload:") name *("," name))+   at the start only; a further directive word ends a list
 *     free      = *( "+" value with a letter or in quotes | ("server:" | "domain:" | "group:") value | word )
 *     name      = JSON string | anything up to a comma, trimmed
 *     value     = JSON string | anything up to white space
 *
 * Prefixes are case-insensitive. The value of a filter directly follows the colon: `server: maps` is two ordinary
 * words, because models write prose that way. White space and control characters separate words.
 */
export function parseQuery(raw: string): ParsedQuery {
  const problems: string[] = []
  const query = cut(raw)
  const wasCut = query.length < raw.length
  if (wasCut) problems.push(`The query was cut to ${queryCharacterLimit} characters.`)

  const select = new Set<string>()
  const unload = new Set<string>()
  const must = new Set<string>()
  const filters: { server?: string; domain?: string; group?: string } = {}
  const words: string[] = []

  let position = skipSpace(query, 0)
  let directive = readDirective(query, position)
  if (directive) {
    while (directive) {
      const into: Set<string> = directive === 'select' ? select : unload
      const before = into.size
      position = readNames(query, position + directive.length + 1, wasCut, into, problems)
      if (into.size === before) problems.push(`"${directive}:" names no further tool.`)
      directive = readDirective(query, position)
    }
    return { select: [...select], unload: [...unload], must: [], filters, text: '', problems }
  }

  while (position < query.length) {
    const filter = filterAt(query, position)
    const valueStart = filter
      ? position + filter.length + 1
      : query[position] === '+'
        ? position + 1
        : undefined
    const value = valueStart === undefined ? undefined : readValue(query, valueStart, problems)
    // A `+` before a number is part of it: "call +49 30 1234", "a die with -1, 0, +1".
    const isFigure = !filter && query[position + 1] !== '"' && value && !/\p{L}/u.test(value.text)
    if (value && value.text !== '' && !isFigure) {
      if (!filter) must.add(value.text)
      else {
        if (filters[filter] !== undefined && filters[filter] !== value.text)
          problems.push(`"${filter}:" is given twice; the last one counts.`)
        filters[filter] = value.text
      }
      position = value.end
    } else {
      const end = endOfWord(query, position)
      words.push(query.slice(position, end))
      position = end
    }
    position = skipSpace(query, position)
  }
  return { select: [], unload: [], must: [...must], filters, text: words.join(' '), problems }
}

/** Cuts to `queryCharacterLimit` code units without splitting a surrogate pair. */
function cut(raw: string): string {
  if (raw.length <= queryCharacterLimit) return raw
  const last = raw.charCodeAt(queryCharacterLimit - 1)
  const splitsPair = last >= 0xd800 && last <= 0xdbff
  return raw.slice(0, splitsPair ? queryCharacterLimit - 1 : queryCharacterLimit)
}

/** Reads names until the end or the next directive word, and returns the position where it stopped. */
function readNames(
  query: string,
  start: number,
  wasCut: boolean,
  into: Set<string>,
  problems: string[],
): number {
  let position = start
  for (;;) {
    position = skipSpace(query, position)
    if (position >= query.length) return position
    if (position > start && isSpace(query.charCodeAt(position - 1)) && readDirective(query, position))
      return position
    if (query[position] === ',') {
      position += 1
      continue
    }
    const quoted = query[position] === '"' ? readQuoted(query, position, problems) : undefined
    if (quoted) {
      into.add(quoted.text)
      const after = skipSpace(query, quoted.end)
      if (after >= query.length || query[after] === ',' || query[after] === '"') position = after
      else if (after > quoted.end && readDirective(query, after)) return after
      else {
        const end = endOfBareName(query, after)
        problems.push(`Expected a comma after ${shorten(JSON.stringify(quoted.text))}.`)
        position = end
      }
      continue
    }
    const bareStart = query[position] === '"' ? position + 1 : position
    const end = endOfBareName(query, bareStart)
    const name = query.slice(bareStart, end).trim()
    // Half a name could be the whole name of another tool.
    if (wasCut && end >= query.length) problems.push('The last name was cut off and is left out.')
    else if (name !== '') into.add(name)
    position = end
  }
}

/** Finds the end of a bare name: a comma, or white space before a directive word. */
function endOfBareName(query: string, start: number): number {
  for (let index = start; index < query.length; index += 1) {
    if (query[index] === ',') return index
    if (index > start && isSpace(query.charCodeAt(index - 1)) && readDirective(query, index)) return index
  }
  return query.length
}

function readValue(query: string, start: number, problems: string[]): { text: string; end: number } {
  const quoted = query[start] === '"' ? readQuoted(query, start, problems) : undefined
  if (quoted) return quoted
  const end = endOfWord(query, start)
  const word = query.slice(start, end)
  return { text: word.startsWith('"') ? word.slice(1) : word, end }
}

/**
 * Decodes the JSON string that starts at `start`. If JSON refuses it (a raw newline, `\q`), the text is taken literally; without a
 * closing quote the result is undefined. Both are reported. Only the last quote of a query can be unclosed, so this
 * stays linear over a whole query.
 */
function readQuoted(
  query: string,
  start: number,
  problems: string[],
): { text: string; end: number } | undefined {
  let index = start + 1
  while (index < query.length && query[index] !== '"') index += query[index] === '\\' ? 2 : 1
  if (index >= query.length) {
    problems.push(`A quote is not closed: ${shorten(query.slice(start))}`)
    return undefined
  }
  const end = index + 1
  try {
    return { text: JSON.parse(query.slice(start, end)) as string, end }
  } catch {
    problems.push(`Not a JSON string, taken literally: ${shorten(query.slice(start, end))}`)
    return { text: query.slice(start + 1, index), end }
  }
}

function filterAt(query: string, position: number): Filter | undefined {
  const prefix = query.slice(position, position + 7).toLowerCase()
  if (prefix === 'server:') return 'server'
  if (prefix === 'domain:') return 'domain'
  return prefix.startsWith('group:') ? 'group' : undefined
}

function skipSpace(query: string, start: number): number {
  let index = start
  while (index < query.length && isSpace(query.charCodeAt(index))) index += 1
  return index
}

function endOfWord(query: string, start: number): number {
  let index = start
  while (index < query.length && !isSpace(query.charCodeAt(index))) index += 1
  return index
}

/** White space as defined by `trim`, and all control characters. */
function isSpace(code: number): boolean {
  if (code <= 0x20 || (code >= 0x7f && code <= 0xa0)) return true
  return code > 0xff && String.fromCharCode(code).trim() === ''
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`
}

/** Splits a query into sentences, and at words that start a new request ("…, and also find"). */
export function splitClauses(text: string): string[] {
  return text
    .split(
      /[.!?;\n。；！？]+\s*|,\s*(?:and|also|then|plus|but)\s|\b(?:and also|and then|additionally|furthermore|moreover|finally|lastly|as well as|then)\b|\band\b(?=\s+[a-z]+\s)/i,
    )
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '')
}
