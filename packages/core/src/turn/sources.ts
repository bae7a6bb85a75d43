/** Lists the sources that one conversation may see; wakes, awaits and describes missing ones. */

import { foldName } from '../base/names.js'
import { quote } from '../base/text.js'
import type { Entry, Source } from '../catalogue/catalogue.js'
import type { ParsedQuery } from '../search/query.js'
import type { Context } from '../surface/context.js'
import type { SeenSource } from '../tool/tool.js'

/** Lists visible sources with their tools: all, or those with a name. */
export function listSeenSources(context: Context, named?: string): SeenSource[] {
  return findSources(context, named).map((source) => ({
    name: source.name,
    description: source.description,
    state: source.state,
    tools: listEntries(source, context)
      .filter((entry) => context.gate.visible(entry))
      .map((entry) => {
        const { description, inputSchema } = context.definition(entry)
        return { name: entry.tool.name, wireName: entry.wireName, description, inputSchema }
      }),
  }))
}

/** Finds the sources that may be named: all, or those with a name. An exact match wins over other spellings. */
export function findSources(context: Context, named?: string): Source[] {
  const known = [...context.catalogue.sources.values()].filter(
    (source) => source.name !== '' && mayNameSource(source, context),
  )
  if (named === undefined) return known
  const exact = known.filter(({ name }) => name === named)
  return exact.length > 0 ? exact : known.filter(({ name }) => foldName(name) === foldName(named))
}

/** A source counts as unknown if all its tools are denied. */
function mayNameSource(source: Source, context: Context): boolean {
  if (source.ids.size === 0) return context.gate.mayName(source.name)
  return listEntries(source, context).some((entry) => context.gate.availability(entry, 'see') !== 'denied')
}

function listEntries({ ids }: Source, { catalogue }: Context): Entry[] {
  return [...ids]
    .flatMap((id) => catalogue.get(id) ?? [])
    .sort((a, b) => (a.tool.name < b.tool.name ? -1 : a.tool.name > b.tool.name ? 1 : 0))
}

/** Missing sources that one answer names. */
const MAX_NAMED = 5

/** Lists the sources that are not ready and have no known tools. They may still have the wanted tool. */
function listMissing({ filters: { server } }: Pick<ParsedQuery, 'filters'>, context: Context): Source[] {
  return [...context.catalogue.sources.values()].filter(
    ({ name, state, ids }) =>
      state !== 'ready' &&
      ids.size === 0 &&
      (server === undefined || name.toLowerCase() === server.toLowerCase()),
  )
}

/** Finds a missing source whose name is a prefix of an unknown tool's name. It may have the tool. */
export function findMissingSource(
  asked: string,
  context: Context,
): { name: string; state: string } | undefined {
  // No server name is longer.
  const start = asked.slice(0, 300)
  const prefixes = [...start.matchAll(/[^\p{L}\p{N}]|$/gu)].map(({ index }) => start.slice(0, index))
  const folded = new Set(prefixes.map(foldName).filter((prefix) => prefix !== ''))
  const source = listMissing({ filters: {} }, context).find(
    ({ name }) => folded.has(foldName(name)) && context.gate.mayName(name),
  )
  if (source?.state === 'failed') wake(source)
  return source && { name: quote(source.name, 60), state: describeState(source.state, source) }
}

/** Asks the owners of failed sources to try again. Does not wait for them. */
export function wakeMissingSources(query: ParsedQuery, context: Context): void {
  for (const source of listMissing(query, context)) if (source.state === 'failed') wake(source)
}

/** Wakes the sources of found tools that have not worked since their last failure. */
export function wakeTentativeSources(entries: readonly Entry[], context: Context): void {
  for (const name of new Set(entries.map((entry) => entry.source))) {
    const source = context.catalogue.sources.get(name)
    if (source?.tentative) wake(source)
  }
}

function wake({ wake: tryAgain }: Source): void {
  try {
    tryAgain?.()
  } catch {
    // The source stays in its state.
  }
}

/** Waits for connecting sources if nothing was found yet, at most `search.waitForSources` milliseconds. */
export async function waitForSources(
  query: ParsedQuery,
  context: Context,
  hasAnswer: () => Promise<boolean>,
): Promise<void> {
  const { waitForSources: most } = context.settings
  const connecting = () => listMissing(query, context).some(({ state }) => state === 'connecting')
  if (most === 0 || !connecting() || (await hasAnswer())) return
  await context.catalogue.until(() => !connecting(), most)
}

/** Describes why a tool cannot be used, with advice about its server. */
export function describeAwayTool(entry: Entry, availability: string, context: Context): string {
  return describeState(availability, context.catalogue.sources.get(entry.source))
}

/** Lists missing sources for a search answer. `mentioned`: only those that the query mentions. */
export function listMissingSources(
  query: ParsedQuery,
  context: Context,
  mentioned: boolean,
): { name: string; state: string }[] {
  return listMissing(query, context)
    .filter(({ name }) => context.gate.mayName(name) && (!mentioned || mentions(query.text, name)))
    .slice(0, MAX_NAMED)
    .map((source) => ({ name: quote(source.name, 60), state: describeState(source.state, source) }))
}

/** True if the text contains a word of the name. Words of up to three letters do not count: they match by accident. */
function mentions(text: string, name: string): boolean {
  const splitWords = (value: string) => value.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  const words = new Set(splitWords(text))
  return splitWords(name).some((word) => word.length > 3 && words.has(word))
}

function describeState(availability: string, source: Source | undefined): string {
  return source && source.state === availability && source.advice !== ''
    ? `${availability} (${source.advice})`
    : availability
}
