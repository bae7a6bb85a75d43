/** A definition as it is sent, and a tool held at one definition. */

import { canonicalJson, shortHash } from '../base/hash.js'
import type { Tool } from './tool.js'

/** A tool definition exactly as it is sent, after transforms. */
export interface WireTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly [keyword: string]: unknown }
  /** The provider is to hold the model to the schema, where it can. */
  readonly strict?: boolean
  /** Arguments that the model is shown, where the provider takes them. */
  readonly inputExamples?: readonly { readonly [name: string]: unknown }[]
  /** Where a definition stands in the history: the source it is of, for a wire that groups by source. Never sent by itself. */
  readonly source?: string
}

/** One tool at one definition. */
export interface Pin {
  readonly id: string
  readonly wireName: string
  readonly fingerprint: string
  /** The latched bytes, where the delivery declares the tool; absent where its schema lives in the history. */
  readonly definition?: WireTool
  /** Declared out of the model's sight: it reads the definition where the history refers to it. */
  readonly declaredHidden?: true
}

// The hash that names a definition.

/** Covers every field a model can read, directly or through a card, a result or a reminder. */
export function computeFingerprint(tool: Tool): string {
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
