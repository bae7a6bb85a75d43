/** Interface of a search engine in the benchmark: index tools, then rank for a query. */
import type { BenchTool } from './datasets.ts'

export interface Engine {
  readonly name: string
  /** One line for the table of engines. */
  readonly about: string
  build(tools: readonly BenchTool[]): Index | Promise<Index>
}

export interface Index {
  /** Ids of the best tools, best first. */
  search(query: string, limit: number): string[] | Promise<string[]>
  /** Replaces some tools, if the engine can do so without a rebuild. */
  replace?(tools: readonly BenchTool[]): void
  close?(): void
}

/** Fields for every peer: the name unchanged and as words, the server, the description. */
export interface PlainDocument {
  readonly id: string
  readonly name: string
  readonly server: string
  readonly description: string
}

export function plainDocument(tool: BenchTool): PlainDocument {
  const words = `${tool.name} ${tool.name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_\-./:]+/g, ' ')}`
  return { id: tool.id, name: words, server: tool.server, description: tool.description }
}

/** For peers without stop words. */
export const peerStopWords = new Set(
  `a about all also am an and any are as at be but by can could do does find for from get give has have help how i if in
  into is it its just like looking make me more my need of on or out please provide s show so some tell that the their them
  there these they this to us use using want was we what when where which who will with would you your`.split(
    /\s+/,
  ),
)
