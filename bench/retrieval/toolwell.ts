/** The default searcher of the core, through its public seam. */
import { createLexicalSearcher, documentOf } from '@toolwell/core'
import type { BenchTool } from './datasets.ts'
import type { Engine } from './engine.ts'

export function documentFor(tool: BenchTool) {
  return documentOf({
    id: tool.id,
    tool: {
      name: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema,
      source: tool.server,
    },
    serverDescription: tool.serverDescription,
  })
}

export const toolwell: Engine = {
  name: 'toolwell',
  about: 'createLexicalSearcher() of @toolwell/core, defaults',
  build(tools) {
    const searcher = createLexicalSearcher()
    searcher.update({ put: tools.map(documentFor) })
    return {
      search: (query, limit) => searcher.rank({ text: query, must: [], limit }).map(({ id }) => id),
      replace: (changed) => searcher.update({ put: changed.map(documentFor) }),
    }
  },
}
