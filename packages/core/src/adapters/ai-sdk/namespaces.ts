/**
 * The namespace of every call, for OpenAI: a function that a search brought lives in one of its own name, and a call of
 * it without is refused; one that is declared has none. Where a function stands may change between two requests, so what
 * a call was recorded with does not tell.
 */
import { openaiOptions, withOpenaiOptions } from './openai-options.js'
import type { AiCallPart } from './types.js'

export interface Namespaces {
  /** A search has brought this function. */
  load(name: string): void
  /** The call as it has to stand here. */
  place(part: AiCallPart): AiCallPart
}

export function createNamespaces(declared: readonly string[]): Namespaces {
  const plain = new Set(declared)
  const loaded = new Set<string>()
  return {
    load: (name) => void loaded.add(name),
    place(part) {
      const { namespace, ...others } = openaiOptions(part)
      const { toolName } = part
      if (loaded.has(toolName) && (namespace === toolName || !plain.has(toolName)))
        return namespace === toolName ? part : withOpenaiOptions(part, { ...others, namespace: toolName })
      // A namespace of the host's own stays.
      return namespace === toolName ? withOpenaiOptions(part, others) : part
    },
  }
}
