/** Turns a query into weighted terms: words, their concepts and neighbouring pairs, for the whole query and for each clause. */

import { hashPair } from './index/spelling.js'
import { identityBit } from './index/tally.js'
import type { TermIndex } from './index/term-index.js'
import { queryCharacterLimit, splitClauses } from './query.js'
import {
  briefQuery,
  clauseLimit,
  detailShare,
  literalWeight,
  longQuery,
  queryWordLimit,
  replacementFactor,
  type Tuning,
} from './tuning.js'
import { questionEffect, questionWords, severalEffect } from './words/effects.js'
import type { Concept } from './words/lexicon.js'
import type { SpelledWord, Term, Vocabulary } from './words/vocabulary.js'
import { isProduct, resolveIdioms } from './words/word-lists.js'

/** Words that ask for information and say nothing else about the tool. */
const questionPronouns: ReadonlySet<string> = new Set(['what', 'which', 'when', 'where', 'who', 'whose'])

/** The word after one of these is not the requested action: "I need a new pair", "I'm planning a trip". */
const wordsBeforeNouns: ReadonlySet<string> = new Set(
  'a an the my our your some any this that these those m am is are re was'.split(' '),
)

/** After the first word, these endings describe a thing: "restart the crashed pod". */
const participle = /(?:ed|ing)$/

/** Words that start a detail, once the query has named its subject. */
const prepositions: ReadonlySet<string> = new Set(
  'about after against as at before between by during for from in inside into of on onto over since to through under until via while with within without using'.split(
    ' ',
  ),
)

export interface QueryTerm {
  readonly text: string
  readonly hash: number
  readonly weight: number
  readonly kind: 'word' | 'synonym' | 'concept' | 'pair' | 'literal'
  /** A word of a script without spaces. */
  readonly unspaced: boolean
  /** A detail: where, when, with whom, about what, or what something is like ("in airtable", "with a colleague", "crashed"). */
  readonly detail: boolean
  /** Names an operation ("delete"). */
  readonly action: boolean
  /** Share of its score that a tool gets for the term: less than 1 for a detail of a brief query. */
  readonly share: number
  /** Concepts that the word leads to. */
  readonly concepts: readonly { readonly hash: number; readonly near: 'same' | 'subject' | 'hint' }[]
}

/** Defaults for terms that are not words of the query. */
const notAWord = { unspaced: false, detail: false, action: false, share: 1, concepts: [] } as const

export interface QueryTerms {
  readonly whole: readonly QueryTerm[]
  /** Empty unless the query is long and has several clauses. */
  readonly clauses: readonly (readonly QueryTerm[])[]
  /** Requested effect, see `words/effects.ts`; 0 if the query does not start with one. */
  readonly effect: number
}

/**
 * Extracts the terms of a query.
 *
 * `isKnown` checks whether any tool has a term. A mixed-case word counts as a whole if a tool has it or if it is a product name;
 * otherwise its parts count. `isAlone`: only the text selects tools, without `+must` words.
 */
export function extractQueryTerms(
  query: string,
  vocabulary: Vocabulary,
  tuning: Tuning,
  isKnown: (hash: number) => boolean,
  repair: (word: SpelledWord) => SpelledWord,
  isAlone = true,
): QueryTerms {
  const { text, literals } = separateLiterals(resolveIdioms(query), (word) =>
    vocabulary
      .readWords(word)
      .some(({ terms }) =>
        terms.some((term) => term.isStopWord || term.queryConcepts.length > 0 || isKnown(term.hash)),
      ),
  )
  const readWords = (part: string) => vocabulary.readWords(part).map(repair)
  const given = readWords(text)
  const isOnlyAction = given.every(({ whole }) => whole.isStopWord || whole.effect > 0)
  const words = isOnlyAction && literals !== '' ? [...given, ...readWords(nameKinds(literals))] : given
  const terms = [
    ...extractTerms(words, tuning, isKnown),
    ...extractLiterals(vocabulary.readWords(literals), isKnown),
  ]
  const whole = terms.length > 0 || !isAlone ? terms : extractLoneStopWord(words, isKnown)
  const distinct = whole.filter(({ kind }) => kind === 'word').length
  if (distinct <= briefQuery) {
    const effect = adjustForPlural(findRequestedEffect(words), words)
    const weighed = whole.map((term) => (term.detail ? { ...term, share: detailShare } : term))
    return { whole: weighed, clauses: [], effect }
  }
  if (distinct < longQuery) return { whole, clauses: [], effect: 0 }
  const clauses = splitClauses(text)
    .map((clause) => extractTerms(readWords(clause), tuning, isKnown))
    .filter((terms) => terms.filter(({ kind }) => kind === 'word').length >= 2)
    .slice(0, clauseLimit)
  return { whole, clauses: clauses.length > 1 ? clauses : [], effect: 0 }
}

