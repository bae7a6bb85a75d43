/** The tools of a conversation: real ones by server where the data is in place, generated ones where it is not. */
import type { Tool } from '@toolwell/core'
import { atSize } from '../data.ts'
import type { CatalogueChoice } from './conversation.ts'

export interface BenchCatalogue {
  /** In the order that the places in a conversation's file count. */
  readonly tools: readonly Tool[]
  /** The host's own, without a source. */
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
  // Generated tools have other servers: their number is what matters then.
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
