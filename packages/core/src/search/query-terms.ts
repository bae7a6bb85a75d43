/** A query as weighted terms: words that count, the concepts behind them, neighbouring pairs; as a whole and clause by clause. */

import { hashPair } from './index/spelling.js'
import { identityBit } from './index/tally.js'
import type { TermIndex } from './index/term-index.js'
import { queryCharacterLimit } from './query.js'
import type { Tuning } from './tuning.js'
import { questionEffect, questionWords, severalEffect } from './words/effects.js'
import type { Concept } from './words/lexicon.js'
import { isStopWord } from './words/tokenize.js'
import type { SpelledWord, Term, Vocabulary } from './words/vocabulary.js'
import { isProduct, resolveIdioms } from './words/word-lists.js'

/** Distinct words of a query that count; the rest is ignored. */
const wordLimit = 64
/** From this many distinct words on a query is taken apart into clauses. */
const longQuery = 18
const clauseLimit = 12
/** From this many words on, small ones and all, synonyms are not asked for. */
const wordyQuery = 30
/** Up to so many distinct words a query says first what is to be done; a longer one tells a story. */
const briefQuery = 6
/** A concept counts beside the word that leads to it. Where no tool holds the word, it stands in for it, and counts so many times more. */
const replacementFactor = 2
/** They say nothing of a tool but that it should give something and not change it. */
const questionPronouns: ReadonlySet<string> = new Set(['what', 'which', 'when', 'where', 'who', 'whose'])

/** What follows one of these is no verb that says what is to be done: "I need a new pair", "I'm planning a trip". */
const wordsBeforeNouns: ReadonlySet<string> = new Set(
  'a an the my our your some any this that these those m am is are re was'.split(' '),
)

/** Behind the first word, this says what a thing is like: "restart the crashed pod". */
const participle = /(?:ed|ing)$/

/** What follows one of these, behind the subject, is detail. */
const prepositions: ReadonlySet<string> = new Set(
  'about after against as at before between by during for from in inside into of on onto over since to through under until via while with within without using'.split(
    ' ',
  ),
)

export interface QueryTerm {
  readonly text: string
  readonly hash: number
  readonly weight: number
  readonly kind: 'word' | 'synonym' | 'concept' | 'pair'
  /** A word of a script without spaces. */
  readonly unspaced: boolean
  /** It says where, when, with whom, about what, or what something is like: "in airtable", "with a colleague", "crashed". */
  readonly detail: boolean
  /** The concepts that a word leads to. */
  readonly concepts: readonly { readonly hash: number; readonly near: 'same' | 'subject' | 'hint' }[]
}

/** Of what is no word of a sentence. */
const notAWord = { unspaced: false, detail: false, concepts: [] } as const

export interface QueryTerms {
  readonly whole: readonly QueryTerm[]
  /** Empty unless the query is long and has several clauses. */
  readonly clauses: readonly (readonly QueryTerm[])[]
  /** What is to be done to things, see `words/effects.ts`; 0 where the request does not begin with it. */
  readonly effect: number
}

/**
 * `knows` says whether any tool holds a term: a mixed-case word counts whole if one does, or if it is a product's name, else by its
 * parts. `isAlone`: nothing but the text selects tools.
 */
export function extractQueryTerms(
  query: string,
  vocabulary: Vocabulary,
  tuning: Tuning,
  knows: (hash: number) => boolean,
  isAlone = true,
): QueryTerms {
  const text = resolveIdioms(query)
  const words = vocabulary.readWords(text)
  const isWordy = words.length >= wordyQuery
  const meant = extractTerms(words, tuning, knows, isWordy)
  const whole = meant.length > 0 || !isAlone ? meant : extractLoneStopWord(words, knows)
  const distinct = whole.filter(({ kind }) => kind === 'word').length
  const effect = distinct <= briefQuery ? adjustForPlural(findRequestedEffect(words), words) : 0
  if (distinct < longQuery) return { whole, clauses: [], effect }
  const clauses = splitClauses(text)
    .map((clause) => extractTerms(vocabulary.readWords(clause), tuning, knows, isWordy))
    .filter((terms) => terms.filter(({ kind }) => kind === 'word').length >= 2)
    .slice(0, clauseLimit)
  return { whole, clauses: clauses.length > 1 ? clauses : [], effect: 0 }
}

function isPlural({ text, isStopWord: empty }: Term): boolean {
  return !empty && text.length > 3 && /[^su]s$/.test(text)
}

/** Of several things a list is asked for. */
function adjustForPlural(effect: number, words: readonly SpelledWord[]): number {
  if ((effect & questionEffect) === 0) return effect
  return words.some(({ whole }) => isPlural(whole)) ? effect | severalEffect : effect & ~severalEffect
}

/** "Can you list my pods": what stands before the first word that says something is passed over. */
function findRequestedEffect(words: readonly SpelledWord[]): number {
  const [start] = words
  if (start && questionWords.has(start.whole.text)) return questionEffect
  for (const { whole } of words) {
    if (questionPronouns.has(whole.text)) return questionEffect
    if (wordsBeforeNouns.has(whole.text)) return 0
    // "Running shoes" asks for nothing to be run.
    if (whole.queryEffect > 0) return whole.text.endsWith('ing') ? 0 : whole.queryEffect
    // "Comments on a merge request" are to be read.
    if (!whole.isStopWord) return isPlural(whole) ? questionEffect : 0
  }
  return 0
}

