/** Answers one search call: reads the query, finds and loads tools, and writes the answer and the facts to record. */

import { isRecord } from '../base/data.js'
import { quote, safeJson } from '../base/text.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { LedgerFact } from '../ledger/event.js'
import { isLoaded, type LedgerState, searchKey } from '../ledger/fold.js'
import { parseQuery } from '../search/query.js'
import type { SearchResult } from '../search/result.js'
import type { Context } from '../surface/context.js'
import { answerForm, deliveries } from '../surface/deliveries.js'
import { detectLanguage } from '../surface/freeze.js'
import { BRIDGE_NAME, type SearchRequest } from '../surface/meta-tools.js'
import type { Dropped } from '../tool/notice.js'
import { findKeywordHits } from './keyword-hits.js'
import type { Batch } from './load.js'
import { type Candidate, createMatch, listRevealed, loadFoundTools } from './load-found-tools.js'
import type { MachineLine } from './machine-line.js'
import { describeSkipped, listLoadedNames, type Misses, selectNamed, unloadNamed } from './named-tools.js'
import {
  countVisible,
  findUnmetConditions,
  listSources,
  renderSearch,
  writeNextInstruction,
} from './render-search.js'
import { listMissingSources, waitForSources, wakeMissingSources, wakeTentativeSources } from './sources.js'
import type { AnswerVerdict, ModelCall } from './verdict.js'

export async function answerSearch(
  call: ModelCall,
  state: LedgerState,
  context: Context,
  batch: Batch,
): Promise<AnswerVerdict> {
  const { tokenizer } = context.settings
  const request = readRequest(call, context)
  const found = await findTools(request, state, context, batch)
  const references = deliveries[state.frozen?.delivery ?? 'append'].answers === 'reference'
  const text = renderSearch(found.result, createMachineLine(found, state, context), context, references)
  const shown = references ? listRevealed(found.result) : []
  const shownTokens = shown.reduce((sum, tool) => sum + tokenizer.count(JSON.stringify(tool)), 0)
  const searched: LedgerFact = {
    kind: 'searched',
    query: cutQuery(request.query),
    loaded: found.loaded,
    ...(found.shown.length > 0 ? { shown: found.shown } : {}),
    dropped: found.result.dropped.map(({ name, reason }) => ({ tool: name, reason })),
    missed: found.missed,
    tokens: tokenizer.count(text) + tokenizer.count(JSON.stringify(request)),
    ...(shown.length > 0 ? { revealed: shownTokens } : {}),
    ...(found.again.length > 0 ? { again: found.again } : {}),
  }
  const facts = found.facts.map((fact) =>
    fact.kind === 'loaded' && fact.shown && !references
      ? { ...fact, shown: isSchemaShown(fact.tool.id, text, context) }
      : fact,
  )
  return {
    kind: 'answer',
    call,
    outcome: { kind: 'search', result: found.result, text },
    facts: [searched, ...facts],
  }
}

function createMachineLine(
  found: { readonly loaded: readonly string[]; readonly unloaded: readonly string[] },
  state: LedgerState,
  { catalogue, settings }: Context,
): MachineLine {
  const loaded = found.loaded.flatMap((id) => catalogue.get(id) ?? [])
  const { unloaded } = found
  return answerForm(state, settings) === 'name'
    ? { loaded: [], named: loaded.map(({ wireName }) => wireName), unloaded }
    : { loaded, named: [], unloaded }
}

/** A custom search tool renders as it likes. A schema counts as shown only if its answer contains it. */
function isSchemaShown(id: string, text: string, context: Context): boolean {
  const entry = context.catalogue.get(id)
  if (!entry || !context.settings.searchTool.render) return true
  const { inputSchema } = context.definition(entry)
  return (
    text.includes(safeJson(inputSchema)) ||
    text.includes(JSON.stringify(inputSchema)) ||
    text.includes(JSON.stringify(inputSchema, null, 2))
  )
}

