/** What judges of sentences give, and what they know beside the sentence. */
import type { Sentence } from './clauses.js'
import { bit } from './concepts.js'
import type { Rule } from './finding.js'
import { has } from './sentence-tests.js'

export interface Suspicion {
  readonly rule: Rule
  /** 2.5 and more is hard by itself; 2 is soft; what is below counts only together. */
  readonly weight: number
  readonly why: string
}

export interface Setting {
  /** Text of a parameter: "the contents of …" there asks for them. */
  readonly isParameter: boolean
  /** A name, not a sentence. */
  readonly isName: boolean
  /** The tool's own description: its first sentence says what the tool does. */
  readonly isSummary: boolean
  /** Another server has a tool of this name, and this server has none. */
  isForeignTool(name: string): boolean
  /** This server has a tool of this name. */
  isOwnTool(name: string): boolean
}

export type Judge = (sentence: Sentence, setting: Setting) => Suspicion | undefined

/** A sentence that says what the tool does, not what the model shall do. */
export function isSummary(sentence: Sentence, setting: Setting): boolean {
  const first = sentence.tokens[0]
  const opensWithTime =
    ((first?.bits ?? 0) & bit.when) !== 0 ||
    /^(?:to|for|at|in|on|please|do|don't|you|as)$/.test(first?.word ?? '')
  return setting.isSummary && sentence.isFirst && !opensWithTime && !has(sentence, bit.force | bit.model)
}
