/** Step 2 of the flow: answers one search. Reads the state at batch start, asks the gate about every tool, and gives facts. */
import { type Batch, lower, type Raise, raise, raisedUnit, unitOf } from '../activation.js'
import type { Entry } from '../catalogue.js'
import type { Context } from '../context.js'
import { isActive, isLoaded, type LedgerState, searchKey } from '../ledger.js'
import type { Dropped, LedgerFact } from '../ledger-event.js'
import { BRIDGE_NAME, type SearchRequest } from '../meta-tools.js'
import { nearest } from '../nearest.js'
import { answerForm } from '../placement.js'
import { quote } from '../text.js'
import { type Candidate, createAllowance, toMatch } from './candidate.js'
import { awaySources, awayState, waitForSources } from './late-sources.js'
import { exactNames } from './named-in-query.js'
import { type ParsedQuery, parseQuery } from './query.js'
import { offersIn, sentenceOnOffers } from './render.js'
import type { SearchResult } from './result.js'
import type { Ranked } from './searcher.js'

/** Hits with less than this share of the best score are named, not raised: half of it at the usual cut-off, and as that is set. */
const rivalShare = (cutOff: number) => Math.min(1, cutOff / 0.7)
/** Where nothing reaches the cut-off, tools that come this close to it are named. */
const SUGGESTED = 0.75
/** The score of a tool that the query names. */
const EXACT = Number.MAX_VALUE
const LIMIT = { usual: 5, most: 20 }
/** Hits the ranker is asked for. Most are never looked at, but some of the first may be loaded, denied or away. */
const RANKED = 500
/** Wrong names of one batch that are given suggestions. */
const MAX_SUGGESTED = 5
/** Characters of a query that the ledger keeps; longer ones are told apart by these. */
const RECORDED = 1000

function limitOf(asked: number | undefined, { usual, most } = LIMIT): number {
  if (asked === undefined || Number.isNaN(asked)) return usual
  return Math.min(most, Math.max(1, Math.trunc(asked)))
}

export function recordedQuery(query: string): string {
  return query.slice(0, RECORDED)
}

export interface Found {
  readonly result: SearchResult
  /** Ids this search raised, for the machine-readable line of the answer. */
  readonly activated: readonly string[]
  readonly lowered: readonly string[]
  readonly facts: readonly LedgerFact[]
  readonly missed: boolean
}

export async function find(
  request: SearchRequest,
  state: LedgerState,
  context: Context,
  batch: Batch,
): Promise<Found> {
  const query = parseQuery(request.query)
  const limit = limitOf(request.limit, context.settings.face.limit)
  const facts: LedgerFact[] = []
  const loadedBefore = loadedNames(state, context)
  const misses: Misses = { notFound: [], ambiguous: [], unavailable: [] }

  await waitForSources(query, context, async () => {
    const known = query.select.every((name) => context.catalogue.resolve(name, () => true).kind !== 'none')
    const asksMore = query.select.length === 0
    return known && (!asksMore || (await keywordHits(query, request, limit, state, context)).hits.length > 0)
  })
  const unloaded = unload(query.unload, state, context, batch, facts, misses)
  const selected = select(query.select, context, batch, misses)
  const ranked = await keywordHits(query, request, limit, state, context)
  if (ranked.hits.length === 0) misses.unavailable.push(...ranked.unavailable)
  if (selected.length + ranked.hits.length + unloaded.length === 0)
    misses.unavailable.push(...awaySources(query, context))
  const candidates = distinct([...selected, ...ranked.hits])

  const dropped: Dropped[] = ranked.weak.map((id) => ({ tool: id, reason: 'below-cut-off' as const }))
  const activated: string[] = []
  const evicted: string[] = []
  const allowance = createAllowance(
    candidates.filter(({ sure }) => sure),
    state,
    context,
  )
  // What is asked for by name makes no room for its neighbour in the list.
  for (const { entry, explicit } of candidates)
    if (explicit && isLoaded(state, entry.id)) batch.inUse.add(entry.id)
  for (const candidate of candidates) {
    const unit = unitOf(context, candidate.entry)
    if (unit.every(({ id }) => isLoaded(state, id) || batch.raised.has(id))) {
      batch.inUse.add(candidate.entry.id)
      continue
    }
    if (!candidate.sure) continue
    const refusal = allowance.refuse(candidate, unit)
    if (refusal) {
      dropped.push({ tool: candidate.entry.id, reason: refusal })
      continue
    }
    const shown = answerForm(state, context.settings) !== 'signature'
    const raises = unit.map(
      (entry): Raise => ({
        entry,
        source: candidate.explicit ? 'select' : 'search',
        asked: candidate.asked,
        ...(candidate.alias === undefined ? {} : { alias: candidate.alias }),
        shown,
      }),
    )
    const raised = raise(state, context, batch, raises)
    facts.push(...raised.facts)
    activated.push(...raised.activated)
    evicted.push(...raised.evicted)
    dropped.push(...raised.dropped)
  }

  const shownIds = new Set([...candidates.map(({ entry }) => entry.id), ...activated])
  const matches = [...shownIds].flatMap((id) => {
    const entry = context.catalogue.get(id)
    if (!entry) return []
    const candidate = candidates.find((other) => other.entry.id === id)
    return [toMatch(entry, candidate, activated.includes(id), state, context, batch)]
  })
  const gone = new Set([...evicted, ...unloaded])
  const asked = query.select.length + query.unload.length > 0
  const missed = matches.length === 0 && unloaded.length === 0
  const bridge = state.latch?.delivery === 'bridge' ? BRIDGE_NAME : undefined
  const found: Omit<SearchResult, 'nextInstruction'> = {
    query: request.query,
    loadedBefore,
    matches,
    loadedAfter: [
      ...loadedBefore.filter((name) => !gone.has(idOf(name, context))),
      ...activated.map((id) => nameOf(id, context)),
    ],
    problems: missed ? [...query.problems, ...(await unmet(query, context))] : query.problems,
    more: ranked.more,
    dropped: dropped.map(({ tool, reason }) => ({
      name: nameOf(tool, context),
      reason,
      tokens: costOf(tool, context),
    })),
    ...misses,
    evicted: evicted.filter((id) => usable(id, context)).map((id) => nameOf(id, context)),
    unloaded: unloaded.filter((id) => usable(id, context)).map((id) => nameOf(id, context)),
    overview: missed && !asked ? overviewOf(context) : [],
    repeated: missed && (state.failures.get(searchKey(recordedQuery(request.query))) ?? 0) >= 2,
  }
  const result = { ...found, nextInstruction: instruct(found, context, bridge) }
  // What was denied since is named nowhere, not even in the line for machines.
  return { result, activated, lowered: [...gone].filter((id) => usable(id, context)), facts, missed }
}

