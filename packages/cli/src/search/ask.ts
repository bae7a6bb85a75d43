/** Runs one query on a catalogue: parses it, ranks the tools and applies the cut-off. */
import {
  createDocument,
  dropUndefined,
  nearest,
  type ParsedQuery,
  parseQuery,
  quote,
} from '@toolwell/core/internal'
import type { Catalogue, Entry } from './catalogue.js'

/** Ranked hits that the cut-off is applied to. Relevance does not fall with every rank, so this is more than is shown. */
const RANKED = 500
/** Hits below the cut-off that are named if nothing else matches. */
const NAMED = 3
/** Names that an unknown name is compared with. */
const COMPARED = 20_000

export interface Limits {
  readonly limit: number
  /** 0 for none. */
  readonly cutOff: number
}

export interface Match {
  readonly key: string
  readonly entry: Entry
  readonly score: number
  readonly relevance: number
  /** Share of the query words that the tool has. */
  readonly certainty: number
  /** Share of the query that the tool accounts for. */
  readonly coverage: number
  /** An agent can call it next. Otherwise the answer offers it. Absent in a plain ranking. */
  readonly loaded?: boolean
}

export interface Answer {
  readonly query: string
  readonly matches: readonly Match[]
  /** The matches are in the order of their scores. An agent's answer puts tools first that clearly fit. */
  readonly byScore?: true
  /** No match clearly fits the query. */
  readonly unclear: boolean
  /** Names of further candidates, and the answer as an agent reads it. Absent in a plain ranking. */
  readonly others?: readonly string[]
  readonly answer?: string
  /** The best hits below the cut-off. */
  readonly below: readonly Match[]
  /** Remarks about the query for the user. */
  readonly remarks: readonly string[]
}

/** A query for the ranker. */
export interface Asked {
  readonly text: string
  readonly must: readonly string[]
  readonly accept?: (key: string) => boolean
  readonly parsed: ParsedQuery
  /** The query is plain text without operators. */
  readonly isPlain: boolean
}

/** Parses a query. Plain text goes to the ranker unchanged. */
export function readQuery(query: string, catalogue: Catalogue): Asked {
  const parsed = parseQuery(query)
  const { must, filters } = parsed
  const isFiltered = Object.keys(filters).length > 0
  const isPlain = must.length === 0 && !isFiltered && parsed.select.length + parsed.unload.length === 0
  const accept = (key: string) => passes(catalogue.get(key), filters)
  return {
    text: isPlain ? query : parsed.text,
    must,
    ...dropUndefined({ accept: isFiltered ? accept : undefined }),
    parsed,
    isPlain,
  }
}

export async function ask(catalogue: Catalogue, query: string, { limit, cutOff }: Limits): Promise<Answer> {
  const asked = readQuery(query, catalogue)
  const { parsed, text, must, accept } = asked
  const remarks = [...parsed.problems]
  if (parsed.select.length + parsed.unload.length > 0) {
    const agent = await catalogue.askAgent?.(query, limit)
    const found = selected(catalogue, parsed, remarks)
    return { query, ...found, unclear: false, below: [], remarks, ...dropUndefined({ answer: agent?.text }) }
  }
  remarks.push(...emptyFilters(catalogue, parsed.filters))
  const isListing = text.trim() === '' && must.length === 0 && accept !== undefined
  const ranked = isListing
    ? [...catalogue.entries()]
        .filter(([key]) => accept(key))
        .map(([id]) => ({ id, score: 1, relevance: 1, certainty: 1, coverage: 1 }))
        .sort((first, second) => (first.id < second.id ? -1 : 1))
    : catalogue.searcher.rank({
        text,
        must,
        limit: cutOff > 0 ? Math.max(limit, RANKED) : limit,
        learned: catalogue.learned,
        ...dropUndefined({ accept }),
      })
  const matches: Match[] = []
  const below: Match[] = []
  for (const { id, score, relevance, certainty = relevance, coverage = 1 } of ranked) {
    const entry = catalogue.get(id)
    const into = relevance >= cutOff ? matches : below
    if (entry && into.length < (into === below ? NAMED : limit))
      into.push({ key: id, entry, score, relevance, certainty, coverage })
  }
  if (matches.length + below.length === 0 && must.length > 0) remarks.push(...explainMust(catalogue, must))
  // Without a cut-off, the plain ranking.
  const agent = cutOff === 0 ? undefined : await catalogue.askAgent?.(query, limit)
  if (!agent) return { query, matches, byScore: true, unclear: false, below, remarks }
  const byKey = new Map(ranked.map((hit) => [hit.id, hit]))
  const shown = agent.matches.flatMap(({ key, loaded }): Match[] => {
    const entry = catalogue.get(key)
    const { score = 1, relevance = 1, certainty = relevance, coverage = 1 } = byKey.get(key) ?? {}
    return entry ? [{ key, entry, score, relevance, certainty, coverage, loaded }] : []
  })
  const { unclear, others, text: answer } = agent
  return { query, matches: shown, unclear, below, remarks, others, answer }
}

