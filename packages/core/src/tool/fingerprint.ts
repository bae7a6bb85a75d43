/** The hash that names a definition. */
import { canonicalJson, shortHash } from '../base/hash.js'
import type { Tool } from './tool.js'

/** Covers every field a model can read, directly or through a card, a result or a reminder. */
export function fingerprintOf(tool: Tool): string {
  const { name, title, description, inputSchema, outputSchema, annotations, strict, inputExamples } = tool
  const { card, promptSnippet, guidelines, insteadOf, domain, group, aliases, risk } = tool
  return shortHash(
    canonicalJson({
      name,
      title,
      description,
      inputSchema,
      outputSchema,
      annotations,
      strict,
      inputExamples,
      card,
      promptSnippet,
      guidelines,
      insteadOf,
      domain,
      group,
      aliases,
      risk,
    }),
  )
}
