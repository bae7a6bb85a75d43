/** Looks up words as the index stores them: hash, concepts, effects and weight. Caches each spelling. */

import { hashTerm } from '../index/spelling.js'
import { type Concept, createLexicon, findConcepts, type Lexicon, type LexiconWeights } from './lexicon.js'
import { forEachWord, spellOutSigns, stem, wholeWordPartLimit } from './tokenize.js'
import { stopWords, weakWords } from './word-lists.js'

/** Number of cached spellings. The cache is emptied when it is full. */
const spellingLimit = 100_000
/** The same limit before a query. Query words repeat, but queries also bring new words without end. */
const askedLimit = 5000

const asciiText = /^[\x00-\x7f]*$/
/** 1 for ASCII letters and digits. */
const isWordCode = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9]/.test(String.fromCharCode(code)) ? 1 : 0,
)
/** Dashes, quotes, bullets, arrows and similar characters always separate words. */
const typography = /[\u00a0\u00b7\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u27bf]/g

export interface Term {
  /** The written form in lower case. */
  readonly text: string
  /** Hash of the stem, as stored in the index. */
  readonly hash: number
  /** Concept hashes of the word in a tool's text. */
  readonly concepts: readonly number[]
  /** Concepts of the word in a query, where more words lead to a concept. */
  readonly queryConcepts: readonly Concept[]
  /** Stop words are indexed in names only and ignored in queries. */
  readonly isStopWord: boolean
  /** Effects of the word, see `effects.ts`; 0 if unknown. */
  readonly effect: number
  /** Effects of the word at the start of a request. */
  readonly queryEffect: number
  /** From 0 to 1: weight of the word in a query. */
  readonly weight: number
}

export interface SpelledWord {
  readonly whole: Term
  /** Empty unless the word is mixed-case. */
  readonly parts: readonly Term[]
  /** Terms indexed for a document: the parts, and the whole of a short word. */
  readonly terms: readonly Term[]
  /** Two characters of a script without spaces. About half of such pairs straddle two words. */
  readonly pair: boolean
}

const NO_CONCEPTS: readonly number[] = []
/** Shared by all words without parts. */
const NO_PARTS: readonly Term[] = []

export interface Vocabulary {
  /** Reads the words of a text, in order. Linear in its length. */
  readWords(text: string): SpelledWord[]
  /** Empties the cache. */
  forget(): void
  /** Empties the cache before a query if it has grown large. */
  forgetIfLarge(): void
}

export function createVocabulary(lexicon: Lexicon): Vocabulary {
  const terms = new Map<string, Term>()
  const words = new Map<string, SpelledWord>()
  const written = new Map<number, { readonly raw: string; readonly word: SpelledWord }>()

  const termOf = (spelling: string): Term => {
    const known = terms.get(spelling)
    if (known) return known
    const stemmed = stem(spelling)
    const term: Term = {
      text: spelling,
      hash: hashTerm(stemmed),
      ...findConcepts(lexicon, stemmed),
      isStopWord: stopWords.has(spelling),
      effect: lexicon.effects.get(stemmed) ?? 0,
      queryEffect: lexicon.queryEffects.get(stemmed) ?? 0,
      weight: weakWords.has(spelling) ? lexicon.weakWeight : 1,
    }
    terms.set(spelling, term)
    return term
  }

  const spell = (key: string, spelling: string, parts: readonly string[], pair: boolean): SpelledWord => {
    const known = words.get(key)
    if (known) return known
    const whole = termOf(spelling)
    const partTerms = parts.length === 0 ? NO_PARTS : parts.map(termOf)
    const terms = parts.length > wholeWordPartLimit ? partTerms : [...partTerms, whole]
    const word: SpelledWord = { whole, parts: partTerms, terms, pair }
    words.set(key, word)
    return word
  }

  const forget = (): void => {
    terms.clear()
    words.clear()
    written.clear()
  }

  return {
    forget,
    forgetIfLarge() {
      if (written.size > askedLimit || words.size > askedLimit) forget()
    },
    readWords(text) {
      if (written.size > spellingLimit || words.size > spellingLimit) forget()
      const found: SpelledWord[] = []
      const add = (spelling: string, parts: readonly string[], pair: boolean): void => {
        found.push(spell(parts.length === 0 ? spelling : parts.join(' '), spelling, parts, pair))
      }
      const signed = spellOutSigns(text)
      const plain = asciiText.test(signed) ? signed : signed.replace(typography, ' ')
      if (!asciiText.test(plain)) {
        forEachWord(text, add)
        return found
      }
      // Most text is ASCII: one lookup per written word, by a hash computed while reading, so no substring is created.
      const end = plain.length
      for (let start = 0; start < end; ) {
        let hash = 0
        let at = start
        for (; at < end && isWordCode[plain.charCodeAt(at)] === 1; at += 1)
          hash = (Math.imul(hash, 31) + plain.charCodeAt(at)) | 0
        if (at > start) {
          const known = written.get(hash)
          if (known && known.raw.length === at - start && plain.startsWith(known.raw, start))
            found.push(known.word)
          else {
            const raw = plain.slice(start, at)
            forEachWord(raw, add)
            written.set(hash, { raw, word: found.at(-1) as SpelledWord })
          }
        }
        start = at + 1
      }
      return found
    },
  }
}

/** The vocabulary of the default ranking, and the concepts of a word by its hash. */
export interface DefaultWords {
  readonly vocabulary: Vocabulary
  getConcepts(word: number): readonly number[]
}

/** Creates the words on first use. */
export function createDefaultWords(tuning: LexiconWeights): () => DefaultWords {
  let made: DefaultWords | undefined
  return () => {
    if (made) return made
    const lexicon = createLexicon(tuning)
    const concepts = new Map<number, readonly number[]>()
    for (const [stem, meant] of lexicon.toolConcepts) concepts.set(hashTerm(stem), meant)
    made = { vocabulary: createVocabulary(lexicon), getConcepts: (word) => concepts.get(word) ?? NO_CONCEPTS }
    return made
  }
}