/** Reads the model's input with the search tool. If the host's code throws, the query is empty. */
function readRequest(call: ModelCall, context: Context): SearchRequest {
  const input = 'value' in call.input && isRecord(call.input.value) ? call.input.value : {}
  try {
    const request = context.settings.searchTool.read(input)
    if (typeof request.query === 'string') return request
    throw new Error('it returned no query')
  } catch (error) {
    context.notify({ kind: 'hook-failed', hook: 'search.tool.read', detail: String(error) })
    return { query: '' }
  }
}

interface Found {
  readonly result: SearchResult
  /** Ids that this search loaded and unloaded, for the machine-readable first line. */
  readonly loaded: readonly string[]
  readonly unloaded: readonly string[]
  /** Ids of loaded tools that were asked for by name. */
  readonly again: readonly string[]
  /** Ids of the tools that match the words of the query. */
  readonly shown: readonly string[]
  readonly facts: readonly LedgerFact[]
  readonly missed: boolean
}

/** Finds tools by the state at the start of the batch, and loads them. */
async function findTools(
  request: SearchRequest,
  state: LedgerState,
  context: Context,
  batch: Batch,
): Promise<Found> {
  await context.catalogue.prepareNames()
  const query = parseQuery(request.query)
  const limit = readLimit(request.limit, context.settings.searchTool.limit)
  const loadedBefore = listLoadedNames(state, context)
  const misses: Misses = { notFound: [], ambiguous: [], unavailable: [], skipped: [] }
  const findHits = () => findKeywordHits(query, request, limit, state, context)

  wakeMissingSources(query, context)
  await waitForSources(query, context, async () => {
    const isPermitted = (entry: Entry) => context.gate.availability(entry, 'see') !== 'denied'
    const known = query.select.every((name) => context.catalogue.resolve(name, isPermitted).kind !== 'none')
    return known && (query.select.length > 0 || (await findHits()).hits.length > 0)
  })
  const { ids: unloaded, facts: unloads } = unloadNamed(query.unload, state, context, batch, misses)
  const selected = selectNamed(query.select, context, batch, misses)
  const ranked = await findHits()
  misses.unavailable.push(...ranked.unavailable.map(({ name, state }) => ({ name, state })))
  const hasAnswer = selected.length + unloaded.length > 0 || (ranked.hits.length > 0 && !ranked.unclear)
  misses.unavailable.push(...listMissingSources(query, context, hasAnswer))
  const candidates = dropDuplicates([...selected, ...ranked.hits])
  // Of two tools with one name the first is used. If that one was found, the skipped one is not missed.
  const isFound = ({ wireName }: Entry) => candidates.some(({ entry }) => entry.wireName === wireName)
  misses.skipped.push(...ranked.skipped.filter(({ entry }) => !isFound(entry)).map(describeSkipped))
  wakeTentativeSources(
    candidates.map(({ entry }) => entry),
    context,
  )
  const quarantined = countQuarantined(ranked.quarantined)
  const loads = loadFoundTools(candidates, ranked.unclear, state, context, batch)

  const { loaded, evicted } = loads
  const below = ranked.weak.map((tool): Dropped => ({ tool, reason: 'below-cut-off' }))
  const shown = new Set([...candidates.map(({ entry }) => entry.id), ...loaded])
  const matches = [...shown].flatMap((id) => {
    const entry = context.catalogue.get(id)
    const candidate = candidates.find((other) => other.entry.id === id)
    return entry ? [createMatch(entry, candidate, loaded.includes(id), state, context, batch)] : []
  })
  const gone = new Set([...evicted, ...unloaded])
  const bridge = state.frozen?.delivery === 'bridge' ? BRIDGE_NAME : undefined
  const listNames = (ids: readonly string[]) =>
    ids.filter((id) => mayBeNamed(id, context)).map((id) => findLoadedName(id, state, context))
  const byName = query.select.length + query.unload.length > 0
  const missed = matches.length === 0 && unloaded.length === 0
  const found: Omit<SearchResult, 'nextInstruction'> = {
    query: request.query,
    loadedBefore,
    matches,
    loadedAfter: [
      ...loadedBefore.filter((name) => !gone.has(findId(name, context))),
      ...loaded.map((id) => findWireName(id, context)),
    ],
    problems: missed
      ? [...query.problems, ...(await findUnmetConditions(query, context, quarantined.length > 0))]
      : query.problems,
    more: ranked.more,
    others: ranked.others
      .filter(({ id }) => !shown.has(id) && !(missed && ranked.weak.includes(id)))
      .map((entry) => ({ name: shortenName(entry, context), bridged: bridge !== undefined })),
    searched: missed || ranked.unclear ? countVisible(context) : 0,
    unclear: ranked.unclear,
    dropped: [...below, ...loads.dropped].map(({ tool, reason }) => ({
      name: findWireName(tool, context),
      reason,
      tokens: countTokens(tool, context),
    })),
    ...misses,
    quarantined,
    evicted: listNames(evicted),
    unloaded: listNames(unloaded),
    overview: missed && !byName && ranked.others.length === 0 ? listSources(context) : [],
    language: missed || ranked.unclear ? detectVisibleLanguage(context) : undefined,
    repeated: missed && (state.calls.failures.get(searchKey(cutQuery(request.query))) ?? 0) >= 2,
  }
  return {
    result: { ...found, nextInstruction: writeNextInstruction(found, context, bridge) },
    loaded,
    // Even the first line must not name a tool that was denied meanwhile.
    unloaded: [...gone].filter((id) => mayBeNamed(id, context)),
    again: candidates
      .filter(({ explicit, named, entry }) => (explicit || named) && isLoaded(state, entry.id))
      .map(({ entry }) => entry.id),
    shown: ranked.hits.map(({ entry }) => entry.id),
    facts: [...unloads, ...loads.facts],
    missed,
  }
}

