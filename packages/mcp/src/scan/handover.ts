/** What the judges of data ask of a sentence: is something to be handed over, by whom, and is it refused? */
import type { Sentence } from './clauses.js'
import { bit } from './concepts.js'
import { has, isDenied, isOrder } from './sentence-tests.js'
import type { Setting, Suspicion } from './suspicion.js'

/** A verb of these concepts that someone shall do, and that is not denied. */
export function ordered(sentence: Sentence, verbs: number): boolean {
  return sentence.tokens.some(
    ({ bits }, index) =>
      (bits & verbs) !== 0 && isOrder(sentence.tokens, index) && !isDenied(sentence.tokens, index),
  )
}

/** As an order, or as what "must" be done: "the key must be included". */
export function demanded(sentence: Sentence, verbs: number): boolean {
  if (ordered(sentence, verbs)) return true
  return (
    has(sentence, bit.force) &&
    sentence.tokens.some(({ bits }, index) => (bits & verbs) !== 0 && !isDenied(sentence.tokens, index)) &&
    has(sentence, bit.model | bit.when | bit.force)
  )
}

/** Words by which a text keeps secrets out, rather than asking for them. */
export const REFUSES =
  /\b(?:reject\w*|denied|refus\w*|not allowed|disallow\w*|blocked|excluded?|skips?|ignored|forbidden|protected|redact\w*|never (?:read|send|include|pass|log|share|commit|store|expose)\w*|do not (?:include|pass|send|put|commit|share|read|paste|store|log|hardcode|provide)|don't (?:include|pass|send|put|commit|share|paste|store|log|hardcode|provide)|must not|should not|mask\w*|strip\w*|omit\w*)\b/

/** Somewhere that is neither the user nor this tool. */
export const AWAY =
  /\b(?:external|remote|third[- ]party|our (?:servers?|endpoints?|api|collectors?|backend|team|webhooks?|cloud|\w+ (?:endpoint|server)s?)|collector|collection (?:server|endpoint)|attacker(?:'s)?|telemetry|analytics|outside (?:server|host|party)|public (?:gist|paste|bucket|repo\w*)|pastebin|command and control|c2|offsite|audit (?:server|endpoint)|monitoring (?:server|endpoint|service)|logging (?:server|endpoint|service)|unknown host|foreign server|to me|to us|to the author)\b/

/** A sentence, with what is demanded in it. */
export interface Demand {
  readonly sentence: Sentence
  readonly setting: Setting
  /** The sentence in its widest sense where its object is beyond doubt. */
  readonly broad: Sentence
  /** Says what the tool does. */
  readonly summary: boolean
  readonly handsOver: boolean
  readonly reads: boolean
  readonly isAddressed: boolean
  /** Without spaces between words every verb looks like an order, so more is asked for. */
  readonly isSpaced: boolean
  weigh(weight: number, why: string): Suspicion
}
