/**
 * Combinations of ideas that orders to a model have and that none of 28,000 sentences in real definitions has. They catch
 * what no rule was written for; by themselves they are no more than a reason to look.
 */
import type { Sentence } from './clauses.js'
import { bit, type Concept } from './concepts.js'
import type { Rule } from './finding.js'
import { isDenied, isOrder } from './sentence-tests.js'
import { isSummary, type Judge, type Suspicion } from './suspicion.js'

/** `a~b`: the two within eight words. `order>a`: as an order. `not>a`: denied. `a`: anywhere in the sentence. */
const COMBINATIONS = `
  instruction~prior & order>ignore          ignore~instruction & ignore~when          ignore~instruction & tell
  ignore~model & instruction~prior          instruction~prior & instruction~rule      instruction & order>change
  conversation & ignore~prior               order>ignore & rule~model                 ignore~rule & prior~tool
  conversation & user~ignore                instruction~force & prior~model           instruction~conversation & model~when
  ignore & tell~user
  path & when                               argument & path                           path & send~content
  content & path~force                      path & prior~run                          order>send & path
  order>put & private-path                  order>send & secret~content               read~put & secret~other
  prior~model & put~secret                  prior~put & secret~when                   conversation & prior~secret
  put~conversation & user~content           conversation~content & instruction~prior  conversation~content & prior~other
  conversation~other & user~conversation    order>put & tell~conversation
  address~also & content~address            other~address & when                      address & send~force
  address & prior~run                       order>send & run~address                  prior~address & put
  address & conversation~address            put~answer & when~address                 run~when & tool~address
  change~address & send~argument            address & negation~tell
  not>tell & user~force                     not>tell & put~content                    not>tell & tell~tool
  hide~content & negation~tell              hide~send & hide~user                     hide~user & user~when
  hide & user~run                           hide & model~answer                       hide & put~model
  content & hide~tool                       content~also & hide                       negation~force & not>know
  negation~tell & send~model                know~model & tell~content                 model~answer & not>prior
  bad & tool~other                          other~argument & tool~change              force~tool & send~other
`

interface Condition {
  readonly kind: 'near' | 'order' | 'not' | 'any' | 'private-path'
  readonly one: number
  readonly other: number
}

interface Combination {
  readonly conditions: readonly Condition[]
  /** Bits without which it cannot hold: a cheap first look. */
  readonly needs: number
  readonly rule: Rule
  readonly ideas: string
}

const combinations: readonly Combination[] = COMBINATIONS.split(/\n| {2,}/)
  .map((text) => text.trim())
  .filter(Boolean)
  .map((text) => {
    const conditions = text.split(' & ').map(read)
    const ideas = [...new Set(text.split(/[~>& ]+/).filter((word) => word !== 'order' && word !== 'not'))]
    return {
      conditions,
      needs: conditions.reduce((bits, { one, other }) => bits | one | other, 0),
      rule: ruleOf(ideas),
      ideas: ideas.join(', '),
    }
  })

function read(text: string): Condition {
  const bits = (name: string) => bit[name as Concept]
  if (text === 'private-path') return { kind: 'private-path', one: bit.path, other: 0 }
  const [one = '', other] = text.split(/[~>]/)
  if (other === undefined) return { kind: 'any', one: bits(one), other: 0 }
  if (one === 'order' || one === 'not') return { kind: one, one: bits(other), other: 0 }
  return { kind: 'near', one: bits(one), other: bits(other) }
}

function ruleOf(ideas: readonly string[]): Rule {
  if (ideas.includes('address')) return 'exfiltration'
  if (ideas.some((idea) => /^(?:path|private-path|secret|conversation)$/.test(idea))) return 'data-theft'
  if (ideas.some((idea) => /^(?:instruction|ignore)$/.test(idea))) return 'instruction-override'
  if (ideas.some((idea) => /^(?:hide|tell|know|answer)$/.test(idea))) return 'secrecy'
  return 'tool-tampering'
}

const NEAR = 8
const DENIED = 4

export const unusualJudge: Judge = (sentence, setting): Suspicion | undefined => {
  if (
    isSummary(sentence, setting) ||
    setting.isName ||
    sentence.tokens.length < (setting.isParameter ? 9 : 4)
  )
    return undefined
  // Samples of JSON and code say nothing.
  if (/["'}\]]\s?[:,}\]]/.test(sentence.folded)) return undefined
  let facts: Facts | undefined
  for (const { needs, conditions, rule, ideas } of combinations) {
    if ((sentence.bits & needs) !== needs) continue
    facts ??= factsOf(sentence)
    const known = facts
    if (conditions.every((condition) => holds(condition, sentence, known)))
      return { rule, weight: 2, why: `brings together what no known tool does: ${ideas}` }
  }
  return undefined
}

interface Facts {
  /** For each concept, by its number: what stands near it. */
  readonly near: Int32Array
  readonly ordered: number
  readonly denied: number
}

function factsOf({ tokens }: Sentence): Facts {
  const near = new Int32Array(32)
  let ordered = 0
  let denied = 0
  for (const [index, { bits }] of tokens.entries()) {
    if (bits === 0) continue
    let around = 0
    for (let place = Math.max(0, index - NEAR); place <= index + NEAR && place < tokens.length; place++)
      if (place !== index) around |= tokens[place]?.bits ?? 0
    for (let concept = 0; concept < 32; concept++)
      if (bits & (1 << concept)) near[concept] = (near[concept] ?? 0) | around
    if (isOrder(tokens, index) && !isDenied(tokens, index)) ordered |= bits
    if (bits & bit.negation)
      for (let place = index + 1; place <= index + DENIED && place < tokens.length; place++)
        denied |= tokens[place]?.bits ?? 0
  }
  return { near, ordered, denied }
}

function holds(
  { kind, one, other }: Condition,
  { bits, tokens }: Sentence,
  { near, ordered, denied }: Facts,
): boolean {
  if (kind === 'any') return (bits & one) !== 0
  if (kind === 'order') return (ordered & one) !== 0
  if (kind === 'not') return (denied & one) !== 0
  if (kind === 'private-path') return tokens.some(({ isPrivatePath }) => isPrivatePath)
  return ((near[31 - Math.clz32(one)] ?? 0) & other) !== 0
}
