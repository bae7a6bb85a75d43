/** Writes a search answer: the machine-readable first line, then the text for the model. */

import { findPurposeLine, quote, safeJson } from '../base/text.js'
import type { ParsedQuery } from '../search/query.js'
import type { Match, SearchResult } from '../search/result.js'
import type { Context } from '../surface/context.js'
import { BRIDGE_NAME, canFind } from '../surface/meta-tools.js'
import type { Prompts } from '../surface/prompts.js'
import type { Settings } from '../surface/settings.js'
import { meetsFilters } from './keyword-hits.js'
import { listRevealed } from './load-found-tools.js'
import { type MachineLine, writeMachineLine } from './machine-line.js'
import { listMissingSources } from './sources.js'

/** Characters of the description that an answer shows of an offered tool. */
const OFFERED_DESCRIPTION = 80

/** `references`: the provider shows the found tools itself. Then the text has only the rest, and may be empty. */
export function renderSearch(
  result: SearchResult,
  machine: MachineLine,
  context: Context,
  references: boolean,
): string {
  if (references && listRevealed(result).length > 0) return renderRest(result, context.settings)
  return `${writeMachineLine(machine)}\n${renderWithSearchTool(result, context) ?? renderText(result, context.settings)}`
}

/** Renders everything except the tools whose schemas are shown. */
function renderRest(result: SearchResult, settings: Settings): string {
  const isRest = (match: Match) => match.schemaPreview === undefined
  const hasMore = hasMoreToSay({ ...result, matches: result.matches.filter(isRest) })
  return hasMore ? renderText(result, settings, isRest) : ''
}

function hasMoreToSay({ matches, more, unclear, ...lists }: SearchResult): boolean {
  const { notFound, ambiguous, unavailable, skipped, quarantined, evicted, unloaded, problems, others } =
    lists
  const said = [
    matches,
    others,
    notFound,
    ambiguous,
    unavailable,
    skipped,
    quarantined,
    evicted,
    unloaded,
    problems,
  ]
  return more > 0 || unclear || said.some((list) => list.length > 0)
}

function renderWithSearchTool(result: SearchResult, { settings, notify }: Context): string | undefined {
  const { searchTool } = settings
  try {
    const rendered = searchTool.render?.(result, {
      remarks: listRemarks(result, settings),
      rest: listRevealed(result).length > 0 ? renderRest(result, settings) : renderText(result, settings),
    })
    return typeof rendered === 'object' ? safeJson(rendered) : rendered
  } catch (error) {
    notify({ kind: 'hook-failed', hook: 'search.tool.render', detail: String(error) })
    return undefined
  }
}

/** Renders a result in words. `isShown` selects the matches to render, if the provider shows the others. */
function renderText(result: SearchResult, settings: Settings, isShown?: (match: Match) => boolean): string {
  const { prompts } = settings
  // A third identical miss gets one line, so that a loop stays cheap.
  if (result.repeated) return prompts.searchAgain()
  const matches = isShown ? result.matches.filter(isShown) : result.matches
  const lines = renderUnusable(result, prompts)
  if (result.unclear)
    return [
      ...lines,
      renderUnclear(result, settings, (match) => renderNearest(match, result, prompts, isShown)),
      ...renderCandidates(result, settings),
      ...renderOthers(result, prompts),
    ].join('\n')
  const nothing = [
    result.matches,
    result.unloaded,
    result.notFound,
    result.ambiguous,
    result.unavailable,
    result.skipped,
    result.quarantined,
  ].every((list) => list.length === 0)
  if (nothing && !isShown) lines.push(result.nextInstruction)
  const droppedNames = new Set(result.dropped.map((drop) => drop.name))
  const fresh = matches.filter((match) => match.fresh)
  const already = matches.filter(
    (match) => !match.fresh && match.status !== 'available_lazy' && !droppedNames.has(match.canonicalName),
  )
  if (fresh.length > 0) lines.push(result.nextInstruction, ...fresh.flatMap(renderFresh))
  for (const bridge of [undefined, BRIDGE_NAME]) {
    const some = already.filter((match) => match.bridged === (bridge !== undefined))
    if (some.length > 0) lines.push(prompts.searchAlready({ bridge }), ...some.map(renderAlready))
  }
  lines.push(...renderDropped(result, settings))
  const offered = listOffers({ ...result, matches })
  if (offered.length > 0) lines.push(renderOffers(offered, settings), ...offered.map(renderMatch))
  lines.push(...renderCandidates(result, settings), ...renderOthers(result, prompts))
  return lines.join('\n')
}

/** Renders the tools that cannot be used now. They come before the matches. */
function renderUnusable(result: SearchResult, prompts: Prompts): string[] {
  return [
    ...renderFirst(result.unavailable, prompts, ({ name, state }) =>
      prompts.searchUnavailable({ asked: name, state }),
    ),
    ...renderFirst(result.skipped, prompts, (each) => prompts.searchSkipped(each)),
    ...result.quarantined.map((each) => prompts.searchQuarantined(each)),
  ]
}

