/**
 * The namespace of every call, for OpenAI: a function that a search brought lives in that of its source, or in one of its own
 * name, and a call of it without is refused; one that is declared has none. Where a function stands may change between two
 * requests, so what a call was recorded with does not tell.
 */

import { isRecord } from '../../base/data.js'
import type { SurfaceView } from '../../surface/project.js'
import { isNamespace, namespaceOf } from '../shared/namespace.js'
import { openaiOptions, withOpenaiOptions } from './openai-options.js'
import type { AiCallPart } from './types.js'

export interface Namespaces {
  /** A search has brought these. */
  load(tools: readonly unknown[]): void
  /** The call as it has to stand here. */
  place(part: AiCallPart): AiCallPart
}

export function createNamespaces({ tools, sources }: Pick<SurfaceView, 'tools' | 'sources'>): Namespaces {
  const plain = new Set(tools.map(({ name }) => name))
  /** By function, the namespaces that hold it. */
  const holders = new Map<string, Set<string>>()
  const add = (tool: unknown, space?: string) => {
    if (!isRecord(tool) || typeof tool.name !== 'string') return
    holders.set(tool.name, (holders.get(tool.name) ?? new Set()).add(space ?? tool.name))
  }
  return {
    load(brought) {
      for (const tool of brought)
        if (isNamespace(tool)) for (const member of tool.tools) add(member, tool.name)
        else add(tool)
    },
    place(part) {
      const { namespace, ...others } = openaiOptions(part)
      const { toolName } = part
      const spaces = holders.get(toolName)
      if (typeof namespace === 'string' && spaces?.has(namespace)) return part
      const [holder] = spaces ?? []
      if (holder !== undefined && !plain.has(toolName))
        return withOpenaiOptions(part, { ...others, namespace: holder })
      // A namespace of the host's own stays.
      const isOwn = namespace === toolName || namespace === namespaceOf(sources.get(toolName) ?? '')
      return namespace !== undefined && isOwn ? withOpenaiOptions(part, others) : part
    },
  }
}
