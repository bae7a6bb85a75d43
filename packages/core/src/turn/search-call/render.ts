/** Turns a search result into the text the model reads. The first line is for machines: `importHistory` reads it, and only it. */

import { defined } from '../../base/guards.js'
import { quote, safeJson } from '../../base/text.js'
import type { Match, SearchResult } from '../../search/result.js'
import type { Context, Settings } from '../../surface/context.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Pin, WireTool } from '../../tool/wire-tool.js'

/** Stands at the very start of every search answer. */
const MARK = 'toolwell/1 '

export interface MachineLine {
  readonly loaded: readonly Pick<Pin, 'id' | 'fingerprint'>[]
  readonly unloaded: readonly string[]
}

/**
 * `references`: the provider shows what was found. Then only the rest is said, which may be nothing; and where nothing was
 * found, all of it.
 */
export function renderSearch(
  result: SearchResult,
  machine: MachineLine,
  context: Context,
  references: boolean,
): string {
  if (references && revealed(result).length > 0) return renderRest(result, context.settings)
  // It is paid for on every request: the beginning of a fingerprint tells two definitions of one tool apart.
  const loaded = machine.loaded.map(({ id, fingerprint }) => [id, fingerprint.slice(0, 8)])
  const unloaded = machine.unloaded.length > 0 ? { unloaded: machine.unloaded } : {}
  const line = `${MARK}${safeJson({ loaded, ...unloaded })}`
  return `${line}\n${renderedByFace(result, context) ?? renderText(result, context.settings)}`
}

/** The found tools that an answer shows in full, or refers to. */
export function revealed(result: SearchResult): readonly WireTool[] {
  return result.matches.flatMap(
    ({ canonicalName: name, description, schemaPreview, strict, inputExamples, source }) =>
      schemaPreview === undefined
        ? []
        : [{ name, description, inputSchema: schemaPreview, ...defined({ strict, inputExamples, source }) }],
  )
}

/** All but the tools that are shown in full. */
function renderRest(result: SearchResult, settings: Settings): string {
  const rest = { ...result, matches: result.matches.filter((match) => match.schemaPreview === undefined) }
  return hasMoreToSay(rest) ? renderText(rest, settings, true) : ''
}

function hasMoreToSay({ matches, more, ...lists }: SearchResult): boolean {
  const { dropped, notFound, ambiguous, unavailable, evicted, unloaded, problems } = lists
  const said = [matches, dropped, notFound, ambiguous, unavailable, evicted, unloaded, problems]
  return more > 0 || said.some((list) => list.length > 0)
}

function renderedByFace(result: SearchResult, { settings, notify }: Context): string | undefined {
  const { face, prompts } = settings
  try {
    const rendered = face.render?.(result, {
      remarks: remarksOn(result, prompts),
      rest: revealed(result).length > 0 ? renderRest(result, settings) : renderText(result, settings),
    })
    return typeof rendered === 'object' ? safeJson(rendered) : rendered
  } catch (error) {
    notify({ kind: 'hook-failed', hook: 'face.render', detail: String(error) })
    return undefined
  }
}

/** Reads the first line of an answer of ours. Anything unexpected gives undefined. */
export function readMachineLine(answer: string): MachineLine | undefined {
  const end = answer.indexOf('\n')
  const line = end < 0 ? answer : answer.slice(0, end)
  if (!line.startsWith(MARK)) return undefined
  try {
    const value: unknown = JSON.parse(line.slice(MARK.length))
    if (typeof value !== 'object' || value === null) return undefined
    const { loaded, unloaded = [] } = value as { loaded?: unknown; unloaded?: unknown }
    if (!Array.isArray(loaded) || !Array.isArray(unloaded)) return undefined
    const pairs = loaded.filter(
      (pair): pair is [string, string] =>
        Array.isArray(pair) && pair.every((part) => typeof part === 'string'),
    )
    return {
      loaded: pairs.map(([id, fingerprint]) => ({ id, fingerprint })),
      unloaded: unloaded.filter((id): id is string => typeof id === 'string'),
    }
  } catch {
    return undefined
  }
}