const LIMIT = { usual: 5, most: 20 }

function readLimit(asked: number | undefined, { usual, most } = LIMIT): number {
  if (asked === undefined || Number.isNaN(asked)) return usual
  return Math.min(most, Math.max(1, Math.trunc(asked)))
}

/** Hidden tools must not influence an answer. */
function detectVisibleLanguage({ catalogue, gate }: Context): string | undefined {
  return detectLanguage([...catalogue.entries()].filter((entry) => gate.visible(entry)))
}

/** Cuts a query to the length that the ledger keeps. */
function cutQuery(query: string): string {
  return query.slice(0, 1000)
}

function countQuarantined(sources: readonly string[]): { source: string; count: number }[] {
  return [...new Set(sources)].map((source) => ({
    source: quote(source, 60),
    count: sources.filter((each) => each === source).length,
  }))
}

/** A loaded tool may be named even if it is away or gone, but not if it is denied. */
function mayBeNamed(id: string, { gate, catalogue }: Context): boolean {
  return gate.availability(catalogue.get(id), 'see') !== 'denied'
}

function findLoadedName(id: string, { tools }: LedgerState, context: Context): string {
  return tools.loaded.get(id)?.pin.wireName ?? findWireName(id, context)
}

/** Characters that need no quotes in an answer. */
const PLAIN_NAME = /^[\w-]{1,64}$/

/** Returns the tool's name without its server, if only this tool has it. */
function shortenName({ id, wireName, tool }: Entry, { catalogue, gate }: Context): string {
  if (!PLAIN_NAME.test(tool.name)) return wireName
  const found = catalogue.resolve(tool.name, (entry) => gate.availability(entry, 'see') !== 'denied')
  return found.kind === 'found' && found.entry.id === id ? tool.name : wireName
}

function findWireName(id: string, { catalogue }: Context): string {
  return catalogue.get(id)?.wireName ?? id
}

function findId(name: string, { catalogue }: Context): string {
  const resolution = catalogue.resolve(name, () => true)
  return resolution.kind === 'found' ? resolution.entry.id : name
}

function countTokens(id: string, context: Context): number {
  const entry = context.catalogue.get(id)
  return entry ? context.cost(entry) : 0
}

function dropDuplicates(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>()
  return candidates.filter(({ entry }) => !seen.has(entry.id) && seen.add(entry.id))
}
