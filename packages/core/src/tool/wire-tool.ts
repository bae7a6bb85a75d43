/** Tool definitions as requests send them, pins, and fingerprints of definitions. */

import { canonicalJson, shortHash } from '../base/hash.js'
import type { Tool, ToolCaller } from './tool.js'

/** A tool definition as requests send it, after transforms. */
export interface WireTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly [keyword: string]: unknown }
  /** Asks the provider to enforce the schema. */
  readonly strict?: boolean
  /** Example arguments for the model, if the provider supports them. */
  readonly inputExamples?: readonly { readonly [name: string]: unknown }[]
  /** Who may call the tool. Absent: the model. */
  readonly callers?: readonly ToolCaller[]
  readonly eagerInputStreaming?: boolean
  /** For a definition in the history: its source, for wires that group by source. Never sent as a field. */
  readonly source?: string
}

/** One tool at one definition. */
export interface Pin {
  readonly id: string
  readonly wireName: string
  readonly fingerprint: string
  /** The frozen bytes, if the delivery declares the tool. Absent if the schema is in the history. */
  readonly definition?: WireTool
  /** Declared but hidden: the model reads the definition at the place in the history that refers to it. */
  readonly declaredHidden?: true
}

/** Hashes every field that a model can read, directly or through a card, a result or a notice. */
export function computeFingerprint(tool: Tool): string {
  const { name, title, description, inputSchema, outputSchema, annotations, strict, inputExamples } = tool
  const { callers, eagerInputStreaming } = tool
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
      callers,
      eagerInputStreaming,
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
