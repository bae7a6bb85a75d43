/** What a search says besides its matches: problems of the query, what exists instead, and what to do next. */
import { quote } from '../../base/text.js'
import type { ParsedQuery } from '../../search/query.js'
import type { SearchResult } from '../../search/result.js'
import { canFind } from '../../surface/can-find.js'
import type { Context } from '../../surface/context.js'
import { passes } from './keyword-hits.js'
import { awaySources } from './late-sources.js'
import { offersIn, sentenceOnOffers } from './render.js'

/** Conditions of a query that no tool meets, whatever else it asks for. */
export async function unmetConditions(
  query: ParsedQuery,
  context: Context,
  isHeldBack: boolean,
): Promise<string[]> {
  const { must, filters } = query
  const accept = (id: string) => context.catalogue.get(id) !== undefined
  const met = must.length === 0 ? [] : await context.rank({ text: '', must, limit: 1, accept })
  const meets = must.length === 0 || met.some(({ id }) => accept(id))
  const words = must.map((word) => `+${word}`).join(' ')
  const empty = Object.entries(filters).filter(([name, value]) => {
    // It is away or held back, which is said elsewhere.
    if (name === 'server' && isHeldBack) return false
    if (name === 'server' && awaySources(query, context, false).length > 0) return false
    const only = { filters: { [name]: value } }
    return ![...context.catalogue.entries()].some(
      (entry) => context.gate.visible(entry) && passes(entry, only, {}),
    )
  })
  return [
    ...(meets ? [] : [`no tool has ${words} in its name, aliases, server, domain or group`]),
    ...empty.map(([name, value]) => `no ${name} is called ${value}`),
  ]
}

/** The sources with the most tools that may be seen. */
export function overviewOf({ catalogue, gate }: Context): { name: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const entry of catalogue.entries())
    if (gate.visible(entry)) counts.set(entry.source, (counts.get(entry.source) ?? 0) + 1)
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .slice(0, 40)
}

/** What the model should do now; empty where the lists of what was not found or not loaded say it all. */
export function nextInstruction(
  found: Omit<SearchResult, 'nextInstruction'>,
  context: Context,
  bridge: string | undefined,
): string {
  const { settings } = context
  const { prompts } = settings
  const { query, matches, unloaded, notFound, ambiguous, unavailable, leftOut, heldBack, overview } = found
  if (found.repeated) return prompts.searchAgain()
  const fresh = matches.filter((match) => match.fresh)
  if (fresh.length > 0) {
    const listed = fresh.some(({ schemaPreview }) => schemaPreview !== undefined)
    return prompts.searchLoaded({ count: fresh.length, bridge, listed })
  }
  const dropped = new Set(found.dropped.map(({ name }) => name))
  const loaded = matches.filter(
    (match) => match.status !== 'available_lazy' && !dropped.has(match.canonicalName),
  )
  if (loaded.length > 0)
    return prompts.searchAlready({ bridge: loaded.some((match) => match.bridged) ? bridge : undefined })
  const offers = offersIn(found)
  if (offers.length > 0) return sentenceOnOffers(offers, settings)
  const lists = [matches, unloaded, notFound, ambiguous, unavailable, leftOut, heldBack]
  if (lists.some((list) => list.length > 0)) return ''
  if (query.trim() === '') return prompts.searchEmpty()
  const sources = overview.map(({ name, count }) => ({ name: name === '' ? '' : quote(name, 60), count }))
  const findable = sources.length > 0 && canFind(context)
  return prompts.searchMissed({ query: quote(query), sources, findable })
}
