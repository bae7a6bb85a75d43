/** Tools of the catalogue that a query names: they come first, whatever the ranker says. */
import type { Entry } from '../catalogue.js'
import type { Context } from '../context.js'
import { isStopWord, queryTokens } from './tokenize.js'

/** Words of the query that are, exactly, the name of a tool, by its id. They win whatever the ranker says. */
export function exactNames(
  text: string,
  context: Context,
): Map<string, { readonly alias?: string | undefined; readonly deprecated: boolean }> {
  const words = [text, ...text.split(/[\s,;"'`()]+/)].filter((word) => word !== '' && word.length <= 200)
  const named = new Map<string, { alias?: string | undefined; deprecated: boolean }>()
  for (const word of words) {
    const resolution = context.catalogue.resolve(word, (entry) => context.gate.visible(entry))
    if (resolution.kind !== 'found') continue
    const { entry, alias, deprecated } = resolution
    const spelled = [
      entry.id,
      entry.wireName,
      entry.tool.name,
      ...context.catalogue.aliasesOf(entry.id),
    ].includes(word)
    // A plain word such as "search" is somebody's tool name only by accident unless it is the whole query.
    if (!spelled || !(word === text || /[_./:-]|[a-z][A-Z]/.test(word))) continue
    // A tool's own name says more than an old one beside it.
    if (!deprecated || !named.has(entry.id)) named.set(entry.id, { alias, deprecated })
  }
  return named
}

/** Tools whose whole name is a plain word of the query, "deploy" say: no keyword-stuffed rival may displace them. */
export function plainNames(text: string, context: Context): Entry[] {
  const words =
    queryTokens(text).length === 0
      ? []
      : text.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length >= 3 && !isStopWord(word.toLowerCase()))
  return [...new Set(words)].flatMap((word) => {
    const resolution = context.catalogue.resolve(word, (entry) => context.gate.visible(entry))
    return resolution.kind === 'found' && resolution.entry.tool.name.toLowerCase() === word.toLowerCase()
      ? [resolution.entry]
      : []
  })
}