function isPlural({ text, isStopWord }: Term): boolean {
  return !isStopWord && text.length > 3 && /[^su]s$/.test(text)
}

/** Asks for a list if the query mentions several things. */
function adjustForPlural(effect: number, words: readonly SpelledWord[]): number {
  if ((effect & questionEffect) === 0) return effect
  return words.some(({ whole }) => isPlural(whole)) ? effect | severalEffect : effect & ~severalEffect
}

/** Finds the effect of the first word that has one: "can you list my pods". */
function findRequestedEffect(words: readonly SpelledWord[]): number {
  const [start] = words
  if (start && questionWords.has(start.whole.text)) return questionEffect
  for (const { whole } of words) {
    if (questionPronouns.has(whole.text)) return questionEffect
    if (wordsBeforeNouns.has(whole.text)) return 0
    // "Running shoes" does not ask to run anything.
    if (whole.queryEffect > 0) return whole.text.endsWith('ing') ? 0 : whole.queryEffect
    // "Comments on a merge request" asks to read them.
    if (!whole.isStopWord) return isPlural(whole) ? questionEffect : 0
  }
  return 0
}

function extractTerms(
  words: readonly SpelledWord[],
  { pair: pairWeight }: Tuning,
  isKnown: (hash: number) => boolean,
): QueryTerm[] {
  const queryWords = new Map<Term, { unspaced: boolean; detail: boolean }>()
  let isDetail = false
  const asked = new Map<number, QueryTerm>()
  const pairs: QueryTerm[] = []
  let previous: Term | undefined
  for (const word of words) {
    isDetail ||= prepositions.has(word.whole.text) && hasSubject(queryWords)
    if (word.whole.isStopWord) continue
    const { whole, parts } = word
    for (const term of parts.length === 0 || isKnown(whole.hash) || isProduct(whole.text) ? [whole] : parts) {
      if (term.isStopWord) continue
      if (!queryWords.has(term) && queryWords.size < queryWordLimit) {
        const detail = isDetail || (queryWords.size > 0 && participle.test(term.text))
        queryWords.set(term, { unspaced: word.pair, detail })
      }
      if (previous && previous.hash !== term.hash && pairs.length < queryWordLimit) {
        const hash = hashPair(previous.hash, term.hash)
        // Most pairs occur in no tool.
        if (isKnown(hash)) {
          const text = `${previous.text} ${term.text}`
          pairs.push({ text, hash, weight: pairWeight, kind: 'pair', ...notAWord })
        }
      }
      previous = term
    }
  }
  for (const [term, { unspaced, detail }] of queryWords) {
    const { text, hash, weight } = term
    // Two spellings with the same stem are one term.
    const known = asked.get(hash)
    const concepts = term.queryConcepts
    if (!known || known.weight < weight)
      asked.set(hash, {
        text,
        hash,
        weight,
        kind: 'word',
        unspaced,
        detail,
        action: term.effect > 0,
        share: 1,
        concepts,
      })
  }
  const addConcept = ({ hash, label: text, near }: Concept, weight: number): void => {
    const kind = near === 'same' ? 'synonym' : 'concept'
    const known = asked.get(hash)
    // A word of the query stays a word, however low its weight.
    if (!known || (known.kind !== 'word' && known.weight < weight))
      asked.set(hash, { text, hash, weight, kind, ...notAWord })
  }
  for (const term of queryWords.keys()) {
    const times = isKnown(term.hash) ? 1 : replacementFactor
    for (const concept of term.queryConcepts) addConcept(concept, concept.weight * term.weight * times)
  }
  for (const pair of pairs) asked.set(pair.hash, pair)
  return [...asked.values()]
}

