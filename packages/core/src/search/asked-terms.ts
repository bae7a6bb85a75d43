/** A query as weighted terms: words that count, the concepts behind them, neighbouring pairs; as a whole and clause by clause. */
import { pairOf } from './index/hash.js'
import type { Tuning } from './tuning.js'
import { resolveIdioms } from './words/idioms.js'
import type { Concept } from './words/lexicon.js'
import type { SpelledWord, Term, Vocabulary } from './words/vocabulary.js'

/** Distinct words of a query that count; the rest is ignored. */
const wordLimit = 64
/** From this many distinct words on a query is taken apart into clauses. */
const longQuery = 18
const clauseLimit = 12
/** A concept counts beside the word that leads to it. Where no tool holds the word, it stands in for it, and counts so many times more. */
const standIn = 2
/** They say nothing of a tool but that it should give something and not change it. */
const questions: ReadonlySet<string> = new Set(['what', 'which', 'when', 'where', 'who', 'whose'])

export interface AskedTerm {
  readonly text: string
  readonly hash: number
  readonly weight: number
  readonly kind: 'word' | 'concept' | 'pair'
  /** A word of a script without spaces. */
  readonly unspaced: boolean
  /** Hashes of the concepts that a word leads to. */
  readonly concepts: readonly number[]
}

export interface AskedTerms {
  readonly whole: readonly AskedTerm[]
  /** Empty unless the query is long and has several clauses. */
  readonly clauses: readonly (readonly AskedTerm[])[]
}

/**
 * `knows` says whether any tool holds a term: a mixed-case word counts whole if one does, else by its parts. `isAlone`: nothing but the
 * text selects tools.
 */
export function askedTerms(
  query: string,
  vocabulary: Vocabulary,
  tuning: Tuning,
  knows: (hash: number) => boolean,
  isAlone = true,
): AskedTerms {
  const text = resolveIdioms(query)
  const words = vocabulary.wordsOf(text)
  const meant = termsOf(words, tuning, knows)
  const whole = meant.length > 0 || !isAlone ? meant : emptyTerms(words, knows)
  const distinct = whole.filter(({ kind }) => kind === 'word').length
  if (distinct < longQuery) return { whole, clauses: [] }
  const clauses = clausesOf(text)
    .map((clause) => termsOf(vocabulary.wordsOf(clause), tuning, knows))
    .filter((terms) => terms.filter(({ kind }) => kind === 'word').length >= 2)
    .slice(0, clauseLimit)
  return { whole, clauses: clauses.length > 1 ? clauses : [] }
}

function termsOf(
  words: readonly SpelledWord[],
  { pair: pairWeight, repetition }: Tuning,
  knows: (hash: number) => boolean,
): AskedTerm[] {
  const counts = new Map<Term, { count: number; unspaced: boolean }>()
  const asked = new Map<number, AskedTerm>()
  const pairs: AskedTerm[] = []
  const asks = words.find(({ whole }) => questions.has(whole.text))?.whole.asked ?? []
  let previous: Term | undefined
  for (const word of words) {
    if (word.whole.empty) continue
    for (const term of word.parts.length === 0 || knows(word.whole.hash) ? [word.whole] : word.parts) {
      if (term.empty) continue
      const known = counts.get(term)
      if (known) known.count += 1
      else if (counts.size < wordLimit) counts.set(term, { count: 1, unspaced: word.pair })
      if (previous && previous.hash !== term.hash && pairs.length < wordLimit)
        pairs.push({
          text: `${previous.text} ${term.text}`,
          hash: pairOf(previous.hash, term.hash),
          weight: pairWeight,
          kind: 'pair',
          unspaced: false,
          concepts: [],
        })
      previous = term
    }
  }
  for (const [term, { count, unspaced }] of counts) {
    const { text, hash } = term
    // A word that is repeated counts a little more, not as often as it stands there.
    const weight = term.weight * Math.min(count, 1 + repetition * Math.log(count))
    // Two spellings of one stem are one term.
    const known = asked.get(hash)
    const concepts = term.asked.map((concept) => concept.hash)
    if (!known || known.weight < weight)
      asked.set(hash, { text, hash, weight, kind: 'word', unspaced, concepts })
  }
  const askFor = ({ hash, label: text }: Concept, weight: number): void => {
    const known = asked.get(hash)
    if (!known || known.weight < weight)
      asked.set(hash, { text, hash, weight, kind: 'concept', unspaced: false, concepts: [] })
  }
  for (const [term, { count }] of counts) {
    const times = (knows(term.hash) ? 1 : standIn) * Math.min(count, 1 + repetition * Math.log(count))
    for (const concept of term.asked) askFor(concept, concept.weight * term.weight * times)
  }
  // A question without a subject asks for nothing.
  if (counts.size > 0) for (const concept of asks) askFor(concept, concept.weight)
  for (const pair of pairs) asked.set(pair.hash, pair)
  return [...asked.values()]
}

/**
 * A query of one word that says nothing may still be a name, of a server called "a": such words are indexed in names only. Several
 * are a sentence without a subject.
 */
function emptyTerms(words: readonly SpelledWord[], knows: (hash: number) => boolean): AskedTerm[] {
  const [only, ...others] = words
  if (!only || others.length > 0) return []
  const { text, hash } = only.whole
  if (!knows(hash)) return []
  return [{ text, hash, weight: 1, kind: 'word', unspaced: false, concepts: [] }]
}

/** Sentences, and parts of them that start a new request ("…, and also find"). */
export function clausesOf(text: string): string[] {
  return text
    .split(
      /[.!?;\n。；！？]+\s*|,\s*(?:and|also|then|plus|but)\s|\b(?:and also|and then|additionally|furthermore|moreover|finally|lastly|as well as|then)\b|\band\b(?=\s+[a-z]+\s)/i,
    )
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '')
}
