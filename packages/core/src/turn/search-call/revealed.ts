/** What a search answer brings into sight. */
import { defined } from '../../base/guards.js'
import type { SearchResult } from '../../search/result.js'
import type { WireTool } from '../../tool/wire-tool.js'

/** The found tools that an answer shows in full, or refers to. */
export function revealed(result: SearchResult): readonly WireTool[] {
  return result.matches.flatMap(
    ({ canonicalName: name, description, schemaPreview, strict, inputExamples, source }) =>
      schemaPreview === undefined
        ? []
        : [{ name, description, inputSchema: schemaPreview, ...defined({ strict, inputExamples, source }) }],
  )
}
