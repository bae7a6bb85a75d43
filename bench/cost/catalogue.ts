/** The tools of a conversation: real ones by server if the data is available, otherwise generated ones. */
import type { Tool } from '@toolwell/core'
import { atSize } from '../data.ts'
import type { CatalogueChoice } from './conversation.ts'

export interface BenchCatalogue {
  /** In the order that the numbers in a conversation's file refer to. */
  readonly tools: readonly Tool[]
  /** The host's tools, without a source. */
  readonly own: readonly Tool[]
  readonly bySource: ReadonlyMap<string, readonly Tool[]>
}

export function chooseTools(corpus: readonly Tool[], choice: CatalogueChoice): BenchCatalogue {
  const servers = new Map<string, Tool[]>()
  for (const tool of corpus) {
    const source = tool.source ?? 'x'
    servers.set(source, [...(servers.get(source) ?? []), tool])
  }
  const named = choice.servers.filter((server) => server !== '*')
  const order = [
    ...named,
    ...(choice.servers.includes('*') ? [...servers.keys()].filter((server) => !named.includes(server)) : []),
  ]
  const listed = order.flatMap((server) => servers.get(server) ?? [])
  // Generated tools have other servers, so only their number counts.
  const isReal = named.every((server) => servers.has(server))
  const tools = atSize(isReal ? listed : corpus, choice.tools).map((tool, index): Tool => {
    if (index >= choice.own) return tool
    const { source: _, ...own } = tool
    return own
  })
  const bySource = new Map<string, Tool[]>()
  for (const tool of tools.slice(choice.own)) {
    const source = tool.source ?? 'x'
    bySource.set(source, [...(bySource.get(source) ?? []), tool])
  }
  return { tools, own: tools.slice(0, choice.own), bySource }
}
