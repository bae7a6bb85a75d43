/** Tools of the catalogue that a query names: they come first, whatever the ranker says. */
import type { Entry } from '../../catalogue/catalogue.js'
import type { Context } from '../../surface/context.js'

/** Words of the query that are, exactly, the name of a tool, by its id. They win whatever the ranker says. */
export function exactNames(
  text: string,
  context: Context,
): Map<string, { readonly alias?: string | undefined; readonly deprecated: boolean }> {
  const words = [text, ...text.split(/[\s,;"'`()]+/)].filter((word) => word !== '' && word.length <= 200)
  const named = new Map<string, { alias?: string | undefined; deprecated: boolean }>()
  for (const word of words) {
    const resolution = context.catalogue.resolve(word, (entry) => isReady(entry, context))
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
    if (alias !== undefined && !deprecated && isNameOfAnother(word, entry.id, context)) continue
    // A tool's own name says more than an old one beside it.
    if (!deprecated || !named.has(entry.id)) named.set(entry.id, { alias, deprecated })
  }
  return named
}

/** No alias displaces a name, however that is spelt. */
function isNameOfAnother(word: string, id: string, context: Context): boolean {
  const respelt = word.toUpperCase().replace(/\s+/g, '_')
  const other = context.catalogue.resolve(respelt, (entry) => isReady(entry, context))
  return other.kind === 'ambiguous' || (other.kind === 'found' && !other.alias && other.entry.id !== id)
}

function isReady(entry: Entry, { gate }: Context): boolean {
  return gate.availability(entry, 'see') === 'ready'
}
