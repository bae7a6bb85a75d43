/** The small questions that rules ask of a sentence: what stands near what, and who is told to do it. */
import type { Sentence, Token } from './clauses.js'
import { bit } from './concepts.js'

/** Places of the first pair with `first` before `second`, at most `gap` words apart. */
export function follows(
  { tokens }: Sentence,
  first: number,
  second: number,
  gap: number,
): readonly [number, number] | undefined {
  let last = -1
  for (let index = 0; index < tokens.length; index++) {
    const bits = tokens[index]?.bits ?? 0
    if (last >= 0 && index - last <= gap && bits & second) return [last, index]
    if (bits & first) last = index
  }
  return undefined
}

/** The same in either order. */
export function near(
  sentence: Sentence,
  one: number,
  other: number,
  gap: number,
): readonly [number, number] | undefined {
  return follows(sentence, one, other, gap) ?? follows(sentence, other, one, gap)
}

export const has = (sentence: Sentence, bits: number) => (sentence.bits & bits) !== 0
export const hasAll = (sentence: Sentence, ...each: number[]) => each.every((bits) => has(sentence, bits))

/** Words after which a bare verb is an order. */
const BEFORE_ORDER = new Set(
  'and then also please first next but or you to just always never not now instead immediately kindly simply still both either so do let only must should shall ; be y e und et puis dann luego ne nicht no ook en ve i oraz sondern sino mais ma mas maar aber poi depois alors e und'.split(
    ' ',
  ),
)
const NOT_ORDER = new Set(
  'can may could might would that which who it tool this to they function we server command api users user'.split(
    ' ',
  ),
)

/** Is the verb at this place an order, not a description ("sends", "used to send")? */
export function isOrder(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index]
  if (!token?.isBare || token.identifier !== undefined) return false
  const before = tokens[index - 1]
  if (index === 0 || token.opens || before === undefined) return true
  // Other scripts, other grammar: there the form says enough.
  if (!/^[a-z']/.test(token.word)) return true
  if (before.word === 'to') {
    const earlier = tokens.slice(Math.max(0, index - 4), index - 1)
    return (
      earlier.some(({ bits }) => bits & (bit.force | bit.when)) ||
      earlier.some(({ word }) => word === 'you' || word === 'sure')
    )
  }
  if (NOT_ORDER.has(before.word)) return false
  // "At the end of each answer add …": what comes first says when, so the next verb is an order.
  if (
    opensWithTime(tokens) &&
    index > 2 &&
    token.bits & VERBS &&
    !AFTER_NOUN.has(before.word) &&
    before.bits & (bit.answer | bit.tool | bit.run | bit.argument)
  )
    return true
  return (
    BEFORE_ORDER.has(before.word) ||
    (before.bits & (bit.force | bit.negation | bit.also | bit.hide | bit.when | bit.model)) !== 0
  )
}

const VERBS = bit.put | bit.send | bit.read | bit.change
const AFTER_NOUN = new Set(
  'the a an of in on its their this that these your each every any by with for from as'.split(' '),
)

function opensWithTime(tokens: readonly Token[]): boolean {
  const first = tokens[0]
  return first !== undefined && ((first.bits & bit.when) !== 0 || /^(?:at|in|on|for)$/.test(first.word))
}

/** Where a phrase that stands for a concept begins. */
export function startOf(tokens: readonly Token[], index: number, concept: number): number {
  let start = index
  while (start > 0 && index - start < 3 && (tokens[start - 1]?.bits ?? 0) & concept) start--
  return start
}

/** The first order among verbs of these concepts. */
export function orderOf(sentence: Sentence, verbs: number): number {
  return sentence.tokens.findIndex(
    (token, index) => (token.bits & verbs) !== 0 && isOrder(sentence.tokens, index),
  )
}

/** Japanese and Korean deny the verb that stands before the denial. */
const DENIES_BEFORE = /^[\u3040-\u30ff\uac00-\ud7af]/

/** Is the verb at this place denied: "do not send", "never includes"? */
export function isDenied(tokens: readonly Token[], index: number, reach = 4): boolean {
  if (DENIES_BEFORE.test(tokens[index + 1]?.word ?? '') && (tokens[index + 1]?.bits ?? 0) & bit.negation)
    return true
  for (let place = index - 1; place >= 0 && place >= index - reach; place--) {
    const token = tokens[place]
    if (!token) continue
    // "Pay no attention to" denies nothing.
    if (token.bits & bit.negation && !(token.bits & bit.ignore) && !DENIES_BEFORE.test(token.word))
      return !isUndone(tokens, place)
    if (token.opens && place < index - 1) return false
  }
  return false
}

/** "Do not forget to", "never fail to": a denial that orders. */
function isUndone(tokens: readonly Token[], place: number): boolean {
  return /^(?:forget|fail|omit|skip|hesitate|neglect)/.test(tokens[place + 1]?.word ?? '')
}

/** Is the pair spoken about rather than said: in quotes, or beside words such as "detects attempts to"? */
export function isMention(sentence: Sentence, index: number): boolean {
  const token = sentence.tokens[index]
  return (
    (has(sentence, bit.about) || /\be\.g\.|\bexamples?\b|\bsuch as\b|\bto test\b/.test(sentence.folded)) &&
    (token?.isQuoted ?? false)
  )
}

/** Words about attacks stand before this place: "detects attempts to ignore …". What comes after excuses nothing. */
export function speaksOfAttacks({ tokens }: Sentence, before = tokens.length): boolean {
  return tokens.slice(0, before).some(({ bits }) => bits & bit.about)
}