/** Returns a remark if no tool has the required words. */
function explainMust({ searcher }: Catalogue, must: readonly string[]): string[] {
  if (searcher.rank({ text: '', must, limit: 1 }).length > 0) return []
  const words = must.map((word) => quote(`+${word}`)).join(' ')
  return [`No tool has ${words} in its name, aliases, server, domain or group.`]
}

/** Why an answer is empty. */
export interface Miss {
  readonly reason: 'no-words' | 'not-found' | 'below-cut-off'
  /** Query words that no tool has. */
  readonly unknownWords: readonly string[]
}

export function explainMiss(catalogue: Catalogue, { query, below }: Answer): Miss {
  const { text, isPlain } = readQuery(query, catalogue)
  // The words of a query do not depend on the document, so an empty one is enough.
  const nothing = createDocument({ id: '', tool: { name: '', description: '', inputSchema: {} } })
  const words = catalogue.searcher.explain(text, nothing).terms.filter(({ kind }) => kind === 'word')
  const unknownWords = words.filter(({ tools }) => tools === 0).map(({ term }) => term)
  const reason = below.length > 0 ? 'below-cut-off' : isPlain && words.length === 0 ? 'no-words' : 'not-found'
  return { reason, unknownWords }
}

/** Finds tools by name (`select:`), without ranking. */
function selected(
  catalogue: Catalogue,
  { select, unload }: ParsedQuery,
  remarks: string[],
): { matches: Match[] } {
  if (unload.length > 0) remarks.push('"unload:" works only in a conversation.')
  const matches: Match[] = []
  for (const name of select) {
    const called = [...catalogue.entries()].filter(([key, entry]) =>
      [key, entry.name, `${entry.server}/${entry.name}`].includes(name),
    )
    if (called.length === 0)
      remarks.push(`Unknown tool ${quote(name)}.${suggestion(name, listNames(catalogue))}`)
    matches.push(
      ...called.map(([key, entry]) => ({ key, entry, score: 1, relevance: 1, certainty: 1, coverage: 1 })),
    )
  }
  return { matches }
}

function emptyFilters(catalogue: Catalogue, filters: ParsedQuery['filters']): string[] {
  return (['server', 'domain', 'group'] as const).flatMap((name) => {
    const value = filters[name]
    if (value === undefined) return []
    const known = new Set<string>()
    for (const [, entry] of catalogue.entries()) {
      if (passes(entry, { [name]: value })) return []
      known.add(name === 'domain' ? entry.domain || entry.server : entry[name])
    }
    return [`No tool has the ${name} ${quote(value)}.${suggestion(value, known)}`]
  })
}

function passes(entry: Entry | undefined, { server, domain, group }: ParsedQuery['filters']): boolean {
  if (!entry) return false
  const same = (own: string, wanted: string | undefined) =>
    wanted === undefined || own.toLowerCase() === wanted.toLowerCase()
  return same(entry.server, server) && same(entry.domain || entry.server, domain) && same(entry.group, group)
}

function suggestion(name: string, known: Iterable<string>): string {
  const close = nearest(name, known)
  return close.length === 0 ? '' : ` Nearest: ${close.map((each) => quote(each)).join(', ')}.`
}

function* listNames(catalogue: Catalogue): Iterable<string> {
  let left = COMPARED
  for (const [, { name }] of catalogue.entries()) {
    if (left <= 0) return
    left -= 1
    yield name
  }
}