/** If no match is clear, lists each match once, loaded or offered. */
function renderUnclear(
  { matches, searched, language }: SearchResult,
  settings: Settings,
  line: (match: Match) => string,
): string {
  const isOffer = ({ status }: Match) => status === 'available_lazy'
  const offers = matches.filter(isOffer)
  return settings.prompts.searchUnclear({
    loaded: matches.filter((match) => !isOffer(match)).map(line),
    offered: offers.map(line),
    searched,
    bridge: findBridge(offers, settings),
    language,
  })
}

/** Names further candidates. */
function renderCandidates({ others }: SearchResult, { prompts, hiddenCalls }: Settings): string[] {
  if (others.length === 0) return []
  const isCallable = hiddenCalls === 'load-and-run' && others.every(({ bridged }) => bridged)
  const names = others.map(({ name }) => name)
  return [prompts.searchOthers({ names, bridge: isCallable ? BRIDGE_NAME : undefined })]
}

/** Lists the matches that are neither loaded nor dropped for a limit. */
function listOffers({ matches, dropped }: Pick<SearchResult, 'matches' | 'dropped'>): Match[] {
  const names = new Set(dropped.map(({ name }) => name))
  return matches.filter((match) => match.status === 'available_lazy' && !names.has(match.canonicalName))
}

function renderOffers(offers: readonly Match[], settings: Settings): string {
  return settings.prompts.searchOffered({ bridge: findBridge(offers, settings) })
}

/** The bridge's name, if the model can call these matches through it without loading them. */
function findBridge(matches: readonly Match[], { hiddenCalls }: Settings): string | undefined {
  const callable = hiddenCalls === 'load-and-run' && matches.every(({ bridged }) => bridged)
  return callable && matches.length > 0 ? BRIDGE_NAME : undefined
}

/** Lists the remarks about a result, for a search tool that renders the matches itself. */
function listRemarks(result: SearchResult, settings: Settings): string[] {
  if (result.repeated) return []
  const dropped = renderDropped(result, settings)
  return [
    ...renderUnusable(result, settings.prompts),
    ...(result.unclear ? [renderUnclear(result, settings, ({ canonicalName }) => `- ${canonicalName}`)] : []),
    ...(dropped.length > 0 ? [dropped.join('\n')] : []),
    ...renderCandidates(result, settings),
    ...renderOthers(result, settings.prompts),
  ]
}

/** Renders dropped tools like offers, with the reason. Weak matches appear only if there is nothing better. */
function renderDropped({ dropped, matches }: SearchResult, settings: Settings): string[] {
  const { prompts } = settings
  const listed = dropped.filter(({ reason }) => reason !== 'below-cut-off' || matches.length === 0)
  if (listed.length === 0) return []
  const shown = listed.flatMap(
    ({ name }) => matches.find(({ canonicalName }) => canonicalName === name) ?? [],
  )
  const each = listed.map((drop) => {
    const match = shown.find(({ canonicalName }) => canonicalName === drop.name)
    return `${match ? renderMatch(match) : `- ${drop.name}`}${renderDropReason(drop, prompts)}`
  })
  return [prompts.searchDropped({ bridge: findBridge(shown, settings) }), ...each]
}

function renderOthers(result: SearchResult, prompts: Prompts): string[] {
  const lines: string[] = []
  const more = result.more - result.others.length
  if (more > 0) lines.push(prompts.searchMore({ more }))
  if (result.evicted.length > 0) lines.push(prompts.searchEvicted({ tools: result.evicted }))
  if (result.unloaded.length > 0) lines.push(prompts.searchUnloaded({ tools: result.unloaded }))
  return [
    ...lines,
    ...renderFirst(result.notFound, prompts, ({ name, nearest }) =>
      prompts.searchNotFound({ asked: quote(name), nearest }),
    ),
    ...renderFirst(result.ambiguous, prompts, ({ name, candidates }) =>
      prompts.searchAmbiguous({ asked: quote(name), names: candidates }),
    ),
    ...renderFirst(result.problems, prompts, (problem) => prompts.searchProblem({ problem: quote(problem) })),
  ]
}

/** Lines of one kind. A query may contain a hundred thousand names. */
const MAX_LINES = 10

function renderFirst<Each>(
  all: readonly Each[],
  prompts: Prompts,
  render: (each: Each) => string,
): readonly string[] {
  const lines = all.slice(0, MAX_LINES).map(render)
  const more = all.length - lines.length
  return more > 0 ? [...lines, prompts.searchMoreNames({ more })] : lines
}

/**
 * Renders a tool that was just loaded. The first line names it and the next request declares it, so only remarks are
 * added.
 */