function extractTerms(
  words: readonly SpelledWord[],
  { pair: pairWeight }: Tuning,
  knows: (hash: number) => boolean,
  isWordy: boolean,
): QueryTerm[] {
  const said = new Map<Term, { unspaced: boolean; detail: boolean }>()
  let isDetail = false
  const asked = new Map<number, QueryTerm>()
  const pairs: QueryTerm[] = []
  const asks = words.find(({ whole }) => questionPronouns.has(whole.text))?.whole.queryConcepts ?? []
  let previous: Term | undefined
  for (const word of words) {
    isDetail ||= prepositions.has(word.whole.text) && hasSubject(said)
    if (word.whole.isStopWord) continue
    const { whole, parts } = word
    for (const term of parts.length === 0 || knows(whole.hash) || isProduct(whole.text) ? [whole] : parts) {
      if (term.isStopWord) continue
      if (!said.has(term) && said.size < wordLimit) {
        const detail = isDetail || (said.size > 0 && participle.test(term.text))
        said.set(term, { unspaced: word.pair, detail })
      }
      if (previous && previous.hash !== term.hash && pairs.length < wordLimit) {
        const hash = hashPair(previous.hash, term.hash)
        // Tools hold few of the pairs that are asked for.
        if (knows(hash)) {
          const text = `${previous.text} ${term.text}`
          pairs.push({ text, hash, weight: pairWeight, kind: 'pair', ...notAWord })
        }
      }
      previous = term
    }
  }
  for (const [term, { unspaced, detail }] of said) {
    const { text, hash, weight } = term
    // Two spellings of one stem are one term.
    const known = asked.get(hash)
    const concepts = term.queryConcepts
    if (!known || known.weight < weight)
      asked.set(hash, { text, hash, weight, kind: 'word', unspaced, detail, concepts })
  }
  const askFor = ({ hash, label: text, near }: Concept, weight: number): void => {
    const kind = near === 'same' ? 'synonym' : 'concept'
    const known = asked.get(hash)
    // What is said itself stays a word, however little it says.
    if (!known || (known.kind !== 'word' && known.weight < weight))
      asked.set(hash, { text, hash, weight, kind, ...notAWord })
  }
  for (const term of said.keys()) {
    const times = knows(term.hash) ? 1 : replacementFactor
    // Who says it in many words says some of those that tools use.
    for (const concept of term.queryConcepts)
      if (concept.near !== 'same' || !isWordy) askFor(concept, concept.weight * term.weight * times)
  }
  // A question without a subject asks for nothing.
  if (said.size > 0) for (const concept of asks) askFor(concept, concept.weight)
  for (const pair of pairs) asked.set(pair.hash, pair)
  return [...asked.values()]
}

/** "Connect to the VPN" has said nothing yet where its preposition stands. */
function hasSubject(said: ReadonlyMap<Term, unknown>): boolean {
  if (said.size > 1) return true
  const [first] = said.keys()
  return first !== undefined && first.queryEffect === 0 && first.weight === 1
}

/**
 * A query of one word that says nothing may still be a name, of a server called "a": such words are indexed in names only. Several
 * are a sentence without a subject.
 */
function extractLoneStopWord(words: readonly SpelledWord[], knows: (hash: number) => boolean): QueryTerm[] {
  const [only, ...others] = words
  if (!only || others.length > 0) return []
  const { text, hash } = only.whole
  if (!knows(hash)) return []
  return [{ text, hash, weight: 1, kind: 'word', ...notAWord }]
}

/** Sentences, and parts of them that start a new request ("…, and also find"). */
export function splitClauses(text: string): string[] {
  return text
    .split(
      /[.!?;\n。；！？]+\s*|,\s*(?:and|also|then|plus|but)\s|\b(?:and also|and then|additionally|furthermore|moreover|finally|lastly|as well as|then)\b|\band\b(?=\s+[a-z]+\s)/i,
    )
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '')
}

// Words of a query that name a place, a person or a company: what a tool is given, not what it does.

/** Inside a sentence: its first word has a capital in any case. Words all in capitals are as often a thing ("QR") as a name. */
const capitalisedWord = /(?<=[\p{L}\p{N},] )\p{Lu}\p{Ll}+(?!\p{L})/gu

/** Hashes of the words that a query writes as names. */
export function findCapitalisedNames(text: string, vocabulary: Vocabulary): ReadonlySet<number> {
  const found = new Set<number>()
  for (const [word] of text.matchAll(capitalisedWord))
    if (!isStopWord(word))
      for (const { terms } of vocabulary.readWords(word)) for (const { hash } of terms) found.add(hash)
  return found
}

// `+must`: the tools that hold a word in their name, aliases, server, domain or group; where none does, a word that means the same.

/** The slots where every word of every entry occurs in an identity field; undefined if no entry holds a word. */
export function findSlotsWithWords(
  must: readonly string[],
  index: TermIndex,
  vocabulary: Vocabulary,
): Set<number> | undefined {
  let allowed: Set<number> | undefined
  for (const entry of must)
    for (const word of vocabulary.readWords(entry.slice(0, queryCharacterLimit))) {
      const passed = findIdentitySlots(word.whole.hash, index)
      if (word.parts.length > 0)
        for (const slot of word.parts.map(({ hash }) => findIdentitySlots(hash, index)).reduce(intersect))
          passed.add(slot)
      // Nobody is called by that word: "+mail" then stands for what is called "email".
      if (passed.size === 0)
        for (const { hash } of word.whole.queryConcepts)
          for (const slot of findIdentitySlots(hash, index)) passed.add(slot)
      allowed = allowed ? intersect(allowed, passed) : passed
    }
  return allowed
}

function findIdentitySlots(term: number, index: TermIndex): Set<number> {
  const slots = new Set<number>()
  index.forEachPosting(term, (slot, byte) => {
    if ((byte & identityBit) !== 0) slots.add(slot)
  })
  return slots
}

function intersect(first: ReadonlySet<number>, second: ReadonlySet<number>): Set<number> {
  return new Set([...first].filter((slot) => second.has(slot)))
}
