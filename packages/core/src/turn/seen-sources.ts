/** The sources of the catalogue as one conversation may see them: for tools that speak of servers, and for calls that name one. */

import { foldName } from '../base/names.js'
import type { Entry, Source } from '../catalogue/catalogue.js'
import type { Context } from '../surface/context.js'
import type { SeenSource } from '../tool/tool.js'

/** All that may be named, or those that answer to a name: exact beats folded. */
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

export function findSources(context: Context, named?: string): Source[] {
  const known = [...context.catalogue.sources.values()].filter(
    (source) => source.name !== '' && mayNameSource(source, context),
  )
  if (named === undefined) return known
  const exact = known.filter(({ name }) => name === named)
  return exact.length > 0 ? exact : known.filter(({ name }) => foldName(name) === foldName(named))
}

/** A source of which everything is denied is like one that does not exist. */
function mayNameSource(source: Source, context: Context): boolean {
  if (source.ids.size === 0) return context.gate.mayName(source.name)
  return listEntries(source, context).some((entry) => context.gate.availability(entry, 'see') !== 'denied')
}

function listEntries({ ids }: Source, { catalogue }: Context): Entry[] {
  return [...ids]
    .flatMap((id) => catalogue.get(id) ?? [])
    .sort((a, b) => (a.tool.name < b.tool.name ? -1 : a.tool.name > b.tool.name ? 1 : 0))
}