function renderText(result: SearchResult, settings: Settings, isRest = false): string {
  const { prompts } = settings
  const lines: string[] = []
  const nothing = [
    result.matches,
    result.unloaded,
    result.notFound,
    result.ambiguous,
    result.unavailable,
  ].every((list) => list.length === 0)
  lines.push(...linesOnAway(result, prompts))
  if (nothing && !isRest) lines.push(result.nextInstruction)
  const droppedNames = new Set(result.dropped.map((drop) => drop.name))
  const fresh = result.matches.filter((match) => match.fresh)
  const already = result.matches.filter(
    (match) => !match.fresh && match.status !== 'available_lazy' && !droppedNames.has(match.canonicalName),
  )
  if (fresh.length > 0) lines.push(result.nextInstruction, ...fresh.map(renderMatch))
  for (const bridge of [undefined, BRIDGE_NAME]) {
    const some = already.filter((match) => match.bridged === (bridge !== undefined))
    if (some.length > 0) lines.push(prompts.searchAlready({ bridge }), ...some.map(renderMatch))
  }
  lines.push(...linesOnDropped(result, prompts))
  const offered = offersIn(result)
  if (offered.length > 0) lines.push(sentenceOnOffers(offered, settings), ...offered.map(renderMatch))
  lines.push(...linesOnRest(result, prompts))
  // The third identical miss: one line, so that a loop costs nothing.
  return result.repeated ? prompts.searchAgain() : lines.join('\n')
}

/** Matches that fit and are not loaded for that reason alone. */
export function offersIn({ matches, dropped }: Pick<SearchResult, 'matches' | 'dropped'>): Match[] {
  const names = new Set(dropped.map(({ name }) => name))
  return matches.filter((match) => match.status === 'available_lazy' && !names.has(match.canonicalName))
}

/** They may be called as they are only through the bridge, and where hidden tools may be called at all. */
export function sentenceOnOffers(offers: readonly Match[], { prompts, hiddenCalls }: Settings): string {
  const callable = hiddenCalls === 'load-and-run' && offers.every(({ bridged }) => bridged)
  return prompts.searchOffered({ bridge: callable ? BRIDGE_NAME : undefined })
}

/** What the matches of a result do not show, for a face that renders them itself. */
function remarksOn(result: SearchResult, prompts: Prompts): string[] {
  if (result.repeated) return []
  const dropped = linesOnDropped(result, prompts)
  return [
    ...linesOnAway(result, prompts),
    ...(dropped.length > 0 ? [dropped.join('\n')] : []),
    ...linesOnRest(result, prompts),
  ]
}

/** They come first: what else was found may only stand in for them. */
function linesOnAway({ unavailable }: SearchResult, prompts: Prompts): string[] {
  return unavailable.map(({ name, state }) => prompts.searchUnavailable({ asked: name, state }))
}

function linesOnDropped({ dropped }: SearchResult, prompts: Prompts): string[] {
  if (dropped.length === 0) return []
  const each = dropped.map(
    ({ name, reason, tokens }) => `- ${name}: ${prompts.dropReason[reason]} (${tokens} tokens)`,
  )
  return [prompts.searchDropped(), ...each]
}

function linesOnRest(result: SearchResult, prompts: Prompts): string[] {
  const lines: string[] = []
  if (result.more > 0) lines.push(prompts.searchMore({ more: result.more }))
  if (result.evicted.length > 0) lines.push(prompts.searchEvicted({ tools: result.evicted }))
  if (result.unloaded.length > 0) lines.push(prompts.searchUnloaded({ tools: result.unloaded }))
  for (const { name, nearest } of result.notFound)
    lines.push(prompts.searchNotFound({ asked: quote(name), nearest }))
  for (const { name, candidates } of result.ambiguous)
    lines.push(prompts.searchAmbiguous({ asked: quote(name), names: candidates }))
  for (const problem of result.problems) lines.push(prompts.searchProblem({ problem: quote(problem) }))
  return lines
}

function renderMatch(match: Match): string {
  const risk = match.risk && match.risk !== 'read' ? ` [${match.risk}]` : ''
  const alias = match.status === 'deprecated_alias' ? ` (${quote(match.name)} is its old name)` : ''
  if (match.schemaPreview !== undefined) {
    const { canonicalName: name, description, schemaPreview: inputSchema } = match
    // Only the bridge takes a token; elsewhere it would be paid for and never asked.
    const load = match.bridged ? { load: match.loadToken } : {}
    return `- ${safeJson({ name, description, inputSchema, ...load })}${risk}${alias}`
  }
  return `- ${match.signature}${risk}${alias}: ${quote(match.description, 200)}`
}