const mailAddress = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/
const webAddress = /\b[a-z][a-z+.-]*:\/\/\S+|\bwww\.\S+/

/** Values for a tool: quoted text, addresses, paths, dates, ids and numbers. A name with `_` is none, because it may be a tool's. */
const literal = new RegExp(
  [
    /(?<![\p{L}\p{N}])"[^"\n]{1,200}"|“[^”\n]{1,200}”|(?<=^|[\s(:,=])'[^'\n]{1,200}'(?=$|[\s.,;:!?)])/u,
    mailAddress,
    webAddress,
    /(?<=^|[\s(:,=])(?:~|\.{1,2}|[A-Z]:)?[/\\][\w.~-][^\s,;)]*/,
    /(?<![\p{L}\p{N}_.-])[#$€£]?\p{N}[\p{N}.,:/%-]*(?:st|nd|rd|th|am|pm|k)?(?![\p{L}\p{N}_])/u,
    /\b(?=[a-f-]*\d)(?:[0-9a-f]{7,40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b|\b[A-Z]{2,10}-\d+\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
)

/** A capitalised word inside a sentence. The first word does not count, nor do words in capitals ("QR"). */
const capitalisedWord = /(?<=[\p{L}\p{N},] )\p{Lu}\p{Ll}+(?!\p{L})/gu

/**
 * Separates literals from the words of a query. Capitalised words that no tool has ("Berlin") are literals, too. A query that
 * consists of literals keeps them as words.
 */
function separateLiterals(
  query: string,
  isKnownWord: (word: string) => boolean,
): { text: string; literals: string } {
  const literals: string[] = []
  const separate = (found: string): string => {
    literals.push(found)
    return ' '
  }
  const text = query
    .replace(capitalisedWord, (word) => (isKnownWord(word) ? word : separate(word)))
    .replace(literal, separate)
  return /\p{L}{2}/u.test(text) ? { text, literals: literals.join(' ') } : { text: query, literals: '' }
}

/** Names the object of an action by its literals: "read /tmp/a.txt" is about a file. Other literals do not change. */
function nameKinds(literals: string): string {
  return literals
    .replace(new RegExp(mailAddress, 'g'), 'email')
    .replace(new RegExp(webAddress, 'g'), 'url')
    .replace(/(?:~|\.{1,2}|[A-Z]:)?[/\\]\S+/g, 'file')
}

/** Literals only decide between tools that are otherwise equal. */
function extractLiterals(words: readonly SpelledWord[], isKnown: (hash: number) => boolean): QueryTerm[] {
  return words
    .flatMap(({ whole, parts }) => (parts.length > 0 ? parts : [whole]))
    .filter(({ hash, isStopWord }) => !isStopWord && isKnown(hash))
    .slice(0, queryWordLimit)
    .map(({ text, hash }) => ({ text, hash, weight: literalWeight, kind: 'literal', ...notAWord }))
}

/** Checks whether the query has named its subject: "connect to the VPN" has not when it reaches "to". */
function hasSubject(queryWords: ReadonlyMap<Term, unknown>): boolean {
  if (queryWords.size > 1) return true
  const [first] = queryWords.keys()
  return first !== undefined && first.queryEffect === 0 && first.weight === 1
}

/**
 * Keeps a query that consists of one stop word, because it may be a name, such as a server called "a". Stop words are indexed in names
 * only. Several stop words are a sentence without a subject.
 */
function extractLoneStopWord(words: readonly SpelledWord[], isKnown: (hash: number) => boolean): QueryTerm[] {
  const [only, ...others] = words
  if (!only || others.length > 0) return []
  const { text, hash } = only.whole
  if (!isKnown(hash)) return []
  return [{ text, hash, weight: 1, kind: 'word', ...notAWord }]
}

/** Finds the tools that have every `+must` word in their name, aliases, server, domain or group; undefined if `must` has no words. */
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
      // No tool has that word: "+mail" then also selects tools called "email".
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