interface Misses {
  readonly notFound: { name: string; nearest: string[] }[]
  readonly ambiguous: { name: string; candidates: string[] }[]
  readonly unavailable: { name: string; state: string }[]
}

function unload(
  names: readonly string[],
  state: LedgerState,
  context: Context,
  batch: Batch,
  facts: LedgerFact[],
  misses: Misses,
): string[] {
  const unloaded: string[] = []
  for (const name of names) {
    const resolution = context.catalogue.resolve(
      name,
      (entry) => isActive(state, entry.id) && !batch.lowered.has(entry.id),
    )
    // A group goes as it came: as a whole, and not while one of it is in use.
    const unit =
      resolution.kind === 'found'
        ? [resolution.entry.id, ...raisedUnit(state, context, resolution.entry.id)]
        : resolution.kind === 'group'
          ? resolution.entries.map(({ id }) => id)
          : []
    const ids = unit.some((id) => batch.inUse.has(id)) ? [] : [...new Set(unit)]
    if (resolution.kind === 'ambiguous')
      misses.ambiguous.push({
        name,
        candidates: resolution.entries
          .filter((entry) => usable(entry.id, context))
          .map((entry) => entry.wireName),
      })
    else if (ids.length === 0)
      misses.notFound.push({
        name,
        nearest: nearest(name, loadedNames(state, context)),
      })
    facts.push(...lower(state, context, ids, 'unloaded', false))
    for (const id of ids) {
      batch.lowered.add(id)
      unloaded.push(id)
    }
  }
  return unloaded
}

function select(names: readonly string[], context: Context, batch: Batch, misses: Misses): Candidate[] {
  const candidates: Candidate[] = []
  for (const name of names) {
    const known = (entry: Entry) => context.gate.standing(entry, 'see') !== 'denied'
    const resolution = context.catalogue.resolve(name, known)
    if (resolution.kind === 'none') {
      misses.notFound.push({ name, nearest: suggest(name, context, batch) })
      continue
    }
    if (resolution.kind === 'ambiguous') {
      misses.ambiguous.push({ name, candidates: resolution.entries.map((entry) => entry.wireName) })
      continue
    }
    const entries = resolution.kind === 'group' ? resolution.entries : [resolution.entry]
    const usable = entries.filter((entry) => context.gate.standing(entry, 'activate') === 'ready')
    const [blocked] = entries
    if (usable.length === 0 && blocked) {
      const standing = context.gate.standing(blocked, 'activate')
      if (standing === 'denied') misses.notFound.push({ name, nearest: suggest(name, context, batch) })
      else misses.unavailable.push({ name: blocked.wireName, state: awayState(blocked, standing, context) })
      continue
    }
    const alias = resolution.kind === 'found' ? resolution.alias : undefined
    const deprecated = resolution.kind === 'found' && resolution.deprecated
    for (const entry of usable)
      candidates.push({
        entry,
        asked: name,
        alias,
        deprecated,
        explicit: true,
        named: true,
        sure: true,
        score: Number.POSITIVE_INFINITY,
      })
  }
  return candidates
}