function renderFresh(match: Match): string[] {
  if (match.schemaPreview !== undefined) return [renderMatch(match)]
  const remarks = `${match.risk === 'destructive' ? ' [destructive]' : ''}${renderAlias(match)}`
  return remarks === '' ? [] : [`- ${match.canonicalName}${remarks}`]
}

/** Renders an unclear match. A loaded tool that is shown elsewhere is only named. */
function renderNearest(
  match: Match,
  { dropped }: SearchResult,
  prompts: Prompts,
  isShown?: (match: Match) => boolean,
): string {
  const drop = dropped.find(({ name }) => name === match.canonicalName)
  if (match.status === 'available_lazy')
    return `${renderMatch(match)}${drop ? renderDropReason(drop, prompts) : ''}`
  const isNamed = match.schemaPreview === undefined || isShown?.(match) === false
  return isNamed ? `- ${match.canonicalName}${renderAlias(match)} (loaded)` : renderMatch(match)
}

function renderDropReason({ reason, tokens }: SearchResult['dropped'][number], prompts: Prompts): string {
  return ` (${prompts.dropReason[reason]}; ${tokens} tokens)`
}

/** A loaded tool that is declared needs only its name. */
function renderAlready(match: Match): string {
  return match.bridged || match.schemaPreview !== undefined
    ? renderMatch(match)
    : `- ${match.canonicalName}${renderAlias(match)}`
}

function renderAlias({ status, name }: Match): string {
  return status === 'deprecated_alias' ? ` (${quote(name)} is its old name)` : ''
}

function renderMatch(match: Match): string {
  const risk = match.risk && match.risk !== 'read' ? ` [${match.risk}]` : ''
  const alias = renderAlias(match)
  if (match.schemaPreview !== undefined) {
    const { canonicalName: name, description, schemaPreview: inputSchema } = match
    // Only the bridge reads the load token.
    const load = match.bridged ? { load: match.loadToken } : {}
    return `- ${safeJson({ name, description, inputSchema, ...load })}${risk}${alias}`
  }
  return `- ${match.signature}${risk}${alias}: ${safeJson(findPurposeLine(match.description, OFFERED_DESCRIPTION))}`
}

/** Finds conditions of a query that no tool meets. */
export async function findUnmetConditions(
  query: ParsedQuery,
  context: Context,
  isQuarantined: boolean,
): Promise<string[]> {
  const { must, filters } = query
  const accept = (id: string) => context.catalogue.get(id) !== undefined
  const met = must.length === 0 ? [] : await context.rank({ text: '', must, limit: 1, accept })
  const meets = must.length === 0 || met.some(({ id }) => accept(id))
  const words = must.map((word) => `+${word}`).join(' ')
  const empty = Object.entries(filters).filter(([name, value]) => {
    // The answer already says that this server is away or quarantined.
    if (name === 'server' && isQuarantined) return false
    if (name === 'server' && listMissingSources(query, context, false).length > 0) return false
    const only = { filters: { [name]: value } }
    return ![...context.catalogue.entries()].some(
      (entry) => context.gate.visible(entry) && meetsFilters(entry, only, {}),
    )
  })
  return [
    ...(meets ? [] : [`no tool has ${words} in its name, aliases, server, domain or group`]),
    ...empty.map(([name, value]) => `no ${name} is called ${value}`),
  ]
}

export function countVisible({ catalogue, gate }: Context): number {
  let count = 0
  for (const entry of catalogue.entries()) if (gate.visible(entry)) count += 1
  return count
}

/** Most sources that an answer lists. */
const LISTED_SOURCES = 40

/** Lists the sources with their number of visible tools, the largest first. */
export function listSources({ catalogue, gate }: Context): { name: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const entry of catalogue.entries())
    if (gate.visible(entry)) counts.set(entry.source, (counts.get(entry.source) ?? 0) + 1)
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
}

/** Writes what the model should do next. Empty if the lists of the answer are enough. */
export function writeNextInstruction(
  found: Omit<SearchResult, 'nextInstruction'>,
  context: Context,
  bridge: string | undefined,
): string {
  const { settings } = context
  const { prompts } = settings
  const {
    query,
    matches,
    unloaded,
    notFound,
    ambiguous,
    unavailable,
    skipped,
    quarantined,
    overview,
    others,
  } = found
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
  const offers = listOffers(found)
  if (offers.length > 0) return renderOffers(offers, settings)
  const lists = [matches, unloaded, notFound, ambiguous, unavailable, skipped, quarantined]
  if (lists.some((list) => list.length > 0)) return ''
  if (query.trim() === '') return prompts.searchEmpty()
  const sources = overview
    .slice(0, LISTED_SOURCES)
    .map(({ name, count }) => ({ name: name === '' ? '' : quote(name, 60), count }))
  const more = overview.length - sources.length
  const findable = sources.length + others.length > 0 && canFind(context)
  return prompts.searchMissed({ query: quote(query), sources, more, findable, language: found.language })
}
