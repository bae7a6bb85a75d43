/** The default searcher of core, through its public interface. */
import { createLexicalSearcher } from '@toolwell/core'
import { createDocument } from '@toolwell/core/internal'
import type { BenchTool } from './datasets.ts'
import type { Engine } from './engine.ts'

export function documentFor(tool: BenchTool) {
  return createDocument({
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

const PART = 65_536

export const toolwell: Engine = {
  name: 'toolwell',
  about: 'createLexicalSearcher() of @toolwell/core, defaults',
  build(tools) {
    const searcher = createLexicalSearcher()
    // In parts, so that a million documents are not in memory at once.
    for (let start = 0; start < tools.length; start += PART)
      searcher.update({ put: tools.slice(start, start + PART).map(documentFor) })
    return {
      search: (query, limit) => searcher.rank({ text: query, must: [], limit }).map(({ id }) => id),
      replace: (changed) => searcher.update({ put: changed.map(documentFor) }),
    }
  },
}