async function keywordHits(
  query: ParsedQuery,
  request: SearchRequest,
  limit: number,
  state: LedgerState,
  context: Context,
): Promise<{
  hits: Candidate[]
  weak: string[]
  more: number
  unavailable: { name: string; state: string }[]
}> {
  const filtered = query.filters.server ?? query.filters.group ?? query.filters.domain ?? request.domain
  if (query.text === '' && query.must.length === 0 && filtered === undefined)
    return { hits: [], weak: [], more: 0, unavailable: [] }
  const named = exactNames(query.text, context)
  const ranked =
    query.text === '' && query.must.length === 0
      ? [...context.catalogue.entries()]
          .map((entry): Ranked => ({ id: entry.id, score: 1, relevance: 1 }))
          .sort((a, b) => (a.id < b.id ? -1 : 1))
      : await context.rank({
          text: query.text,
          must: query.must,
          limit: RANKED,
          accept: (id) => {
            const entry = context.catalogue.get(id)
            return entry !== undefined && passes(entry, query, request)
          },
        })

  const hits: Candidate[] = []
  const weak: Candidate[] = []
  const withheld: Candidate[] = []
  const unavailable: { name: string; state: string }[] = []
  const seen = new Set<string>()
  /** Hits whose name is asked for in some spelling: what they score says nothing of how well others fit. */
  const called = new Set<string>()
  /** The best score of a tool whose server is away: next to it, what fits half as well is no answer either. */
  let missed = 0
  for (const { id, score, relevance, certainty = relevance } of [
    ...[...named.keys()].map((id): Ranked => ({ id, score: EXACT, relevance: 1 })),
    ...ranked,
  ]) {
    const entry = context.catalogue.get(id)
    if (!entry || seen.has(id) || !passes(entry, query, request)) continue
    const standing = context.gate.standing(entry, 'activate')
    if (standing !== 'ready') {
      // Where nothing else fits, "there is no such tool" would be untrue of a server that is only away.
      const away = standing !== 'denied' && standing !== 'vanished' && standing !== 'quarantined'
      if (away && relevance >= context.settings.cutOff && unavailable.length < limit)
        unavailable.push({ name: entry.wireName, state: awayState(entry, standing, context) })
      if (away && relevance >= context.settings.cutOff) missed = Math.max(missed, score)
      seen.add(id)
      continue
    }
    seen.add(id)
    const { alias, deprecated = false } = named.get(id) ?? {}
    if (relevance === 1) called.add(id)
    const hit: Candidate = {
      entry,
      asked: request.query,
      alias,
      deprecated,
      explicit: false,
      named: score === EXACT,
      sure: certainty >= context.settings.loadFrom,
      score,
    }
    if (request.includeLoaded === false && isLoaded(state, id)) {
      if (relevance >= context.settings.cutOff) withheld.push(hit)
    } else if (relevance >= context.settings.cutOff) hits.push(hit)
    else if (relevance >= context.settings.cutOff * SUGGESTED && weak.length < limit) weak.push(hit)
  }
  // Where nothing else fits, "there is no such tool" would be untrue of one that is loaded.
  if (hits.length === 0) hits.push(...withheld)
  const byName = hits.filter((hit) => hit.named)
  const byWords = hits.filter((hit) => !hit.named)
  // Where a tool was named, what its words also fit is no answer to the question.
  const fitting = byWords.find(({ entry }) => !called.has(entry.id))
  const best = byName.length > 0 ? Number.POSITIVE_INFINITY : Math.max(missed, fitting?.score ?? 0)
  const least = best * rivalShare(context.settings.cutOff)
  const isStrong = ({ entry, score }: Candidate) =>
    score >= least || (byName.length === 0 && called.has(entry.id))
  const strong = byWords.filter(isStrong)
  const others = byWords.filter((hit) => !isStrong(hit))
  // Tools the model does not have yet come first; within each half the ranking stands.
  const fresh = strong.filter(({ entry }) => !isLoaded(state, entry.id))
  const loaded = strong.filter(({ entry }) => isLoaded(state, entry.id))
  const ranking = [...fresh, ...loaded]
  const kept = [...byName, ...ranking.slice(0, Math.max(0, limit - byName.length))]
  const rest = hits.length > 0 ? others.filter(({ entry }) => !isLoaded(state, entry.id)) : weak
  return {
    hits: kept,
    weak: rest.slice(0, Math.max(0, limit - kept.length)).map(({ entry }) => entry.id),
    more: fresh.filter((hit) => !kept.includes(hit)).length,
    unavailable,
  }
}

