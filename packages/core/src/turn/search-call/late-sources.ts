/** Sources that are still connecting: a search that finds nothing waits for them, but not for long, and then says who is missing. */

import { foldName } from '../../base/names.js'
import { quote } from '../../base/text.js'
import type { Entry, Source } from '../../catalogue/catalogue.js'
import type { ParsedQuery } from '../../search/query.js'
import type { Context } from '../../surface/context.js'

/** Missing sources that are named in one answer. */
const MOST_NAMED = 5

/** Only sources of which nothing is known can still bring what was asked for. */
function missing({ filters: { server } }: Pick<ParsedQuery, 'filters'>, context: Context): Source[] {
  return [...context.catalogue.sources.values()].filter(
    ({ name, state, ids }) =>
      state !== 'ready' &&
      ids.size === 0 &&
      (server === undefined || name.toLowerCase() === server.toLowerCase()),
  )
}

/** The source that a name of an unknown tool begins with, where nothing is known of that source: it may have the tool. */
export function awaySourceOf(asked: string, context: Context): { name: string; state: string } | undefined {
  // No name of a server is longer.
  const begun = asked.slice(0, 300)
  const beginnings = [...begun.matchAll(/[^\p{L}\p{N}]|$/gu)].map(({ index }) => begun.slice(0, index))
  const folded = new Set(beginnings.map(foldName).filter((beginning) => beginning !== ''))
  const source = missing({ filters: {} }, context).find(
    ({ name }) => folded.has(foldName(name)) && context.gate.mayName(name),
  )
  if (source?.state === 'failed') wake(source)
  return source && { name: quote(source.name, 60), state: whyAway(source.state, source) }
}

/** Sources that failed may work again: whoever owns them is asked to try, and nobody waits for it here. */
export function wakeMissing(query: ParsedQuery, context: Context): void {
  for (const source of missing(query, context)) if (source.state === 'failed') wake(source)
}

/** The same for those whose tools were found, and that nobody has seen work since they failed. */
export function wakeFound(entries: readonly Entry[], context: Context): void {
  for (const name of new Set(entries.map((entry) => entry.source))) {
    const source = context.catalogue.sources.get(name)
    if (source?.tentative) wake(source)
  }
}

function wake({ wake: tryAgain }: Source): void {
  try {
    tryAgain?.()
  } catch {
    // It stays as it is.
  }
}

/** Waits where there is something to wait for, and nothing to answer with yet. */
export async function waitForSources(
  query: ParsedQuery,
  context: Context,
  hasAnswer: () => Promise<boolean>,
): Promise<void> {
  const { waitForSources: most } = context.settings
  const connecting = () => missing(query, context).some(({ state }) => state === 'connecting')
  if (most === 0 || !connecting() || (await hasAnswer())) return
  await context.catalogue.until(() => !connecting(), most)
}

/** Why a tool cannot be used, with what the user can do about its server. */
export function awayState(entry: Entry, availability: string, context: Context): string {
  return whyAway(availability, context.catalogue.sources.get(entry.source))
}

/** What is missing, as a search result names it; `named`: only what the query itself speaks of. */
export function awaySources(
  query: ParsedQuery,
  context: Context,
  named: boolean,
): { name: string; state: string }[] {
  return missing(query, context)
    .filter(({ name }) => context.gate.mayName(name) && (!named || speaksOf(query.text, name)))
    .slice(0, MOST_NAMED)
    .map((source) => ({ name: quote(source.name, 60), state: whyAway(source.state, source) }))
}

/** Whether a word of a source's name stands in the text. Short ones stand there by accident. */
function speaksOf(text: string, name: string): boolean {
  const wordsOf = (written: string) => written.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  const words = new Set(wordsOf(text))
  return wordsOf(name).some((word) => word.length > 3 && words.has(word))
}

function whyAway(availability: string, source: Source | undefined): string {
  return source && source.state === availability && source.advice !== ''
    ? `${availability} (${source.advice})`
    : availability
}