/** Conditions of a query that no tool meets, whatever else it asks for. */
async function unmet({ must, filters }: ParsedQuery, context: Context): Promise<string[]> {
  const meets = must.length === 0 || (await context.rank({ text: '', must, limit: 1 })).length > 0
  const words = must.map((word) => `+${word}`).join(' ')
  const empty = Object.entries(filters).filter(([name, value]) => {
    const only = { filters: { [name]: value } }
    return ![...context.catalogue.entries()].some(
      (entry) => context.gate.visible(entry) && passes(entry, only, {}),
    )
  })
  return [
    ...(meets ? [] : [`no tool has ${words} in its name, aliases, server or domain`]),
    ...empty.map(([name, value]) => `no ${name} is called ${value}`),
  ]
}

function passes(
  entry: Entry,
  query: Pick<ParsedQuery, 'filters'>,
  request: Pick<SearchRequest, 'domain'>,
): boolean {
  const { server, domain, group } = query.filters
  const same = (a: string | undefined, b: string) => (a ?? '').toLowerCase() === b.toLowerCase()
  if (server !== undefined && !same(entry.source, server)) return false
  if (group !== undefined && !same(entry.tool.group, group)) return false
  const wanted = domain ?? request.domain
  return wanted === undefined || same(entry.tool.domain ?? entry.source, wanted)
}

/** Names a model may have meant, of tools it may know about. */
export function suggest(asked: string, context: Context, batch: Batch): string[] {
  if (batch.suggested++ >= MAX_SUGGESTED) return []
  const names = new Map<string, string>()
  for (const entry of context.catalogue.entries()) {
    if (!context.gate.visible(entry)) continue
    for (const name of [entry.wireName, entry.tool.name, ...(entry.tool.aliases ?? [])])
      if (!names.has(name)) names.set(name, entry.wireName)
  }
  const close = nearest(asked, names.keys(), 8).map((name) => names.get(name) ?? name)
  return [...new Set(close)].slice(0, 3)
}

function overviewOf(context: Context): { name: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const entry of context.catalogue.entries())
    if (context.gate.visible(entry)) counts.set(entry.source, (counts.get(entry.source) ?? 0) + 1)
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .slice(0, 40)
}

/** What the model should do now; empty where the lists of what was not found or not loaded say it all. */
function instruct(
  found: Omit<SearchResult, 'nextInstruction'>,
  { settings }: Context,
  bridge: string | undefined,
): string {
  const { prompts } = settings
  const { query, matches, unloaded, notFound, ambiguous, unavailable, overview } = found
  if (found.repeated) return prompts.searchAgain()
  const fresh = matches.filter((match) => match.fresh).length
  if (fresh > 0) return prompts.searchLoaded({ count: fresh, bridge })
  const dropped = new Set(found.dropped.map(({ name }) => name))
  const loaded = matches.filter(
    (match) => match.status !== 'available_lazy' && !dropped.has(match.canonicalName),
  )
  if (loaded.length > 0)
    return prompts.searchAlready({ bridge: loaded.some((match) => match.bridged) ? bridge : undefined })
  const offers = offersIn(found)
  if (offers.length > 0) return sentenceOnOffers(offers, settings)
  if ([matches, unloaded, notFound, ambiguous, unavailable].some((list) => list.length > 0)) return ''
  if (query.trim() === '') return prompts.searchEmpty()
  const sources = overview.map(({ name, count }) => ({ name: name === '' ? '' : quote(name, 60), count }))
  return prompts.searchMissed({ query: quote(query), sources })
}

function loadedNames(state: LedgerState, context: Context): string[] {
  return [...state.tail]
    .filter(([id, held]) => held.live && usable(id, context))
    .map(([, held]) => held.pin.wireName)
}

function usable(id: string, context: Context): boolean {
  return context.gate.standing(context.catalogue.get(id), 'see') === 'ready'
}

function nameOf(id: string, context: Context): string {
  return context.catalogue.get(id)?.wireName ?? id
}

function idOf(name: string, context: Context): string {
  const resolution = context.catalogue.resolve(name, () => true)
  return resolution.kind === 'found' ? resolution.entry.id : name
}

function costOf(id: string, context: Context): number {
  const entry = context.catalogue.get(id)
  return entry ? context.cost(entry) : 0
}

function distinct(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>()
  return candidates.filter(({ entry }) => !seen.has(entry.id) && seen.add(entry.id))
}
